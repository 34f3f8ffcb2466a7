//! Sources of bare positions against python-chess, position by position
//! (`tests/reference/positions.py`).

use std::path::Path;

use datasets::{Filters, GameResult, Record, SkipReason, SourceCounts};
use datasets::{PositionFormat, read_positions};
use sha2::{Digest, Sha256};

/// Reads a file in the format detected from its first lines.
fn read(path: &Path, format: PositionFormat) -> (Vec<Record>, SourceCounts) {
    let text = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap();
    assert_eq!(PositionFormat::detect(&text), Some(format));
    let (mut all, mut tally) = (Vec::new(), SourceCounts::default());
    let each = |_, records: &[Record]| all.extend_from_slice(records);
    read_positions(&text, format, &Filters::default(), &mut tally, each);
    (all, tally)
}

fn result(record: &Record) -> &'static str {
    match record.result() {
        Some(GameResult::WhiteWins) => "1.0",
        Some(GameResult::Draw) => "0.5",
        Some(GameResult::BlackWins) => "0.0",
        None => "?",
    }
}

/// Each format of the same positions, written by python-chess, gives the same records, as far as it
/// can hold them.
#[test]
fn every_format_equals_python_chess() {
    let file = |name: &str| tests::root().join(format!("tests/data/positions.{name}.zst"));
    let expected = tests::text_of(&file("tsv"));
    assert_eq!(expected.lines().count(), 518);
    for (name, format) in [
        ("jsonl", PositionFormat::EvaluationJson),
        ("csv", PositionFormat::Csv),
        ("txt", PositionFormat::Text),
        ("epd", PositionFormat::Epd),
    ] {
        let (records, tally) = read(&file(name), format);
        assert!(tally.skipped.is_empty(), "{name}: {tally:?}");
        assert_eq!(records.len(), 518);
        let has_ply = matches!(name, "csv" | "txt");
        let has_depth = matches!(name, "jsonl" | "epd");
        for (record, line) in records.iter().zip(expected.lines()) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [epd, label, ply, depth, wdl] = fields[..] else {
                panic!("{line}")
            };
            let ply: u16 = ply.parse().unwrap();
            let found = format!(
                "{record:?} {} {} {}",
                record.ply(),
                record.depth(),
                result(record)
            );
            let wanted = format!(
                "{epd} {label} {} {} {}",
                if has_ply { ply } else { ply % 2 },
                if has_depth { depth } else { "0" },
                if name == "txt" { wdl } else { "?" },
            );
            assert_eq!(found, wanted, "{name}");
        }
    }
}

/// A real set of a hundred thousand positions, by digest, where available.
#[test]
fn every_shared_row_equals_python_chess() {
    for line in include_str!("../data/positions.digests.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, count, digest, illegal, finished] = fields[..] else {
            panic!("{line}")
        };
        let Some(path) = tests::shared(&format!("fen_eval/{name}")) else {
            continue;
        };
        let (records, tally) = read(&path, PositionFormat::Csv);
        let mut hasher = Sha256::new();
        for record in &records {
            hasher.update(format!(
                "{}\t{}\t{}\n",
                record.epd(),
                record.label(),
                record.ply()
            ));
        }
        let hex = format!("{:x}", hasher.finalize());
        let skipped = |reason| tally.skipped.get(&reason).copied().unwrap_or(0).to_string();
        assert_eq!(
            [
                records.len().to_string(),
                hex,
                skipped(SkipReason::IllegalPosition),
                skipped(SkipReason::FinishedPosition),
            ],
            [count, digest, illegal, finished],
        );
        assert_eq!(tally.labels, records.len() as u64);
    }
}
