//! Merge of all runs of a dataset in key order, with the train/validation rule.

use std::iter::Peekable;
use std::ops::Range;

use crate::store::StoreError;
use crate::store::spill::Sorted;
use records::position::{Keyed, Record};

/// Collection of sorted runs of records.
pub(crate) trait Runs: Sync {
    /// Upper bound on the number of records.
    fn len(&self) -> u64;

    /// Minimum records for which one merge step is worth its cost.
    fn least_step(&self) -> u64;

    /// Appends all records with keys in the ranges, in any order.
    fn read(&self, ranges: &Range<usize>, records: &mut Vec<Record>) -> Result<(), StoreError>;
}

/// Merged records of a key range.
#[derive(Default)]
pub(crate) struct Merged {
    /// Training positions.
    pub(crate) train: Vec<Record>,
    /// Positions of held-out games only.
    pub(crate) validation: Vec<Record>,
    /// Validation records of positions that are in `train` too.
    pub(crate) shadowed: Vec<Record>,
}

impl Merged {
    /// Number of positions, without shadowed ones.
    pub(crate) fn len(&self) -> u64 {
        (self.train.len() + self.validation.len()) as u64
    }

    /// Keeps the `room` positions with the smallest keys, over train and validation together.
    pub(crate) fn truncate(&mut self, room: u64) {
        if self.len() <= room {
            return;
        }
        let both = self.train.iter().chain(&self.validation);
        let mut keyed: Vec<Keyed> = both.map(|&record| Keyed::new(record)).collect();
        let (_, limit, _) = keyed.select_nth_unstable_by(room as usize, Keyed::position_order);
        let limit = *limit;
        for records in [&mut self.train, &mut self.validation, &mut self.shadowed] {
            records.retain(|&record| Keyed::new(record).position_order(&limit).is_lt());
        }
    }

    /// Returns the sets in the order of `Set::ALL`.
    pub(crate) fn into_sets(self) -> [Vec<Record>; 3] {
        [self.train, self.validation, self.shadowed]
    }
}

/// Merges training and validation runs over some key ranges.
pub(crate) fn merge(
    train: &impl Runs,
    validation: &impl Runs,
    ranges: &Range<usize>,
) -> Result<Merged, StoreError> {
    let side = |runs: &dyn Runs| {
        let mut records = Vec::new();
        runs.read(ranges, &mut records)?;
        Ok::<Sorted, StoreError>(Sorted::new(records))
    };
    let (train, validation) = (side(train)?, side(validation)?);
    let mut merged = Merged::default();
    let mut held_out = validation.iter().peekable();
    for keyed in train.iter() {
        while let Some(before) = next_before(&mut held_out, &keyed) {
            merged.validation.push(before.record);
        }
        if let Some(same) = held_out.next_if(|other| other.position_order(&keyed).is_eq()) {
            merged.shadowed.push(same.record);
        }
        merged.train.push(keyed.record);
    }
    merged.validation.extend(held_out.map(|keyed| keyed.record));
    Ok(merged)
}

fn next_before(
    records: &mut Peekable<impl Iterator<Item = Keyed>>,
    limit: &Keyed,
) -> Option<Keyed> {
    records.next_if(|keyed| keyed.position_order(limit).is_lt())
}

#[cfg(test)]
mod tests;
