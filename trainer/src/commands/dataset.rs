//! Opening of datasets for training.

use std::path::Path;

use datasets::{Dataset, Split};

use crate::error::TrainerError;

/// Opens a dataset with at least one training position.
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
