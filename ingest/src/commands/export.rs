//! `ingest export`: writes a sealed dataset in a format of other programs.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use datasets::{Dataset, Record, Split, StoreError};
use host::{StopSignal, Threads, rate, thousands};

use crate::export::format::Format;
use crate::export::output::{self, Output};
use crate::export::summary::Summary;
use crate::export::writer::Writer;
use crate::terminal::progress::{Progress, Unit};
use crate::terminal::stopped::Stopped;

/// Blocks encoded together: 131,072 records, 4 MiB; one row group of Parquet.
const BATCH_BLOCKS: usize = 32;

const HELP: &str = "\
Formats (docs/export.md has every detail):

  bullet   ChessBoard of the crate bulletformat, bullet's native chess board:
           32 bytes, score and result from the side to move's view. It has no
           room for castling rights, en passant, ply, depth and month. Mate in
           n is a score of 32000 - n; an unknown result becomes a draw.
  viriformat
           a game of one move a position, as bullet's ViriBinpackLoader and
           the crate viriformat read it: 40 bytes, White's view. The move is
           legal and nothing more: it is NOT the best or the one played. Depth
           and month are lost. Mate in n plies is a score of 32000 - n; an
           unknown result becomes a draw.
  text     FEN | centipawns | 1.0, 0.5 or 0.0, all from White's view. Mate in n
           is 32000 - n; an unknown result is ?, a line that bullet's converter
           leaves out. `ingest build` reads it.
  parquet  columns fen, cp, mate, result, ply, month, depth, split; null is
           unknown. White's view.

This writes positions. `trainer export` writes a net, for other engines.

Positions come in the order of their hashes, a uniform shuffle. The file is
FILE.tmp until it is complete.

Example:
  ingest export june.dataset --format parquet --out june.parquet
  ingest export june.dataset --format bullet --split train --known-results --out june.bullet
  ingest export june.dataset --format text --out - | head";

/// Arguments of `ingest export`.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The dataset
    dataset: PathBuf,
    /// Output format
    #[arg(long, value_enum)]
    format: Format,
    /// Output file, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Side of the split
    #[arg(long, value_enum, default_value_t = Side::All)]
    split: Side,
    /// Leave out positions of games without a known result
    #[arg(long)]
    known_results: bool,
    #[command(flatten)]
    threads: Threads,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Selection of splits.
#[derive(Clone, Copy, ValueEnum)]
enum Side {
    /// Positions to train on
    Train,
    /// Positions of held-out games
    Validation,
    /// Both, training positions first
    All,
}

impl Side {
    fn splits(self) -> &'static [Split] {
        match self {
            Side::Train => &[Split::Train],
            Side::Validation => &[Split::Validation],
            Side::All => &[Split::Train, Split::Validation],
        }
    }
}

/// Runs `ingest export`.
///
/// # Errors
/// If the dataset cannot be read, or the file cannot be written.
pub fn run(arguments: &Arguments) -> Result<()> {
    arguments.threads.apply();
    let to_stdout = output::is_stdout(&arguments.out);
    let special = std::fs::metadata(&arguments.out).is_ok_and(|out| !out.is_file());
    // A pipe may block, and leaves nothing to tidy up: let signals end the program.
    let stop = match to_stdout || special {
        true => StopSignal::default(),
        false => StopSignal::listen()?,
    };
    let dataset = Dataset::open(&arguments.dataset)?;
    if !to_stdout && !arguments.out.is_dir() {
        host::check_free(&arguments.out, arguments.force)?;
    }
    let summary = match export(&dataset, arguments, &stop) {
        // The reader of the pipe has ended.
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        outcome => outcome.map_err(|error| name_file(error, &arguments.out))?,
    };
    let text = if arguments.json {
        serde_json::to_string_pretty(&summary)? + "\n"
    } else {
        summary.text(&arguments.out)
    };
    if to_stdout {
        host::tell(text.trim_end());
        Ok(())
    } else {
        Ok(host::print(&text)?)
    }
}

/// Writes the export. Write errors are [`io::Error`]s, read errors [`StoreError`]s.
fn export(dataset: &Dataset, arguments: &Arguments, stop: &StopSignal) -> Result<Summary> {
    let splits = arguments.split.splits();
    let total = splits.iter().map(|&split| dataset.len(split)).sum();
    let name = arguments.out.display().to_string();
    let mut progress = Progress::new(&name, Unit::Positions, Some(total), 0);
    let mut done = 0;
    let mut summary = Summary::new(arguments.format);
    let mut output = Output::create(&arguments.out)?;
    let mut writer = Writer::new(arguments.format, &mut output, dataset.manifest())?;
    for &split in splits {
        let mut blocks = dataset.blocks(split)?;
        loop {
            if stop.is_asked() {
                bail!(Stopped::for_good(stop));
            }
            let batch = blocks.by_ref().take(BATCH_BLOCKS);
            let mut batch = batch.collect::<Result<Vec<_>, StoreError>>()?;
            if batch.is_empty() {
                break;
            }
            done += batch.iter().map(Vec::len).sum::<usize>() as u64;
            if arguments.known_results {
                summary.left_out += drop_unknown_results(&mut batch);
            }
            writer.write(split, &batch)?;
            summary.add(split, &batch);
            progress.show(done, |seconds| {
                format!("{} positions/s", rate(done as f64 / seconds))
            });
        }
    }
    writer.finish()?;
    summary.bytes = output.bytes;
    output.commit()?;
    progress.finish(&format!("{} positions", thousands(done)));
    Ok(summary)
}

/// Drops records of unknown result; returns how many.
fn drop_unknown_results(blocks: &mut [Vec<Record>]) -> u64 {
    let mut dropped = 0;
    for block in blocks {
        let before = block.len();
        block.retain(|record| record.result().is_some());
        dropped += (before - block.len()) as u64;
    }
    dropped
}

/// Returns whether the error, or a cause of it, is a broken pipe.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}

/// Adds the path to a write error.
fn name_file(error: anyhow::Error, path: &Path) -> anyhow::Error {
    match error.downcast::<io::Error>() {
        Ok(error) if output::is_stdout(path) => {
            StoreError::unwritable(Path::new("standard output"))(error).into()
        }
        Ok(error) => StoreError::unwritable(path)(error).into(),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use datasets::{GameResult, Label, Month, Origin, Record};
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    use crate::export::{bullet, text};

    fn record(fen: &str, label: Label, origin: Origin) -> Record {
        let fen: Fen = fen.parse().unwrap();
        Record::new(
            &fen.into_position(CastlingMode::Standard).unwrap(),
            label,
            origin,
        )
    }

    /// Encodings of the rows shown in `docs/export.md`.
    #[test]
    fn worked_examples_of_the_documentation() {
        let document = include_str!("../../../docs/export.md");
        let origin = Origin {
            result: Some(GameResult::WhiteWins),
            month: Month::new(2021, 10),
            depth: 20,
            tactical: false,
        };
        let quiet = record(
            "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
            Label::from_centipawns(-35),
            origin,
        );
        let mate = record(
            "8/8/8/8/8/5k2/q7/7K b - - 3 70",
            Label::from_mate(-1).unwrap(),
            Origin::default(),
        );
        let lines = String::from_utf8(text::encode(&[quiet, mate])).unwrap();
        assert!(document.contains(&format!("```\n{lines}```")), "{lines}");
        let boards = bullet::encode(&[quiet, mate]);
        let hex = boards.chunks(32).map(|board| {
            let bytes: Vec<String> = board.iter().map(|byte| format!("{byte:02x}")).collect();
            bytes.join(" ") + "\n"
        });
        let hex: String = hex.collect();
        assert!(document.contains(&format!("```\n{hex}```")), "{hex}");
    }
}
