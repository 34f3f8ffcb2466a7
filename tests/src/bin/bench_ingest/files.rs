//! Files of the benchmark: dumps, slice and dataset.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::Arguments;

/// Bytes of text for python-chess, which would take hours for the whole dump.
const SLICE_BYTES: usize = 2_000_000;

/// zstd level of the single-frame file, compressed on one thread.
const SINGLE_FRAME_LEVEL: &str = "12";

/// Files of a benchmark.
pub struct Files {
    /// Dump of many frames.
    pub dump: PathBuf,
    /// Size of the dump's text in bytes.
    pub text_bytes: u64,
    /// Same text in one frame.
    pub single_frame: Option<PathBuf>,
    /// Text of whole games from the beginning of the dump.
    pub slice: PathBuf,
    /// Size of the slice in bytes.
    pub slice_bytes: u64,
    /// Dataset that each run builds.
    pub dataset: PathBuf,
    /// Dataset of moves that each run builds.
    pub moves: PathBuf,
}

impl Files {
    /// Creates missing files.
    pub fn prepare(arguments: &Arguments) -> Result<Files> {
        let folder = folder()?;
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let (dump, single_frame) = match &arguments.dump {
            Some(dump) => (dump.clone(), arguments.single_frame.clone()),
            None => {
                let games = arguments.games.to_string();
                let dump = folder.join(format!("dump-{games}.pgn.zst"));
                let single = folder.join(format!("single-frame-{games}.pgn.zst"));
                generate(&dump, &["--games", &games])?;
                let level = ["--single-frame", "--level", SINGLE_FRAME_LEVEL];
                generate(&single, &[&["--games", &games], &level[..]].concat())?;
                (dump, Some(single))
            }
        };
        let slice = folder.join("slice.pgn");
        let (text_bytes, slice_bytes) = read_text(&dump, &slice)?;
        Ok(Files {
            dump,
            text_bytes,
            single_frame,
            slice,
            slice_bytes,
            dataset: folder.join("bench.dataset"),
            moves: folder.join("bench.moves"),
        })
    }

    /// Returns the JSON of `ingest stats` for a dataset.
    pub fn stats_of(dataset: &Path) -> Result<serde_json::Value> {
        let output = Command::new(program("ingest")?)
            .args([OsStr::new("stats"), OsStr::new("--json")])
            .arg(dataset)
            .stderr(Stdio::inherit())
            .output()?;
        ensure!(output.status.success(), "ingest stats: {}", output.status);
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// Returns the path of a program in this program's folder.
pub fn program(name: &str) -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    ensure!(
        path.exists(),
        "{} is missing: run `cargo build --release -p ingest -p tests`",
        path.display()
    );
    Ok(path)
}

/// Returns the folder `bench` in Cargo's target folder.
fn folder() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2);
    Ok(target.context("target/PROFILE/PROGRAM")?.join("bench"))
}

/// Generates a missing dump, in its own process: see [`tests::measure::Usage::peak_bytes`].
fn generate(path: &Path, arguments: &[&str]) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    eprintln!("making {}, which takes minutes", path.display());
    let unfinished = path.with_extension("part");
    let status = Command::new(program("generate_dump")?)
        .args(arguments)
        .arg("--out")
        .arg(&unfinished)
        .status()?;
    ensure!(status.success(), "generate_dump: {status}");
    std::fs::rename(&unfinished, path)?;
    Ok(())
}

/// Decompresses the dump once, which also brings it into the page cache. Writes whole games from
/// its beginning to `slice`; returns the bytes of the text and of the slice.
fn read_text(dump: &Path, slice: &Path) -> Result<(u64, u64)> {
    let mut zstd = Command::new("zstd")
        .arg("-dc")
        .arg(dump)
        .stdout(Stdio::piped())
        .spawn()
        .context("zstd, which this measures against")?;
    let mut text = zstd.stdout.take().context("zstd's output")?;
    let mut head = Vec::with_capacity(SLICE_BYTES);
    text.by_ref()
        .take(SLICE_BYTES as u64)
        .read_to_end(&mut head)?;
    let rest = std::io::copy(&mut text, &mut std::io::sink())?;
    ensure!(
        zstd.wait()?.success(),
        "zstd cannot read {}",
        dump.display()
    );
    let text_bytes = head.len() as u64 + rest;
    if rest > 0 {
        let last_game = head.windows(8).rposition(|bytes| bytes == b"\n[Event ");
        head.truncate(last_game.context("the dump does not begin with games")? + 1);
    }
    std::fs::File::create(slice)?.write_all(&head)?;
    Ok((text_bytes, head.len() as u64))
}
