//! How far an unfinished build has come.

use serde::{Deserialize, Serialize};

use crate::input::PartOf;
use crate::reading::Checkpoint;
use crate::store::SourceEntry;
use crate::store::spill::Run;
use records::selection::{Filters, SourceCounts};

/// How far a build has come: all that is needed to go on with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuildProgress {
    pub(crate) filters: Filters,
    /// The sources, as they were given.
    pub(crate) names: Vec<String>,
    /// Which part of each is taken in, if not all.
    pub(crate) part: Option<PartOf>,
    /// How many of them are done with.
    pub(crate) done: usize,
    /// Those of them that were taken in.
    pub(crate) entries: Vec<SourceEntry>,
    /// The first of them that was not, or not to its end.
    pub(crate) failure: Option<SourceFailure>,
    /// What was counted so far in the one that is being read.
    pub(crate) tally: SourceCounts,
    /// Where that one goes on.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// Runs in the spill file.
    pub(crate) train: Vec<Run>,
    pub(crate) validation: Vec<Run>,
}

/// What was wrong with a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceFailure {
    pub(crate) message: String,
    pub(crate) exit_code: u8,
}

impl BuildProgress {
    pub(crate) fn new(filters: Filters, names: &[String], part: Option<PartOf>) -> BuildProgress {
        BuildProgress {
            filters,
            names: names.to_vec(),
            part,
            done: 0,
            entries: Vec::new(),
            failure: None,
            tally: SourceCounts::default(),
            checkpoint: None,
            train: Vec::new(),
            validation: Vec::new(),
        }
    }

    /// Whether both are of builds of the same sources with the same filters.
    pub(crate) fn is_of_same_command(&self, other: &BuildProgress) -> bool {
        (&self.names, self.part, &self.filters) == (&other.names, other.part, &other.filters)
    }

    /// Returns whether something was read.
    pub(crate) fn has_work(&self) -> bool {
        self.done > 0 || self.checkpoint.is_some() || !self.train.is_empty()
    }

    /// Names of its sources for a message.
    pub(crate) fn told(&self) -> String {
        match &self.names[..] {
            [] => "a merge".to_string(),
            [name] => name.clone(),
            [name, rest @ ..] => format!("{name} and {} more", rest.len()),
        }
    }

    /// Committed bytes of the spill file.
    pub(crate) fn spilled_bytes(&self) -> u64 {
        self.validation.last().map_or(0, Run::end)
    }

    pub(crate) fn checkpoint_mut(&mut self) -> Option<&mut Checkpoint> {
        self.checkpoint.as_mut()
    }

    pub(crate) fn carried_text(&self) -> &[u8] {
        self.checkpoint
            .as_ref()
            .map_or(&[], Checkpoint::carried_text)
    }
}
