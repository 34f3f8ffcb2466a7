//! Published perft counts. Rows are limited by their node counts, so that all files together take
//! half a minute on one core.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use engine::{parse_fen, perft};

struct Row {
    fen: String,
    depth: u32,
    nodes: u64,
}

/// Parses python-chess's format: lines of `id NAME`, `epd FEN`, `perft DEPTH NODES`.
fn blocks(text: &str) -> Vec<Row> {
    let mut fen = String::new();
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(epd) = line.strip_prefix("epd ") {
            fen = epd.to_string();
        } else if let Some(counts) = line.strip_prefix("perft ") {
            let (depth, nodes) = counts.split_once(' ').unwrap();
            let (depth, nodes) = (depth.parse().unwrap(), nodes.trim().parse().unwrap());
            rows.push(Row {
                fen: fen.clone(),
                depth,
                nodes,
            });
        }
    }
    rows
}

/// Parses EPD with operations such as `;D4 4085603`.
fn epd(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (fen, counts) = line.split_once(';').unwrap();
        for count in counts.split(';') {
            let (depth, nodes) = count
                .trim()
                .trim_start_matches('D')
                .split_once(' ')
                .unwrap();
            let (depth, nodes) = (depth.parse().unwrap(), nodes.trim().parse().unwrap());
            rows.push(Row {
                fen: fen.to_string(),
                depth,
                nodes,
            });
        }
    }
    rows
}

/// Checks every row of at most `most` nodes, on all cores.
fn check(rows: &[Row], most: u64) {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.nodes <= most).collect();
    assert!(!rows.is_empty(), "no row has so few nodes");
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let board = parse_fen(&row.fen).unwrap();
            assert_eq!(
                perft(&board, row.depth),
                row.nodes,
                "{} depth {}",
                row.fen,
                row.depth
            );
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// Reads a file from the shared folder, if present.
fn shared(name: &str) -> Option<String> {
    let path = test_support::shared(&format!("perft/{name}"))?;
    Some(fs::read_to_string(path).unwrap())
}

#[test]
fn start_position_to_depth_6() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let counts = [20, 400, 8_902, 197_281, 4_865_609, 119_060_324];
    let row = |(ply, &nodes): (usize, &u64)| Row {
        fen: start.into(),
        depth: ply as u32 + 1,
        nodes,
    };
    let rows: Vec<Row> = counts.iter().enumerate().map(row).collect();
    check(&rows, u64::MAX);
}

/// Includes Kiwipete to depth 5, and positions 3 to 5 of the usual set.
#[test]
fn tricky_positions() {
    // The check on this board cannot result from the double push: the rules library rejects its
    // en-passant square, while the file counts a capture.
    let unreachable = "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3";
    let mut rows = blocks(&fs::read_to_string(here("tricky.perft")).unwrap());
    let all = rows.len();
    rows.retain(|row| row.fen != unreachable);
    assert_eq!(rows.len(), all - 3);
    check(&rows, 200_000_000);
}

#[test]
fn random_positions() {
    if let Some(text) = shared("random.perft") {
        check(&blocks(&text), 200_000);
    }
}

#[test]
fn chess960_positions() {
    // Both files have the same positions.
    for (name, parse, most) in [
        ("chess960.perft", blocks as fn(&str) -> Vec<Row>, 1_000_000),
        ("ethereal_fischer.epd", epd, 300_000),
    ] {
        if let Some(text) = shared(name) {
            check(&parse(&text), most);
        }
    }
}

#[test]
fn standard_positions() {
    if let Some(text) = shared("ethereal_standard.epd") {
        check(&epd(&text), 12_000_000);
    }
}

#[test]
fn positions_near_checks() {
    if let Some(text) = shared("ferdy_perft_single_check_4.epd") {
        check(&epd(&text), 400_000);
    }
}
