//! Sparse inputs of records: lists of active features in one array with offsets.

use models::{Architecture, Feature, MAX_ACTIVE, View};
use records::position::Record;

/// Active features of records from one view, the records' lists concatenated.
#[derive(Clone, Debug)]
pub struct Lists {
    /// Start of each record's list in `inputs`, then the end of the last.
    pub starts: Vec<u32>,
    /// The concatenated features.
    pub inputs: Vec<Feature>,
}

impl Lists {
    /// Returns the active features of `records` that the network reads, for each of its views, the
    /// mover's first.
    pub fn by_view<'a>(
        architecture: Architecture,
        records: impl ExactSizeIterator<Item = &'a Record>,
    ) -> Vec<Lists> {
        let mut own = Lists {
            starts: Vec::with_capacity(records.len() + 1),
            inputs: Vec::with_capacity(records.len() * MAX_ACTIVE),
        };
        own.starts.push(0);
        for record in records {
            let inputs = features::active(record);
            own.inputs
                .extend(inputs.filter(|&input| architecture.features.contains(input)));
            own.starts.push(own.inputs.len() as u32);
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

    /// Returns an iterator over the records' lists.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &[Feature]> {
        let ends = self.starts.windows(2);
        ends.map(|ends| &self.inputs[ends[0] as usize..ends[1] as usize])
    }
}
