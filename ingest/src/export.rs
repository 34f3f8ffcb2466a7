//! A sealed dataset in formats that other programs read.

pub(crate) mod bullet;
pub(crate) mod format;
pub(crate) mod output;
pub(crate) mod parquet;
pub(crate) mod summary;
pub(crate) mod text;
pub(crate) mod writer;
