//! Tests of interrupted and resumed builds.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use super::*;
use crate::reading::Damage;
use crate::store::Dataset;
use records::selection::SkipReason;

mod parts;

const SAMPLES: [&str; 3] = [
    "dump_2026-06_annotated500",
    "rebuilt_2026-06_blitz676",
    "dump_2021-10_first499",
];

/// Returns the samples' games: about five pieces of text.
fn text() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let texts = SAMPLES.map(|name| {
        let file = std::fs::File::open(folder.join(format!("{name}.pgn.zst"))).unwrap();
        zstd::decode_all(file).unwrap()
    });
    texts.concat()
}

/// Compresses text to frames as Lichess does.
fn frames(text: &[u8]) -> Vec<Vec<u8>> {
    let frame = |text: &[u8]| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(text).unwrap();
        let frame = encoder.finish().unwrap();
        let header = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];
        [&header, &(frame.len() as u32).to_le_bytes()[..], &frame].concat()
    };
    text.chunks(300_000).map(frame).collect()
}

/// Returns the same games, whole and damaged, in all resumable encodings.
fn encodings() -> Vec<(&'static str, Vec<u8>)> {
    let text = text();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&text).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(&text).unwrap();
    let whole = frames(&text);
    let mut corrupt = whole.clone();
    for frame in [3, 4, 9] {
        let middle = corrupt[frame].len() / 2;
        corrupt[frame][middle..middle + 64].fill(0x55);
    }
    let mut garbage = whole.clone();
    garbage[5].splice(0..0, *b"[Event \"not a frame\"]\n\n1. e4 { [%eval 1] } *\n");
    let mut lying = whole.clone();
    lying[2][8..12].copy_from_slice(&9_999u32.to_le_bytes());
    let mut promised = whole.concat();
    promised.extend_from_slice(&whole[0][..12]);
    let single = zstd::encode_all(&text[..], 1).unwrap();
    let mut broken = single.clone();
    broken.truncate(single.len() * 2 / 3);
    vec![
        ("frames", whole.concat()),
        ("corrupt frames", corrupt.concat()),
        ("garbage between frames", garbage.concat()),
        ("a size that lies", lying.concat()),
        ("a promised frame", promised),
        ("one frame", single),
        ("one frame, broken off", broken),
        ("gzip", gzip.finish().unwrap()),
        ("bzip2", bzip2.finish().unwrap()),
        ("text", text),
    ]
}

/// Result of a build that may have been stopped.
struct Stopped {
    games: u64,
    resumed: u64,
    finished: Option<Option<Damage>>,
    error: Option<Error>,
}

/// Reads the source until `batches` batches were added. Spilled records are then committed, and the
/// rest is lost.
fn build_until(source: &Path, dataset: &Path, batches: usize) -> Stopped {
    let sources = [source.to_path_buf()];
    let filters = Filters::default();
    let mut builder = Builder::open(dataset, filters.clone(), &sources).unwrap();
    let resumed = builder.resumed().map_or(0, |tally| tally.games);
    let (mut games, mut added) = (0, 0);
    let reading = builder.open_source(source).unwrap();
    let finished = reading.run(&filters, 2, |batch| {
        if added == batches {
            let path = source.to_path_buf();
            return Err(SourceError::Empty { path }.into());
        }
        added += 1;
        games += batch.tally.games;
        builder.add(batch)
    });
    let (finished, error) = match finished {
        Ok(finished) => {
            let damage = finished.damage.clone();
            builder.end_source("source", finished);
            builder.finish().unwrap();
            (Some(damage), None)
        }
        Err(error) => {
            builder.pause().unwrap();
            (None, Some(error))
        }
    };
    Stopped {
        games,
        resumed,
        finished,
        error,
    }
}

fn contents(dataset: &Path) -> (Manifest, Vec<Vec<Record>>) {
    let dataset = Dataset::open(dataset).unwrap();
    let records = [
        records::selection::Split::Train,
        records::selection::Split::Validation,
    ]
    .map(|split| {
        let blocks = dataset.blocks(split).unwrap().map(Result::unwrap);
        blocks.collect::<Vec<_>>().concat()
    });
    (dataset.manifest().clone(), records.to_vec())
}

#[test]
fn resumes_a_build_from_any_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, bytes) in encodings() {
        let (source, whole) = (path(name), path(&format!("{name} whole")));
        std::fs::write(&source, bytes).unwrap();
        let once = build_until(&source, &whole, usize::MAX);
        let expected = contents(&whole);
        let total = once.games;
        assert_eq!(total, expected.0.tally.games, "{name}");

        // Stop after every fifth batch of the first build.
        let mut behind = Vec::new();
        for batches in (1..).step_by(5) {
            let dataset = path(&format!("{name} {batches}"));
            if build_until(&source, &dataset, batches).finished.is_some() {
                break;
            }
            let rest = build_until(&source, &dataset, usize::MAX);
            assert_eq!(rest.finished, once.finished, "{name}, {batches} batches");
            assert_eq!(
                rest.resumed + rest.games,
                total,
                "{name}, {batches} batches"
            );
            assert!(contents(&dataset) == expected, "{name}, {batches} batches");
            behind.push(rest.resumed);
        }
        behind.dedup();
        assert!(
            behind.is_sorted() && behind.last() > Some(&0),
            "{name}: {behind:?}"
        );

        // Stop repeatedly while the build makes progress.
        let dataset = path(&format!("{name} again"));
        let stops = (0..100).take_while(|stop| {
            let stopped = build_until(&source, &dataset, 3 + stop % 5);
            stopped.finished.is_none()
        });
        let stops = stops.count();
        assert!((2..100).contains(&stops), "{name}: {stops} stops");
        assert!(contents(&dataset) == expected, "{name}, {stops} stops");
    }
}

#[test]
fn counts_damage_once_across_resumed_builds() {
    let folder = tempfile::tempdir().unwrap();
    let (source, dataset) = (folder.path().join("source"), folder.path().join("dataset"));
    let (_, corrupt) = encodings().swap_remove(1);
    std::fs::write(&source, corrupt).unwrap();
    let damage = loop {
        if let Some(damage) = build_until(&source, &dataset, 7).finished {
            break damage.unwrap();
        }
    };
    assert_eq!(damage.places, 3, "{damage}");
    let (manifest, _) = contents(&dataset);
    // Two adjacent damaged frames lose one stretch of games.
    let malformed = manifest.tally.skipped.get(&SkipReason::MalformedGame);
    assert_eq!(malformed, Some(&2), "{manifest:?}");
}

/// Server of one file: the first connection is closed after `most` bytes, and refused until the
/// next build connects.
fn serve(bytes: Vec<u8>, most: usize) -> PathBuf {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/games", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let mut head = BufReader::new(&stream).lines();
            head.find(|line| line.as_ref().unwrap().is_empty());
            let (status, sent) = match number {
                0 => ("200 OK", &bytes[..most]),
                1 => ("404 Not Found", &[][..]),
                _ => ("200 OK", &bytes[..]),
            };
            let length = bytes.len();
            let head =
                format!("HTTP/1.1 {status}\r\nETag: \"one\"\r\nContent-Length: {length}\r\n\r\n");
            (&stream).write_all(head.as_bytes()).unwrap();
            (&stream).write_all(sent).unwrap();
        }
    });
    url.into()
}

/// A lost connection is not damage of the file: wherever it happens in a frame or a piece, the next
/// build completes the dataset.
#[test]
fn resumes_a_build_after_a_lost_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, bytes) in encodings() {
        let (source, whole) = (path(name), path(&format!("{name} whole")));
        std::fs::write(&source, &bytes).unwrap();
        let once = build_until(&source, &whole, usize::MAX);
        let most = bytes.len() * 3 / 5;
        let (url, dataset) = (serve(bytes, most), path(&format!("{name} by URL")));
        let first = build_until(&url, &dataset, usize::MAX);
        let error = first.error.expect(name);
        let lost = matches!(error, Error::Source(SourceError::Interrupted { .. }));
        assert!(lost, "{error}");
        let rest = build_until(&url, &dataset, usize::MAX);
        assert!(rest.resumed > 0, "{name}");
        assert_eq!(rest.resumed + rest.games, once.games, "{name}");
        assert_eq!(rest.finished, once.finished, "{name}");
        assert!(contents(&dataset) == contents(&whole), "{name}");
    }
}
