//! Position filters: which training positions of a dataset are used.

use std::ops::AddAssign;

use clap::ValueEnum;
use datasets::{Dataset, Keyed, Record, Split};
use models::Random;
use rayon::prelude::*;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::batch::reader::Keeps;
use crate::error::TrainerError;

/// Kind of training positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Positions whose static evaluation a search uses: not in check, and the move played is
    /// neither a capture nor a promotion
    Quiet,
    /// Every position
    All,
}

/// Filter applied while reading training positions. Held-out positions are never dropped, so that
/// figures of different runs stay comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Drop positions that are not quiet ([`Record::is_quiet`]); [`Keep`] sets it.
    #[serde(skip_deserializing)]
    pub quiet: bool,
    /// Drop positions with a mate as their label.
    pub drop_mates: bool,
    /// Drop positions without a known result.
    pub drop_unknown_results: bool,
    /// Largest absolute label to keep, in centipawns. Mates are not affected.
    pub max_label: Option<u16>,
    /// First and last ply to keep, counted from 0.
    pub ply: Option<[u16; 2]>,
    /// Fewest and most pieces to keep, kings and pawns included.
    pub pieces: Option<[u8; 2]>,
    /// Random sample to keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
}

/// Random sample of a dataset's positions, by the hash of each: the same on every machine. Of two
/// samples with one seed, the smaller is part of the larger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Share of the positions, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// Seed of the choice.
    pub seed: u64,
}

/// Deserialises a share.
///
/// # Errors
/// If it is not from 0 to 1.
fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(D::Error::custom("a share is from 0 to 1")),
    }
}

impl Sample {
    /// Returns whether a position is in the sample.
    fn contains(&self, record: &Record) -> bool {
        // Keys are uniform, and stay so under a bijection that the seed selects.
        let place = Random(Keyed::new(*record).key ^ Random(self.seed).bits()).bits();
        self.share == 1.0 || (place as f64) < self.share * (u64::MAX as f64)
    }
}

/// Numbers of dropped positions, each counted by the first reason that applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Positions that are not quiet.
    pub not_quiet: u64,
    /// Positions with a mate as their label.
    pub mates: u64,
    /// Positions without a known result.
    pub unknown_results: u64,
    /// Positions with a label beyond the largest.
    pub labels: u64,
    /// Positions too early or too late in the game.
    pub plies: u64,
    /// Positions with too few or too many pieces.
    pub pieces: u64,
    /// Positions outside the sample.
    pub sample: u64,
}

/// Reason of a drop: selects its counter.
type Reason = fn(&mut Dropped) -> &mut u64;

impl Filter {
    /// A filter that keeps every position.
    pub const NONE: Filter = Filter {
        quiet: false,
        drop_mates: false,
        drop_unknown_results: false,
        max_label: None,
        ply: None,
        pieces: None,
        sample: None,
    };

    /// Returns the filter as a test; `None` if it keeps all.
    pub fn test(self) -> Option<Keeps<Record>> {
        (self != Filter::NONE).then(|| -> Keeps<Record> { Box::new(move |r| self.keeps(r)) })
    }

    /// Returns whether the filter keeps a position.
    pub fn keeps(&self, record: &Record) -> bool {
        self.reason(record).is_none()
    }

    /// Returns the first reason to drop a position; `None` if it is kept.
    fn reason(&self, record: &Record) -> Option<Reason> {
        let label = record.label();
        let beyond = |most: u16| {
            let centipawns = label.centipawns();
            centipawns.is_some_and(|label| label.unsigned_abs() > u32::from(most))
        };
        let pieces = || record.pieces().count() as u8;
        if self.sample.is_some_and(|sample| !sample.contains(record)) {
            return Some(|dropped| &mut dropped.sample);
        }
        if self.quiet && !record.is_quiet() {
            return Some(|dropped| &mut dropped.not_quiet);
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
    /// Returns the sum over all reasons.
    pub fn total(&self) -> u64 {
        self.by_reason().iter().map(|(_, count)| count).sum()
    }

    fn by_reason(&self) -> [(&'static str, u64); 7] {
        [
            ("outside the sample", self.sample),
            ("not quiet", self.not_quiet),
            ("mates", self.mates),
            ("without a result", self.unknown_results),
            ("labels", self.labels),
            ("plies", self.plies),
            ("pieces", self.pieces),
        ]
    }

    /// Formats the nonzero counts: `not quiet 12, plies 7`.
    pub fn in_words(&self) -> String {
        let counts = self.by_reason().into_iter().filter(|&(_, count)| count > 0);
        let words: Vec<String> = counts
            .map(|(reason, count)| format!("{reason} {}", host::thousands(count)))
            .collect();
        words.join(", ")
    }
}

impl AddAssign for Dropped {
    fn add_assign(&mut self, other: Dropped) {
        self.not_quiet += other.not_quiet;
        self.mates += other.mates;
        self.unknown_results += other.unknown_results;
        self.labels += other.labels;
        self.plies += other.plies;
        self.pieces += other.pieces;
        self.sample += other.sample;
    }
}

/// Training positions of a dataset that a filter keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// The filter applied.
    pub filter: Filter,
    /// Number of kept positions.
    pub positions: u64,
    /// Numbers of dropped positions.
    pub dropped: Dropped,
}

impl Selection {
    /// Counts the training positions of a dataset that a filter keeps.
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
    use crate::testing::{self, mated, record};

    const KINGS: &str = "4k3/8/8/8/8/8/8/4K3 w - - 0 11";

    /// Tests each filter alone, and its counter.
    #[test]
    fn each_reason_drops_and_counts_its_positions() {
        let check = record("4k3/8/8/8/8/8/8/4R1K1 b - - 0 21", 500);
        let mate = mated("4k3/8/8/8/8/8/8/3R2K1 w - - 0 31", -3);
        let equal = record(KINGS, -900);
        let none = Filter::NONE;
        let cases = [
            (
                Filter {
                    quiet: true,
                    ..none
                },
                check,
                "not quiet 1",
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
    fn bounds_are_inclusive() {
        let equal = record(KINGS, -900);
        let filter = Filter {
            max_label: Some(900),
            ply: Some([20, 20]),
            pieces: Some([2, 2]),
            ..Filter::NONE
        };
        assert!(filter.keeps(&equal));
    }

    #[test]
    fn samples_are_nested_and_of_their_share() {
        let sample = |share, seed| Filter {
            sample: Some(Sample { share, seed }),
            ..Filter::NONE
        };
        let mut records = testing::games(20_000);
        records.sort();
        records.dedup();
        let kept = |filter: Filter| {
            let kept = records.iter().filter(|record| filter.keeps(record));
            kept.count() as f64 / records.len() as f64
        };
        for share in [0.125, 0.25, 0.5] {
            let (found, other) = (kept(sample(share, 1)), kept(sample(share, 2)));
            // Five standard deviations of a share of 10,000 or more.
            assert!(
                (found - share).abs() < 0.025 && (other - share).abs() < 0.025,
                "{found}"
            );
        }
        assert_eq!((kept(sample(0.0, 1)), kept(sample(1.0, 1))), (0.0, 1.0));
        let (eighth, half) = (sample(0.125, 1), sample(0.5, 1));
        let inside = |record: &Record| !eighth.keeps(record) || half.keeps(record);
        assert!(records.iter().all(inside));
        let alike = |record: &&Record| eighth.keeps(record) == sample(0.125, 2).keeps(record);
        let alike = records.iter().filter(alike).count();
        assert!(
            alike < records.len() * 9 / 10,
            "seeds choose alike: {alike}"
        );
    }
}
