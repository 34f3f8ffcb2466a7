//! Datasets, and iteration over their positions in batches.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use datasets::{Record, Split, StoreError};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::batch::Batch;
use crate::{os_error, value_error};

create_exception!(
    kibitz,
    DatasetError,
    PyException,
    "A dataset is missing, damaged or of another version."
);

/// Groups of records read ahead, each of 65,536 at most.
const AHEAD: usize = 2;

/// A sealed dataset, opened for reading.
#[pyclass(frozen, module = "kibitz")]
pub struct Dataset {
    dataset: Arc<datasets::Dataset>,
}

#[pymethods]
impl Dataset {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Dataset> {
        let dataset = py.detach(|| datasets::Dataset::open(&path));
        Ok(Dataset {
            dataset: Arc::new(dataset.map_err(dataset_error)?),
        })
    }

    /// Fingerprint: SHA-256 over the positions. Equal data have equal fingerprints.
    #[getter]
    fn fingerprint(&self) -> &str {
        self.dataset.fingerprint()
    }

    /// Manifest: filters, counts, sources.
    #[getter]
    fn manifest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = serde_json::to_string(self.dataset.manifest()).map_err(value_error)?;
        py.import("json")?.call_method1("loads", (text,))
    }

    /// Returns the number of positions of a split.
    #[pyo3(signature = (split = "train"))]
    fn count(&self, split: &str) -> PyResult<u64> {
        Ok(self.dataset.len(split_named(split)?))
    }

    /// Iterates once over the positions of a split, in batches. With a seed they are shuffled: the
    /// same seed and epoch give the same order. Without one they come in the order of the dataset.
    #[pyo3(signature = (split = "train", size = 4096, *, seed = None, epoch = 0))]
    fn batches(
        &self,
        split: &str,
        size: usize,
        seed: Option<u64>,
        epoch: u64,
    ) -> PyResult<Batches> {
        let split = split_named(split)?;
        if size == 0 {
            return Err(value_error("a batch needs at least one position"));
        }
        let (sender, groups) = sync_channel(AHEAD);
        let dataset = self.dataset.clone();
        let read = move || match seed {
            Some(seed) => send(dataset.shuffled(split, seed, epoch), &sender),
            None => send(dataset.blocks(split), &sender),
        };
        thread::Builder::new().spawn(read).map_err(os_error)?;
        Ok(Batches {
            size,
            rest: Mutex::new(Rest {
                groups,
                records: Vec::new(),
                taken: 0,
            }),
        })
    }

    fn __repr__(&self) -> String {
        let [train, validation] =
            [Split::Train, Split::Validation].map(|split| self.dataset.len(split));
        format!("<kibitz.Dataset: {train} positions to train on, {validation} held out>")
    }
}

fn split_named(name: &str) -> PyResult<Split> {
    match name {
        "train" => Ok(Split::Train),
        "validation" => Ok(Split::Validation),
        _ => Err(value_error(format!(
            "the split {name:?} is neither \"train\" nor \"validation\""
        ))),
    }
}

fn dataset_error(error: StoreError) -> PyErr {
    DatasetError::new_err(error.to_string())
}

type Group = Result<Vec<Record>, StoreError>;

/// Sends groups of records until the receiver is dropped.
fn send(groups: Result<impl Iterator<Item = Group>, StoreError>, sender: &SyncSender<Group>) {
    match groups {
        Ok(mut groups) => {
            while let Some(group) = groups.next()
                && sender.send(group).is_ok()
            {}
        }
        Err(error) => _ = sender.send(Err(error)),
    }
}

/// Iterator of [`Dataset::batches`]. A reader thread reads ahead, and ends when this is dropped.
#[pyclass(frozen, module = "kibitz")]
pub struct Batches {
    size: usize,
    rest: Mutex<Rest>,
}

/// Positions that have not been returned.
struct Rest {
    groups: Receiver<Group>,
    /// Current group; the first `taken` records have been returned.
    records: Vec<Record>,
    taken: usize,
}

impl Rest {
    /// Returns the next records, at most `size`; none at the end.
    fn take(&mut self, size: usize) -> Group {
        let mut batch = Vec::with_capacity(size.min(1 << 16));
        loop {
            let left = &self.records[self.taken..];
            let wanted = left.len().min(size - batch.len());
            batch.extend_from_slice(&left[..wanted]);
            self.taken += wanted;
            if batch.len() == size {
                return Ok(batch);
            }
            match self.groups.recv() {
                Ok(group) => (self.records, self.taken) = (group?, 0),
                Err(_) => return Ok(batch),
            }
        }
    }
}

#[pymethods]
impl Batches {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let records = py.detach(|| {
            let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
            rest.take(self.size)
        });
        let records = records.map_err(dataset_error)?;
        Ok((!records.is_empty()).then(|| Batch::new(records)))
    }
}
