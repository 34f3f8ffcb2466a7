//! Export of a sealed dataset to formats of other programs.

pub(crate) mod bullet;
pub(crate) mod format;
pub(crate) mod output;
pub(crate) mod parquet;
pub(crate) mod summary;
pub(crate) mod text;
pub(crate) mod writer;
