//! Datasets that can be trained on.

use std::path::Path;

use datasets::{Dataset, Split};

use crate::failure::Failure;

/// Opens a dataset that has a position to train on.
///
/// # Errors
/// [`Failure::Data`] or [`Failure::NoPositions`].
pub fn open_to_train_on(path: &Path) -> Result<Dataset, Failure> {
    let dataset = Dataset::open(path)?;
    if dataset.len(Split::Train) > 0 {
        Ok(dataset)
    } else {
        Err(Failure::NoPositions {
            path: path.to_path_buf(),
            split: "training",
        })
    }
}
