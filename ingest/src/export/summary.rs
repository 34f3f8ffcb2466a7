//! Counts of an export.

use std::path::Path;

use datasets::{Record, Split};
use host::thousands;
use serde::Serialize;

use crate::export::format::Format;

/// Summary of an export, as text and with `--json`.
#[derive(Serialize)]
pub struct Summary {
    format: Format,
    positions: u64,
    positions_train: u64,
    positions_validation: u64,
    mates: u64,
    unknown_results: u64,
    /// Positions that `--known-results` left out.
    pub left_out: u64,
    /// Size of the export in bytes.
    pub bytes: u64,
}

impl Summary {
    /// Returns a summary of no positions.
    pub fn new(format: Format) -> Summary {
        Summary {
            format,
            positions: 0,
            positions_train: 0,
            positions_validation: 0,
            mates: 0,
            unknown_results: 0,
            left_out: 0,
            bytes: 0,
        }
    }

    /// Counts blocks of exported records.
    pub fn add(&mut self, split: Split, blocks: &[Vec<Record>]) {
        let count = |matches: fn(&Record) -> bool| {
            blocks.iter().flatten().filter(|r| matches(r)).count() as u64
        };
        let positions = count(|_| true);
        self.positions += positions;
        match split {
            Split::Train => self.positions_train += positions,
            Split::Validation => self.positions_validation += positions,
        }
        self.mates += count(|record| record.label().mate().is_some());
        self.unknown_results += count(|record| record.result().is_none());
    }

    /// Returns the summary as text.
    pub fn text(&self, out: &Path) -> String {
        let mut text = format!(
            "{}: {} positions ({} to train on, {} held out), {} of them mates; {} bytes\n\
             {} results are unknown, written as {}\n",
            out.display(),
            thousands(self.positions),
            thousands(self.positions_train),
            thousands(self.positions_validation),
            thousands(self.mates),
            thousands(self.bytes),
            thousands(self.unknown_results),
            self.format.unknown_results(),
        );
        if self.left_out > 0 {
            text += &format!("left out: {} of unknown result\n", thousands(self.left_out));
        }
        text
    }
}
