//! Manifest of a dataset.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::source::{DigestNode, PartOf, hex};
use crate::store::format_version::FORMAT_VERSION;
use crate::store::sources;
use crate::store::{SourceEntry, StoreError};
use records::position::Kind;
use records::selection::{Filters, SourceCounts};

/// Numbers of distinct positions in the sealed dataset; in a dataset of moves, of moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Training positions.
    pub positions_train: u64,
    /// Positions of held-out games.
    pub positions_validation: u64,
    /// Positions on both sides of the split, counted as training.
    pub seen_on_both_sides: u64,
    /// Labels joined with another of the same position. In a dataset of moves, those equal to
    /// another, or beyond [`Row::MOST`](records::position::Row::MOST) of a position.
    pub duplicates_merged: u64,
    /// With `max_positions`, labels that were joined or lie beyond the limit. The two cannot be
    /// separated, as dropped positions are not compared, and `duplicates_merged` is 0.
    pub merged_or_beyond_cap: u64,
}

/// Shard of a dataset, held by a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Number of the shard.
    #[serde(flatten)]
    pub part: PartOf,
    /// Positions for training, of held-out games, and on both sides of the split.
    pub records: [u64; 3],
    /// Digests of these sets over the shard's key ranges, if a merge made it. The manifest then has
    /// neither counts nor fingerprint, which need all shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nodes: Option<[Vec<DigestNode>; 3]>,
}

/// Provenance and counters of a dataset. Equal input gives an equal manifest, in any order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u64,
    /// Program that sealed it, with its version.
    pub tool: String,
    /// Kind of the dataset, by its rows.
    #[serde(default, skip_serializing_if = "is_of_evaluations")]
    pub kind: Kind,
    /// Filters applied to all sources.
    pub filters: Filters,
    /// Number of the sealed generation of column families.
    pub generation: u64,
    /// SHA-256 over the sealed records, by key ranges, hexadecimal.
    pub fingerprint: String,
    /// Numbers of distinct positions.
    pub counts: Counts,
    /// Games, labels and skipped items: the sum over the sources.
    pub tally: SourceCounts,
    /// All sources, ordered by digest.
    pub sources: Vec<SourceEntry>,
    /// Shard in this folder, `None` for all data. The other fields describe the whole dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

fn is_of_evaluations(kind: &Kind) -> bool {
    *kind == Kind::Evaluations
}

impl Manifest {
    /// Creates the manifest of an empty dataset.
    pub(crate) fn new(kind: Kind, filters: Filters) -> Manifest {
        Manifest {
            format_version: FORMAT_VERSION,
            tool: Manifest::this_tool(),
            kind,
            filters,
            generation: 0,
            fingerprint: String::new(),
            counts: Counts::default(),
            tally: SourceCounts::default(),
            sources: Vec::new(),
            shard: None,
        }
    }

    /// Checks that the dataset at `path` is of a kind.
    ///
    /// # Errors
    /// [`StoreError::OtherKind`].
    pub(crate) fn check_kind(&self, kind: Kind, path: &Path) -> Result<(), StoreError> {
        match self.kind == kind {
            true => Ok(()),
            false => Err(StoreError::OtherKind {
                path: path.to_path_buf(),
                found: self.kind,
                wanted: kind,
            }),
        }
    }

    /// Returns this program's name and version.
    pub(crate) fn this_tool() -> String {
        format!("kibitz {}", env!("CARGO_PKG_VERSION"))
    }

    /// Returns the manifest as if the dataset had been built at once: without the generation.
    pub(crate) fn of_one_go(&self) -> Manifest {
        Manifest {
            generation: 0,
            ..self.clone()
        }
    }

    /// Number of records in the folder's sets, in the order of `Set::ALL`.
    pub(crate) fn set_records(&self) -> [u64; 3] {
        let counts = &self.counts;
        let all = [
            counts.positions_train,
            counts.positions_validation,
            counts.seen_on_both_sides,
        ];
        self.shard.as_ref().map_or(all, |shard| shard.records)
    }

    /// Sets counts and fingerprint from the sets, in the order of `Set::ALL`. `None` if there are
    /// more positions than labels.
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

    /// Adds new sources.
    ///
    /// # Errors
    /// [`StoreError::UnfitParts`].
    pub(crate) fn add_sources(
        &mut self,
        entries: impl IntoIterator<Item = SourceEntry>,
    ) -> Result<(), StoreError> {
        let sources = std::mem::take(&mut self.sources);
        self.sources = sources::union(sources.into_iter().chain(entries))?;
        self.tally = SourceCounts::default();
        for source in &self.sources {
            self.tally.add(&source.tally);
        }
        Ok(())
    }
}
