//! Datasets that can be trained on.

use std::path::Path;

use datasets::{Dataset, Split};

use crate::error::TrainerError;

/// Opens a dataset that has a position to train on.
///
/// # Errors
/// [`TrainerError::Data`] or [`TrainerError::NoPositions`].
pub fn open_to_train_on(path: &Path) -> Result<Dataset, TrainerError> {
    let dataset = Dataset::open(path)?;
    if dataset.len(Split::Train) > 0 {
        Ok(dataset)
    } else {
        Err(TrainerError::NoPositions {
            path: path.to_path_buf(),
            split: "training",
        })
    }
}
