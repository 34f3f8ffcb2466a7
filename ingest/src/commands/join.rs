//! `ingest join`: joins the annotated parts of a source into one file.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use host::{StopSignal, thousands};

use crate::annotate::join;
use crate::commands::annotate::{is_compressed, tell};
use crate::terminal::progress::{Progress, Unit};
use crate::terminal::stopped::Stopped;

const HELP: &str = "\
The output equals an annotation of the whole source, whatever the order of the parts.
Give every part of one source exactly once, all made with the same settings (recorded in
FILE.json beside each). An interrupted join starts over.

Example:
  ingest annotate june.pgn.zst --part 1/2 --net embedded --nodes 100 --out a.pgn.zst   # on one machine
  ingest annotate june.pgn.zst --part 2/2 --net embedded --nodes 100 --out b.pgn.zst   # on another
  ingest join a.pgn.zst b.pgn.zst --out annotated.pgn.zst";

/// Arguments of `ingest join`.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Outputs of `ingest annotate --part`, with FILE.json beside each
    #[arg(required = true, value_name = "FILE")]
    parts: Vec<PathBuf>,
    /// All games: compressed, or plain text if the name ends with .pgn
    #[arg(short, long, value_name = "FILE.pgn[.zst]")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs `ingest join`.
///
/// # Errors
/// If the parts are not all parts of one source, or the output is refused or cannot be written.
pub fn run(arguments: &Arguments) -> Result<()> {
    let out = &arguments.out;
    let compressed = is_compressed(out)?;
    let stop = StopSignal::listen()?;
    let parts = join::open(&arguments.parts)?;
    let total = parts.iter().map(join::Part::bytes).sum();
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let mut progress = Progress::new(&name, Unit::Bytes, Some(total), 0);
    let record = join::join(&parts, out, compressed, |done| {
        if stop.is_asked() {
            bail!(Stopped::for_now(&stop));
        }
        progress.show(done, |_| String::new());
        Ok(())
    })?;
    progress.finish(&format!(
        "{} games",
        thousands(record.done.counts.tally.games)
    ));
    tell(out, &record, None, arguments.json)
}
