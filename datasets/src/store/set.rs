//! The sets of records that a dataset is made of, and the names of what holds them.

/// The three sorted sets of records that a dataset is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// Positions to train on.
    Train,
    /// Positions of held-out games.
    Validation,
    /// Validation records of positions that training has too. Kept, and never
    /// read for training or validation, so that adding data later counts them
    /// as if all had come at once.
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

/// The name of a set's file of the number, before it is sealed.
pub(crate) fn block_file_name(set: Set, number: usize) -> String {
    format!("{set:?}-{number}.sst")
}

/// Whether this is such a name.
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
