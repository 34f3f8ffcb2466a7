//! `ingest build`: sources in, a sealed dataset out.
//!
//! One thread decompresses and cuts the text into chunks of whole games; all
//! cores turn chunks into records; this thread hands them to the builder.
//! Joining is commutative and tallies are sums, so the order in which chunks
//! are done makes no difference. Queues are bounded: memory does not grow with
//! the source.

use std::fs::File;
use std::io::{BufReader, copy};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use clap::Args;
use datasets::{
    Builder, Chunk, Error, Filters, Manifest, Meter, Record, SkipReason, Source, SourceEntry,
    Split, Tally, pgn,
};

use crate::output::print;
use crate::progress::Progress;
use crate::stats::reason_text;

/// What `ingest build` takes.
#[derive(Args)]
pub struct Arguments {
    /// Sources: .pgn, .pgn.zst, .pgn.gz, .pgn.bz2, or - for standard input
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The dataset, a folder; made if it is not there
    #[arg(long, value_name = "DATASET")]
    out: PathBuf,
    /// Games in a hundred to hold out for validation
    #[arg(long, value_name = "PERCENT", default_value_t = Filters::default().validation_percent,
          value_parser = clap::value_parser!(u8).range(0..=100))]
    validation_percent: u8,
    /// Take games of Chess960 too
    #[arg(long)]
    chess960: bool,
}

/// What one chunk gave.
#[derive(Default)]
struct Games {
    train: Vec<Record>,
    validation: Vec<Record>,
    tally: Tally,
}

/// Runs `ingest build`.
///
/// # Errors
/// The first source that failed, after everything good has been sealed.
pub fn run(arguments: &Arguments) -> Result<()> {
    let filters = Filters {
        validation_percent: arguments.validation_percent,
        chess960: arguments.chess960,
    };
    // Files are opened before anything is made: a wrong name stops the build
    // at once. What can be read only once, such as a pipe, is left alone.
    for path in &arguments.sources {
        if path != Path::new("-") && (path.is_file() || path.is_dir() || !path.exists()) {
            Source::open(path)?;
        }
    }
    let mut builder = Builder::open(&arguments.out, filters)?;
    let mut damage = None;
    for path in &arguments.sources {
        if let Some(entry) = known_source(&builder, path)? {
            eprintln!(
                "{}: already in the dataset ({} games)",
                path.display(),
                entry.tally.games
            );
            continue;
        }
        match take_in(&mut builder, path, &filters) {
            Ok(()) => {}
            Err(
                error @ (Error::Damaged { .. }
                | Error::Unreadable { .. }
                | Error::Empty { .. }
                | Error::NotPgn { .. }),
            ) => {
                eprintln!("ingest: {error}");
                damage.get_or_insert(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(error) = damage.take_if(|_| builder.is_empty()) {
        builder.abandon()?;
        return Err(error.into());
    }
    let manifest = builder.finish()?;
    print(&summary(&arguments.out, &manifest))?;
    match damage {
        Some(error) => Err(error).context("sealed, but a source was not read to its end"),
        None => Ok(()),
    }
}

/// A file that the dataset has already, told by its digest. Only a file of a
/// known size is worth the reading.
fn known_source(builder: &Builder, path: &Path) -> Result<Option<SourceEntry>> {
    let Ok(metadata) = std::fs::metadata(path) else {
        return Ok(None);
    };
    if !metadata.is_file() || !builder.knows_size(metadata.len()) {
        return Ok(None);
    }
    let digest = sha256_of(path).with_context(|| path.display().to_string())?;
    Ok(builder.known_source(&digest).cloned())
}

fn sha256_of(path: &Path) -> std::io::Result<String> {
    let meter = Arc::new(Meter::default());
    let mut reader = meter.watch(BufReader::with_capacity(1 << 17, File::open(path)?));
    copy(&mut reader, &mut std::io::sink())?;
    Ok(meter.sha256())
}

/// Reads one source into the builder, and notes it there.
fn take_in(builder: &mut Builder, path: &Path, filters: &Filters) -> Result<(), Error> {
    let source = Source::open(path)?;
    let meter = source.meter();
    let name = path
        .file_name()
        .map_or_else(|| "-".into(), |name| name.to_string_lossy());
    let size = std::fs::metadata(path)
        .ok()
        .filter(|m| m.is_file())
        .map(|m| m.len());
    let mut progress = Progress::new(&name, size);
    let mut tally = Tally::default();
    let outcome = read_in_parallel(source, filters, |games| {
        tally.add(&games.tally);
        progress.update(meter.compressed_bytes(), tally.games, tally.labels);
        builder.add(Split::Train, games.train)?;
        builder.add(Split::Validation, games.validation)
    });
    progress.finish(tally.games, tally.labels);
    let damage = match &outcome {
        Ok(()) => None,
        Err(error @ Error::Damaged { .. }) => Some(error.to_string()),
        Err(_) => return outcome,
    };
    let known = builder.known_source(&meter.sha256()).is_some();
    if known {
        eprintln!("{name}: already in the dataset");
    } else {
        builder.add_source(SourceEntry {
            name: name.into_owned(),
            bytes: meter.compressed_bytes(),
            sha256: meter.sha256(),
            damage,
            tally,
        });
    }
    outcome
}

/// Decodes a source on one thread, reads its games on all others, and hands
/// the records to `each` on this one.
fn read_in_parallel(
    mut source: Source,
    filters: &Filters,
    mut each: impl FnMut(Games) -> Result<(), Error>,
) -> Result<(), Error> {
    let workers = rayon::current_num_threads();
    let (chunk_sender, chunks) = sync_channel::<Chunk>(workers);
    let (games_sender, games) = sync_channel::<Games>(2 * workers);
    let chunks = Arc::new(Mutex::new(chunks));
    thread::scope(|scope| {
        let decoder = scope.spawn(move || decode(&mut source, &chunk_sender));
        for _ in 0..workers {
            let (chunks, sender) = (Arc::clone(&chunks), games_sender.clone());
            scope.spawn(move || read_chunks(&chunks, filters, &sender));
        }
        // The workers hold the only other ends: when `each` fails and this one
        // is dropped, they and the decoder stop.
        drop((games_sender, chunks));
        let handed_on = games.into_iter().try_for_each(&mut each);
        let decoded = decoder
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        handed_on.and(decoded)
    })
}

fn decode(source: &mut Source, chunks: &SyncSender<Chunk>) -> Result<(), Error> {
    while let Some(chunk) = source.next_chunk()? {
        if chunks.send(chunk).is_err() {
            break;
        }
    }
    Ok(())
}

fn read_chunks(chunks: &Mutex<Receiver<Chunk>>, filters: &Filters, sender: &SyncSender<Games>) {
    loop {
        let chunk = chunks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(chunk) = chunk else { return };
        if sender.send(read_chunk(&chunk, filters)).is_err() {
            return;
        }
    }
}

fn read_chunk(chunk: &Chunk, filters: &Filters) -> Games {
    let mut games = Games::default();
    let Games {
        train,
        validation,
        tally,
    } = &mut games;
    match chunk {
        Chunk::Games(text) => pgn::read_games(text, filters, tally, |id, records| {
            match id.split(filters.validation_percent) {
                Split::Train => train.extend_from_slice(records),
                Split::Validation => validation.extend_from_slice(records),
            }
        }),
        Chunk::Oversized => tally.skip(SkipReason::OversizedGame),
    }
    games
}

fn summary(path: &Path, manifest: &Manifest) -> String {
    let (counts, tally) = (manifest.counts, &manifest.tally);
    let mut text = format!(
        "{}: {} positions to train on, {} held out, from {} annotated of {} games\n\
         {} labels, {} of them mates; {} duplicates merged, {} positions seen on both sides\n",
        path.display(),
        counts.positions_train,
        counts.positions_validation,
        tally.games_annotated,
        tally.games,
        tally.labels,
        tally.mates,
        counts.duplicates_merged,
        counts.seen_on_both_sides,
    );
    for (&reason, count) in &tally.skipped {
        text += &format!("left out: {count} {}\n", reason_text(reason));
    }
    if tally.labels == 0 {
        text += "no game has an [%eval]: nothing to train on\n";
    }
    text
}
