//! Sparse inputs of records: lists in one array with offsets.

use models::{Architecture, Feature, MAX_ACTIVE, View};
use records::position::Record;

/// Lists of records, concatenated: by default the active features from one view.
#[derive(Clone, Debug)]
pub struct Lists<T = Feature> {
    /// Start of each record's list in `inputs`, then the end of the last.
    pub starts: Vec<u32>,
    /// The concatenated items.
    pub inputs: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists {
            starts: vec![0],
            inputs: Vec::new(),
        }
    }
}

impl<T> Lists<T> {
    /// Appends a record's list.
    pub fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.inputs.extend(list);
        self.starts.push(self.inputs.len() as u32);
    }

    /// Returns an iterator over the records' lists.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        let ends = self.starts.windows(2);
        ends.map(|ends| &self.inputs[ends[0] as usize..ends[1] as usize])
    }
}

impl Lists {
    /// Returns the active features of `records` that the network reads, for each of its views, the
    /// mover's first.
    pub fn by_view<'a>(
        architecture: Architecture,
        records: impl ExactSizeIterator<Item = &'a Record>,
    ) -> Vec<Lists> {
        let mut own = Lists::default();
        own.starts.reserve(records.len());
        own.inputs.reserve(records.len() * MAX_ACTIVE);
        for record in records {
            let inputs = features::active(record);
            own.push(inputs.filter(|&input| architecture.features.contains(input)));
        }
        let mut views = vec![own];
        if architecture.view == View::Both {
            let mut other = views[0].clone();
            for input in &mut other.inputs {
                *input = input.seen_by_other();
            }
            views.push(other);
        }
        if architecture.mirrored {
            views.iter_mut().for_each(|view| view.orient(architecture));
        }
        views
    }

    /// Orients every list as the first layer expects ([`Architecture::orient`]).
    fn orient(&mut self, architecture: Architecture) {
        for ends in self.starts.windows(2) {
            architecture.orient(&mut self.inputs[ends[0] as usize..ends[1] as usize]);
        }
    }
}
