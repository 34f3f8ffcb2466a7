//! Malicious sources: good games beside them are kept, bad ones are counted, and memory stays
//! bounded.

use std::io::Write;

use serde_json::Value;
use tests::exit::DAMAGED;
use tests::measure::watch;
use tests::{program, stats};

/// Memory limit of `ingest build` on any of these sources: the limit on a machine of two cores.
const PEAK_BYTES: u64 = 256 << 20;

const GAME: &str = "[Event \"x\"]\n\n1. e4 { [%eval 0.3] } *\n\n";
/// Another game, with text at which a part may begin.
const NEXT: &str = "\n\n[Event \"y\"]\n\n1. d4 { [%eval 0.2] } *\n\n";

const LINE: &str = "{\"fen\":\"8/8/8/4k3/8/8/4K3/7R w - -\",\"evals\":\
                    [{\"pvs\":[{\"cp\":500,\"line\":\"h1h5\"}],\"knodes\":9,\"depth\":20}]}\n";

/// Block of a zstd frame: literal text, or one repeated byte.
enum Block<'a> {
    Text(&'a str),
    Repeat(u8, usize),
}
use Block::{Repeat, Text};

/// Largest block of zstd.
const BLOCK_BYTES: usize = 1 << 17;

/// Assembles a zstd frame without compressing: four bytes encode 128 KiB of a repeated byte. The
/// window is `2^window_log` bytes.
fn frame(window_log: u8, blocks: &[Block]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, (window_log - 10) << 3];
    let mut block = |kind: usize, size: usize, content: &[u8]| {
        frame.extend_from_slice(&(kind << 1 | size << 3).to_le_bytes()[..3]);
        frame.extend_from_slice(content);
    };
    for piece in blocks {
        match *piece {
            Text(text) => block(0, text.len(), text.as_bytes()),
            Repeat(byte, count) => {
                for from in (0..count).step_by(BLOCK_BYTES) {
                    block(1, BLOCK_BYTES.min(count - from), &[byte]);
                }
            }
        }
    }
    // An empty last block.
    frame.extend_from_slice(&[1, 0, 0]);
    frame
}

/// Puts the header with its size before a frame.
fn sized(frame: &[u8]) -> Vec<u8> {
    let mut sized = vec![0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];
    sized.extend_from_slice(&(frame.len() as u32).to_le_bytes());
    sized.extend_from_slice(frame);
    sized
}

/// Builds a dataset of the source on two cores; asserts exit code and memory limit.
fn build(source: &[u8], code: i32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let (file, dataset) = (folder.path().join("source"), folder.path().join("dataset"));
    std::fs::write(&file, source).unwrap();
    let mut command = program("ingest");
    command
        .env("RAYON_NUM_THREADS", "2")
        .arg("build")
        .arg(&file)
        .arg("--out")
        .arg(&dataset);
    let (status, said, usage) = watch(&mut command).unwrap();
    assert_eq!(status.code(), Some(code), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    assert!(usage.peak_bytes < PEAK_BYTES, "{} bytes", usage.peak_bytes);
    stats(&dataset)
}

/// Asserts the number of labels, and that only `reason` was counted, `count` times.
fn assert_counts(stats: &Value, labels: u64, reason: &str, count: u64) {
    assert_eq!(stats["labels"], labels, "{stats}");
    let skipped = stats["skipped"].as_object().unwrap();
    let skipped: Vec<_> = skipped.iter().map(|(name, n)| (&name[..], n)).collect();
    match count {
        0 => assert!(skipped.is_empty(), "{stats}"),
        _ => assert_eq!(skipped, [(reason, &Value::from(count))], "{stats}"),
    }
}

#[test]
fn four_gibibytes_of_nothing_in_one_frame() {
    let bomb = |byte| {
        let blocks = [Text(GAME), Text(GAME), Repeat(byte, 4 << 30), Text(NEXT)];
        frame(23, &blocks)
    };
    // The first is decoded piece by piece, the second as a whole.
    for source in [bomb(b'a'), sized(&bomb(0))] {
        assert!(source.len() < 200_000);
        assert_counts(&build(&source, 0), 2, "oversized_game", 1);
    }
}

/// Every game is good, and every 15 bytes give a position.
#[test]
fn a_hundred_megabytes_of_evaluations_in_a_small_frame() {
    let moves = "Nf3{[%eval 0]} Nf6{[%eval 0]} Ng1{[%eval 0]} Ng8{[%eval 0]} ".repeat(1000);
    let game = format!("[Event \"x\"]\n\n{moves}*\n\n");
    let games = 100_000_000 / game.len();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    (0..games).for_each(|_| encoder.write_all(game.as_bytes()).unwrap());
    let bomb = sized(&encoder.finish().unwrap());
    assert!(bomb.len() < 100_000);
    assert_counts(&build(&bomb, 0), 4000 * games as u64, "", 0);
}

#[test]
fn a_frame_that_asks_for_two_gibibytes_of_memory() {
    let greedy = frame(31, &[Text(NEXT)]);
    let good = sized(&frame(23, &[Text(GAME)]));
    let after = sized(&frame(23, &[Text(NEXT)]));
    for greedy in [sized(&greedy), greedy] {
        let source = [&good[..], &greedy, &after].concat();
        assert_counts(&build(&source, DAMAGED), 2, "malformed_game", 1);
    }
}

#[test]
fn a_comment_of_a_gibibyte() {
    let game = [Text("[Event \"c\"]\n\n1. e4 { "), Repeat(b'x', 1 << 30)];
    let end = Text(" [%eval 0.3] } *\n");
    let [open, comment] = game;
    let source = frame(23, &[Text(GAME), open, comment, end, Text(NEXT)]);
    assert_counts(&build(&source, 0), 2, "oversized_game", 1);
}

#[test]
fn a_comment_just_below_the_limit() {
    // Each could extend to the end of the comment.
    let evals = "[%eval ".repeat((15 << 20) / 7);
    let source = format!("{GAME}[Event \"c\"]\n\n1. e4 {{ {evals} }} *\n{NEXT}");
    assert_counts(&build(source.as_bytes(), 0), 2, "malformed_eval", 1);
}

#[test]
fn endless_tags() {
    let long = frame(
        23,
        &[
            Text(GAME),
            Text("[Event \""),
            Repeat(b'x', 50 << 20),
            Text("\"]\n\n1. c4 { [%eval 1.0] } *\n"),
            Text(NEXT),
        ],
    );
    assert_counts(&build(&long, 0), 2, "oversized_game", 1);
    // Each could have tags before it.
    let many = "[Event \"x\"]\n".repeat(1 << 20);
    let stats = build(format!("{GAME}{many}{NEXT}").as_bytes(), 0);
    assert_eq!(stats["labels"], 2, "{stats}");
    // Each could belong to the game before or after.
    let evals = "[%eval ".repeat(1 << 20);
    let source = format!("{GAME}[White \"{evals}\"]\n[Event \"y\"]\n\n1. d4 *\n{NEXT}");
    let stats = build(source.as_bytes(), 0);
    assert_eq!(stats["labels"], 2, "{stats}");
}

#[test]
fn a_mate_in_a_billion_moves() {
    let game =
        "[Event \"x\"]\n\n1. e4 { [%eval #1000000000] } e5 { [%eval #-999999999999999999999] } *\n";
    let stats = build(game.as_bytes(), 0);
    assert_counts(&stats, 2, "", 0);
    assert_eq!(stats["mates"], 2, "{stats}");
}

#[test]
fn variations_nested_ten_thousand_deep_and_more() {
    for depth in [10_000, 1_000_000] {
        let (open, close) = ("(1. d4 ".repeat(depth), ")".repeat(depth));
        let game = |close: &str| {
            format!(
                "[Event \"x\"]\n\n1. e4 {{ [%eval 0.3] }} {open}{close} e5 {{ [%eval 0.2] }} *\n"
            )
        };
        let closed = game(&close) + NEXT;
        assert_counts(&build(closed.as_bytes(), 0), 3, "", 0);
        let unclosed = game("") + NEXT;
        assert_eq!(build(unclosed.as_bytes(), 0)["labels"], 2);
    }
}

#[test]
fn endless_lines() {
    let long = frame(
        23,
        &[
            Text(LINE),
            Text("{\"fen\":\""),
            Repeat(b'x', 100 << 20),
            Text("\"}\n"),
            Text(LINE),
        ],
    );
    assert_counts(&build(&long, 0), 2, "oversized_game", 1);
    let deep = "[".repeat(10 << 20);
    for start in ["{\"fen\":\"\",\"evals\":", "{\"fen\":\"\",\"other\":"] {
        let source = format!("{LINE}{start}{deep}\n{LINE}");
        assert_counts(&build(source.as_bytes(), 0), 2, "malformed_line", 1);
    }
}
