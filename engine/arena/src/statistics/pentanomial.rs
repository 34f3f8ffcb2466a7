//! What pairs of games say: score, Elo and its interval, likelihood of
//! superiority.
//!
//! The two games on one opening are not independent, their sum is: a match is
//! so many draws from a distribution over the five results of a pair, the
//! "pentanomial" model of Fishtest
//! (<https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>).
//!
//! The interval holds the scores that the result does not speak against: those
//! s at which (mean - s)^2 <= z^2 v(s) / n, for n pairs, z = 1.96, and v(s) the
//! variance under s, that of the likeliest distribution whose mean is s. It is
//! the interval of E. B. Wilson ("Probable inference, the law of succession, and
//! statistical inference", 1927), whose v(s) is s (1 - s) for two results, here
//! for five. The usual mean +/- z sqrt(v(mean) / n) says after two drawn games
//! that nothing is in doubt; in long matches both agree. At worst Wilson's has the
//! truth 84 times in 100 (L. Brown, T. Cai and A. DasGupta, "Interval estimation
//! for a binomial proportion", 2001), and so has this one; mostly it is 95 and
//! more.

use std::f64::consts::{LN_10, SQRT_2};

use serde::{Deserialize, Serialize};

/// Standard errors that hold 95 % of a normal distribution.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// What stands for a result that has not happened, so that no likelihood is 0
/// (as in Fishtest).
const NEVER_SEEN: f64 = 1e-3;

/// Each result's share of the points.
const POINTS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Rounds in which a distribution settles, at most.
const ROUNDS: usize = 20;
/// It has settled where no share changes by more.
const SETTLED: f64 = 1e-9;

/// Pairs of games on one opening by the half points that the first engine made
/// of them, 0 to 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pentanomial(pub [u64; 5]);

/// A difference in logistic Elo and its 95 % interval; infinite where the
/// score is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EloInterval {
    /// The likeliest.
    pub value: f64,
    /// No less.
    pub low: f64,
    /// No more.
    pub high: f64,
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

    /// How often each result was seen, none of them never.
    pub fn counts(&self) -> [f64; 5] {
        self.0.map(|count| (count as f64).max(NEVER_SEEN))
    }

    /// The likeliest distribution whose expected score is `score`, given how
    /// often each result was seen.
    pub fn likeliest(&self, score: f64) -> [f64; 5] {
        self.likeliest_without(distances(score))
    }

    /// The likeliest distribution whose expected score is `deviations` standard
    /// deviations of a pair above an even one. Its own deviation is not known before: each
    /// round takes that of the round before (M. Van den Bergh, "Normalized Elo", 2021,
    /// and Fishtest's `LLRcalc.py`).
    pub fn likeliest_above(&self, deviations: f64) -> [f64; 5] {
        let mut shares = [0.2; 5];
        for _ in 0..ROUNDS {
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
            let next = self.likeliest_without(excess);
            let change = (shares.iter().zip(next)).map(|(old, new)| (old - new).abs());
            let change = change.fold(0.0, f64::max);
            shares = next;
            if change < SETTLED {
                break;
            }
        }
        shares
    }

    /// The likeliest distribution under which these five numbers, some of either sign, have
    /// the expectation 0: p / (1 + x d), where d is a result's number, p how often it was
    /// seen, and x makes the expectation right.
    fn likeliest_without(&self, distances: [f64; 5]) -> [f64; 5] {
        let counts = self.counts();
        let total: f64 = counts.iter().sum();
        let share = |result: usize, x: f64| counts[result] / total / (1.0 + x * distances[result]);
        let excess = |x: f64| -> f64 { (0..5).map(|i| share(i, x) * distances[i]).sum() };
        // The excess falls from infinity to minus infinity between the poles.
        let most = distances.into_iter().fold(f64::MIN, f64::max);
        let least = distances.into_iter().fold(f64::MAX, f64::min);
        let (mut low, mut high) = (-1.0 / most, -1.0 / least);
        // Halving stops to matter long before the last of these.
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

    /// The variance of a pair's score, were `score` the expected one.
    pub fn variance_under(&self, score: f64) -> f64 {
        let terms = self.likeliest(score).into_iter().zip(distances(score));
        terms
            .map(|(share, distance)| share * distance * distance)
            .sum()
    }

    /// How many standard errors the score is above `score`, were that the
    /// expected one.
    fn deviations_from(&self, score: f64) -> f64 {
        let error = (self.variance_under(score) / self.pairs() as f64).sqrt();
        (self.score().0 - score) / error
    }

    /// The difference in logistic Elo. Where nothing was played it may be any.
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

    /// The end of the interval of the score between the mean and `limit`.
    fn end(&self, mean: f64, limit: f64) -> f64 {
        if self.pairs() == 0 || mean == limit {
            return limit;
        }
        let (mut inside, mut outside) = (mean, limit);
        // To the last digit: beyond it the two are neighbours.
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

    /// The difference in normalised Elo: in standard deviations of a game,
    /// scaled to equal Elo where no game is drawn. It says how many games show
    /// the difference, whatever the book and the share of draws. `None` where
    /// all pairs ended alike. It has no interval: that of 1.96 standard errors of
    /// the score takes the deviation that was seen for the true one, and where
    /// one side wins nearly all games has the truth once in ten matches.
    pub fn normalised_elo(&self) -> Option<f64> {
        let (score, variance) = self.score();
        // A game's variance is twice that of a pair's mean.
        let deviation = (2.0 * variance).sqrt();
        (variance > 0.0).then(|| (score - 0.5) / deviation * 800.0 / LN_10)
    }

    /// The likelihood of superiority: how likely the first engine is the
    /// stronger one, by how far the score is from an even one.
    pub fn superiority(&self) -> f64 {
        if self.pairs() == 0 {
            return 0.5;
        }
        libm::erfc(-self.deviations_from(0.5) / SQRT_2) / 2.0
    }

    /// Pairs won for each pair lost; `None` where none was lost.
    pub fn ratio(&self) -> Option<f64> {
        let [lost, rather_lost, _, rather_won, won] = self.0;
        let lost = lost + rather_lost;
        (lost > 0).then(|| (rather_won + won) as f64 / lost as f64)
    }
}

/// How far each result's share of the points is from `score`.
fn distances(score: f64) -> [f64; 5] {
    POINTS.map(|points| points - score)
}

/// Standard deviations of a pair's score that a difference in normalised Elo makes, see
/// [`Pentanomial::normalised_elo`].
pub fn deviations_of_normalised(elo: f64) -> f64 {
    elo * LN_10 / 800.0 * SQRT_2
}

/// The difference in Elo at which the expected score is `score`: the logistic
/// model, score = 1 / (1 + 10^(-elo / 400)) (A. Elo, "The Rating of
/// Chessplayers", 1978).
fn elo(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
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
        assert_eq!(elo(0.5), 0.0);
        assert!((elo(0.75) - 190.85).abs() < 0.01);
        assert!((elo(0.25) + 190.85).abs() < 0.01);
        assert_eq!((elo(0.0), elo(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!((expected_score(190.85) - 0.75).abs() < 1e-5);
    }

    /// The published values of fastchess (github.com/Disservin/fastchess,
    /// app/tests/elo_test.cpp, "EloPentanomial 1" to "3"); its six counts are
    /// LL, LD, WL, DD, WD, WW, of which the middle two are one here. Its interval
    /// takes the variance of what was seen; ours is nearly the same in matches so
    /// long.
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

    /// Of pairs that are won or lost, the interval is Wilson's: (p + z^2/2n +/-
    /// z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).
    #[test]
    fn the_interval_of_two_results_is_that_of_wilson() {
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

    /// Two drawn games, one pair that was won, and what is nearly all.
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
        // 97.5 % of twenty games.
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

    /// How often the interval has the truth, in matches of so many pairs.
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

    /// Matches of all lengths between engines of which everything is known.
    #[test]
    fn the_interval_has_the_truth_as_often_as_it_says() {
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
        // The worst that is known: one pair lost in six times as many.
        let lost = 0.1765 / 10.0 - 1e-4;
        let worst = coverage([lost, 0.0, 0.0, 0.0, 1.0 - lost], 10, &mut random);
        assert!((0.8..0.88).contains(&worst), "{worst}");
    }

    #[test]
    fn superiority_is_never_certain_of_a_few_games() {
        assert_eq!(Pentanomial::default().superiority(), 0.5);
        assert_eq!(Pentanomial([0, 0, 10, 0, 0]).superiority(), 0.5);
        // Deviations are the root of the number of pairs.
        let swept = Pentanomial([0, 0, 0, 0, 1]).superiority();
        assert!((swept - 0.8413).abs() < 1e-3, "{swept}");
        let lost = Pentanomial([4, 0, 0, 0, 0]).superiority();
        assert!((lost - 0.0228).abs() < 1e-3, "{lost}");
    }

    #[test]
    fn pairs_that_all_ended_alike_have_no_scale() {
        let split = Pentanomial([0, 0, 10, 0, 0]);
        assert_eq!(split.score(), (0.5, 0.0));
        assert_eq!((split.normalised_elo(), split.ratio()), (None, None));
        assert_eq!(Pentanomial::default().score(), (0.0, 0.0));
        assert_eq!(Pentanomial([1, 1, 5, 2, 1]).ratio(), Some(1.5));
    }
}
