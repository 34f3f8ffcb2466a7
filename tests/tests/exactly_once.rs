//! Builds that are interrupted, repeated, split up or disturbed give the dataset of a single
//! undisturbed run.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use datasets::{Dataset, MoveRecord, Record, Row};
use tests::dump::{Dump, Frames};
use tests::exit::{DAMAGED, MISSING, REFUSED};
use tests::interrupted::{building, has_progress, interrupt};
use tests::pzstd::framed;
use tests::server::BreakingServer;
use tests::{
    Said, build, contents, contents_of, copy, merge, merging, program, records, run, sample, stats,
    text_of,
};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";

/// Text per frame of the dumps.
const FRAME_BYTES: usize = 1 << 17;

/// Two generated dumps, each with labels for more than one spilled run, so that a build of either
/// commits its progress at least once.
struct Months {
    first: PathBuf,
    second: PathBuf,
}

static MONTHS: LazyLock<Months> = LazyLock::new(|| Months {
    first: dump("first", 1, 3_000),
    second: dump("second", 2, 3_500),
});

fn dump(name: &str, seed: u64, games: u64) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pgn.zst"));
    let dump = Dump {
        games,
        annotated_percent: 100,
        seed,
        frames: Frames::Of(FRAME_BYTES),
        level: 1,
    };
    let contents = dump.write_to(&path, |_| {}).unwrap();
    // `SPILL_RECORDS` of a builder with assertions.
    assert!(contents.labels > 1 << 17, "{contents}");
    path
}

/// Returns the number of games after which a build says that it resumes.
fn resumed_behind(stderr: &str) -> Option<u64> {
    let (_, rest) = stderr.split_once("going on behind game ")?;
    rest.split_whitespace()
        .next()?
        .replace(',', "")
        .parse()
        .ok()
}

/// Phase of a build when it was killed, as its files show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No run spilled since the start.
    Decoding,
    /// A run was spilled or begun.
    Spilling,
    /// Blocks were being written, or the build had ended.
    Sealing,
}

/// Returns the size of the spill file; `None` if it is missing.
fn spilled(dataset: &Path) -> Option<u64> {
    Some(fs::metadata(dataset.join("spill/runs")).ok()?.len())
}

fn phase(dataset: &Path, spilled_before: Option<u64>) -> Phase {
    let files = fs::read_dir(dataset.join("spill")).into_iter().flatten();
    let mut paths = files.flatten().map(|entry| entry.path());
    if paths.any(|path| path.extension().is_some_and(|e| e == "sst")) {
        Phase::Sealing
    } else if spilled(dataset) > spilled_before.or(Some(0)) {
        Phase::Spilling
    } else {
        Phase::Decoding
    }
}

/// Dataset on which builds are killed, one after the other.
struct Chain<'a> {
    sources: &'a [&'a Path],
    dataset: PathBuf,
    /// Fingerprint before the build, `None` if the dataset does not exist yet.
    before: Option<&'a str>,
    after: &'a str,
}

impl Chain<'_> {
    /// Starts a build and kills it after `delay`. Returns its standard error and its phase; `None`
    /// if it had ended.
    fn kill_after<R: Row>(&self, delay: Duration, log: &Path) -> (String, Option<Phase>) {
        let spilled_before = spilled(&self.dataset);
        let mut command = building(self.sources, &self.dataset);
        command.stderr(File::create(log).unwrap());
        let mut child = command.spawn().unwrap();
        thread::sleep(delay);
        let ended = child.try_wait().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let stderr = fs::read_to_string(log).unwrap();
        assert!(ended.is_none_or(|status| status.success()), "{stderr}");
        let phase = ended
            .is_none()
            .then(|| phase(&self.dataset, spilled_before));
        self.assert_before_or_after::<R>();
        (stderr, phase)
    }

    /// Asserts that a reader finds the dataset before or the one after, complete.
    fn assert_before_or_after<R: Row>(&self) {
        let found = Dataset::<R>::open_rows(&self.dataset);
        let found = found
            .as_ref()
            .map(|dataset| &*dataset.manifest().fingerprint);
        match (found, self.before) {
            (Ok(found), _) if found == self.after => {}
            (Ok(found), Some(before)) => assert_eq!(found, before),
            (Ok(found), None) => panic!("a dataset that was never sealed: {found}"),
            (Err(error), Some(_)) => panic!("{error}"),
            (Err(_), None) => {}
        }
    }
}

/// Kills builds of two dumps at random moments, repeatedly on the same dataset, which existed
/// before or did not. Afterwards the same command gives the dataset of an undisturbed build.
/// `KILL_SEED` selects other moments.
#[test]
fn kill_9_at_random_moments_changes_nothing() {
    kills_change_nothing::<Record>(&[]);
}

#[test]
fn kill_9_changes_no_dataset_of_moves() {
    kills_change_nothing::<MoveRecord>(&[Path::new("--moves")]);
}

/// Kills builds with `options`, which pass as some of the sources.
fn kills_change_nothing<R: Row>(options: &[&Path]) {
    const KILLS: usize = 30;
    /// Required number of builds that resumed after a kill.
    const RESUMED: usize = 10;
    /// Kills after which the test gives up on `RESUMED`.
    const MOST_KILLS: usize = 500;
    const MOST_IN_A_ROW: usize = 8;
    let seed = std::env::var("KILL_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(seed);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let sources = &[&[&*MONTHS.first, &MONTHS.second], options].concat()[..];
    let (base, added, alone) = (path("base"), path("added"), path("alone"));
    let samples = [sample(OLD), sample(JUNE)];
    build(&[&[&*samples[0], &samples[1]], options].concat(), &base).succeeded();
    copy(&base, &added);
    build(sources, &added).succeeded();
    let started = Instant::now();
    build(sources, &alone).succeeded();
    // Long enough for a run to be spilled, too short for the whole build; adapted below to the
    // machine's changing speed.
    let mut longest = started.elapsed() * 2 / 5;
    let [base_print, added_print, alone_print] =
        [&base, &added, &alone].map(|path| stats(path)["fingerprint"].as_str().unwrap().to_owned());
    let (added, alone) = (contents_of::<R>(&added), contents_of::<R>(&alone));

    let (mut moments, mut resumed, mut ended) = (Vec::new(), Vec::new(), 0);
    let mut phases = [0; 3];
    for number in 0.. {
        let onto_base = number % 2 == 0;
        let chain = Chain {
            sources,
            dataset: path("killed"),
            before: onto_base.then_some(&*base_print),
            after: if onto_base {
                &added_print
            } else {
                &alone_print
            },
        };
        if onto_base {
            copy(&base, &chain.dataset);
        }
        let mut behind = 0;
        for _ in 0..MOST_IN_A_ROW {
            let delay = longest.mul_f64(random.f64());
            let (stderr, phase) = chain.kill_after::<R>(delay, &path("stderr"));
            if let Some(games) = resumed_behind(&stderr) {
                resumed.push(games);
            }
            let Some(phase) = phase else {
                ended += 1;
                longest = longest.mul_f64(0.9);
                break;
            };
            moments.push((delay, phase));
            phases[phase as usize] += 1;
            behind = resumed_behind(&stderr).unwrap_or(behind);
        }
        if behind == 0 {
            longest = longest.mul_f64(1.1);
        }
        let said = build(sources, &chain.dataset).succeeded();
        if let Some(games) = resumed_behind(&said.err) {
            resumed.push(games);
        }
        let expected = if onto_base { &added } else { &alone };
        assert!(
            contents_of(&chain.dataset) == *expected,
            "seed {seed}, chain {number}, killed at {moments:?}, last resumed behind {behind}"
        );
        assert!(!chain.dataset.join("spill").exists());
        fs::remove_dir_all(&chain.dataset).unwrap();
        let all_seen = phases.iter().all(|&kills| kills > 0) && resumed.len() >= RESUMED;
        if moments.len() >= MOST_KILLS || moments.len() >= KILLS && all_seen {
            break;
        }
    }
    println!(
        "seed {seed}: {} kills within {longest:?}, {phases:?} while decoding, spilling and \
         sealing; {ended} builds ended before; {} went on, behind games {resumed:?}",
        moments.len(),
        resumed.len(),
    );
    assert!(phases.iter().all(|&kills| kills > 0), "{phases:?}");
    assert!(resumed.len() >= RESUMED, "{} resumed", resumed.len());
    assert!(resumed.iter().all(|&games| games > 0));
}

/// Writes the dump with another player name in its first game.
fn renamed(dump: &Path, path: &Path) {
    let mut text = text_of(dump);
    let at = text.find("[White \"").unwrap() + "[White \"".len();
    text.insert(at, 'X');
    fs::write(path, framed(text.as_bytes(), FRAME_BYTES)).unwrap();
}

#[test]
fn a_source_that_changed_meanwhile_is_read_from_the_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (file, dataset, clean) = (path("a.pgn.zst"), path("a"), path("b"));
    fs::copy(&MONTHS.first, &file).unwrap();
    interrupt(&[&file], &dataset);
    renamed(&MONTHS.first, &file);
    let said = build(&[&file], &dataset).succeeded();
    for words in ["going on behind", "not the source", "from the beginning"] {
        assert!(said.err.contains(words), "{}", said.err);
    }
    build(&[&file], &clean).succeeded();
    assert!(contents(&dataset) == contents(&clean));

    // A source that became shorter than what was read of it.
    let (dataset, clean) = (path("c"), path("d"));
    fs::copy(&MONTHS.first, &file).unwrap();
    interrupt(&[&file], &dataset);
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 3]).unwrap();
    let said = build(&[&file], &dataset).failed(DAMAGED, &["compressed byte"]);
    assert!(said.err.contains("from the beginning"), "{}", said.err);
    build(&[&file], &clean).failed(DAMAGED, &["compressed byte"]);
    assert!(contents(&dataset) == contents(&clean));
}

/// A mistyped name must not discard hours of work.
#[test]
fn an_unfinished_build_of_other_sources_is_discarded_by_force_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dataset, clean) = (path("a"), path("b"));
    interrupt(&[&MONTHS.first], &dataset);
    let june = sample(JUNE);
    build(&[&june], &clean).succeeded();
    let gone = BreakingServer::start(Vec::new(), 0);
    gone.set_missing(true);
    let gone = Path::new(&gone.url);
    let words = ["holds an unfinished build", "--force"];
    for source in [&june, gone] {
        build(&[source], &dataset).failed(REFUSED, &words);
    }
    merge(std::slice::from_ref(&clean), &dataset).failed(REFUSED, &words);
    // Sources are opened before anything is discarded.
    let force = Path::new("--force");
    for source in [gone, &path("none.pgn")] {
        build(&[source, force], &dataset).failed(MISSING, &[]);
    }
    let source = path("june.pgn.zst");
    fs::write(&source, framed(text_of(&june).as_bytes(), 100_000)).unwrap();
    let parts = [path("half"), path("third")];
    for (dataset, part) in parts.iter().zip(["1/2", "2/3"]) {
        let part = Path::new(part);
        build(&[&source, Path::new("--part"), part], dataset).succeeded();
    }
    run(merging(&parts, &dataset).arg("--force")).failed(REFUSED, &["overlap"]);
    assert!(has_progress(&dataset));
    copy(&dataset, &path("goes on"));
    let said = build(&[&MONTHS.first], &path("goes on")).succeeded();
    assert!(resumed_behind(&said.err) > Some(0), "{}", said.err);
    copy(&dataset, &path("merged"));
    let forced = run(merging(std::slice::from_ref(&clean), &path("merged")).arg("--force"));
    forced.succeeded();
    let said = build(&[&june, force], &dataset).succeeded();
    assert_eq!(resumed_behind(&said.err), None, "{}", said.err);
    assert!(said.err.contains("discarded"), "{}", said.err);
    assert!(contents(&dataset) == contents(&clean));
    assert!(contents(&path("merged")) == contents(&clean));
}

#[test]
fn tells_unfinished_builds_from_other_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let stats = |dataset: &Path| run(program("ingest").arg("stats").arg(dataset));
    interrupt(&[&MONTHS.first], &path("a"));
    let name = MONTHS.first.to_string_lossy();
    let words = ["unfinished build of", &name, "run its command again"];
    stats(&path("a")).failed(REFUSED, &words);
    // Builds killed before they recorded anything, and one in a folder of shards.
    for dataset in ["marked", "shards/1.dataset"] {
        fs::create_dir_all(path(dataset)).unwrap();
        fs::write(path(dataset).join("kibitz-unfinished"), "").unwrap();
    }
    stats(&path("marked")).failed(REFUSED, &["unfinished build"]);
    stats(&path("shards")).failed(REFUSED, &["not a Kibitz dataset"]);
    copy(&path("a"), &path("shards/2.dataset"));
    stats(&path("shards")).failed(REFUSED, &["2.dataset: an unfinished build"]);
}

/// Spilled runs can be lost with the disk's last writes or deleted: the build then starts over.
#[test]
fn a_build_whose_spilled_runs_are_lost_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dataset, clean) = (path("a"), path("b"));
    interrupt(&[&MONTHS.first], &dataset);
    fs::remove_dir_all(dataset.join("spill")).unwrap();
    build(&[&MONTHS.first], &dataset).succeeded();
    build(&[&MONTHS.first], &clean).succeeded();
    assert!(contents(&dataset) == contents(&clean));
}

/// A build of lambda-returns resumes too. (The option passes as one of the sources.)
#[test]
fn a_build_of_returns_goes_on_to_the_same_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dataset, clean, plain) = (path("a"), path("b"), path("c"));
    let sources: &[&Path] = &[&MONTHS.first, Path::new("--td-lambda=0.7")];
    interrupt(sources, &dataset);
    let said = build(sources, &dataset).succeeded();
    assert!(resumed_behind(&said.err) > Some(0), "{}", said.err);
    build(sources, &clean).succeeded();
    assert!(contents(&dataset) == contents(&clean));
    build(&sources[..1], &plain).succeeded();
    let ([train, validation], _) = contents(&clean);
    let ([plain_train, plain_validation], _) = contents(&plain);
    assert!(validation == plain_validation && train != plain_train);
}

/// An unreachable URL costs none of the games read.
#[test]
fn resumes_when_a_missing_source_returns() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dataset, clean) = (path("a"), path("b"));
    let server = BreakingServer::start(fs::read(&MONTHS.first).unwrap(), 1 << 20);
    let sources: &[&Path] = &[Path::new(&server.url)];
    interrupt(sources, &dataset);
    server.set_missing(true);
    build(sources, &dataset).failed(MISSING, &[&server.url, "404"]);
    assert!(has_progress(&dataset));
    server.set_missing(false);
    let said = build(sources, &dataset).succeeded();
    assert!(resumed_behind(&said.err) > Some(0), "{}", said.err);
    build(sources, &clean).succeeded();
    assert!(contents(&dataset) == contents(&clean));
}

/// A permanently lost connection is not damage, which would be sealed: the same command resumes
/// later.
#[test]
fn resumes_after_a_lost_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dataset, clean) = (path("a"), path("b"));
    let bytes = fs::read(&MONTHS.first).unwrap();
    let most = bytes.len() * 97 / 100;
    let server = BreakingServer::start(bytes, most);
    server.set_rest_missing(true);
    // A new signature each time.
    let url = |time: u32| format!("{}?X-Amz-Date={time}&X-Amz-Signature={time}", server.url);
    for (time, resumed) in [(1, false), (2, true)] {
        let url = url(time);
        let sources: &[&Path] = &[Path::new(&url)];
        let said = build(sources, &dataset);
        assert_eq!(resumed_behind(&said.err).is_some(), resumed, "{}", said.err);
        said.failed(MISSING, &[&server.url, "404", "same command again"]);
        assert!(has_progress(&dataset));
        assert!(Dataset::open(&dataset).is_err(), "it was sealed");
    }
    // Missing ranges are not requested again.
    assert_eq!(server.requests(), 4);
    server.set_rest_missing(false);
    let url = url(3);
    let sources: &[&Path] = &[Path::new(&url)];
    let said = build(sources, &dataset).succeeded();
    assert!(resumed_behind(&said.err) > Some(0), "{}", said.err);
    build(sources, &clean).succeeded();
    assert!(contents(&dataset) == contents(&clean));
}

/// A partial first read is not judged as if it were the whole source.
#[test]
fn a_connection_that_is_lost_at_once_stops_a_build() {
    let packed = fs::read(&MONTHS.first).unwrap();
    let text = zstd::decode_all(&packed[..]).unwrap();
    for (bytes, most) in [(&packed, 1), (&packed, 5000), (&text, 1), (&text, 300)] {
        let folder = tempfile::tempdir().unwrap();
        let dataset = folder.path().join("a");
        let server = BreakingServer::start(bytes.clone(), most);
        server.set_rest_missing(true);
        let sources = [Path::new(&server.url), &MONTHS.first];
        build(&sources, &dataset).failed(MISSING, &[&server.url, "same command again"]);
        assert!(Dataset::open(&dataset).is_err(), "it was sealed");
    }
}

/// Errors of sources before an interruption are reported at the end, as in an uninterrupted build.
#[test]
fn reports_source_errors_after_an_interruption() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let bad = path("bad.pgn.zst");
    corrupt(JUNE, &bad);
    let server = BreakingServer::start(Vec::new(), 0);
    server.set_missing(true);
    let gone = Path::new(&server.url);
    for (name, sources, code, words) in [
        ("damaged", [&bad, gone], DAMAGED, ["sealed", "bad.pgn.zst"]),
        ("gone", [gone, &bad], MISSING, ["sealed", "404"]),
    ] {
        let sources = [sources[0], sources[1], &MONTHS.first];
        let (dataset, clean) = (path(name), path(&format!("{name} clean")));
        interrupt(&sources, &dataset);
        let said = build(&sources, &dataset).failed(code, &words);
        assert!(resumed_behind(&said.err) > Some(0), "{}", said.err);
        let once = build(&sources, &clean).failed(code, &words);
        assert_eq!(said.last_line(), once.last_line());
        assert!(contents(&dataset) == contents(&clean), "{name}");
    }
}

/// Build that reads from a pipe.
struct Piped {
    child: Child,
    input: ChildStdin,
}

impl Piped {
    fn start(dataset: &Path) -> Piped {
        let mut command = building(&[Path::new("-")], dataset);
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        Piped { child, input }
    }

    /// Sends the rest and waits for the end. Write errors are ignored: a build that refuses its
    /// input ends early.
    fn end(mut self, bytes: &[u8]) -> Said {
        let _ = self.input.write_all(bytes);
        drop(self.input);
        self.child.wait_with_output().unwrap().into()
    }
}

/// Sends the beginning of a dump until the build has committed its progress, then kills it.
fn interrupt_piped(bytes: &[u8], dataset: &Path) {
    let mut piped = Piped::start(dataset);
    let (most, rest) = bytes.split_at(bytes.len() * 9 / 10);
    piped.input.write_all(most).unwrap();
    // The progress is committed during one of these pieces.
    for piece in rest.chunks(rest.len() / 100 + 1) {
        if has_progress(dataset) {
            break;
        }
        piped.input.write_all(piece).unwrap();
        thread::sleep(Duration::from_millis(50));
    }
    piped.child.kill().unwrap();
    piped.child.wait().unwrap();
    assert!(has_progress(dataset));
}

#[test]
fn standard_input_goes_on_if_the_same_bytes_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dataset, clean) = (path("a"), path("b"));
    let bytes = fs::read(&MONTHS.first).unwrap();
    interrupt_piped(&bytes, &dataset);
    let said = Piped::start(&dataset).end(&bytes).succeeded();
    assert!(resumed_behind(&said.err) > Some(0), "{}", said.err);
    Piped::start(&clean).end(&bytes).succeeded();
    assert!(contents(&dataset) == contents(&clean));
}

/// Bytes of standard input read before the mismatch shows are gone: no game may be added until it
/// is sent again from the start.
#[test]
fn standard_input_with_other_bytes_must_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dataset, clean) = (path("a"), path("b"));
    interrupt_piped(&fs::read(&MONTHS.first).unwrap(), &dataset);
    let other = fs::read(&MONTHS.second).unwrap();
    let said = Piped::start(&dataset).end(&other);
    said.failed(DAMAGED, &["-: ", "not the source", "again"]);
    let said = Piped::start(&dataset).end(&other).succeeded();
    assert_eq!(resumed_behind(&said.err), None, "{}", said.err);
    Piped::start(&clean).end(&other).succeeded();
    assert!(contents(&dataset) == contents(&clean));
}

/// A dump already in the dataset, which shows only at its end, leaves no unfinished build.
#[test]
fn standard_input_that_is_known_leaves_nothing_unfinished() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("a");
    build(&[&MONTHS.first], &dataset).succeeded();
    let before = contents(&dataset);
    let bytes = fs::read(&MONTHS.first).unwrap();
    for _ in 0..2 {
        let said = Piped::start(&dataset).end(&bytes).succeeded();
        assert!(said.err.contains("already in the dataset"), "{}", said.err);
        assert_eq!(resumed_behind(&said.err), None, "{}", said.err);
        assert!(!has_progress(&dataset));
    }
    assert!(contents(&dataset) == before);
}

#[test]
fn a_second_build_is_refused_and_does_not_disturb_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dataset, clean) = (path("a"), path("b"));
    let bytes = fs::read(sample(JUNE)).unwrap();
    let (head, rest) = bytes.split_at(bytes.len() / 2);
    let mut first = Piped::start(&dataset);
    first.input.write_all(head).unwrap();
    while !dataset.join("spill").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    for _ in 0..3 {
        build(&[&sample(OLD)], &dataset).failed(REFUSED, &["in use by another process"]);
    }
    first.end(rest).succeeded();
    Piped::start(&clean).end(&bytes).succeeded();
    assert!(contents(&dataset) == contents(&clean));
}

/// Readers find the dataset before or after a build, complete, and can keep using the one they
/// opened.
#[test]
fn readers_and_a_build_do_not_disturb_each_other() {
    const BUILDS: usize = 30;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let dataset = path("a");
    build(&[&sample(OLD)], &dataset).succeeded();
    let read = |dataset: &Dataset| {
        let splits = [datasets::Split::Train, datasets::Split::Validation];
        for split in splits {
            let blocks = dataset.blocks(split).unwrap();
            let records: usize = blocks.map(|block| block.unwrap().len()).sum();
            assert_eq!(records as u64, dataset.len(split));
        }
    };
    let first = Dataset::open(&dataset).unwrap();
    let mut reads = 0;
    thread::scope(|scope| {
        let (dataset, folder) = (&dataset, folder.path());
        let builds = scope.spawn(move || {
            for number in 0..BUILDS {
                let source = folder.join(format!("{number}.pgn"));
                let game = format!("[White \"{number}\"]\n\n1. e4 {{ [%eval 0.{number}] }} *\n");
                fs::write(&source, game).unwrap();
                build(&[&source], dataset).succeeded();
            }
        });
        while !builds.is_finished() {
            read(&Dataset::open(dataset).unwrap());
            stats(dataset);
            reads += 1;
        }
    });
    assert!(reads > BUILDS / 4, "{reads} reads");
    read(&first);
    assert_eq!(first.manifest().sources.len(), 1);
    assert_eq!(
        stats(&dataset)["sources"].as_array().unwrap().len(),
        1 + BUILDS
    );
}

#[test]
fn months_in_any_order_and_any_number_of_times_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (first, second): (&Path, &Path) = (&MONTHS.first, &MONTHS.second);
    build(&[first, second, first], &path("at once")).succeeded();
    let expected = contents(&path("at once"));
    assert!(expected.1["seen_on_both_sides"].as_u64() > Some(100));
    assert!(expected.1["duplicates_merged"].as_u64() > Some(10_000));
    for (name, order) in [
        ("forwards", [first, second]),
        ("backwards", [second, first]),
    ] {
        let dataset = path(name);
        for source in order {
            build(&[source], &dataset).succeeded();
        }
        assert!(contents(&dataset) == expected, "{name}");
        // Known sources, together and repeated.
        build(&[second, first, second], &dataset).succeeded();
        assert!(contents(&dataset) == expected, "{name}, twice");
    }
}

/// Writes the sample with a corrupt frame.
fn corrupt(name: &str, path: &Path) {
    let mut bytes = fs::read(sample(name)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0x55);
    fs::write(path, bytes).unwrap();
}

/// The error is reported each time; the games count once.
#[test]
fn a_damaged_source_given_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (bad, dataset) = (path("bad.pgn.zst"), path("a"));
    corrupt(JUNE, &bad);
    let said = build(&[&bad, &bad], &dataset).failed(DAMAGED, &["bad.pgn.zst", "sealed"]);
    let expected = contents(&dataset);
    assert_eq!(expected.1["sources"].as_array().unwrap().len(), 1);
    let again = build(&[&bad], &dataset).failed(DAMAGED, &[]);
    assert_eq!(again.last_line(), said.last_line());
    assert!(contents(&dataset) == expected);
    let piped = Piped::start(&dataset).end(&fs::read(&bad).unwrap());
    piped.failed(DAMAGED, &["-: damaged"]);
    assert!(contents(&dataset) == expected);
}

/// A cap keeps the positions with the smallest keys, in any order of the sources.
#[test]
fn a_cap_keeps_the_smallest_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (june, old) = (sample(JUNE), sample(OLD));
    let capped = |sources: &[&Path], most: usize, dataset: &Path| {
        let most = most.to_string();
        let mut command = program("ingest");
        command.arg("build").args(sources);
        command.args(["--max-positions", &most, "--out"]);
        run(command.arg(dataset)).succeeded();
    };
    build(&[&june, &old], &path("all")).succeeded();
    let keyed = |dataset: &Path| {
        let splits = [datasets::Split::Train, datasets::Split::Validation];
        let sides = splits.map(|split| {
            let records = records(dataset, split).into_iter();
            records.map(move |record| (datasets::Keyed::new(record).key, split, record))
        });
        let mut all: Vec<_> = sides.into_iter().flatten().collect();
        all.sort_by_key(|&(key, _, record)| (key, record));
        all
    };
    let all = keyed(&path("all"));
    for most in [1, 1000, 20_000, all.len() - 1, all.len(), all.len() + 1] {
        let name = |how: &str| path(&format!("{how} {most}"));
        capped(&[&june, &old], most, &name("at once"));
        capped(&[&old, &june], most, &name("backwards"));
        capped(&[&old], most, &name("later"));
        capped(&[&june], most, &name("later"));
        let expected = contents(&name("at once"));
        assert!(
            keyed(&name("at once")) == all[..most.min(all.len())],
            "{most}"
        );
        assert!(contents(&name("backwards")) == expected, "backwards {most}");
        assert!(contents(&name("later")) == expected, "later {most}");
    }
}
