//! `ingest copy`: a dataset from a folder to S3, or back.

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
Datasets are built and read in folders: build there, and copy the finished one. Each file
becomes an object; kibitz-dataset.json comes last and names them all with their SHA-256,
which is compared on the way back. So a dataset that is half copied is never taken for a
whole one. The same command goes on after an interruption: what is there already is
compared, and not sent again.

Who asks, and which server, say the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL. To write, the key must be allowed
s3:PutObject, s3:GetObject and s3:ListBucket.

Example:
  ingest copy june.dataset s3://datasets/june
  ingest copy s3://datasets/june june.dataset      # on another machine";

/// What a bar shows.
const BAR: &str = "{prefix} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, ETA {eta}";

/// What `ingest copy` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// A dataset, or a folder of all its shards; or s3://BUCKET/NAME
    from: PathBuf,
    /// s3://BUCKET/NAME; or a folder, which is made
    to: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was copied, as JSON tells it.
#[derive(Serialize)]
struct Report {
    /// JSON has no names that are not Unicode.
    from: String,
    to: String,
    #[serde(flatten)]
    copied: Copied,
}

/// Runs `ingest copy`.
///
/// # Errors
/// If not one of both is a URL, if there is no dataset or something else in its place, or
/// if one side cannot be read or the other not written.
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
    // What waits for a server is left to itself: no file, and no object, is there by half.
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

/// Shows how far the copy is. Progress begins with the first call.
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
