//! Merge of all runs of a dataset in key order, with the train/validation rule.

use std::iter::Peekable;
use std::ops::Range;

use crate::store::StoreError;
use crate::store::spill::Sorted;
use records::position::{Keyed, Row};

/// Collection of sorted runs of records.
pub(crate) trait Runs<R>: Sync {
    /// Upper bound on the number of records.
    fn len(&self) -> u64;

    /// Minimum records for which one merge step is worth its cost.
    fn least_step(&self) -> u64;

    /// Appends all records with keys in the ranges, in any order.
    fn read(&self, ranges: &Range<usize>, records: &mut Vec<R>) -> Result<(), StoreError>;
}

/// Merged rows of a key range.
pub(crate) struct Merged<R> {
    /// Training rows.
    pub(crate) train: Vec<R>,
    /// Rows of positions in held-out games only.
    pub(crate) validation: Vec<R>,
    /// Rows of held-out games whose positions are in `train` too.
    pub(crate) shadowed: Vec<R>,
}

impl<R: Row> Merged<R> {
    /// Returns the first row of each position, of training and of validation.
    fn positions(&self) -> impl Iterator<Item = Keyed<R>> {
        let same = |a: &R, b: &R| {
            let [a, b] = [a, b].map(|row| Keyed::new(*row));
            a.position_order(&b).is_eq()
        };
        let sides = [&self.train, &self.validation].into_iter();
        sides.flat_map(move |rows| rows.chunk_by(same).map(|rows| Keyed::new(rows[0])))
    }

    /// Keeps the `room` positions with the smallest keys, over train and validation together.
    /// Returns the number kept.
    pub(crate) fn truncate(&mut self, room: u64) -> u64 {
        let mut keyed: Vec<Keyed<R>> = self.positions().collect();
        if keyed.len() as u64 <= room {
            return keyed.len() as u64;
        }
        let (_, limit, _) = keyed.select_nth_unstable_by(room as usize, Keyed::position_order);
        let limit = *limit;
        for records in [&mut self.train, &mut self.validation, &mut self.shadowed] {
            records.retain(|&record| Keyed::new(record).position_order(&limit).is_lt());
        }
        room
    }

    /// Returns the sets in the order of `Set::ALL`.
    pub(crate) fn into_sets(self) -> [Vec<R>; 3] {
        [self.train, self.validation, self.shadowed]
    }
}

/// Merges training and validation runs over some key ranges.
pub(crate) fn merge<R: Row>(
    train: &impl Runs<R>,
    validation: &impl Runs<R>,
    ranges: &Range<usize>,
) -> Result<Merged<R>, StoreError> {
    let side = |runs: &dyn Runs<R>| {
        let mut records = Vec::new();
        runs.read(ranges, &mut records)?;
        Ok::<Sorted<R>, StoreError>(Sorted::new(records))
    };
    let (train, validation) = (side(train)?, side(validation)?);
    let mut merged = Merged {
        train: Vec::new(),
        validation: Vec::new(),
        shadowed: Vec::new(),
    };
    let mut held_out = validation.iter().peekable();
    for keyed in train.iter() {
        while let Some(before) = next_before(&mut held_out, &keyed) {
            merged.validation.push(before.record);
        }
        while let Some(same) = held_out.next_if(|other| other.position_order(&keyed).is_eq()) {
            merged.shadowed.push(same.record);
        }
        merged.train.push(keyed.record);
    }
    merged.validation.extend(held_out.map(|keyed| keyed.record));
    Ok(merged)
}

fn next_before<R: Row>(
    records: &mut Peekable<impl Iterator<Item = Keyed<R>>>,
    limit: &Keyed<R>,
) -> Option<Keyed<R>> {
    records.next_if(|keyed| keyed.position_order(limit).is_lt())
}

#[cfg(test)]
mod tests;
