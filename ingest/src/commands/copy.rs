//! `ingest copy`: copies a dataset from a folder to S3, or back.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, bail};
use clap::Args;
use clap::error::ErrorKind;
use datasets::{Copied, S3_SCHEME};
use host::{Form, Progress, StopSignal};
use serde::Serialize;

use crate::terminal::stopped::Stopped;

const HELP: &str = "\
Datasets are built and read in folders: build there, then copy the finished one. Each file
becomes an object; kibitz-dataset.json, written last, lists them all with their SHA-256,
which is checked on the way back, so a partial copy is never taken for a whole dataset.
The same command resumes after an interruption: files already there are compared, not
sent again.

Credentials and server come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL. Writing needs the permissions
s3:PutObject, s3:GetObject and s3:ListBucket.

Example:
  ingest copy june.dataset s3://datasets/june
  ingest copy s3://datasets/june june.dataset      # on another machine";

/// Template of the progress bar.
const BAR: &str = "{prefix} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, ETA {eta}";

/// Arguments of `ingest copy`.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Dataset, or folder of all its shards; or s3://BUCKET/NAME
    from: PathBuf,
    /// s3://BUCKET/NAME; or a folder, which is created
    to: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// JSON report of a copy.
#[derive(Serialize)]
struct Report {
    /// Path or URL, lossy: JSON cannot hold paths that are not Unicode.
    from: String,
    to: String,
    #[serde(flatten)]
    copied: Copied,
}

/// Runs `ingest copy`.
///
/// # Errors
/// If not exactly one side is a URL, if the source is not a dataset, if the target holds something
/// else, or if a side cannot be read or written.
pub fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { from, to, json } = arguments;
    let is_up = match [from, to].map(|place| is_remote(place)) {
        [false, true] => true,
        [true, false] => false,
        _ => bail!(clap::Error::raw(
            ErrorKind::ValueValidation,
            format!("one of FROM and TO must be a folder, the other {S3_SCHEME}BUCKET/NAME\n"),
        )),
    };
    let stop = StopSignal::listen()?;
    let progress = Arc::new(Mutex::new(None));
    let work = {
        let (from, to, progress) = (from.clone(), to.clone(), Arc::clone(&progress));
        move || {
            let name = to.display().to_string();
            let watch = |done, all| show(&progress, &name, done, all);
            match is_up {
                true => datasets::upload(&from, &name, &watch),
                false => datasets::download(&from.to_string_lossy(), &to, &watch),
            }
        }
    };
    // An abandoned request is harmless: files and objects appear only when complete.
    let copied = host::unless_stopped(stop.flag(), work);
    let shown = progress
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    drop(shown);
    let copied = copied.ok_or_else(|| Stopped::for_now(&stop))??;
    let [from, to] = [from, to].map(|place| place.display().to_string());
    Ok(host::print(&match json {
        true => serde_json::to_string_pretty(&Report { from, to, copied })? + "\n",
        false => format!("{to}: {}\n", summary(&copied)),
    })?)
}

fn is_remote(place: &Path) -> bool {
    place.to_string_lossy().starts_with(S3_SCHEME)
}

/// Shows the progress; the first call starts the display.
fn show(progress: &Mutex<Option<Progress>>, name: &str, done: u64, all: u64) {
    let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
    let progress = progress.get_or_insert_with(|| Progress::new(BAR, Some(all), 0).named(name));
    let mega = |bytes| bytes as f64 / 1e6;
    let rate = mega(done) / progress.seconds().max(1e-3);
    progress.show(done, |form| match form {
        Form::Bar => String::new(),
        Form::Line { left } => {
            let eta = left.map(|left| format!(", ETA {:.0} s", left.as_secs_f64()));
            let (done, all) = (mega(done), mega(all));
            format!(
                "{name}: {done:.1} of {all:.1} MB, {rate:.1} MB/s{}",
                eta.unwrap_or_default()
            )
        }
    });
}

fn summary(copied: &Copied) -> String {
    let Copied {
        files,
        bytes,
        files_there,
        bytes_there,
    } = copied;
    let there = match files_there {
        0 => String::new(),
        _ => format!(", {files_there} of them ({bytes_there} bytes) there already"),
    };
    format!("{files} files, {bytes} bytes{there}")
}
