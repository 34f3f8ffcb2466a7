//! Figures of an evaluator against the labels, over all positions except those labelled with a
//! mate, from the side to move's view.

use datasets::{Phase, Record};
use serde::{Deserialize, Serialize};

use network::target::win_chance;

/// Bands of |label|, with their lower bounds in pawns.
const BANDS: [(&str, f32); 6] = [
    ("8 and more", 8.0),
    ("4 to 8", 4.0),
    ("2 to 4", 2.0),
    ("1 to 2", 1.0),
    ("0.5 to 1", 0.5),
    ("below 0.5", 0.0),
];

/// Kinds of positions, by [`Record::is_quiet`].
const KINDS: [&str; 2] = ["quiet", "not quiet"];

/// Figures of an evaluator against the labels. Means are `None` without positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Number of positions.
    pub count: u64,
    /// Mean error in pawns, both sides clamped to ±10.
    pub clamp10: Option<f64>,
    /// Mean error in win chance, -1 to 1.
    pub winchance: Option<f64>,
    /// Share of positions with |label| of a pawn or more whose sign is right; an evaluation of
    /// exactly 0 is wrong.
    pub sign_accuracy: Option<f64>,
    /// Number of positions with |label| of a pawn or more.
    pub sign_count: u64,
}

impl Figures {
    /// Returns the figures of pairs of evaluation and label, in pawns.
    pub fn of(pairs: &[(f32, f32)]) -> Figures {
        let mut sums = Sums::default();
        for &(value, label) in pairs {
            sums.add(value, label);
        }
        sums.figures()
    }
}

/// Sums behind [`Figures`].
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    clamp10: f64,
    winchance: f64,
    sign_count: u64,
    sign_right: u64,
}

impl Sums {
    fn add(&mut self, value: f32, label: f32) {
        self.count += 1;
        let clamped = |pawns: f32| pawns.clamp(-10.0, 10.0);
        self.clamp10 += f64::from((clamped(value) - clamped(label)).abs());
        self.winchance += f64::from((win_chance(value) - win_chance(label)).abs());
        if label.abs() >= 1.0 {
            self.sign_count += 1;
            self.sign_right += u64::from(value * label > 0.0);
        }
    }

    fn figures(&self) -> Figures {
        let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
        Figures {
            count: self.count,
            clamp10: mean(self.clamp10, self.count),
            winchance: mean(self.winchance, self.count),
            sign_accuracy: mean(self.sign_right as f64, self.sign_count),
            sign_count: self.sign_count,
        }
    }
}

/// Figures of a net and of the material balance, on the same positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetAndMaterial {
    /// Figures of the net.
    pub net: Figures,
    /// Figures of the sum of piece values ([`models::material`]).
    pub material: Figures,
}

/// [`NetAndMaterial`] on a subset of positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subset {
    /// Name of the subset.
    pub name: &'static str,
    /// Figures on the subset.
    #[serde(flatten)]
    pub comparison: NetAndMaterial,
}

/// All figures of a net on a set of positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Number of positions labelled with a mate, excluded from all figures.
    pub mates: u64,
    /// Figures over all positions.
    #[serde(flatten)]
    pub all: NetAndMaterial,
    /// Figures on quiet positions and on all others ([`Record::is_quiet`]).
    pub by_kind: Vec<Subset>,
    /// Figures by number of pieces on the board.
    pub by_phase: Vec<Subset>,
    /// Figures by |label| in pawns.
    pub by_label: Vec<Subset>,
}

/// Sums of a net and of material.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    net: Sums,
    material: Sums,
}

impl Pair {
    fn comparison(&self) -> NetAndMaterial {
        NetAndMaterial {
            net: self.net.figures(),
            material: self.material.figures(),
        }
    }
}

/// Accumulates a [`Report`] position by position.
#[derive(Clone, Debug, Default)]
pub struct ErrorSums {
    mates: u64,
    all: Pair,
    kinds: [Pair; KINDS.len()],
    phases: [Pair; Phase::ALL.len()],
    bands: [Pair; BANDS.len()],
}

impl ErrorSums {
    /// Adds a position that the net evaluates at `value` pawns for the side to move.
    pub fn add(&mut self, record: &Record, value: f32) {
        if record.label().mate().is_some() {
            self.mates += 1;
            return;
        }
        let (label, material) = (features::target_pawns(record), features::material(record));
        let phase = &mut self.phases[Phase::of(record) as usize];
        let band = BANDS.iter().position(|&(_, least)| label.abs() >= least);
        let band = band.map(|i| &mut self.bands[i]);
        let kind = &mut self.kinds[usize::from(!record.is_quiet())];
        for pair in [&mut self.all, kind, phase].into_iter().chain(band) {
            pair.net.add(value, label);
            pair.material.add(material, label);
        }
    }

    /// Returns the report so far.
    pub fn report(&self) -> Report {
        let parts = |names: Vec<&'static str>, pairs: &[Pair]| -> Vec<Subset> {
            let parts = names.into_iter().zip(pairs);
            parts
                .map(|(name, pair)| Subset {
                    name,
                    comparison: pair.comparison(),
                })
                .collect()
        };
        Report {
            mates: self.mates,
            all: self.all.comparison(),
            by_kind: parts(KINDS.to_vec(), &self.kinds),
            by_phase: parts(Phase::ALL.map(Phase::name).to_vec(), &self.phases),
            by_label: parts(BANDS.map(|(name, _)| name).to_vec(), &self.bands),
        }
    }
}

/// Formats a figure; a dash without positions.
pub fn decimals(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".to_string(), |value| format!("{value:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{mated, record};

    const ROOK_UP: &str = "4k3/8/8/8/8/8/8/R3K3 w - - 0 1";
    const ROOK_DOWN: &str = "4k3/8/8/8/8/8/8/R3K3 b - - 0 1";
    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn figures_of_three_positions_by_hand() {
        let mut tally = ErrorSums::default();
        tally.add(&record(ROOK_UP, 2000), 7.0); // 3 off, 12 without the clamp
        tally.add(&record(ROOK_DOWN, 400), 0.0); // mover's view: -4
        tally.add(&record(START, 20), -0.3);
        tally.add(&mated(ROOK_UP, 3), 100.0);
        let report = tally.report();
        assert_eq!(report.mates, 1);
        let net = report.all.net;
        assert_eq!(net.count, 3);
        assert!((net.clamp10.unwrap() - (3.0 + 4.0 + 0.5) / 3.0).abs() < 1e-6);
        let chances = [
            win_chance(20.0) - win_chance(7.0),
            win_chance(4.0),
            win_chance(0.2) + win_chance(0.3),
        ];
        let mean = f64::from(chances.iter().sum::<f32>()) / 3.0;
        assert!((net.winchance.unwrap() - mean).abs() < 1e-6);
        assert_eq!((net.sign_accuracy, net.sign_count), (Some(0.5), 2));
        let material = report.all.material;
        assert!((material.clamp10.unwrap() - (5.0 + 1.0 + 0.2) / 3.0).abs() < 1e-6);
        assert_eq!(material.sign_accuracy, Some(1.0));
    }

    #[test]
    fn counts_each_position_in_one_phase_and_one_band() {
        let mut tally = ErrorSums::default();
        for label in [0, 49, 50, 99, 100, 200, 400, 799, 800, -30000] {
            tally.add(&record(START, label), 0.0);
            tally.add(&record(ROOK_UP, label), 0.0);
        }
        let report = tally.report();
        let counts = |parts: &[Subset]| -> Vec<u64> {
            parts.iter().map(|part| part.comparison.net.count).collect()
        };
        assert_eq!(counts(&report.by_kind), [20, 0]);
        assert_eq!(counts(&report.by_phase), [10, 0, 10]);
        assert_eq!(counts(&report.by_label), [4, 4, 2, 2, 4, 4]);
        assert_eq!(report.by_phase[1].comparison.net.winchance, None);
    }
}
