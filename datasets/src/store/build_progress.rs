//! Progress of an unfinished build.

use serde::{Deserialize, Serialize};

use crate::reading::ResumePoint;
use crate::source::PartOf;
use crate::store::SourceEntry;
use crate::store::spill::Run;
use records::position::Kind;
use records::selection::{Filters, SourceCounts};

/// Progress of a build: everything needed to resume it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuildProgress {
    #[serde(default)]
    pub(crate) kind: Kind,
    pub(crate) filters: Filters,
    /// Identities of the sources.
    pub(crate) names: Vec<String>,
    /// The part to read of each source; `None` for whole sources.
    pub(crate) part: Option<PartOf>,
    /// Number of finished sources.
    pub(crate) done: usize,
    /// Entries of the sources that were added.
    pub(crate) entries: Vec<SourceEntry>,
    /// First failure of a source.
    pub(crate) failure: Option<SourceFailure>,
    /// Counts of the current source so far.
    pub(crate) tally: SourceCounts,
    /// Resume point in the current source.
    pub(crate) checkpoint: Option<ResumePoint>,
    /// Runs in the spill file.
    pub(crate) train: Vec<Run>,
    pub(crate) validation: Vec<Run>,
}

/// Failure of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceFailure {
    pub(crate) message: String,
    pub(crate) exit_code: u8,
}

impl BuildProgress {
    pub(crate) fn new(
        kind: Kind,
        filters: Filters,
        names: &[String],
        part: Option<PartOf>,
    ) -> BuildProgress {
        BuildProgress {
            kind,
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

    /// Returns whether both are of the same kind, of the same sources with the same filters.
    pub(crate) fn is_of_same_command(&self, other: &BuildProgress) -> bool {
        (self.kind, &self.names, self.part, &self.filters)
            == (other.kind, &other.names, other.part, &other.filters)
    }

    /// Returns whether anything was read.
    pub(crate) fn has_work(&self) -> bool {
        self.done > 0 || self.checkpoint.is_some() || !self.train.is_empty()
    }

    /// Names of the sources, for messages.
    pub(crate) fn source_list(&self) -> String {
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

    pub(crate) fn checkpoint_mut(&mut self) -> Option<&mut ResumePoint> {
        self.checkpoint.as_mut()
    }

    pub(crate) fn carried_text(&self) -> &[u8] {
        self.checkpoint
            .as_ref()
            .map_or(&[], ResumePoint::carried_text)
    }
}
