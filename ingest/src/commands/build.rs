//! `ingest build`: builds a sealed dataset from sources.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail};
use clap::Args;
use datasets::{
    Builder, Counts, Error, FromSource, Kind, Manifest, MoveRecord, PartOf, PartRead, Record, Row,
    Source, SourceCounts, SourceEntry, SourceError, Unfinished,
};
use host::{StopSignal, Threads, rate, thousands};
use serde::Serialize;

use crate::commands::filters::{self, FilterArguments};
use crate::report::reason::left_out;
use crate::report::summary::labels_of;
use crate::terminal::progress::{Progress, Unit};
use crate::terminal::stopped::Stopped;

const HELP: &str = "\
Keeps every position with an [%eval], labelled with the evaluation that follows
the move. Equal positions are merged. Games are held out for validation by
their identity, so that no game is on both sides.

With --moves, keeps every position of the chosen games with the move played from
it, the player's rating, the speed and the time left, evaluated or not. Of a
position's moves at most 256 stay, a random sample over its games.

The dataset does not depend on the order of the sources, or on repeats. An
interrupted build leaves the dataset unchanged; the same command resumes it. A
folder that holds anything but a dataset is refused. So is an unfinished build of
other sources or filters: --force discards it once every source has been opened.
";

const EXAMPLE: &str = "\
Example:
  ingest build 2026-05.pgn.zst 2026-06.pgn.zst --out lichess.dataset
  ingest build https://example.org/games.pgn.zst --out lichess.dataset
  AWS_ENDPOINT_URL=http://10.0.0.5:9000 ingest build s3://dumps/games.pgn.zst --out lichess.dataset
  zstdcat games.pgn.zst | ingest build - --out lichess.dataset
  ingest build 2026-06.pgn.zst --out quiet.dataset \\
    --min-rating 1800 --speeds blitz,rapid,classical --min-ply 16 --keep quiet --max-eval 1000
  ingest build selfplay.viri --td-lambda 0.7 --out selfplay.dataset
  ingest build 2026-06.pgn.zst --moves --speeds blitz,rapid --skip-bots --out moves.dataset
  ingest build 2026-06.pgn.zst --part 1/2 --out a.dataset   # on one machine
  ingest build 2026-06.pgn.zst --part 2/2 --out b.dataset   # on another
  ingest merge a.dataset b.dataset --out lichess.dataset";

/// Arguments of `ingest build`.
#[derive(Args)]
#[command(after_help = format!("{HELP}\n{}\n{EXAMPLE}", filters::HELP))]
pub struct Arguments {
    /// Files, http(s) and s3 URLs, or - for standard input. Formats are detected by content: PGN,
    /// lichess_db_eval.jsonl, FEN,Evaluation CSV, FEN | cp | wdl text, EPD, viriformat, bullet's
    /// boards, Stockfish's binpack; plain, .zst, .gz or .bz2
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Dataset folder, created if missing
    #[arg(short, long, value_name = "DATASET")]
    out: PathBuf,
    /// Keep the moves that were played, not evaluations
    #[arg(long, conflicts_with_all = filters::OF_EVALUATIONS)]
    moves: bool,
    /// Read only part I of N of each source; `ingest merge` joins them
    #[arg(long, value_name = "I/N")]
    part: Option<PartOf>,
    /// Discard an unfinished build of other sources or filters in --out
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    threads: Threads,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    filters: FilterArguments,
}

/// Returns how to treat another command's unfinished build, given `--force`.
pub(crate) fn unfinished(force: bool) -> Unfinished {
    match force {
        true => Unfinished::Discard,
        false => Unfinished::Keep,
    }
}

/// Runs `ingest build`.
///
/// # Errors
/// The first source that failed, after everything readable has been sealed.
pub fn run(arguments: &Arguments) -> Result<()> {
    match arguments.moves {
        true => build::<MoveRecord>(arguments),
        false => build::<Record>(arguments),
    }
}

fn build<R: FromSource>(arguments: &Arguments) -> Result<()> {
    arguments.threads.apply();
    let filters = arguments.filters.filters()?;
    let stop = StopSignal::listen()?;
    // Open files before anything is made, so that a wrong name stops the build at once, and URLs
    // before --force discards anything. Pipes can be read only once and are skipped.
    for path in &arguments.sources {
        if can_be_opened_again(path) && !Source::is_url(path)
            || Source::is_url(path) && arguments.force
        {
            let path = path.clone();
            let source = host::unless_stopped(stop.flag(), move || Source::open(&path));
            let source = source.ok_or_else(|| Stopped::for_now(&stop))??;
            if let Some(part) = arguments.part {
                source.range_of(part)?;
            }
        }
    }
    let Arguments {
        sources, out, part, ..
    } = arguments;
    let mut builder =
        Builder::<R>::open_part(out, filters, sources, *part, unfinished(arguments.force))?;
    if builder.forgot() {
        host::tell(format_args!(
            "{}: the unfinished build there was of other sources or filters, or incomplete: discarded",
            arguments.out.display()
        ));
    }
    while let Some(path) = arguments.sources.get(builder.next_source()) {
        match add_source(&mut builder, path, &stop) {
            Ok(()) => {}
            Err(error @ Error::Source(SourceError::Damaged { .. })) => {
                let last = builder.next_source() == arguments.sources.len();
                note_failure(&mut builder, &error, last);
            }
            // Keep what was read of earlier sources.
            Err(
                error @ Error::Source(
                    SourceError::Unreadable { .. }
                    | SourceError::Empty { .. }
                    | SourceError::NotPgn { .. }
                    | SourceError::NoMoves { .. }
                    | SourceError::Parquet { .. }
                    | SourceError::NoParts { .. },
                ),
            ) if builder.resumed().is_none() => {
                builder.skip_source();
                let last = builder.next_source() == arguments.sources.len();
                note_failure(&mut builder, &error, last);
            }
            Err(error @ Error::Source(SourceError::OtherSource { .. })) => {
                builder = builder.restart()?;
                if !can_be_read_again(path) {
                    return Err(error).context("run the same command again, from its beginning");
                }
                host::tell(format_args!("ingest: {error}; starting from the beginning"));
            }
            Err(Error::Stopped) => {
                builder.pause()?;
                bail!(Stopped::for_now(&stop));
            }
            Err(error @ Error::Source(SourceError::Interrupted { .. })) => {
                builder.pause()?;
                return Err(error.into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    let mut failure = builder.failure();
    if let Some(error) = failure.take_if(|_| builder.is_empty()) {
        builder.abandon()?;
        return match arguments.sources.len() {
            1 => Err(error.into()),
            _ => Err(error).context("nothing could be read of any source; the first of them"),
        };
    }
    let manifest = match builder.finish_unless_stopped(stop.flag()) {
        Err(Error::Stopped) => bail!(Stopped::for_now(&stop)),
        manifest => manifest?,
    };
    tell(&arguments.out, &manifest, arguments.json)?;
    match failure {
        Some(error) => Err(error).context("sealed, but not with all of the sources"),
        None => Ok(()),
    }
}

/// Records that a source failed or was cut short. The program exits with the first such error; it
/// is printed now if other sources follow.
fn note_failure<R: Row>(builder: &mut Builder<R>, error: &Error, last: bool) {
    if builder.failure().is_some() || !last {
        let rest = if last {
            ""
        } else {
            "; going on with the next source"
        };
        host::tell(format_args!("ingest: {error}{rest}"));
    }
    builder.note_failure(error);
}

/// Returns whether a path can be opened before the build: a file, a folder or a missing path, but
/// no pipe.
fn can_be_opened_again(path: &Path) -> bool {
    let again = path.is_file() || path.is_dir() || !path.exists();
    again && path != Path::new("-")
}

/// Returns whether opening a source again reads it from the beginning, which a pipe does not.
fn can_be_read_again(path: &Path) -> bool {
    path != Path::new("-") && (path.is_file() || !path.exists())
}

/// Reads the next source into the builder.
fn add_source<R: FromSource>(
    builder: &mut Builder<R>,
    path: &Path,
    stop: &StopSignal,
) -> Result<(), Error> {
    let shown = Source::shown(path);
    let name = shown.display();
    let resumed = builder.resumed().is_some();
    if let Some(games) = builder.resumed().map(|tally| thousands(tally.games)) {
        host::tell(format_args!("{name}: going on behind game {games}"));
    } else if let Some(entry) = known_source(builder, path, stop)? {
        return skip_known(builder, path, &entry);
    }
    let opened = host::unless_stopped(stop.flag(), builder.opener(path));
    let reading = opened.ok_or(Error::Stopped)??;
    let source = reading.source();
    if !resumed && let Some(known) = builder.known_part(source)? {
        let known = host::unless_stopped(stop.flag(), known);
        if let Some(entry) = known.ok_or(Error::Stopped)?? {
            return skip_known(builder, path, &entry);
        }
    }
    let (name, consumed) = (source.name().to_string(), source.consumed());
    // Progress counts offsets in the source, for a part too.
    let range = source.range();
    let end = range.as_ref().map(|range| range.end).or(source.size());
    let start = range.as_ref().map_or(0, |range| range.start);
    let mut progress = Progress::new(&name, Unit::Bytes, end, start);
    let what = labels_of(R::KIND);
    let filters = builder.filters().clone();
    let threads = rayon::current_num_threads();
    let finished = reading.run_unless_stopped(&filters, threads, stop.flag(), |batch| {
        builder.add(batch)?;
        let (games, labels) = (builder.tally().games, builder.tally().labels);
        progress.show(consumed.load(Ordering::Relaxed), |seconds| {
            let speed = rate(games as f64 / seconds);
            let (games, labels) = (thousands(games), thousands(labels));
            format!("{games} games, {speed} games/s, {labels} {what}")
        });
        Ok(())
    })?;
    let [games, labels] = [builder.tally().games, builder.tally().labels].map(thousands);
    progress.finish(&format!("{games} games, {labels} {what}"));
    if let Some(why) = finished.part.as_ref().and_then(PartRead::emptiness) {
        host::tell(format_args!("{name}: {why}"));
    }
    let whole = finished.check(path);
    if builder.end_source(&name, finished).is_some() {
        host::tell(format_args!("{name}: already in the dataset"));
    }
    Ok(whole?)
}

/// Skips a source that the dataset already has.
fn skip_known<R: Row>(
    builder: &mut Builder<R>,
    path: &Path,
    entry: &SourceEntry,
) -> Result<(), Error> {
    let (shown, games) = (Source::shown(path), thousands(entry.tally.games));
    host::tell(format_args!(
        "{}: already in the dataset ({games} games)",
        shown.display()
    ));
    builder.skip_known(entry, &Source::name_of(path));
    Ok(entry.check(path)?)
}

/// Returns the manifest entry of a file that the dataset already has, found by digest. Hashes the
/// file only if the dataset has a source of the same size.
fn known_source<R: Row>(
    builder: &Builder<R>,
    path: &Path,
    stop: &StopSignal,
) -> Result<Option<SourceEntry>, Error> {
    let Ok(metadata) = std::fs::metadata(path) else {
        return Ok(None);
    };
    if !metadata.is_file() || !builder.knows_size(metadata.len()) {
        return Ok(None);
    }
    let path = path.to_path_buf();
    let digest = host::unless_stopped(stop.flag(), move || datasets::digest_of(&path));
    let digest = digest.ok_or(Error::Stopped)??;
    Ok(builder.known_source(&digest).cloned())
}

/// JSON report of a sealed dataset: the fields of `ingest stats` that need no pass over the
/// records.
#[derive(Serialize)]
struct Sealed<'a> {
    /// Kind of the dataset.
    kind: Kind,
    /// Path of the dataset, lossy: JSON cannot hold paths that are not Unicode.
    out: String,
    /// The shard, if the dataset is one: positions are of the shard, games and labels of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
    /// Empty for a shard of a merge: only all shards together have a fingerprint.
    #[serde(skip_serializing_if = "str::is_empty")]
    fingerprint: &'a str,
    #[serde(flatten)]
    counts: Counts,
    #[serde(flatten)]
    tally: &'a SourceCounts,
    sources: Vec<SourceEntry>,
}

/// Prints the summary of a sealed dataset.
pub(crate) fn tell(out: &Path, manifest: &Manifest, json: bool) -> Result<()> {
    let sealed = Sealed {
        kind: manifest.kind,
        out: out.display().to_string(),
        shard: (manifest.shard.as_ref()).map(|shard| shard.part.to_string()),
        fingerprint: &manifest.fingerprint,
        counts: manifest.counts,
        tally: &manifest.tally,
        sources: manifest.sources.iter().map(SourceEntry::outline).collect(),
    };
    Ok(host::print(&match json {
        true => serde_json::to_string_pretty(&sealed)? + "\n",
        false => summary(out, manifest),
    })?)
}

/// Returns the summary of a dataset as a few lines of text.
fn summary(path: &Path, manifest: &Manifest) -> String {
    let (counts, tally) = (manifest.counts, &manifest.tally);
    let joined = thousands(counts.duplicates_merged + counts.merged_or_beyond_cap);
    let labels = match &manifest.shard {
        Some(shard) => format!("in all {} shards", shard.part.of()),
        None if counts.merged_or_beyond_cap > 0 => {
            format!("{joined} duplicates merged or beyond the cap")
        }
        None if manifest.kind == Kind::Moves => {
            format!(
                "{joined} repeated or beyond {} of a position",
                MoveRecord::MOST
            )
        }
        None => format!("{joined} duplicates merged"),
    };
    let (name, [train, held_out, both, games, annotated, all, mates]) = (
        path.display(),
        [
            counts.positions_train,
            counts.positions_validation,
            counts.seen_on_both_sides,
            tally.games,
            tally.games_annotated,
            tally.labels,
            tally.mates,
        ]
        .map(thousands),
    );
    let mut text = match manifest.kind {
        Kind::Evaluations => format!(
            "{name}: {train} positions to train on, {held_out} held out, from {annotated} annotated \
             of {games} games\n\
             {all} labels, {mates} of them mates; {labels}, {both} positions seen on both sides\n"
        ),
        Kind::Moves => format!(
            "{name}: {train} moves to train on, {held_out} held out, from {} of {games} games\n\
             {all} moves, {} games of unrated players; {labels}, {both} of positions seen on both \
             sides\n",
            thousands(tally.games_kept),
            thousands(tally.unrated),
        ),
    };
    for (&reason, count) in &tally.skipped {
        let left_out = left_out(manifest.kind, reason, *count, tally.examples.get(&reason));
        text += &format!("left out: {left_out}\n");
    }
    for source in &manifest.sources {
        if let Some(part) = &source.part {
            let (name, range) = (&source.name, &part.read.range);
            let [start, end, bytes] = [range.start, range.end, source.bytes].map(thousands);
            text += &format!("{name}: bytes {start} to {end} of {bytes}; other parts are missing");
            if let Some(other) = manifest
                .sources
                .iter()
                .find(|other| is_rival(source, other))
            {
                let other = &other.name;
                text += &format!("; it differs from {other}, which is as long and begins alike");
            }
            text += "\n";
        }
    }
    if tally.labels == 0 {
        let label = labels_of(manifest.kind).trim_end_matches('s');
        text += &format!("there is no {label}: nothing to train on\n");
    }
    text
}

/// Returns whether `other` conflicts with `part`: it has the same length and beginning, and is a
/// whole source or the same part, but differs.
fn is_rival(part: &SourceEntry, other: &SourceEntry) -> bool {
    let range = |entry: &SourceEntry| entry.part.as_ref().map(|part| part.read.range.clone());
    let lies_elsewhere = other.part.is_some() && range(other) != range(part);
    other != part && other.may_be_of(part) && !lies_elsewhere
}
