//! Why the program stopped, and with which exit code.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use host::{Action, Exists, ExitCode, FileError};
use models::NetError;
use thiserror::Error;

/// Everything that can end a run. Each message is one line that names the
/// file and says what to do.
#[derive(Debug, Error)]
pub enum TrainerError {
    /// A command line that clap takes, but nobody can mean.
    #[error("{0}")]
    Usage(String),
    /// A net's file is missing or may not be read.
    #[error("{path}: {error}; check the path", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A net's file holds no net this build can use.
    #[error("{path}: net refused: {error}; give one that `trainer fit` wrote", path = path.display())]
    NetRefused {
        /// The file.
        path: PathBuf,
        /// Why.
        error: NetError,
    },
    /// A file is larger than any net.
    #[error(
        "{path}: net refused: more than {most} bytes, which no net has; check the path",
        path = path.display()
    )]
    NoNet {
        /// The file.
        path: PathBuf,
        /// The most that is read.
        most: u64,
    },
    /// A file is not what a run leaves in figures.
    #[error("{path}: no metrics of a run: {why}; give a net of `trainer fit` or its \
         NAME.metrics.jsonl", path = path.display())]
    NoMetrics {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A net that training would change before its first step.
    #[error(
        "{path}: cannot start from this net: a number of layer {layer} is {found}, and training \
         keeps them within {most} of zero; start from a net that `trainer fit` made",
        path = path.display()
    )]
    NotTrainable {
        /// The file.
        path: PathBuf,
        /// The layer, counted from 0.
        layer: usize,
        /// The weight or bias.
        found: f32,
        /// How far from zero training lets it be.
        most: f32,
    },
    /// A dataset or a PGN source cannot be used.
    #[error(transparent)]
    Data(#[from] datasets::Error),
    /// A dataset has no position to train on or to evaluate.
    #[error("{path}: no {split} positions; add games with `ingest build`", path = path.display())]
    NoPositions {
        /// The dataset.
        path: PathBuf,
        /// Which of its two sides is empty.
        split: &'static str,
    },
    /// PGN files hold no evaluation to measure against.
    #[error("{files}: no position has an evaluation; `ingest annotate` writes them")]
    NoLabels {
        /// The files, as one line has them.
        files: String,
    },
    /// No position is evaluated by all that are compared.
    #[error("nothing to compare: {why}")]
    NothingToCompare {
        /// Who lacks what, and what to do.
        why: String,
    },
    /// A file cannot be written.
    #[error("{path}: cannot write: {error}; {}", remedy(error), path = path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The device asked for is not there, or cannot be used.
    #[error("no device {device}: {found}; use --device cpu or --device auto")]
    NoDevice {
        /// The device, as the command line names it.
        device: String,
        /// What was found instead.
        found: String,
    },
    /// The device has less memory than training takes.
    #[error(
        "device {device} has {} MiB of memory, and training takes {} MiB; choose a smaller \
         --batch or fewer neurons",
        memory >> 20,
        needed >> 20
    )]
    TooLittleMemory {
        /// The device, as the command line names it.
        device: String,
        /// Memory that training takes, in bytes.
        needed: u64,
        /// Memory of the device, in bytes.
        memory: u64,
    },
    /// A device, or its driver, failed in the middle of its work.
    #[error(
        "device {device} failed: {what}; if it ran out of memory, choose a smaller --batch, \
         else update its driver or use --device cpu"
    )]
    DeviceFailed {
        /// The device, as the command line names it.
        device: String,
        /// What it said first.
        what: String,
    },
    /// The net, or another file that the run would write, is there already.
    #[error(transparent)]
    Exists(#[from] Exists),
    /// A checkpoint is damaged, or that of another run.
    #[error("{path}: cannot go on from it: {why}", path = path.display())]
    CheckpointRefused {
        /// The checkpoint.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// Another net lies where a run that goes on has its own.
    #[error(
        "{path}: is no net of the run in {checkpoint}, which would write over it; move it away",
        path = path.display(), checkpoint = checkpoint.display()
    )]
    OtherNet {
        /// The net.
        path: PathBuf,
        /// The checkpoint of the run.
        checkpoint: PathBuf,
    },
    /// Something that must be a finite number no longer is one.
    #[error(
        "training diverged: {what} at step {step} of epoch {epoch}, whose batch is in {batch}; \
         choose a lower --learning-rate and another --out; the best net so far, if any, and the \
         last checkpoint stay",
        batch = batch.display()
    )]
    Diverged {
        /// What became what.
        what: String,
        /// Counted from 1.
        epoch: u64,
        /// Counted from 1 in each epoch.
        step: u64,
        /// The positions of the step, as `ingest export --format text` writes
        /// them.
        batch: PathBuf,
    },
    /// A network did not learn one batch by heart.
    #[error(
        "not learned by heart: after {steps} steps the loss is {loss:.4}, not below {below}; \
         look at the network's gradient, or give it more --steps"
    )]
    NotByHeart {
        /// Steps that were taken.
        steps: u64,
        /// The loss of the last.
        loss: f32,
        /// What it was to be below.
        below: f32,
    },
    /// The user asked to stop.
    #[error(
        "interrupted; the same command with --resume goes on from {checkpoint}",
        checkpoint = checkpoint.display()
    )]
    Interrupted {
        /// Where the run stands.
        checkpoint: PathBuf,
        /// That of the signal.
        exit_code: ExitCode,
    },
}

impl TrainerError {
    /// The exit code.
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
            | TrainerError::NoNet { .. }
            | TrainerError::NotTrainable { .. } => ExitCode::Net,
            TrainerError::Unwritable { .. } => ExitCode::Write,
            TrainerError::NoDevice { .. }
            | TrainerError::TooLittleMemory { .. }
            | TrainerError::DeviceFailed { .. } => ExitCode::NoDevice,
            TrainerError::Diverged { .. } => ExitCode::Diverged,
            TrainerError::NotByHeart { .. } => ExitCode::Other,
            TrainerError::Interrupted { exit_code, .. } => *exit_code,
        }
    }

    /// Turns a read error of `path` into a failure.
    pub fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> TrainerError {
        let path = path.to_path_buf();
        move |error| TrainerError::Unreadable { path, error }
    }

    /// Turns a write error of `path` into a failure.
    pub fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> TrainerError {
        let path = path.to_path_buf();
        move |error| TrainerError::Unwritable { path, error }
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

/// What to do about a file that cannot be written.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "make its folder first, or choose another",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room, or choose another folder",
        _ => "choose another place",
    }
}
