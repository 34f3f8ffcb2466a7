//! The record sets of a dataset, and the names of their column families and files.

/// Sorted record set of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// Training positions.
    Train,
    /// Positions of held-out games.
    Validation,
    /// Validation records of positions that are in training too. Kept but never read, so that a
    /// dataset extended later has the same counts as one built at once.
    Shadowed,
}

impl Set {
    pub(crate) const ALL: [Set; 3] = [Set::Train, Set::Validation, Set::Shadowed];

    pub(crate) fn family(self, generation: u64) -> String {
        let name = match self {
            Set::Train => "train",
            Set::Validation => "validation",
            Set::Shadowed => "shadowed",
        };
        format!("{name}.{generation}")
    }

    /// Key, in the meta family, of the list of the set's block keys.
    pub(crate) fn index_key(self, generation: u64) -> String {
        format!("index.{}", self.family(generation))
    }
}

/// File name of a set's unsealed SST file.
pub(crate) fn block_file_name(set: Set, number: usize) -> String {
    format!("{set:?}-{number}.sst")
}

/// Returns whether `name` is an unsealed SST file.
pub(crate) fn is_block_file(name: &str) -> bool {
    let number = name
        .strip_suffix(".sst")
        .and_then(|name| name.split_once('-'));
    let number = number.and_then(|(_, number)| number.parse().ok());
    number.is_some_and(|number| {
        Set::ALL
            .iter()
            .any(|&set| name == block_file_name(set, number))
    })
}
