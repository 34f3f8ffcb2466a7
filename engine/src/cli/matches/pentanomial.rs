//! What pairs of games say: score, Elo, error, likelihood of superiority.
//!
//! The two games on one opening are not independent, their sum is: a match is
//! so many draws from a distribution over the five results of a pair, the
//! "pentanomial" model of Fishtest
//! (<https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>).

use std::f64::consts::{LN_10, SQRT_2};

use serde::Serialize;

/// Standard errors that hold 95 % of a normal distribution.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// Pairs of games on one opening by the half points that the first engine made
/// of them, 0 to 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Pentanomial(pub [u64; 5]);

/// A difference in Elo and half the width of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// `None` where one side made every point.
    pub value: Option<f64>,
    /// `None` where the interval has no end on one side.
    pub error: Option<f64>,
}

impl Pentanomial {
    /// Pairs in all.
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The first engine's share of the points, and the variance of a single
    /// pair's; 0 of nothing.
    pub fn score(&self) -> (f64, f64) {
        let count = (self.pairs() as f64).max(1.0);
        let expect = |value: &dyn Fn(f64) -> f64| {
            let weighted = (self.0.iter().zip(0u8..))
                .map(|(&pairs, half_points)| pairs as f64 * value(f64::from(half_points) / 4.0));
            weighted.sum::<f64>() / count
        };
        let mean = expect(&|x| x);
        (mean, expect(&|x| (x - mean) * (x - mean)))
    }

    /// The standard error of the score.
    fn standard_error(&self) -> f64 {
        (self.score().1 / (self.pairs() as f64).max(1.0)).sqrt()
    }

    /// The difference in logistic Elo.
    pub fn elo(&self) -> Estimate {
        let (score, error) = (self.score().0, Z_95 * self.standard_error());
        let half_width = elo(score + error).zip(elo(score - error));
        Estimate {
            value: elo(score),
            error: half_width.map(|(high, low)| (high - low) / 2.0),
        }
    }

    /// The difference in normalised Elo: in standard deviations of a game,
    /// scaled to equal Elo where no game is drawn. It says how many games show
    /// the difference, whatever the book and the share of draws. `None` where
    /// all pairs ended alike.
    pub fn normalised_elo(&self) -> Estimate {
        let (score, variance) = self.score();
        // A game's variance is twice that of a pair's mean.
        let scale = 800.0 / LN_10 / (2.0 * variance).sqrt();
        let known = (variance > 0.0).then_some(scale);
        Estimate {
            value: known.map(|scale| (score - 0.5) * scale),
            error: known.map(|scale| Z_95 * self.standard_error() * scale),
        }
    }

    /// The likelihood of superiority: how likely the first engine is the
    /// stronger one, by the normal distribution of the score. `None` where the
    /// pairs do not differ from each other.
    pub fn superiority(&self) -> Option<f64> {
        let error = self.standard_error();
        let deviations = (self.score().0 - 0.5) / error;
        (error > 0.0).then(|| libm::erfc(-deviations / SQRT_2) / 2.0)
    }

    /// Pairs won for each pair lost; `None` where none was lost.
    pub fn ratio(&self) -> Option<f64> {
        let [lost, rather_lost, _, rather_won, won] = self.0;
        let lost = lost + rather_lost;
        (lost > 0).then(|| (rather_won + won) as f64 / lost as f64)
    }
}

/// The difference in Elo at which the expected score is `score`: the logistic
/// model, score = 1 / (1 + 10^(-elo / 400)) (A. Elo, "The Rating of
/// Chessplayers", 1978). `None` at and beyond 0 and 1.
fn elo(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| 400.0 * (score / (1.0 - score)).log10())
}

/// The score that a difference in Elo lets expect, the inverse of [`elo`].
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elo_of_known_scores() {
        assert_eq!(elo(0.5), Some(0.0));
        assert!((elo(0.75).unwrap() - 190.85).abs() < 0.01);
        assert!((elo(0.25).unwrap() + 190.85).abs() < 0.01);
        assert_eq!((elo(0.0), elo(1.0)), (None, None));
        assert!((expected_score(190.85) - 0.75).abs() < 1e-5);
    }

    /// The published values of fastchess (github.com/Disservin/fastchess,
    /// app/tests/elo_test.cpp, "EloPentanomial 1" to "3"); its six counts are
    /// LL, LD, WL, DD, WD, WW, of which the middle two are one here.
    #[test]
    fn elo_error_and_superiority_equal_those_of_fastchess() {
        let published = [
            ([34, 54, 63, 64, 75], [55.58, 27.65, 57.94, 28.28], "100.00"),
            (
                [332, 433, 498, 333, 334],
                [-8.64, 10.33, -9.17, 10.96],
                "5.05",
            ),
            (
                [7895, 8757, 5685, 568, 9999],
                [-21.04, 2.95, -19.01, 2.65],
                "0.00",
            ),
        ];
        for (pairs, figures, superiority) in published {
            let pairs = Pentanomial(pairs);
            let (elo, normalised) = (pairs.elo(), pairs.normalised_elo());
            let found = [elo.value, elo.error, normalised.value, normalised.error];
            for (found, expected) in found.into_iter().zip(figures) {
                assert!((found.unwrap() - expected).abs() < 0.01, "{pairs:?}");
            }
            let percent = 100.0 * pairs.superiority().unwrap();
            assert_eq!(format!("{percent:.2}"), superiority);
        }
    }

    #[test]
    fn pairs_that_all_ended_alike_leave_no_doubt_and_no_scale() {
        // The score is certain, however the single games went.
        let split = Pentanomial([0, 0, 10, 0, 0]);
        assert_eq!(split.score(), (0.5, 0.0));
        assert_eq!(split.elo().error, Some(0.0));
        assert_eq!(split.normalised_elo().value, None);
        assert_eq!((split.superiority(), split.ratio()), (None, None));
        let swept = Pentanomial([0, 0, 0, 0, 3]);
        assert_eq!((swept.elo().value, swept.elo().error), (None, None));
        assert_eq!(Pentanomial::default().score(), (0.0, 0.0));
        assert_eq!(Pentanomial([1, 1, 5, 2, 1]).ratio(), Some(1.5));
    }
}
