//! Generated dumps: legal, reproducible, compressed as Lichess does, and similar to real ones.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use tests::dump::{Dump, Frames};
use tests::generator::Generator;
use tests::pzstd::write_frames;
use tests::{build, sample, stats};

fn text(seed: u64, annotated_percent: u32, games: usize) -> Vec<u8> {
    let mut generator = Generator::new(seed, annotated_percent);
    let mut text = Vec::new();
    for _ in 0..games {
        generator.append(&mut text);
    }
    text
}

/// A change of the generator changes this digest, and with it the input of the figures in
/// docs/benchmarks.md.
#[test]
fn a_seed_is_one_text_on_every_machine() {
    let digest = Sha256::digest(text(1, 6, 2000));
    assert_eq!(
        format!("{digest:x}"),
        "d8c72ed134992c51911ecc8469071f827985b508bec3297522380c3f27b3b509"
    );
}

#[test]
fn a_game_depends_on_its_number_only() {
    let mut generator = Generator::new(3, 50);
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for _ in 0..70 {
        first.clear();
        generator.append(&mut first);
    }
    let mut generator = Generator::new(3, 50);
    generator.seek(69);
    generator.append(&mut again);
    assert_eq!(first, again);
    assert_ne!(text(3, 50, 5), text(4, 50, 5));
}

#[test]
fn frames_follow_one_another_by_their_sizes() {
    let text = text(1, 6, 300);
    let mut packed = Vec::new();
    write_frames(&text, 100_000, 3, &mut packed).expect("memory can be written");
    let (mut rest, mut unpacked, mut frames) = (&packed[..], Vec::new(), 0);
    while !rest.is_empty() {
        let (header, tail) = rest.split_at(12);
        assert_eq!(header[..8], [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0]);
        let size = u32::from_le_bytes(header[8..].try_into().expect("four bytes")) as usize;
        unpacked.extend(zstd::bulk::decompress(&tail[..size], 100_000).expect("one frame"));
        rest = &tail[size..];
        frames += 1;
    }
    assert_eq!(frames, text.len().div_ceil(100_000));
    assert!(unpacked == text);
}

/// `ingest` finds every label written, and counts no illegal or malformed text.
#[test]
fn ingest_agrees_with_the_generator() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, frames) in [("many", Frames::Of(1 << 20)), ("one", Frames::One)] {
        let file = folder.path().join(format!("{name}.pgn.zst"));
        let dump = Dump {
            games: 9000,
            annotated_percent: 30,
            seed: 7,
            frames,
            level: 1,
        };
        let contents = dump.write_to(&file, |_| {}).expect("a dump is written");
        assert_eq!(unpacked_bytes(&file), contents.text_bytes);
        let dataset = folder.path().join(name);
        build(&[&file], &dataset).succeeded();
        let stats = stats(&dataset);
        assert_eq!(stats["games"], contents.games);
        assert_eq!(stats["labels"], contents.labels);
        let annotated = stats["games_annotated"].as_u64().expect("a count");
        let skipped = serde_json::json!({ "unannotated": contents.games - annotated });
        assert_eq!(stats["skipped"], skipped);
        assert!((2500..2900).contains(&annotated), "{annotated}");
    }
}

fn unpacked_bytes(file: &Path) -> u64 {
    let file = fs::File::open(file).expect("a dump");
    let mut reader = zstd::Decoder::new(file).expect("zstd");
    std::io::copy(&mut reader, &mut std::io::sink()).expect("whole frames")
}

/// Compared with the samples of real dumps, by number of games and compression level.
#[test]
fn as_long_and_as_compressible_as_real_games() {
    for (name, annotated_percent, games) in [
        ("dump_2021-10_first499", 9, 499),
        ("dump_2026-06_annotated500", 100, 500),
    ] {
        let real = fs::read(sample(&format!("{name}.pgn.zst"))).expect("a sample");
        let real = zstd::decode_all(&real[..]).expect("zstd");
        let made = text(1, annotated_percent, games);
        let packed = |text| zstd::bulk::compress(text, 19).expect("memory").len() as f64;
        let (real_bytes, made_bytes) = (real.len() as f64, made.len() as f64);
        let length = made_bytes / real_bytes;
        let ratio = made_bytes / packed(&made) / (real_bytes / packed(&real));
        assert!((0.9..1.1).contains(&length), "{name}: length {length}");
        assert!((0.95..1.05).contains(&ratio), "{name}: ratio {ratio}");
    }
}
