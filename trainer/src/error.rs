//! Errors of the program, and their exit codes.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use datasets::StoreError;
use host::{Action, Exists, ExitCode, FileError};
use models::NetError;
use models::bullet::BulletError;
use thiserror::Error;

/// Error that ends the program. Each message is one line with the file or option and a remedy.
#[derive(Debug, Error)]
pub enum TrainerError {
    /// A command line that clap accepts but makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A file is missing or cannot be read.
    #[error("{path}: {error}; check the path", path = path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file holds no net that this build can use.
    #[error("{path}: net refused: {error}; give one that `trainer fit` wrote", path = path.display())]
    NetRefused {
        /// Path of the file.
        path: PathBuf,
        /// The reason.
        error: NetError,
    },
    /// bullet's format cannot hold a net, or a file is none of the given shape.
    #[error("{path}: net refused: {error}", path = path.display())]
    BulletRefused {
        /// Path of the net.
        path: PathBuf,
        /// The reason.
        error: BulletError,
    },
    /// A file is larger than any net.
    #[error(
        "{path}: net refused: more than {most} bytes, which no net has; check the path",
        path = path.display()
    )]
    NoNet {
        /// Path of the file.
        path: PathBuf,
        /// Size limit in bytes.
        most: u64,
    },
    /// A file holds no metrics of a run.
    #[error("{path}: no metrics of a run: {why}; give a net of `trainer fit` or its \
         NAME.metrics.jsonl", path = path.display())]
    NoMetrics {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        why: String,
    },
    /// A net's weights exceed training's bounds, so that the first step would change them.
    #[error(
        "{path}: cannot start from this net: layer {layer} has a weight or bias of {found}, \
         beyond training's bound of {most}; start from a net that `trainer fit` made",
        path = path.display()
    )]
    NotTrainable {
        /// Path of the file.
        path: PathBuf,
        /// Layer, counted from 0.
        layer: usize,
        /// Weight or bias beyond the bound.
        found: f32,
        /// Bound of the layer's weights and biases.
        most: f32,
    },
    /// A dataset or a PGN source cannot be used.
    #[error(transparent)]
    Data(#[from] datasets::Error),
    /// A dataset has no positions in a required split.
    #[error("{path}: no {split} positions; add games with `ingest build`", path = path.display())]
    NoPositions {
        /// Path of the dataset.
        path: PathBuf,
        /// Name of the empty split.
        split: &'static str,
    },
    /// PGN files hold no evaluations to measure against.
    #[error("{files}: no position has an evaluation; `ingest annotate` writes them")]
    NoLabels {
        /// Paths of the files, on one line.
        files: String,
    },
    /// No position has evaluations by all compared engines.
    #[error("nothing to compare: {why}")]
    NothingToCompare {
        /// Missing evaluations, and the remedy.
        why: String,
    },
    /// A file cannot be written.
    #[error("{path}: cannot write: {error}; {}", remedy(error), path = path.display())]
    Unwritable {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The requested device is missing or unusable.
    #[error("no device {device}: {found}; use --device cpu or --device auto")]
    NoDevice {
        /// Device name as on the command line.
        device: String,
        /// Reason for the refusal.
        found: String,
    },
    /// The device has less memory than training needs.
    #[error(
        "device {device} has {} MiB of memory, and training takes {} MiB; choose a smaller \
         --batch or fewer neurons",
        memory >> 20,
        needed >> 20
    )]
    TooLittleMemory {
        /// Device name as on the command line.
        device: String,
        /// Memory that training needs, in bytes.
        needed: u64,
        /// Memory of the device, in bytes.
        memory: u64,
    },
    /// A device or its driver failed during work.
    #[error(
        "device {device} failed: {what}; if it ran out of memory, choose a smaller --batch, \
         else update its driver or use --device cpu"
    )]
    DeviceFailed {
        /// Device name as on the command line.
        device: String,
        /// First error message.
        what: String,
    },
    /// A file that the run would write exists already.
    #[error(transparent)]
    Exists(#[from] Exists),
    /// A checkpoint is damaged or belongs to another run.
    #[error("{path}: cannot go on from it: {why}", path = path.display())]
    CheckpointRefused {
        /// Path of the checkpoint.
        path: PathBuf,
        /// Description of the problem, and the remedy.
        why: String,
    },
    /// A resumed run would overwrite another run's net.
    #[error(
        "{path}: not a net of the run in {checkpoint}, which would overwrite it; move it away",
        path = path.display(), checkpoint = checkpoint.display()
    )]
    OtherNet {
        /// Path of the net.
        path: PathBuf,
        /// Checkpoint of the resumed run.
        checkpoint: PathBuf,
    },
    /// A loss, gradient or weight is no longer finite.
    #[error(
        "training diverged: {what} at step {step} of epoch {epoch}, whose batch is in {batch}; \
         choose a lower --learning-rate and another --out; the best net so far, if any, and the \
         last checkpoint stay",
        batch = batch.display()
    )]
    Diverged {
        /// The non-finite value.
        what: String,
        /// Epoch, counted from 1.
        epoch: u64,
        /// Step in the epoch, counted from 1.
        step: u64,
        /// File with the step's positions, in the format of `ingest export --format text`.
        batch: PathBuf,
    },
    /// A signal asked the run to stop.
    #[error(
        "interrupted; the same command with --resume goes on from {checkpoint}",
        checkpoint = checkpoint.display()
    )]
    Interrupted {
        /// Checkpoint of the interrupted run.
        checkpoint: PathBuf,
        /// Exit code of the signal.
        exit_code: ExitCode,
    },
    /// A signal stopped work that cannot be resumed.
    #[error("interrupted; no file was written")]
    Stopped {
        /// Exit code of the signal.
        exit_code: ExitCode,
    },
}

impl TrainerError {
    /// Returns the exit code.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            TrainerError::Usage(_) => ExitCode::Usage,
            TrainerError::Unreadable { .. } => ExitCode::Missing,
            TrainerError::Data(error) => error.exit_code(),
            TrainerError::NoPositions { .. }
            | TrainerError::Exists(_)
            | TrainerError::CheckpointRefused { .. }
            | TrainerError::OtherNet { .. } => ExitCode::Refused,
            TrainerError::NoMetrics { .. }
            | TrainerError::NoLabels { .. }
            | TrainerError::NothingToCompare { .. } => ExitCode::Damaged,
            TrainerError::NetRefused { .. }
            | TrainerError::BulletRefused { .. }
            | TrainerError::NoNet { .. }
            | TrainerError::NotTrainable { .. } => ExitCode::Net,
            TrainerError::Unwritable { .. } => ExitCode::Write,
            TrainerError::NoDevice { .. }
            | TrainerError::TooLittleMemory { .. }
            | TrainerError::DeviceFailed { .. } => ExitCode::NoDevice,
            TrainerError::Diverged { .. } => ExitCode::Diverged,
            TrainerError::Interrupted { exit_code, .. } | TrainerError::Stopped { exit_code } => {
                *exit_code
            }
        }
    }

    /// Returns a function that wraps a read error of `path`.
    pub fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> TrainerError {
        let path = path.to_path_buf();
        move |error| TrainerError::Unreadable { path, error }
    }

    /// Returns a function that wraps a write error of `path`.
    pub fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> TrainerError {
        let path = path.to_path_buf();
        move |error| TrainerError::Unwritable { path, error }
    }
}

impl From<StoreError> for TrainerError {
    fn from(error: StoreError) -> TrainerError {
        TrainerError::Data(error.into())
    }
}

impl From<FileError> for TrainerError {
    fn from(error: FileError) -> TrainerError {
        let to = match error.action {
            Action::Read => |path, error| TrainerError::Unreadable { path, error },
            Action::Write => |path, error| TrainerError::Unwritable { path, error },
        };
        to(error.path, error.source)
    }
}

/// Returns the remedy for a file that cannot be written.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "make its folder first, or choose another",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room, or choose another folder",
        _ => "choose another place",
    }
}
