//! The records of a step, and of each device's part of it.

use datasets::Record;

/// Positions as the network takes them.
pub struct Batch {
    /// The positions.
    pub records: Vec<Record>,
}

impl Batch {
    /// A batch of these positions.
    pub fn new(records: Vec<Record>) -> Batch {
        Batch { records }
    }

    /// The records cut into so many parts, in order, with sizes that differ by one
    /// at most. If there are fewer records than parts, the last parts are left out.
    pub fn parts(&self, parts: usize) -> impl Iterator<Item = &[Record]> {
        let records = self.records.len();
        let parts = parts.min(records);
        let begins = move |part: usize| part * records / parts;
        (0..parts).map(move |part| &self.records[begins(part)..begins(part + 1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::games;

    #[test]
    fn parts_are_the_batch_in_order_and_as_equal_as_can_be() {
        for (records, devices, expected) in [
            (7, 1, vec![7]),
            (7, 2, vec![3, 4]),
            (8, 3, vec![2, 3, 3]),
            (2, 3, vec![1, 1]),
        ] {
            let batch = Batch::new(games(records));
            let parts: Vec<&[Record]> = batch.parts(devices).collect();
            let sizes: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            assert_eq!(sizes, expected);
            assert_eq!(parts.concat(), batch.records);
        }
    }
}
