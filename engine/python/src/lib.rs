//! The Python package `kibitz`: it reads datasets into numpy arrays, evaluates positions and
//! searches them. `docs/python.md` shows how it is used, `kibitz.pyi` lists all of it.
//!
//! It stands beside `engine/web`, the other way into the engine for another language, and
//! above all crates that it uses. It is a workspace of its own, so that nobody who builds
//! Kibitz compiles PyO3.

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

    /// The inputs of a net that are on in a position, ascending, as the side to move sees them.
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

/// What is wrong with an argument.
fn value_error(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What is wrong with a file.
fn os_error(error: impl ToString) -> PyErr {
    PyOSError::new_err(error.to_string())
}
