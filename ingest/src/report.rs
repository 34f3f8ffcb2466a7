//! What is in a dataset: the histograms, the text, the picture.

pub(crate) mod histogram;
pub(crate) mod plot;
pub(crate) mod reason;
pub(crate) mod summary;
pub(crate) mod table;
