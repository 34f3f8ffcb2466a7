//! Batches of positions as numpy arrays, each built on request.

use datasets::{Month, Record};
use models::{Feature, INPUTS, MAX_ACTIVE};
use numpy::datetime::{Datetime, units::Months};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Positions with their labels, one a row.
#[pyclass(frozen, module = "kibitz")]
pub struct Batch {
    records: Vec<Record>,
}

impl Batch {
    /// Returns a batch of records.
    pub fn new(records: Vec<Record>) -> Batch {
        Batch { records }
    }

    fn column<'py, T: numpy::Element>(
        &self,
        py: Python<'py>,
        value: impl Fn(&Record) -> T,
    ) -> Bound<'py, PyArray1<T>> {
        PyArray1::from_iter(py, self.records.iter().map(value))
    }

    /// Returns the active inputs, a padded list for each position.
    fn lists<'py>(
        &self,
        py: Python<'py>,
        seen: impl Fn(Feature) -> Feature + Sync,
    ) -> PyResult<Bound<'py, PyArray2<i32>>> {
        let lists = py.detach(|| {
            let mut lists = vec![INPUTS as i32; self.records.len() * MAX_ACTIVE];
            let rows = lists.par_chunks_mut(MAX_ACTIVE);
            rows.zip(&self.records).for_each(|(row, record)| {
                for (place, feature) in row.iter_mut().zip(features::active(record)) {
                    *place = seen(feature).index() as i32;
                }
            });
            lists
        });
        PyArray1::from_vec(py, lists).reshape([self.records.len(), MAX_ACTIVE])
    }
}

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.records.len()
    }

    fn __repr__(&self) -> String {
        format!("<kibitz.Batch: {} positions>", self.records.len())
    }

    /// The stored records, 32 bytes each: `uint8`, shape `(n, 32)`.
    #[getter]
    fn records<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let bytes = PyArray1::from_slice(py, Record::bytes_of(&self.records));
        bytes.reshape([self.records.len(), Record::BYTES])
    }

    /// Active inputs from the side to move's point of view: `int32`, shape `(n, MAX_ACTIVE)`. Rows
    /// are padded with `INPUTS`, which is not a valid input.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i32>>> {
        self.lists(py, |feature| feature)
    }

    /// Active inputs from the point of view of the side not to move.
    #[getter]
    fn opposing_inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i32>>> {
        self.lists(py, Feature::seen_by_other)
    }

    /// Labels from the side to move's point of view, `int16`: centipawns up to 30,000; mate in n
    /// moves is 32,000 - n, being mated n - 32,000.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i16>> {
        self.column(py, |r| r.label().seen_by(r.turn()).bullet_score())
    }

    /// Labels as win chances of the side to move, from -1 to 1: `float32`.
    #[getter]
    fn win_chances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        self.column(py, |r| features::win_chance(features::target_pawns(r)))
    }

    /// Results of the games for the side to move, `float32`: 1 won, 0 drawn, -1 lost, NaN
    /// unknown.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        self.column(py, |r| features::result(r).unwrap_or(f32::NAN))
    }

    /// White is to move: `bool`.
    #[getter]
    fn white_to_move<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.column(py, |r| r.turn().is_white())
    }

    /// Plies played before the position: `uint16`.
    #[getter]
    fn plies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        self.column(py, Record::ply)
    }

    /// Depths of the evaluations in plies, 0 if unknown: `uint8`.
    #[getter]
    fn depths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        self.column(py, Record::depth)
    }

    /// Months in which the games were played, NaT if unknown: `datetime64[M]`.
    #[getter]
    fn months<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<Datetime<Months>>> {
        self.column(py, |r| Datetime::from(since_1970(r.month())))
    }

    /// Returns the positions as FENs.
    fn fens(&self) -> Vec<String> {
        let fen = |record: &Record| {
            let mut fen = String::new();
            record.write_fen(&mut fen);
            fen
        };
        self.records.iter().map(fen).collect()
    }
}

/// Returns a month as numpy stores it: months since January 1970.
fn since_1970(month: Month) -> i64 {
    const NOT_A_TIME: i64 = i64::MIN;
    month.calendar().map_or(NOT_A_TIME, |(year, month)| {
        12 * (i64::from(year) - 1970) + i64::from(month) - 1
    })
}
