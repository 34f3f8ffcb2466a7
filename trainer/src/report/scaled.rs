//! Scale of evaluations: the factor that turns an evaluator's pawns into those of the labels.

use serde::Serialize;

use network::target::win_chance;

/// Factor on all evaluations that fits the labels best. What engines call a pawn has changed:
/// Lichess's labels of 2021 are half as large again for the same position as those of 2026.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scaled {
    /// Factor from 1/4 to 4, in steps of a fiftieth of an octave.
    pub factor: f64,
    /// Mean error in win chance with this factor.
    pub winchance: f64,
}

impl Scaled {
    /// Returns the factor with the smallest error on pairs of evaluation and label, both in pawns.
    /// Without pairs, the error is NaN.
    pub fn best(pairs: &[(f32, f32)]) -> Scaled {
        let factors = (-100..=100).map(|step| 2f64.powf(f64::from(step) / 50.0));
        let scaled = factors.map(|factor| Scaled::by(factor, pairs));
        scaled
            .min_by(|a, b| a.winchance.total_cmp(&b.winchance))
            .expect("201 factors")
    }

    /// Returns the error of a factor on pairs of evaluation and label, in pawns.
    pub fn by(factor: f64, pairs: &[(f32, f32)]) -> Scaled {
        let distances = pairs.iter().map(|&(value, label)| {
            f64::from((win_chance(value * factor as f32) - win_chance(label)).abs())
        });
        let winchance = distances.sum::<f64>() / pairs.len() as f64;
        Scaled { factor, winchance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_factor_between_pawns() {
        let labels = [-3.0, 0.5, 2.0, 0.0];
        let pairs = labels.map(|label| (label / 2.0, label));
        let scaled = Scaled::best(&pairs);
        assert!((scaled.factor - 2.0).abs() < 1e-9 && scaled.winchance < 1e-6);
    }
}
