//! The Python package `kibitz`: reads datasets into numpy arrays, evaluates positions and searches
//! them. `docs/python.md` shows its use, `kibitz.pyi` lists its contents.
//!
//! The package is the counterpart of `engine/web` for Python, above all crates that it uses. It is
//! a separate workspace, so that building Kibitz does not compile PyO3.

mod batch;
mod dataset;
mod engine;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Datasets of chess positions as numpy arrays, evaluation and search.
#[pymodule(name = "kibitz")]
mod package {
    use ::engine::{features, parse_fen};
    use numpy::PyArray1;

    use super::*;

    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::dataset::{Batches, Dataset, DatasetError};
    #[pymodule_export]
    use crate::engine::{Engine, Line, Outcome};

    #[pymodule_export]
    const INPUTS: usize = models::INPUTS;
    #[pymodule_export]
    const MAX_ACTIVE: usize = models::MAX_ACTIVE;
    #[pymodule_export]
    const LAYOUT: &str = models::LAYOUT;

    /// Returns the active inputs of a position, ascending, from the side to move's point of view.
    #[pyfunction]
    fn inputs<'py>(py: Python<'py>, fen: &str) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let board = parse_fen(fen).map_err(value_error)?;
        let features = features(&board).into_iter();
        let mut indices: Vec<i32> = features.map(|feature| feature.index() as i32).collect();
        indices.sort_unstable();
        Ok(PyArray1::from_vec(py, indices))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Returns a ValueError for an invalid argument.
fn value_error(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns an OSError for an unreadable file.
fn os_error(error: impl ToString) -> PyErr {
    PyOSError::new_err(error.to_string())
}
