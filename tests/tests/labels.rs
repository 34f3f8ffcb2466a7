//! Labels against python-chess, position by position.

use std::path::Path;

use datasets::{Record, read_labelled};
use sha2::{Digest, Sha256};

fn row(record: &Record) -> String {
    format!(
        "{}\t{}\t{}\t{}\n",
        record.epd(),
        record.label(),
        record.ply(),
        record.depth()
    )
}

fn rows(path: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    read_labelled(path, |record| rows.push(row(&record))).unwrap();
    rows
}

/// Every row of every sample equals the row that python-chess wrote (`tests/reference/labels.py`).
#[test]
fn every_sample_row_equals_python_chess() {
    let mut compared = 0;
    for entry in std::fs::read_dir(tests::root().join("tests/data")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(stem) = name.strip_suffix(".rows.zst") else {
            continue;
        };
        let expected = tests::text_of(&path);
        let ours = rows(&tests::sample(&format!("{stem}.pgn.zst")));
        assert_eq!(ours.len(), expected.lines().count(), "{stem}");
        for (number, (ours, expected)) in ours.iter().zip(expected.lines()).enumerate() {
            assert_eq!(ours.trim_end(), expected, "{stem}, row {}", number + 1);
        }
        compared += ours.len();
    }
    assert_eq!(compared, 83_168);
}

/// Every row of the shared sets that are present equals python-chess's, compared by count and
/// digest.
#[test]
fn every_shared_row_equals_python_chess() {
    let digests = include_str!("../data/labels.digests.tsv");
    for line in digests.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, count, digest] = fields[..] else {
            panic!("{line}")
        };
        let Some(path) = tests::shared(name) else {
            continue;
        };
        let (mut ours, mut hasher) = (0u64, Sha256::new());
        read_labelled(&path, |record| {
            ours += 1;
            hasher.update(row(&record));
        })
        .unwrap();
        let hex = format!("{:x}", hasher.finalize());
        assert_eq!(
            (ours.to_string().as_str(), hex.as_str()),
            (count, digest),
            "{name}"
        );
    }
}
