//! Dataset on disk: sorted, deduplicated records in blocks, stored in RocksDB.

mod blocks;
mod build_progress;
mod builder;
mod database;
mod dataset;
mod error;
mod folder;
mod format_version;
mod holding;
mod manifest;
mod merge;
mod ranges;
mod set;
mod shards;
mod sources;
mod spill;

pub use builder::{Builder, Unfinished};
pub use dataset::{AnyDataset, Dataset, Shuffled};
pub use error::StoreError;
pub use format_version::FORMAT_VERSION;
pub use manifest::{Counts, Manifest, Shard};
pub use shards::{merge_shard, shard};
pub use sources::{PartEntry, SourceEntry};
