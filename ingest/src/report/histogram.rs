//! Histograms over the positions of a dataset, counted in one pass.

use std::path::Path;

use anyhow::Result;
use charts::Panel;
use datasets::{GameResult, Phase, Record};
use serde::Serialize;

use crate::report::summary::{Counted, Report};
use crate::report::{plot, table};

/// Width of a label bin in centipawns.
pub const LABEL_BIN: i32 = 50;
/// Labels beyond this many centipawns fall into the outermost bins.
pub const LABEL_RANGE: i32 = 1000;
/// Width of a ply bin.
const PLY_BIN: usize = 10;

const LABEL_BINS: usize = (2 * LABEL_RANGE / LABEL_BIN) as usize;
const PLY_BINS: usize = 20;

/// Histograms over the positions of a dataset.
#[derive(Clone, Debug, Serialize)]
pub struct Histogram {
    /// Labels in centipawns, White's view: bins of 50 from -1000 to 1000, the outermost open. Mates
    /// are excluded.
    pub labels: Vec<u64>,
    /// Positions by game ply: bins of ten, the last one open.
    pub plies: Vec<u64>,
    /// Positions by phase: opening, middlegame, endgame.
    pub phases: [u64; 3],
    /// Mate labels: White mates, Black mates.
    pub mates: [u64; 2],
    /// Positions by result of the game: Black won, draw, White won, unknown.
    pub results: [u64; 4],
    /// Positions with Black to move.
    pub black_to_move: u64,
    /// Positions where the side to move is in check.
    pub in_check: u64,
    /// Positions with a legal en-passant capture.
    pub en_passant: u64,
}

impl Counted for Histogram {
    type Row = Record;

    fn new() -> Histogram {
        Histogram {
            labels: vec![0; LABEL_BINS],
            plies: vec![0; PLY_BINS],
            phases: [0; 3],
            mates: [0; 2],
            results: [0; 4],
            black_to_move: 0,
            in_check: 0,
            en_passant: 0,
        }
    }

    fn add(&mut self, record: &Record) {
        let label = record.label();
        match label.centipawns() {
            Some(centipawns) => {
                let bin = (centipawns + LABEL_RANGE).div_euclid(LABEL_BIN);
                self.labels[bin.clamp(0, LABEL_BINS as i32 - 1) as usize] += 1;
            }
            None => self.mates[usize::from(label.mate() < Some(0))] += 1,
        }
        self.plies[(usize::from(record.ply()) / PLY_BIN).min(PLY_BINS - 1)] += 1;
        self.phases[Phase::of(record) as usize] += 1;
        let result = match record.result() {
            Some(GameResult::BlackWins) => 0,
            Some(GameResult::Draw) => 1,
            Some(GameResult::WhiteWins) => 2,
            None => 3,
        };
        self.results[result] += 1;
        self.black_to_move += u64::from(record.turn().is_black());
        self.in_check += u64::from(record.in_check());
        self.en_passant += u64::from(record.en_passant().is_some());
    }

    fn text(path: &Path, report: &Report<Histogram>) -> Result<String> {
        table::text(path, report)
    }

    fn panels(report: &Report<Histogram>) -> Vec<Vec<Panel>> {
        plot::panels(report)
    }
}
