//! Which of a dataset's training positions are trained on.

use std::ops::AddAssign;

use datasets::{Dataset, Record, Split};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::TrainerError;

/// What is left out at reading time. Held-out positions are never left out, so that
/// figures of different runs stay comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Leave out positions in which the side to move is in check.
    pub drop_checks: bool,
    /// Leave out positions with a mate as their label.
    pub drop_mates: bool,
    /// Leave out positions without a known result.
    pub drop_unknown_results: bool,
    /// The largest label that is kept, in centipawns, of either sign. Mates are no
    /// centipawns and stay.
    pub max_label: Option<u16>,
    /// The first and the last ply that are kept, counted as FEN does from 0.
    pub ply: Option<[u16; 2]>,
    /// The fewest and the most pieces that are kept, kings and pawns included.
    pub pieces: Option<[u8; 2]>,
}

/// What a filter left out, each position by the first reason that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// In check.
    pub checks: u64,
    /// A mate.
    pub mates: u64,
    /// No known result.
    pub unknown_results: u64,
    /// A label beyond the largest.
    pub labels: u64,
    /// Too early or too late in the game.
    pub plies: u64,
    /// Too few pieces, or too many.
    pub pieces: u64,
}

/// A reason, as the count that it adds to.
type Reason = fn(&mut Dropped) -> &mut u64;

impl Filter {
    /// Leaves nothing out.
    pub const NONE: Filter = Filter {
        drop_checks: false,
        drop_mates: false,
        drop_unknown_results: false,
        max_label: None,
        ply: None,
        pieces: None,
    };

    /// Whether a position is trained on.
    pub fn keeps(&self, record: &Record) -> bool {
        self.reason(record).is_none()
    }

    /// Why a position is left out.
    fn reason(&self, record: &Record) -> Option<Reason> {
        let label = record.label();
        let beyond = |most: u16| {
            let centipawns = label.centipawns();
            centipawns.is_some_and(|label| label.unsigned_abs() > u32::from(most))
        };
        let pieces = || record.pieces().count() as u8;
        if self.drop_checks && record.in_check() {
            return Some(|dropped| &mut dropped.checks);
        }
        if self.drop_mates && label.mate().is_some() {
            return Some(|dropped| &mut dropped.mates);
        }
        if self.drop_unknown_results && record.result().is_none() {
            return Some(|dropped| &mut dropped.unknown_results);
        }
        if self.max_label.is_some_and(beyond) {
            return Some(|dropped| &mut dropped.labels);
        }
        if self.ply.is_some_and(|range| outside(range, record.ply())) {
            return Some(|dropped| &mut dropped.plies);
        }
        if self.pieces.is_some_and(|range| outside(range, pieces())) {
            return Some(|dropped| &mut dropped.pieces);
        }
        None
    }
}

fn outside<T: PartialOrd>([least, most]: [T; 2], value: T) -> bool {
    value < least || value > most
}

impl Dropped {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.by_reason().iter().map(|(_, count)| count).sum()
    }

    fn by_reason(&self) -> [(&'static str, u64); 6] {
        [
            ("in check", self.checks),
            ("mates", self.mates),
            ("without a result", self.unknown_results),
            ("labels", self.labels),
            ("plies", self.plies),
            ("pieces", self.pieces),
        ]
    }

    /// The counts that are not 0: `in check 12, plies 7`.
    pub fn in_words(&self) -> String {
        let counts = self.by_reason().into_iter().filter(|&(_, count)| count > 0);
        let words: Vec<String> = counts
            .map(|(reason, count)| format!("{reason} {count}"))
            .collect();
        words.join(", ")
    }
}

impl AddAssign for Dropped {
    fn add_assign(&mut self, other: Dropped) {
        self.checks += other.checks;
        self.mates += other.mates;
        self.unknown_results += other.unknown_results;
        self.labels += other.labels;
        self.plies += other.plies;
        self.pieces += other.pieces;
    }
}

/// The positions of a dataset that a filter keeps to train on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// The filter.
    pub filter: Filter,
    /// Positions that it keeps.
    pub positions: u64,
    /// Positions that it leaves out.
    pub dropped: Dropped,
}

impl Selection {
    /// Counts what a filter keeps of a dataset's training positions.
    ///
    /// # Errors
    /// [`TrainerError::Data`] if the dataset cannot be read.
    pub fn new(filter: Filter, dataset: &Dataset) -> Result<Selection, TrainerError> {
        let mut dropped = Dropped::default();
        if filter != Filter::NONE {
            for block in dataset.blocks(Split::Train)? {
                dropped += block?
                    .par_iter()
                    .filter_map(|record| filter.reason(record))
                    .fold(Dropped::default, |mut sum, reason| {
                        *reason(&mut sum) += 1;
                        sum
                    })
                    .reduce(Dropped::default, |mut sum, other| {
                        sum += other;
                        sum
                    });
            }
        }
        Ok(Selection {
            filter,
            positions: dataset.len(Split::Train) - dropped.total(),
            dropped,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{mated, record};

    const KINGS: &str = "4k3/8/8/8/8/8/8/4K3 w - - 0 11";

    /// Each filter alone, and the count that it adds to.
    #[test]
    fn each_reason_drops_what_it_says_and_is_counted() {
        let check = record("4k3/8/8/8/8/8/8/4R1K1 b - - 0 21", 500);
        let mate = mated("4k3/8/8/8/8/8/8/3R2K1 w - - 0 31", -3);
        let equal = record(KINGS, -900);
        let none = Filter::NONE;
        let cases = [
            (
                Filter {
                    drop_checks: true,
                    ..none
                },
                check,
                "in check 1",
            ),
            (
                Filter {
                    drop_mates: true,
                    ..none
                },
                mate,
                "mates 1",
            ),
            (
                Filter {
                    max_label: Some(899),
                    ..none
                },
                equal,
                "labels 1",
            ),
            (
                Filter {
                    ply: Some([21, 100]),
                    ..none
                },
                equal,
                "plies 1",
            ),
            (
                Filter {
                    ply: Some([0, 59]),
                    ..none
                },
                mate,
                "plies 1",
            ),
            (
                Filter {
                    pieces: Some([3, 32]),
                    ..none
                },
                equal,
                "pieces 1",
            ),
        ];
        for (filter, dropped, words) in cases {
            for record in [check, mate, equal] {
                assert!(Filter::NONE.keeps(&record));
                assert_eq!(filter.keeps(&record), record != dropped, "{words}");
            }
            let mut sum = Dropped::default();
            *filter.reason(&dropped).unwrap()(&mut sum) += 1;
            assert_eq!((sum.total(), sum.in_words()), (1, words.to_string()));
        }
        let results = Filter {
            drop_unknown_results: true,
            ..none
        };
        assert!(!results.keeps(&equal));
    }

    #[test]
    fn bounds_are_kept() {
        let equal = record(KINGS, -900);
        let filter = Filter {
            max_label: Some(900),
            ply: Some([20, 20]),
            pieces: Some([2, 2]),
            ..Filter::NONE
        };
        assert!(filter.keeps(&equal));
    }
}
