//! Statistics of a dataset as histograms, text and picture.

pub(crate) mod histogram;
pub(crate) mod moves;
pub(crate) mod plot;
pub(crate) mod reason;
pub(crate) mod summary;
pub(crate) mod table;
