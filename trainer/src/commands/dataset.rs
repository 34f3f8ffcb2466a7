//! Opening of datasets for training.

use std::path::Path;

use datasets::{Dataset, Record, Row, Split};

use crate::error::TrainerError;

/// Opens a dataset with at least one training position.
pub fn open_to_train_on(path: &Path) -> Result<Dataset, TrainerError> {
    open_rows_to_train_on::<Record>(path)
}

/// Opens a dataset of either kind with at least one training row.
pub fn open_rows_to_train_on<R: Row>(path: &Path) -> Result<Dataset<R>, TrainerError> {
    let dataset = Dataset::open_rows(path)?;
    if dataset.len(Split::Train) > 0 {
        Ok(dataset)
    } else {
        Err(TrainerError::NoPositions {
            path: path.to_path_buf(),
            split: "training",
        })
    }
}
