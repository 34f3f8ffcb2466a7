//! Equal games and positions from every kind of source, intact and damaged.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use datasets::{Keyed, Record};
use tests::exit::DAMAGED;
use tests::generator::Generator;
use tests::pzstd::framed;
use tests::server::BreakingServer;
use tests::{Said, both_sides, build, contents, program, root, run, sample, stats, text_of};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";

/// Bytes of a skippable frame with the next frame's size.
const HEADER: usize = 12;

/// Generates annotated games of about 3 kB each.
fn games(count: u64) -> Vec<u8> {
    let mut text = Vec::new();
    let mut generator = Generator::new(7, 100);
    for _ in 0..count {
        generator.append(&mut text);
    }
    text
}

/// Returns a file compressed by a tool.
fn packed_by(tool: &str, file: &Path) -> Vec<u8> {
    let packed = Command::new(tool).arg("-c").arg(file).output().unwrap();
    assert!(packed.status.success());
    packed.stdout
}

fn build_from_standard_input(bytes: &[u8], dataset: &Path) -> Said {
    let mut command = program("ingest");
    command.args(["build", "-", "--out"]).arg(dataset);
    command.stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn every_encoding_of_the_same_games_gives_the_same_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = games(1200);
    let plain = path("plain.pgn");
    fs::write(&plain, &text).unwrap();
    build(&[&plain], &path("expected")).succeeded();
    let expected = both_sides(&path("expected"));
    assert!(expected[0].len() > 50_000 && expected[1].len() > 1000);

    let with_sizes = framed(&text, 150_000);
    let frames = |level| {
        let frame = move |text: &[u8]| zstd::encode_all(text, level).unwrap();
        text.chunks(400_000).map(frame).collect::<Vec<_>>().concat()
    };
    let (gzip, bzip2) = (packed_by("gzip", &plain), packed_by("bzip2", &plain));
    // Two members, like two concatenated files.
    let half = path("half");
    let members = |tool| {
        let (first, second) = text.split_at(text.len() / 2);
        let member = |text: &[u8]| {
            fs::write(&half, text).unwrap();
            packed_by(tool, &half)
        };
        [member(first), member(second)].concat()
    };
    // File names do not tell the format.
    for (name, bytes) in [
        ("frames with sizes", with_sizes.clone()),
        ("frames without", frames(1)),
        ("one frame", zstd::encode_all(&text[..], 3).unwrap()),
        ("gzip", gzip.clone()),
        ("gzip in two members", members("gzip")),
        ("bzip2", bzip2),
        ("bzip2 in two members", members("bzip2")),
        ("text with CRLF", crlf(&text)),
    ] {
        let (file, dataset) = (path(name), path(&format!("{name}.dataset")));
        fs::write(&file, bytes).unwrap();
        build(&[&file], &dataset).succeeded();
        assert!(both_sides(&dataset) == expected, "{name}");
    }
    for (name, bytes) in [("text", &text), ("frames", &with_sizes), ("gzip", &gzip)] {
        let dataset = path(&format!("piped {name}"));
        build_from_standard_input(bytes, &dataset).succeeded();
        assert!(both_sides(&dataset) == expected, "{name} by standard input");
    }
    for (name, bytes) in [("text", text.clone()), ("frames", with_sizes)] {
        let (dataset, most) = (path(&format!("url {name}")), bytes.len() / 7);
        let server = BreakingServer::start(bytes, most);
        build(&[Path::new(&server.url)], &dataset).succeeded();
        assert!(server.requests() >= 7, "{} requests", server.requests());
        assert!(both_sides(&dataset) == expected, "{name} by URL");
    }
}

/// The pauses before new attempts are 0.5, 1 and 2 seconds; from 2 seconds on they are reported.
#[test]
fn long_pauses_before_reconnecting_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = games(300);
    let most = bytes.len() * 2 / 3;
    let server = BreakingServer::start(bytes, most);
    server.refuse_rests(2);
    let said = build(&[Path::new(&server.url)], &folder.path().join("dataset")).succeeded();
    let report = format!(
        "{}: no connection at byte {most} (the server answers 503 Service Unavailable); attempt 3 \
         of 10 in 2 s",
        server.url
    );
    let reports = said.err.lines().filter(|line| line.contains("attempt"));
    assert_eq!(reports.collect::<Vec<_>>(), [report], "{}", said.err);
    assert_eq!(server.take_starts(), [0, most as u64]);
}

/// The query of a presigned URL is a secret.
#[test]
fn url_secrets_are_neither_printed_nor_stored() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("dataset");
    let plain = folder.path().join("games.pgn");
    fs::write(&plain, games(3_000)).unwrap();
    let bytes = packed_by("gzip", &plain);
    let most = bytes.len() * 2 / 3;
    let server = BreakingServer::start(bytes, most);
    server.set_rest_missing(true);
    let url = |query: &str| format!("{}.pgn.gz?{query}", server.url);
    let presigned = url("dl=1&X-Amz-Credential=KEYNAME&X-Amz-Signature=TOPSECRET");
    let again = url("dl=1&X-Amz-Credential=KEYNAME&X-Amz-Signature=SECRETTOO");
    let interrupted = build(&[Path::new(&presigned)], &dataset).failed(3, &["same command again"]);
    server.set_rest_missing(false);
    let finished = build(&[Path::new(&again)], &dataset).succeeded();
    let known = build(&[Path::new(&again)], &dataset).succeeded();
    assert!(
        known.err.contains("already in the dataset"),
        "{}",
        known.err
    );
    assert_eq!(stats(&dataset)["sources"][0]["name"], "games.pgn.gz");
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for said in [interrupted, finished, known] {
        texts.extend([said.out.into_bytes(), said.err.into_bytes()]);
    }
    for file in fs::read_dir(&dataset).unwrap() {
        let file = file.unwrap().path();
        if file.is_file() {
            texts.push(fs::read(file).unwrap());
        }
    }
    for secret in ["KEYNAME", "TOPSECRET", "SECRETTOO", "dl=1"] {
        let has_it = |text: &Vec<u8>| text.windows(secret.len()).any(|at| at == secret.as_bytes());
        assert!(!texts.iter().any(has_it), "{secret}");
    }
}

/// Starts a server with a fixed answer; returns its URL and the count of requests.
fn answering(answer: String) -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&requests);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counter.fetch_add(1, Ordering::Relaxed);
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            lines.find(|line| line.as_ref().map_or(true, String::is_empty));
            // Fails if the client has left.
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (url, requests)
}

/// Requests to S3 carry a signature and a token, which another server must not see.
#[test]
fn reports_a_wrong_region_without_following_redirects() {
    let folder = tempfile::tempdir().unwrap();
    let (other, requests) = answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".into());
    let answer = |status: &str, headers: &str, body: &str| {
        let length = body.len();
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
    };
    let elsewhere = format!("Location: {other}/games\r\nx-amz-bucket-region: eu-west-1\r\n");
    let malformed =
        "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>";
    for (answer, words) in [
        (
            answer("301 Moved Permanently", &elsewhere, ""),
            "AWS_REGION=eu-west-1",
        ),
        (
            answer("307 Temporary Redirect", &elsewhere, ""),
            "AWS_REGION=eu-west-1",
        ),
        (
            answer("400 Bad Request", "", malformed),
            "AWS_REGION=eu-west-1",
        ),
        (
            answer(
                "301 Moved Permanently",
                "",
                "<Code>PermanentRedirect</Code>",
            ),
            "set AWS_REGION to the bucket's",
        ),
    ] {
        let (endpoint, _) = answering(answer);
        let mut command = program("ingest");
        command.args(["build", "s3://bucket/games.pgn", "--out"]);
        command.arg(folder.path().join("dataset"));
        command.env("AWS_ENDPOINT_URL_S3", endpoint);
        command.env("AWS_ACCESS_KEY_ID", "key");
        command.env("AWS_SECRET_ACCESS_KEY", "secret");
        command.env("AWS_SESSION_TOKEN", "token");
        run(&mut command).failed(3, &["s3://bucket/games.pgn", "wrong region", words]);
    }
    assert_eq!(requests.load(Ordering::Relaxed), 0);
}

fn crlf(text: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(text).unwrap();
    text.replace('\n', "\r\n").into_bytes()
}

/// Returns EPD and label of each position of a dataset.
fn labels(dataset: &Path) -> BTreeSet<String> {
    let records = both_sides(dataset).concat();
    let line = |record: &Record| format!("{record:?}");
    records.iter().map(line).collect()
}

/// 518 positions in every format, written by python-chess.
#[test]
fn every_format_of_bare_positions_gives_the_same_labels() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let packed = |name: &str| root().join(format!("tests/data/positions.{name}.zst"));
    let rows = text_of(&packed("tsv"));
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        format!("{} {}", fields[0], fields[1])
    };
    let expected: BTreeSet<String> = rows.lines().map(row).collect();
    assert!(expected.len() > 500);
    for name in ["jsonl", "csv", "txt", "epd"] {
        let (plain, dataset) = (path(&format!("a.{name}")), path(name));
        fs::write(&plain, text_of(&packed(name))).unwrap();
        build(&[&plain], &dataset).succeeded();
        assert_eq!(labels(&dataset), expected, "{name}");
        let zipped = path(&format!("{name} packed"));
        build(&[&packed(name)], &zipped).succeeded();
        assert!(both_sides(&dataset) == both_sides(&zipped), "{name}.zst");
    }
}

#[test]
fn sources_at_once_equal_sources_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("games.pgn"), games(50)).unwrap();
    fs::write(path("a.gz"), packed_by("gzip", &path("games.pgn"))).unwrap();
    fs::write(path("b.pgn"), &games(80)[..]).unwrap();
    let data = |name: &str| root().join(format!("tests/data/positions.{name}.zst"));
    let sources: Vec<PathBuf> = ["jsonl", "csv", "txt", "epd"]
        .map(data)
        .into_iter()
        .chain([sample(JUNE), path("a.gz"), path("b.pgn"), sample(OLD)])
        .collect();
    let sources: Vec<&Path> = sources.iter().map(|source| source.as_path()).collect();
    build(&sources, &path("at once")).succeeded();
    for source in sources.iter().rev() {
        build(&[source], &path("one by one")).succeeded();
    }
    let expected = contents(&path("at once"));
    assert_eq!(expected.1["sources"].as_array().unwrap().len(), 8);
    assert!(contents(&path("one by one")) == expected);
}

/// Depth, month and split are lost in text; everything else is restored.
#[test]
fn exported_text_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(JUNE), &sample(OLD)], &path("a")).succeeded();
    let mut export = program("ingest");
    export.arg("export").arg(path("a"));
    export.args(["--format", "text", "--out"]);
    run(export.arg(path("a.txt"))).succeeded();
    build(&[&path("a.txt")], &path("b")).succeeded();
    let lines = |dataset: &Path| {
        let line = |record: &Record| format!("{record:?} {} {:?}", record.ply(), record.result());
        let records = both_sides(dataset).concat();
        records.iter().map(line).collect::<BTreeSet<_>>()
    };
    let expected = lines(&path("a"));
    assert!(expected.len() > 30_000);
    assert_eq!(lines(&path("b")), expected);
    // A second round trip changes nothing.
    let mut export = program("ingest");
    export.arg("export").arg(path("b"));
    export.args(["--format", "text", "--out"]);
    run(export.arg(path("b.txt"))).succeeded();
    build(&[&path("b.txt")], &path("c")).succeeded();
    assert!(both_sides(&path("b")) == both_sides(&path("c")));
}

/// Dump with frames that can be damaged.
struct Framed {
    text: Vec<u8>,
    frames: Vec<Vec<u8>>,
}

impl Framed {
    const TEXT: usize = 100_000;

    fn new() -> Framed {
        let text = games(600);
        let pack = |text: &[u8]| framed(text, Self::TEXT);
        let frames = text.chunks(Self::TEXT).map(pack).collect();
        Framed { text, frames }
    }

    /// Returns the text range of some frames.
    fn text_of(frames: Range<usize>) -> Range<usize> {
        frames.start * Self::TEXT..frames.end * Self::TEXT
    }

    /// Returns the range of compressed bytes of a frame.
    fn bytes_of(&self, frame: usize) -> Range<usize> {
        let start = self.frames[..frame].iter().map(Vec::len).sum();
        start..start + self.frames[frame].len()
    }

    fn corrupt(&mut self, frame: usize) {
        let middle = self.frames[frame].len() / 2;
        self.frames[frame][middle..middle + 64].fill(0x55);
    }

    /// Returns the games that overlap none of the text ranges, nor enclose an empty one.
    fn games_outside(&self, stretches: &[Range<usize>]) -> Vec<u8> {
        let text = std::str::from_utf8(&self.text).unwrap();
        let starts = text.match_indices("[Event \"").map(|(at, _)| at);
        let starts: Vec<usize> = starts.chain([text.len()]).collect();
        let mut kept = Vec::new();
        for game in starts.windows(2) {
            let end = game[0] + text[game[0]..game[1]].trim_end().len();
            let is_hit = |lost: &Range<usize>| game[0] < lost.end && lost.start < end;
            if !stretches.iter().any(is_hit) {
                kept.extend_from_slice(&self.text[game[0]..game[1]]);
            }
        }
        kept
    }
}

/// Builds from uncompressed games; returns the records.
fn records_of(games: &[u8], folder: &Path) -> [Vec<Record>; 2] {
    let (file, dataset) = (folder.join("kept.pgn"), folder.join("kept"));
    fs::write(&file, games).unwrap();
    build(&[&file], &dataset).succeeded();
    both_sides(&dataset)
}

/// Returns the compressed offset named in the last line.
fn named_byte(said: &Said) -> usize {
    let (_, rest) = said.err.rsplit_once("compressed byte ").unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn skips_corrupt_frames() {
    for (lost, places) in [(vec![6], ""), (vec![3, 4, 10], "(and at 2 more places)")] {
        let folder = tempfile::tempdir().unwrap();
        let mut dump = Framed::new();
        let first = dump.bytes_of(lost[0]);
        for &frame in &lost {
            dump.corrupt(frame);
        }
        let (file, dataset) = (folder.path().join("bad.zst"), folder.path().join("dataset"));
        fs::write(&file, dump.frames.concat()).unwrap();
        let said = build(&[&file], &dataset).failed(DAMAGED, &["bad.zst", places]);
        // The damage lies in the frame of the named byte, before that byte.
        assert!(
            (first.start + 1..=first.end).contains(&named_byte(&said)),
            "{said:?}"
        );
        let stretches = lost.iter().map(|&frame| Framed::text_of(frame..frame + 1));
        let kept = dump.games_outside(&stretches.collect::<Vec<_>>());
        assert!(kept.len() > dump.text.len() - (lost.len() + 1) * Framed::TEXT * 11 / 10);
        assert!(both_sides(&dataset) == records_of(&kept, folder.path()));
        assert!(stats(&dataset)["skipped"]["malformed_game"].as_u64() > Some(0));
    }
}

/// Damage between frames, or to their sizes. Each case names the text that may be lost, and whether
/// the build reports damage.
#[test]
fn damage_between_frames_costs_no_game_elsewhere() {
    let dump = Framed::new();
    let last = dump.frames.len() - 1;
    let noise: Vec<u8> = (0..1000u32).map(|i| ((i * i) >> 3) as u8).collect();
    let end = dump.text.len();
    let with = |change: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut frames = dump.frames.clone();
        change(&mut frames);
        frames.concat()
    };
    let sized = |frame: usize, size: u32| {
        with(&|frames| frames[frame][8..HEADER].copy_from_slice(&size.to_le_bytes()))
    };
    let size = (dump.frames[5].len() - HEADER) as u32;
    let text = Framed::text_of;
    // Upper bound of the loss: a truncated frame still gives its beginning.
    for (name, bytes, lost, damaged) in [
        (
            "garbage",
            with(&|frames| drop(frames[7].splice(0..0, noise.clone()))),
            text(7..7),
            true,
        ),
        (
            "a last frame that is missing",
            with(&|frames| frames[last].truncate(HEADER)),
            text(last..last).start..end,
            true,
        ),
        (
            "a last frame that is cut",
            with(&|frames| frames[last].truncate(HEADER + 5000)),
            text(last..last).start..end,
            true,
        ),
        (
            "half a header",
            with(&|frames| frames[last].truncate(HEADER / 2)),
            text(last..last).start..end,
            true,
        ),
        ("a size too small", sized(5, size - 500), text(5..6), true),
        ("a size too large", sized(5, size + 500), text(5..7), true),
        ("a size of none", sized(5, 0), text(5..6), true),
        ("a size beyond all", sized(5, u32::MAX), text(5..5), false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (file, dataset) = (folder.path().join("bad.zst"), folder.path().join("dataset"));
        fs::write(&file, bytes).unwrap();
        let said = build(&[&file], &dataset);
        let all = records_of(&dump.text, folder.path());
        if !damaged {
            said.succeeded();
            assert!(both_sides(&dataset) == all, "{name}");
            continue;
        }
        let said = said.failed(DAMAGED, &["bad.zst", "compressed byte"]);
        let place = dump.bytes_of(lost.start / Framed::TEXT).start;
        assert!(named_byte(&said) >= place, "{name}: {said:?}");
        // Compare keys instead of EPDs: which of a position and its colour twin is kept depends on
        // all games they come from.
        let keys = |sides: &[Vec<Record>; 2]| -> BTreeSet<u64> {
            let records = sides.concat().into_iter();
            records.map(|record| Keyed::new(record).key).collect()
        };
        fs::remove_dir_all(folder.path().join("kept")).unwrap();
        let needed = keys(&records_of(&dump.games_outside(&[lost]), folder.path()));
        let found = keys(&both_sides(&dataset));
        assert!(found.is_superset(&needed), "{name}: games outside are gone");
        let unknown: Vec<_> = found.difference(&keys(&all)).cloned().collect();
        assert!(
            unknown.is_empty(),
            "{name}: games that never were: {unknown:?}"
        );
        assert!(found.len() < keys(&all).len(), "{name}: nothing was lost");
    }
}
