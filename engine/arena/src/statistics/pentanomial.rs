//! Pentanomial statistics of paired games: score, Elo with its interval, likelihood of superiority.
//!
//! The two games on one opening are not independent, their sum is: a match is a sample from a
//! distribution over the five results of a pair, the "pentanomial" model of Fishtest
//! (<https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>).
//!
//! The 95 % interval is the score interval of E. B. Wilson ("Probable inference, the law of
//! succession, and statistical inference", 1927). It holds the scores s with
//! `(mean - s)^2 <= z^2 v(s) / n`, for n pairs, z = 1.96, and v(s) the variance of the likeliest
//! distribution with the mean s; for two results, as in Wilson's paper, v(s) = s (1 - s). The usual
//! `mean +/- z sqrt(v(mean) / n)` has no width after two drawn games; in long matches both agree.
//! Wilson's interval holds the truth 84 times in 100 at worst (L. Brown, T. Cai and A. DasGupta,
//! "Interval estimation for a binomial proportion", 2001), and so does this one; mostly 95 times or
//! more.

use std::f64::consts::{LN_10, SQRT_2};

use serde::{Deserialize, Serialize};

/// Half-width of a 95 % interval of a normal distribution, in standard errors.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// Count in place of 0, so that no likelihood is 0 (as in Fishtest).
const PSEUDO_COUNT: f64 = 1e-3;

/// Scores of the five results of a pair, 0 to 1.
const POINTS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Maximum rounds of `likeliest_above`.
const MAX_ROUNDS: usize = 20;
/// Change of all probabilities below which `likeliest_above` has converged.
const CONVERGED: f64 = 1e-9;

/// Pairs of games on one opening, by the first engine's half points, 0 to 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pentanomial(pub [u64; 5]);

/// A difference in logistic Elo with its 95 % interval; infinite at a score of 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EloInterval {
    /// Maximum-likelihood estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Pentanomial {
    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the first engine's score, 0 to 1, and the variance of a single pair's; both 0
    /// without pairs.
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

    /// Returns the counts with `PSEUDO_COUNT` in place of 0.
    pub fn counts(&self) -> [f64; 5] {
        self.0.map(|count| (count as f64).max(PSEUDO_COUNT))
    }

    /// Returns the maximum-likelihood distribution with the expected score `score`.
    pub fn likeliest(&self, score: f64) -> [f64; 5] {
        self.likeliest_with_zero_mean(distances(score))
    }

    /// Returns the maximum-likelihood distribution with an expected score `deviations` standard
    /// deviations of a pair above 0.5. That deviation is unknown before: each round uses the one of
    /// the round before (M. Van den Bergh, "Normalized Elo", 2021, and Fishtest's `LLRcalc.py`).
    pub fn likeliest_above(&self, deviations: f64) -> [f64; 5] {
        let mut shares = [0.2; 5];
        for _ in 0..MAX_ROUNDS {
            let expect = |value: &dyn Fn(f64) -> f64| -> f64 {
                let terms = shares.iter().zip(POINTS);
                terms.map(|(share, points)| share * value(points)).sum()
            };
            let mean = expect(&|points| points);
            let deviation = expect(&|points| (points - mean) * (points - mean)).sqrt();
            let excess = POINTS.map(|points| {
                let far = (mean - points) / deviation;
                points - 0.5 - deviations * deviation * (1.0 + far * far) / 2.0
            });
            let next = self.likeliest_with_zero_mean(excess);
            let change = (shares.iter().zip(next)).map(|(old, new)| (old - new).abs());
            let change = change.fold(0.0, f64::max);
            shares = next;
            if change < CONVERGED {
                break;
            }
        }
        shares
    }

    /// Returns the maximum-likelihood distribution under which `distances`, of both signs, have the
    /// expectation 0: `p / (1 + x d)`, where d is a result's distance, p its observed share, and x
    /// makes the expectation 0.
    fn likeliest_with_zero_mean(&self, distances: [f64; 5]) -> [f64; 5] {
        let counts = self.counts();
        let total: f64 = counts.iter().sum();
        let share = |result: usize, x: f64| counts[result] / total / (1.0 + x * distances[result]);
        let excess = |x: f64| -> f64 { (0..5).map(|i| share(i, x) * distances[i]).sum() };
        // The excess falls from infinity to minus infinity between the poles.
        let most = distances.into_iter().fold(f64::MIN, f64::max);
        let least = distances.into_iter().fold(f64::MAX, f64::min);
        let (mut low, mut high) = (-1.0 / most, -1.0 / least);
        // Bisection has converged long before the last round.
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if excess(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        [0, 1, 2, 3, 4].map(|result| share(result, f64::midpoint(low, high)))
    }

    /// Returns the variance of a pair's score under the likeliest distribution with the mean
    /// `score`.
    pub fn variance_under(&self, score: f64) -> f64 {
        let terms = self.likeliest(score).into_iter().zip(distances(score));
        terms
            .map(|(share, distance)| share * distance * distance)
            .sum()
    }

    /// Returns how many standard errors the observed score is above `score`, if that is the true
    /// one.
    fn deviations_from(&self, score: f64) -> f64 {
        let error = (self.variance_under(score) / self.pairs() as f64).sqrt();
        (self.score().0 - score) / error
    }

    /// Returns the difference in logistic Elo; its interval is infinite without pairs.
    pub fn elo(&self) -> EloInterval {
        let mean = match self.pairs() {
            0 => 0.5,
            _ => self.score().0,
        };
        EloInterval {
            value: elo(mean),
            low: elo(self.end(mean, 0.0)),
            high: elo(self.end(mean, 1.0)),
        }
    }

    /// Returns the end of the score's interval between `mean` and `limit`.
    fn end(&self, mean: f64, limit: f64) -> f64 {
        if self.pairs() == 0 || mean == limit {
            return limit;
        }
        let (mut inside, mut outside) = (mean, limit);
        // Bisects down to neighbouring floating-point numbers.
        for _ in 0..60 {
            let middle = f64::midpoint(inside, outside);
            if self.deviations_from(middle).abs() > Z_95 {
                outside = middle;
            } else {
                inside = middle;
            }
        }
        inside
    }

    /// Returns the difference in normalised Elo: in standard deviations of a game, scaled to equal
    /// Elo if no game is drawn. It determines how many games show the difference, with any book and
    /// any share of draws. `None` if all pairs had the same result. It has no interval: 1.96
    /// standard errors of the score take the observed deviation for the true one, and hold the
    /// truth once in ten matches if one side wins nearly all games.
    pub fn normalised_elo(&self) -> Option<f64> {
        let (score, variance) = self.score();
        // A game's variance is twice that of a pair's mean.
        let deviation = (2.0 * variance).sqrt();
        (variance > 0.0).then(|| (score - 0.5) / deviation * 800.0 / LN_10)
    }

    /// Returns the likelihood of superiority (LOS): the probability that the first engine is
    /// stronger, by the distance of its score from 0.5.
    pub fn superiority(&self) -> f64 {
        if self.pairs() == 0 {
            return 0.5;
        }
        libm::erfc(-self.deviations_from(0.5) / SQRT_2) / 2.0
    }

    /// Returns pairs won per pair lost; `None` if none was lost.
    pub fn ratio(&self) -> Option<f64> {
        let [lost, rather_lost, _, rather_won, won] = self.0;
        let lost = lost + rather_lost;
        (lost > 0).then(|| (rather_won + won) as f64 / lost as f64)
    }
}

/// Returns the distance of each result's score from `score`.
fn distances(score: f64) -> [f64; 5] {
    POINTS.map(|points| points - score)
}

/// Converts normalised Elo to standard deviations of a pair's score, see
/// [`Pentanomial::normalised_elo`].
pub fn deviations_of_normalised(elo: f64) -> f64 {
    elo * LN_10 / 800.0 * SQRT_2
}

/// Returns the difference in Elo for an expected score: the logistic model,
/// `score = 1 / (1 + 10^(-elo / 400))` (A. Elo, "The Rating of Chessplayers", 1978).
fn elo(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

/// Returns the expected score for a difference in Elo, the inverse of [`elo`].
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elo_of_known_scores() {
        assert_eq!(elo(0.5), 0.0);
        assert!((elo(0.75) - 190.85).abs() < 0.01);
        assert!((elo(0.25) + 190.85).abs() < 0.01);
        assert_eq!((elo(0.0), elo(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!((expected_score(190.85) - 0.75).abs() < 1e-5);
    }

    /// Published values of fastchess (github.com/Disservin/fastchess, app/tests/elo_test.cpp,
    /// "EloPentanomial 1" to "3"); its six counts are LL, LD, WL, DD, WD, WW, with the middle two
    /// added here. Its interval uses the observed variance; in matches this long ours is nearly the
    /// same.
    #[test]
    fn elo_error_and_superiority_equal_those_of_fastchess() {
        let published = [
            ([34, 54, 63, 64, 75], [55.58, 27.65, 57.94, 28.28], 100.00),
            (
                [332, 433, 498, 333, 334],
                [-8.64, 10.33, -9.17, 10.96],
                5.05,
            ),
            (
                [7895, 8757, 5685, 568, 9999],
                [-21.04, 2.95, -19.01, 2.65],
                0.00,
            ),
        ];
        for (pairs, figures, superiority) in published {
            let pairs = Pentanomial(pairs);
            let (score, variance) = pairs.score();
            let error = Z_95 * (variance / pairs.pairs() as f64).sqrt();
            let [low, high] = [-error, error].map(|error| elo(score + error));
            let (interval, normalised) = (pairs.elo(), pairs.normalised_elo().unwrap());
            let found = [
                interval.value,
                (high - low) / 2.0,
                normalised,
                error * normalised / (score - 0.5),
            ];
            for (found, expected) in found.into_iter().zip(figures) {
                assert!((found - expected).abs() < 0.01, "{pairs:?}");
            }
            let ours = (interval.high - interval.low) / 2.0;
            assert!((ours / figures[1] - 1.0).abs() < 2e-3, "{interval:?}");
            let percent = 100.0 * pairs.superiority();
            assert!((percent - superiority).abs() < 0.03, "{percent}");
        }
    }

    /// Wilson's interval for pairs that are won or lost:
    /// `(p + z^2/2n +/- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)`.
    #[test]
    fn the_interval_of_two_results_equals_wilsons() {
        for (lost, won) in [
            (0u32, 1u32),
            (1, 0),
            (1, 1),
            (0, 9),
            (3, 7),
            (40, 60),
            (1, 99),
        ] {
            let n = f64::from(lost + won);
            let (p, z) = (f64::from(won) / n, Z_95 * Z_95 / n);
            let half = (p * (1.0 - p) * z + z * z / 4.0).sqrt();
            let ends = [-half, half].map(|half| (p + z / 2.0 + half) / (1.0 + z));
            let found = Pentanomial([lost.into(), 0, 0, 0, won.into()]).elo();
            for (found, wilson) in [(found.low, ends[0]), (found.high, ends[1])] {
                let found = expected_score(found);
                assert!(
                    (found - wilson).abs() < 1e-3,
                    "{lost} {won}: {found} {wilson}"
                );
            }
        }
    }

    /// Two drawn games, pairs all won or lost, and a score near 1.
    #[test]
    fn the_interval_holds_at_the_edges() {
        let drawn = Pentanomial([0, 0, 1, 0, 0]).elo();
        assert_eq!(drawn.value, 0.0);
        assert!((drawn.low + drawn.high).abs() < 1e-6, "{drawn:?}");
        assert!((300.0..500.0).contains(&drawn.high), "{drawn:?}");
        let drawn = Pentanomial([0, 0, 1000, 0, 0]).elo();
        assert!((0.5..2.0).contains(&drawn.high), "{drawn:?}");
        let swept = Pentanomial([0, 0, 0, 0, 3]).elo();
        assert_eq!((swept.value, swept.high), (f64::INFINITY, f64::INFINITY));
        assert!((-100.0..0.0).contains(&swept.low), "{swept:?}");
        let lost = Pentanomial([3, 0, 0, 0, 0]).elo();
        assert_eq!(
            (lost.value, lost.low),
            (f64::NEG_INFINITY, f64::NEG_INFINITY)
        );
        assert!((lost.high + swept.low).abs() < 1e-6);
        // A score of 97.5 % in twenty games.
        let nearly = Pentanomial([0, 0, 0, 1, 9]).elo();
        assert!((600.0..700.0).contains(&nearly.value), "{nearly:?}");
        assert!((100.0..200.0).contains(&nearly.low), "{nearly:?}");
        assert!((900.0..1000.0).contains(&nearly.high), "{nearly:?}");
        let nothing = Pentanomial::default().elo();
        assert_eq!(nothing.value, 0.0);
        assert_eq!(
            (nothing.low, nothing.high),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
    }

    /// Returns how often the interval holds the truth in simulated matches of `length` pairs.
    fn coverage(truth: [f64; 5], length: u32, random: &mut fastrand::Rng) -> f64 {
        let points = [0.0, 0.25, 0.5, 0.75, 1.0];
        let score: f64 = truth.iter().zip(points).map(|(share, at)| share * at).sum();
        let (matches, mut held) = (500, 0);
        for _ in 0..matches {
            let mut pairs = Pentanomial::default();
            for _ in 0..length {
                let mut left = random.f64();
                let result = truth.iter().position(|share| {
                    left -= share;
                    left < 0.0
                });
                pairs.0[result.unwrap_or(4)] += 1;
            }
            held += u32::from(pairs.deviations_from(score).abs() <= Z_95);
        }
        f64::from(held) / f64::from(matches)
    }

    /// Simulated matches of all lengths between engines of known strength.
    #[test]
    fn the_interval_covers_the_true_score_as_often_as_stated() {
        let truths = [
            [0.02, 0.2, 0.56, 0.2, 0.02],
            [0.002, 0.008, 0.98, 0.008, 0.002],
            [0.001, 0.01, 0.05, 0.24, 0.699],
            [0.0005, 0.002, 0.01, 0.075, 0.9125],
            [0.0, 0.0, 0.0, 0.02, 0.98],
            [0.0, 0.0, 0.97, 0.03, 0.0],
            [0.1, 0.0, 0.8, 0.0, 0.1],
            [0.5, 0.0, 0.0, 0.0, 0.5],
            [0.6, 0.25, 0.1, 0.04, 0.01],
        ];
        let mut random = fastrand::Rng::with_seed(24);
        let mut shares = Vec::new();
        for truth in truths {
            for length in [1, 2, 5, 10, 30, 100, 400] {
                let share = coverage(truth, length, &mut random);
                assert!(share > 0.88, "{truth:?}, {length} pairs: {share}");
                shares.push(share);
            }
        }
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        assert!((0.96..0.98).contains(&mean), "{mean}");
        // Worst known case: on average one pair is lost in six matches.
        let lost = 0.1765 / 10.0 - 1e-4;
        let worst = coverage([lost, 0.0, 0.0, 0.0, 1.0 - lost], 10, &mut random);
        assert!((0.8..0.88).contains(&worst), "{worst}");
    }

    #[test]
    fn superiority_stays_uncertain_after_a_few_games() {
        assert_eq!(Pentanomial::default().superiority(), 0.5);
        assert_eq!(Pentanomial([0, 0, 10, 0, 0]).superiority(), 0.5);
        // Deviations are the square root of the number of pairs.
        let swept = Pentanomial([0, 0, 0, 0, 1]).superiority();
        assert!((swept - 0.8413).abs() < 1e-3, "{swept}");
        let lost = Pentanomial([4, 0, 0, 0, 0]).superiority();
        assert!((lost - 0.0228).abs() < 1e-3, "{lost}");
    }

    #[test]
    fn pairs_of_one_result_have_no_normalised_elo() {
        let split = Pentanomial([0, 0, 10, 0, 0]);
        assert_eq!(split.score(), (0.5, 0.0));
        assert_eq!((split.normalised_elo(), split.ratio()), (None, None));
        assert_eq!(Pentanomial::default().score(), (0.0, 0.0));
        assert_eq!(Pentanomial([1, 1, 5, 2, 1]).ratio(), Some(1.5));
    }
}
