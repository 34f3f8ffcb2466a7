//! `ingest annotate`: writes games again with engine evaluations.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use clap::error::ErrorKind;
use datasets::{Kind, PartOf, PartRead};
use host::{StopSignal, rate, thousands};
use serde::Serialize;
use sha2::{Digest, Sha256};
use uci_client::{EngineProcess, EvaluatorChoice, Identity, Setup, StartError, own_sha256};

use crate::commands::values;
use crate::report::reason::left_out;
use crate::terminal::progress::{Progress, Unit};
use crate::terminal::stopped::Stopped;

use crate::annotate::archive::{AnnotatedOutput, MadeBy, Opened, OutputRecord};
use crate::annotate::counts::AnnotationCounts;
use crate::annotate::feed::Feed;
use crate::annotate::task::{Evaluator, Limit, Net, Program, Task};
use crate::annotate::{Error, pipeline};

const HELP: &str = "\
Rewrites the games in the format of Lichess's dumps, with an [%eval] after each
move: the score from White's point of view, and the search depth. Games with
evaluations keep theirs. A name ending in .pgn gives plain text, .pgn.zst a
compressed file. The output is FILE.part until it is complete; FILE.json records
the settings and the progress. After any interruption the same command resumes
from there, and the file ends up identical to that of one run. An engine that
crashes, hangs or sends an invalid answer is restarted; a position on which it
fails twice gets no evaluation.

With --net, Kibitz evaluates in this process, with the same results as --engine engine
--option EvalFile=NET --option Hash=MIB.

Example:
  ingest annotate games.pgn --engine stockfish --nodes 100000 --out games.pgn.zst
  ingest annotate games.pgn --net NET.safetensors --nodes 100 --hash 1 --out games.pgn.zst
  ingest build games.pgn.zst --out games.dataset
  ingest annotate june.pgn.zst --part 1/2 --net embedded --nodes 100 --out a.pgn.zst   # on one machine
  ingest annotate june.pgn.zst --part 2/2 --net embedded --nodes 100 --out b.pgn.zst   # on another
  ingest join a.pgn.zst b.pgn.zst --out annotated.pgn.zst";

/// Arguments of `ingest annotate`.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Games: .pgn, .pgn.zst, .pgn.gz, .pgn.bz2, http(s) and s3 URLs, or - for standard input
    #[arg(required = true, value_name = "GAMES")]
    sources: Vec<PathBuf>,
    #[command(flatten)]
    evaluator: EvaluatorArguments,
    #[command(flatten)]
    limit: LimitArguments,
    /// Evaluate one position in N: covers more games in the same time
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::count::<NonZero<usize>>)]
    every: NonZero<usize>,
    /// Annotate only part I of N of one source; `ingest join` joins the outputs
    #[arg(long, value_name = "I/N")]
    part: Option<PartOf>,
    /// Output: compressed like a Lichess dump, or plain text if the name ends with .pgn
    #[arg(short, long, value_name = "FILE.pgn[.zst]")]
    out: PathBuf,
    /// Engines working in parallel, or with --net threads [default: one a core]
    #[arg(long, alias = "threads", value_name = "N", value_parser = values::processes)]
    processes: Option<NonZero<usize>>,
    /// Keep N positions queued in an engine, sent without the moves before them: faster for short
    /// searches. Only for engines that queue a second `go` until the first search ends, as
    /// Stockfish does
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::count::<NonZero<usize>>, conflicts_with = "net")]
    ahead: NonZero<usize>,
    /// Size of a net's transposition table in MiB, cleared before each game: a small one is faster
    /// for short searches
    #[arg(long, value_name = "MIB", default_value_t = engine::DEFAULT_HASH_MIB, conflicts_with = "engine",
          value_parser = values::hash)]
    hash: usize,
    /// Set a UCI option of the engine; repeatable
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse_option, conflicts_with = "net")]
    options: Vec<(String, String)>,
    /// Seconds a search may take before the engine is restarted
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = clap::value_parser!(u64).range(1..=86_400), conflicts_with = "net")]
    timeout: u64,
    /// Evaluate games again that already have evaluations [default: keep theirs]
    #[arg(long)]
    replace: bool,
    /// Print the evaluator with its digests, and exit
    #[arg(long)]
    identify: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Choice of the evaluator.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct EvaluatorArguments {
    /// UCI engine: a program, and any arguments
    #[arg(short, long, value_name = "COMMAND", value_parser = values::command)]
    engine: Option<String>,
    /// Kibitz with a net in this process: a network's file, `embedded`, or `material`
    #[arg(short, long, value_name = "NET")]
    net: Option<String>,
}

/// Search limit of each position.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct LimitArguments {
    /// Nodes to search per position
    #[arg(long, value_name = "N", value_parser = values::count::<NonZero<u64>>)]
    nodes: Option<NonZero<u64>>,
    /// Depth to search per position, in plies
    #[arg(long, value_name = "N", value_parser = values::count::<NonZero<u64>>)]
    depth: Option<NonZero<u64>>,
}

impl From<&LimitArguments> for Limit {
    fn from(arguments: &LimitArguments) -> Limit {
        match (arguments.nodes, arguments.depth) {
            (Some(nodes), _) => Limit::Nodes(nodes.get()),
            (None, depth) => Limit::Depth(depth.map_or(1, NonZero::get)),
        }
    }
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("expected Name=Value".to_string()),
    }
}

/// Report printed at the end, as text or JSON.
#[derive(Serialize)]
struct Report<'a> {
    out: &'a Path,
    engine: &'a str,
    go: &'a str,
    /// Size of the output.
    bytes: u64,
    #[serde(flatten)]
    tally: &'a AnnotationCounts,
    /// Figures of this run; `None` if the output was already finished.
    run: Option<Run>,
}

/// Throughput of one run.
#[derive(Serialize)]
pub(crate) struct Run {
    processes: usize,
    positions: u64,
    seconds: f64,
    positions_per_second: f64,
    /// Share of the workers' time spent in searches.
    engines_busy: f64,
}

/// Runs `ingest annotate`.
///
/// # Errors
/// If a source is damaged, the engine fails, or the output is refused or cannot be written.
/// Finished annotations are kept.
pub fn run(arguments: &Arguments) -> Result<()> {
    let compressed = is_compressed(&arguments.out)?;
    let part = arguments.part.map(|part| match &arguments.sources[..] {
        [source] => Ok((source.clone(), part)),
        _ => Err(usage("--part takes one source")),
    });
    let part = part.transpose()?;
    let stop = StopSignal::listen()?;
    let (evaluator, engine) = evaluator(arguments, &stop)?;
    if arguments.identify {
        return Ok(host::print(&format!("{engine}\n"))?);
    }
    let task = Task {
        evaluator,
        limit: Limit::from(&arguments.limit),
        every: arguments.every.get(),
        replace: arguments.replace,
        stop: stop.clone(),
    };
    let stopped = || Stopped::for_now(&stop);
    let sources = arguments.sources.clone();
    let feed = host::unless_stopped(stop.flag(), move || match part {
        Some((source, part)) => Feed::of_part(&source, part),
        None => Feed::new(&sources),
    });
    let feed = feed.ok_or_else(stopped)??;
    let made_by = MadeBy {
        engine,
        go: task.limit.to_string(),
        options: task.evaluator.options(),
        every: arguments.every,
        ahead: arguments.ahead,
        replace: arguments.replace,
        compressed,
        part: feed.part().cloned(),
    };
    let (record, run) = match AnnotatedOutput::open(&arguments.out, made_by)? {
        Opened::Finished(record) => {
            host::tell(format_args!(
                "{}: finished before; the sources were not compared with it",
                arguments.out.display()
            ));
            (*record, None)
        }
        Opened::Begun(archive) => {
            let (record, run) = annotate(arguments, &task, feed, *archive)?;
            (record, Some(run))
        }
    };
    tell(&arguments.out, &record, run, arguments.json)
}

/// Prints the counts of an output, and the throughput of a run.
pub(crate) fn tell(out: &Path, record: &OutputRecord, run: Option<Run>, json: bool) -> Result<()> {
    let report = Report {
        out,
        engine: &record.made_by.engine,
        go: &record.made_by.go,
        bytes: record.done.bytes,
        tally: &record.done.counts.tally,
        run,
    };
    Ok(host::print(&match json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => summary(&report),
    })?)
}

/// Parses an engine's command line, a program with arguments or the path of an existing file with
/// blanks in it. The engine gets one thread unless an option overrides it.
fn setup(line: &str, options: &[(String, String)]) -> Setup {
    let mut words = match Path::new(line).is_file() {
        true => vec![line],
        false => line.split_whitespace().collect(),
    }
    .into_iter();
    Setup {
        program: words.next().unwrap_or_default().into(),
        arguments: words.map(String::from).collect(),
        defaults: vec![("Threads".to_string(), "1".to_string())],
        options: options.to_vec(),
    }
}

/// Starts the evaluator, and returns it with its identity.
fn evaluator(arguments: &Arguments, stop: &StopSignal) -> Result<(Evaluator, String)> {
    let EvaluatorArguments { engine, net } = &arguments.evaluator;
    if let Some(net) = net {
        let choice = EvaluatorChoice::named(net);
        let loaded = host::unless_stopped(stop.flag(), move || choice.load());
        let loaded = loaded.ok_or_else(|| Stopped::for_now(stop))?;
        let (evaluator, bytes) = loaded.map_err(Error::Net)?;
        let with = match &bytes[..] {
            [] => net.clone(),
            bytes => format!("the net of SHA-256 {:x}", Sha256::digest(bytes)),
        };
        let (version, program) = (env!("CARGO_PKG_VERSION"), own_sha256()?);
        let name = format!("Kibitz {version} of SHA-256 {program} with {with}");
        let hash = arguments.hash;
        return Ok((Evaluator::Net(Box::new(Net { evaluator, hash })), name));
    }
    let setup = setup(engine.as_deref().unwrap_or_default(), &arguments.options);
    let started = EngineProcess::start(&setup, stop.flag(), &mut |notice| host::tell(notice));
    let engine = match started {
        Ok(engine) => engine,
        Err(StartError::Cancelled) => bail!(Stopped::for_now(stop)),
        Err(error) => bail!(Error::Engine(error)),
    };
    let identity = Identity::of(&setup, &engine)?;
    drop(engine);
    let program = Program {
        setup,
        timeout: Duration::from_secs(arguments.timeout),
        ahead: arguments.ahead,
    };
    Ok((Evaluator::Program(program), identity.to_string()))
}

/// Continues at the end of the output, up to the end of the sources.
fn annotate(
    arguments: &Arguments,
    task: &Task,
    feed: Feed,
    archive: AnnotatedOutput,
) -> Result<(OutputRecord, Run)> {
    let passed = host::unless_stopped(task.stop.flag(), move || pass_over(feed, archive));
    let passed = passed.ok_or_else(|| Stopped::for_now(&task.stop))?;
    let (feed, mut archive, start) = passed?;
    let before = archive.tally().positions;
    if archive.tally() != &AnnotationCounts::default() {
        let games = thousands(archive.tally().games);
        let out = arguments.out.display();
        host::tell(format_args!("{out}: going on after {games} games"));
    }
    let processes = match arguments.processes {
        Some(processes) => processes,
        None => thread::available_parallelism()?,
    }
    .get();
    let name = arguments.out.file_name().unwrap_or_default();
    let total = match feed.part() {
        Some(source) => Some(source.part.range(source.bytes).end),
        None => total_bytes(&arguments.sources),
    };
    let mut progress = Progress::new(&name.to_string_lossy(), Unit::Bytes, total, start);
    let started = Instant::now();
    let finished = pipeline::run(task, feed, processes, |done| {
        archive.push(&done.source, &done.text, &done.tally)?;
        let positions = archive.tally().positions - before;
        progress.show(done.read, |seconds| {
            let speed = rate(positions as f64 / seconds);
            let [games, positions] = [archive.tally().games, positions].map(thousands);
            format!("{games} games, {positions} positions, {speed} positions/s")
        });
        Ok(())
    });
    let seconds = started.elapsed().as_secs_f64().max(1e-3);
    let AnnotationCounts {
        games, positions, ..
    } = *archive.tally();
    let [games, positions] = [games, positions].map(thousands);
    progress.finish(&format!("{games} games, {positions} positions"));
    let finished = match finished {
        Ok(finished) => finished,
        Err(error) => {
            archive.leave()?;
            return Err(error);
        }
    };
    if let Some(why) = finished.part.as_ref().and_then(PartRead::emptiness) {
        host::tell(format_args!("{}: {why}", name.to_string_lossy()));
    }
    let positions = archive.tally().positions - before;
    let run = Run {
        processes,
        positions,
        seconds,
        positions_per_second: positions as f64 / seconds,
        engines_busy: finished.searching.as_secs_f64() / (seconds * processes as f64),
    };
    Ok((archive.finish(finished.part)?, run))
}

/// Skips source text that the output already has; returns its end in bytes of the sources.
fn pass_over(mut feed: Feed, mut archive: AnnotatedOutput) -> Result<(Feed, AnnotatedOutput, u64)> {
    let mut read = match feed.part() {
        Some(source) => source.part.range(source.bytes).start,
        None => 0,
    };
    while archive.is_behind() {
        let Some(piece) = feed.next() else { break };
        let piece = piece?;
        archive.pass_over(&piece.text);
        read = piece.read;
    }
    archive.check_source()?;
    Ok((feed, archive, read))
}

/// Returns whether an output of this name is compressed.
///
/// # Errors
/// A usage error if the name ends with neither .pgn nor .zst.
pub(crate) fn is_compressed(out: &Path) -> Result<bool> {
    let is = |name: &str| {
        out.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case(name))
    };
    if is("zst") || is("pgn") {
        return Ok(is("zst"));
    }
    bail!(usage(&format!(
        "--out {}: give a name that ends with .pgn.zst, to be compressed, or with .pgn",
        out.display()
    )))
}

/// Returns a usage error.
fn usage(message: &str) -> clap::Error {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n"))
}

/// Returns the size of all sources; `None` unless all are files.
fn total_bytes(sources: &[PathBuf]) -> Option<u64> {
    let size = |path: &PathBuf| {
        let metadata = std::fs::metadata(path).ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    sources.iter().map(size).sum()
}

fn summary(report: &Report) -> String {
    let tally = report.tally;
    let mut text = format!(
        "{}: {} games, {} positions evaluated by {} ({}), {} of them mates; {} bytes\n",
        report.out.display(),
        thousands(tally.games),
        thousands(tally.positions),
        report.engine,
        report.go,
        thousands(tally.mates),
        thousands(report.bytes),
    );
    if let Some(run) = &report.run {
        text += &format!(
            "this run: {} positions in {:.1} s, {} positions/s, {} engines busy {:.0} % of the time\n",
            thousands(run.positions),
            run.seconds,
            rate(run.positions_per_second),
            run.processes,
            100.0 * run.engines_busy,
        );
    }
    if tally.kept > 0 {
        text += &format!(
            "{} games had evaluations and kept them\n",
            thousands(tally.kept)
        );
    }
    if tally.crashes + tally.timeouts + tally.bad_answers > 0 {
        text += &format!(
            "the engine crashed {} times, was late {} times, answered nonsense {} times; \
             {} positions have no evaluation for it\n",
            thousands(tally.crashes),
            thousands(tally.timeouts),
            thousands(tally.bad_answers),
            thousands(tally.unanswered)
        );
    }
    for (&reason, &count) in &tally.skipped {
        text += &format!(
            "left out: {}\n",
            left_out(Kind::Evaluations, reason, count, None)
        );
    }
    text
}
