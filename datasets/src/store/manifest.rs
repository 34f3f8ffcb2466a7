//! What a dataset says about itself.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::input::{Node, PartOf, hex};
use crate::store::SourceEntry;
use crate::store::sources;
use records::selection::{Filters, SourceCounts};

/// The version of the on-disk format: record, keys, blocks and manifest.
pub const FORMAT_VERSION: u64 = 5;

/// The oldest version that is added to. It has fingerprints of another kind, and the
/// dataset gets a new one. The version before has other digests of sources too: one
/// that is there already would not be known.
pub const ADDED_VERSION: u64 = 4;

/// The oldest version that is read.
pub const OLDEST_VERSION: u64 = 3;

/// How many distinct positions the sealed dataset holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Positions to train on.
    pub positions_train: u64,
    /// Positions of held-out games.
    pub positions_validation: u64,
    /// Positions seen on both sides: they count for training.
    pub seen_on_both_sides: u64,
    /// Labels that were joined with another of the same position.
    pub duplicates_merged: u64,
    /// With a cap on positions, the labels that were joined with another or
    /// lie beyond the cap: which of the two cannot be told of positions that
    /// were not kept, and `duplicates_merged` is 0.
    pub merged_or_beyond_cap: u64,
}

/// Which shard of a dataset a folder holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which of them.
    #[serde(flatten)]
    pub part: PartOf,
    /// Its positions to train on, those of held-out games, and those seen on both sides.
    pub records: [u64; 3],
    /// The digests of these sets over its ranges of keys, if a merge made it: then the
    /// manifest has neither counts nor fingerprint, which only all shards together have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nodes: Option<[Vec<Node>; 3]>,
}

/// Provenance and counters of a dataset. Equal input gives an equal manifest,
/// in whatever order it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u64,
    /// The program that sealed it, with its version.
    pub tool: String,
    /// The filters all sources went through.
    pub filters: Filters,
    /// Which set of column families is the sealed one.
    pub generation: u64,
    /// SHA-256 over the sealed records, by ranges of keys, hexadecimal.
    pub fingerprint: String,
    /// Final counts.
    pub counts: Counts,
    /// Sum of the sources' tallies.
    pub tally: SourceCounts,
    /// Every source, ordered by digest.
    pub sources: Vec<SourceEntry>,
    /// Which shard of it the folder holds, if not all. All else is the whole dataset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl Manifest {
    /// The manifest of a dataset without data.
    pub(crate) fn new(filters: Filters) -> Manifest {
        Manifest {
            format_version: FORMAT_VERSION,
            tool: Manifest::this_tool(),
            filters,
            generation: 0,
            fingerprint: String::new(),
            counts: Counts::default(),
            tally: SourceCounts::default(),
            sources: Vec::new(),
            shard: None,
        }
    }

    /// This program, with its version.
    pub(crate) fn this_tool() -> String {
        format!("kibitz {}", env!("CARGO_PKG_VERSION"))
    }

    /// The same of a dataset that was made in one go: nothing tells how often something
    /// was added.
    pub(crate) fn of_one_go(&self) -> Manifest {
        Manifest {
            generation: 0,
            ..self.clone()
        }
    }

    /// Records that the folder has of each set, in the order of `Set::ALL`.
    pub(crate) fn set_records(&self) -> [u64; 3] {
        let counts = &self.counts;
        let all = [
            counts.positions_train,
            counts.positions_validation,
            counts.seen_on_both_sides,
        ];
        self.shard.as_ref().map_or(all, |shard| shard.records)
    }

    /// Notes what is sealed: records and digests of the sets, in the order of
    /// `Set::ALL`. `None` if there are more positions than labels.
    #[must_use]
    pub(crate) fn seal(&mut self, records: [u64; 3], digests: &[String; 3]) -> Option<()> {
        let rest = self.tally.labels.checked_sub(records.iter().sum())?;
        let capped = self.filters.max_positions.is_some();
        let [train, validation, shadowed] = records;
        self.counts = Counts {
            positions_train: train,
            positions_validation: validation,
            seen_on_both_sides: shadowed,
            duplicates_merged: if capped { 0 } else { rest },
            merged_or_beyond_cap: if capped { rest } else { 0 },
        };
        self.fingerprint = hex(&Sha256::digest(digests.concat()));
        Some(())
    }

    /// Adds sources, those that are not there.
    ///
    /// # Errors
    /// [`Error::UnfitParts`].
    pub(crate) fn add_sources(
        &mut self,
        entries: impl IntoIterator<Item = SourceEntry>,
    ) -> Result<(), Error> {
        let sources = std::mem::take(&mut self.sources);
        self.sources = sources::union(sources.into_iter().chain(entries))?;
        self.tally = SourceCounts::default();
        for source in &self.sources {
            self.tally.add(&source.tally);
        }
        Ok(())
    }
}
