//! Maximum-likelihood ratings of many engines from their games against each other.
//!
//! The model is that of Bradley and Terry (Biometrika 39, 1952) on Elo's scale: the expected score
//! between two engines is logistic in the difference of their ratings, and a draw counts as half a
//! win. One drawn game is added between any two that meet, so that an engine that wins all its
//! games has a rating.
//!
//! The interval of a rating generalises that of a match (see [`Pentanomial`]): it holds the values
//! that C. R. Rao's score test (1948) does not reject. At each value the ratings of the other
//! engines are maximised, and the slope of the likelihood is compared with its standard error: the
//! "sandwich" covariance (P. Huber, 1967) of each meeting's likeliest distribution of pairs. Draws,
//! and openings that favour one side, make pairs scatter less than the model assumes; the sandwich
//! accounts for it. Between two engines it is the match's interval, apart from the added draw.

use std::f64::consts::LN_10;

use serde::Serialize;

use crate::statistics::pentanomial::{Pentanomial, Z_95, expected_score};

/// Elo per unit of the logistic function.
const ELO: f64 = 400.0 / LN_10;
/// Weight of the added drawn game, in pairs of games.
const PRIOR: f64 = 0.5;
/// Largest Newton step, in units of the logistic function: far from the maximum a full step may
/// overshoot.
const STEP: f64 = 2.0;
/// Distance in Elo beyond which an interval is taken as infinite.
const FAR: f64 = 3_000.0;

/// Rating of one engine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rating {
    /// Elo relative to the first engine, which has 0.
    pub elo: f64,
    /// 95 % interval, with infinite ends if unbounded; `None` for the first engine.
    pub elo_interval: Option<[f64; 2]>,
}

/// Two engines and their pairs of games, from the view of the first.
pub type Meeting = ([usize; 2], Pentanomial);

/// Rates `engines` engines by their results. All must be connected by meetings.
pub fn rate(engines: usize, results: &[Meeting]) -> Vec<Rating> {
    let mut elo = vec![0.0; engines];
    maximise(&mut elo, results, None);
    let interval = |engine: usize| {
        (engine > 0).then(|| [-1.0, 1.0].map(|side| end(&elo, results, engine, side)))
    };
    (elo.iter().enumerate())
        .map(|(engine, &elo)| Rating {
            elo,
            elo_interval: interval(engine),
        })
        .collect()
}

/// Maximises the likelihood over all ratings but those of the first engine and `fixed`.
fn maximise(elo: &mut [f64], results: &[Meeting], fixed: Option<usize>) {
    let free = Free::new(elo.len(), fixed);
    // Newton's method doubles the correct digits every time; a hundred steps reach any rating that
    // a hundred thousand games can show.
    for _ in 0..100 {
        let step = System::at(elo, results, &free).step();
        for (&engine, step) in free.engines.iter().zip(&step) {
            elo[engine] += ELO * step.clamp(-STEP, STEP);
        }
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
}

/// Returns the end of an engine's interval: the upper one for a `side` of 1, the lower one for -1.
fn end(likeliest: &[f64], results: &[Meeting], engine: usize, side: f64) -> f64 {
    let free = Free::new(likeliest.len(), None);
    let mut elo = likeliest.to_vec();
    let mut is_outside = |distance: f64| {
        elo[engine] = likeliest[engine] + side * distance;
        maximise(&mut elo, results, Some(engine));
        let system = System::at(&elo, results, &free);
        // The slopes of the others are 0: this engine's decides, in standard errors.
        let row = engine - 1;
        let scatter = scatter(&elo, results, &free);
        let deviations = system.step()[row] / standard_error(&system.covariance[row], &scatter);
        deviations.abs() > Z_95
    };
    let (mut inside, mut outside) = (0.0, 100.0);
    while !is_outside(outside) {
        if outside > FAR {
            return side * f64::INFINITY;
        }
        (inside, outside) = (outside, 2.0 * outside);
    }
    // To a thousandth of an Elo point.
    for _ in 0..20 {
        let middle = f64::midpoint(inside, outside);
        if is_outside(middle) {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    likeliest[engine] + side * inside
}

type Matrix = Vec<Vec<f64>>;

/// The engines with free ratings.
struct Free {
    engines: Vec<usize>,
    /// Index of each engine in `engines`, if it is free.
    rows: Vec<Option<usize>>,
}

impl Free {
    /// Returns all engines but the first and `fixed`.
    fn new(count: usize, fixed: Option<usize>) -> Free {
        let is_free = |&engine: &usize| engine > 0 && Some(engine) != fixed;
        let engines: Vec<usize> = (0..count).filter(is_free).collect();
        let place = |engine| engines.iter().position(|&free| free == engine);
        Free {
            rows: (0..count).map(place).collect(),
            engines,
        }
    }
}

/// Gradient and covariance of the likelihood at given ratings, with a row per free engine.
struct System {
    gradient: Vec<f64>,
    /// Inverse of the negative second derivatives.
    covariance: Matrix,
}

impl System {
    fn at(elo: &[f64], results: &[Meeting], free: &Free) -> System {
        let size = free.engines.len();
        let mut gradient = vec![0.0; size];
        let mut information = vec![vec![0.0; size]; size];
        for &(engines, pairs) in results {
            let expected = expected_in(elo, engines);
            let played = pairs.pairs() as f64;
            let excess = played * (pairs.score().0 - expected) + PRIOR * (0.5 - expected);
            let rows = engines.map(|engine| free.rows[engine]);
            for (row, sign) in rows.into_iter().zip([1.0, -1.0]) {
                if let Some(row) = row {
                    gradient[row] += sign * excess;
                }
            }
            let weight = (played + PRIOR) * expected * (1.0 - expected);
            add_difference(&mut information, rows, weight);
        }
        System {
            gradient,
            covariance: inverse(information),
        }
    }

    fn step(&self) -> Vec<f64> {
        let rows = self.covariance.iter();
        rows.map(|row| row.iter().zip(&self.gradient).map(|(a, b)| a * b).sum())
            .collect()
    }
}

/// Returns the expected score of the first of two engines.
fn expected_in(elo: &[f64], [first, second]: [usize; 2]) -> f64 {
    expected_score(elo[first] - elo[second])
}

/// Returns the covariance of the gradient if these were the true ratings.
fn scatter(elo: &[f64], results: &[Meeting], free: &Free) -> Matrix {
    let size = free.engines.len();
    let mut scatter = vec![vec![0.0; size]; size];
    for &(engines, pairs) in results {
        let expected = expected_in(elo, engines);
        let square = pairs.pairs() as f64 * pairs.variance_under(expected)
            + PRIOR * (0.5 - expected).powi(2);
        add_difference(
            &mut scatter,
            engines.map(|engine| free.rows[engine]),
            square,
        );
    }
    scatter
}

/// Returns the standard error of an engine's part of [`System::step`]; `covariance` is its row.
fn standard_error(covariance: &[f64], scatter: &Matrix) -> f64 {
    let terms = scatter.iter().zip(covariance).flat_map(|(line, left)| {
        let terms = line.iter().zip(covariance);
        terms.map(move |(scatter, right)| left * scatter * right)
    });
    terms.sum::<f64>().sqrt()
}

/// Adds `weight` times the square of the difference of two unknowns.
fn add_difference(matrix: &mut Matrix, rows: [Option<usize>; 2], weight: f64) {
    for row in rows.into_iter().flatten() {
        for column in rows.into_iter().flatten() {
            let sign = if row == column { 1.0 } else { -1.0 };
            matrix[row][column] += sign * weight;
        }
    }
}

/// Inverts by Gauss-Jordan elimination. No row exchange: the matrix is positive definite.
fn inverse(mut matrix: Matrix) -> Matrix {
    let size = matrix.len();
    let mut inverse = vec![vec![0.0; size]; size];
    for (i, row) in inverse.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    for pivot in 0..size {
        let scale = 1.0 / matrix[pivot][pivot];
        for value in matrix[pivot].iter_mut().chain(&mut inverse[pivot]) {
            *value *= scale;
        }
        let (pivot_row, pivot_inverse) = (matrix[pivot].clone(), inverse[pivot].clone());
        for row in (0..size).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot];
            for (value, from) in matrix[row].iter_mut().zip(&pivot_row) {
                *value -= factor * from;
            }
            for (value, from) in inverse[row].iter_mut().zip(&pivot_inverse) {
                *value -= factor * from;
            }
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a million pairs with a score as near to that of `elo` as can be.
    fn pairs(elo: f64) -> Pentanomial {
        let wins = (1e6 * expected_score(elo)).round() as u64;
        Pentanomial([1_000_000 - wins, 0, 0, 0, wins])
    }

    /// Returns half the width of the interval.
    fn error(rating: &Rating) -> f64 {
        let [low, high] = rating.elo_interval.unwrap();
        (high - low) / 2.0
    }

    #[test]
    fn two_engines_are_rated_as_in_their_match() {
        let pairs = Pentanomial([332, 433, 498, 333, 334]);
        let [first, second] = rate(2, &[([0, 1], pairs)])[..] else {
            panic!("two ratings");
        };
        let elo = pairs.elo();
        assert_eq!((first.elo, first.elo_interval), (0.0, None));
        assert!((second.elo + elo.value).abs() < 0.01, "{second:?}");
        let [low, high] = second.elo_interval.unwrap();
        assert!((low + elo.high).abs() < 0.02, "{second:?}");
        assert!((high + elo.low).abs() < 0.02, "{second:?}");
    }

    #[test]
    fn consistent_results_restore_their_ratings() {
        let made_from = [0.0, 120.0, -75.0, 300.0];
        let mut results = Vec::new();
        for first in 0..4 {
            for second in 0..first {
                let difference: f64 = made_from[first] - made_from[second];
                results.push(([first, second], pairs(difference)));
            }
        }
        for (rating, elo) in rate(4, &results).iter().zip(made_from) {
            assert!((rating.elo - elo).abs() < 0.01, "{rating:?}, not {elo}");
        }
        // Results against third engines narrow the interval, too.
        let all = error(&rate(4, &results)[1]);
        let alone = error(&rate(2, &[([1, 0], pairs(120.0))])[1]);
        assert!(all < alone, "{all} {alone}");
    }

    #[test]
    fn an_engine_that_wins_everything_has_a_wide_interval() {
        let results = [([0, 1], Pentanomial([10, 0, 0, 0, 0]))];
        let rating = rate(2, &results)[1];
        assert!((500.0..1000.0).contains(&rating.elo), "{rating:?}");
        let [low, high] = rating.elo_interval.unwrap();
        assert!(low > 0.0 && low < rating.elo - 200.0, "{rating:?}");
        assert_eq!(high, f64::INFINITY);
        let nothing = rate(2, &[([0, 1], Pentanomial::default())])[1];
        assert!(nothing.elo.abs() < 1e-9, "{nothing:?}");
        let everything = [f64::NEG_INFINITY, f64::INFINITY];
        assert_eq!(nothing.elo_interval, Some(everything));
    }

    #[test]
    fn few_drawn_games_leave_a_wide_interval() {
        let few = rate(2, &[([0, 1], Pentanomial([0, 0, 1, 0, 0]))])[1];
        let many = rate(2, &[([0, 1], Pentanomial([0, 0, 100, 0, 0]))])[1];
        assert!(few.elo.abs() < 1e-9 && error(&few) > 200.0, "{few:?}");
        assert!((8.0..15.0).contains(&error(&many)), "{many:?}");
    }

    /// Counts how often the interval holds the truth, in ladders of few games between engines of
    /// known ratings.
    #[test]
    fn the_interval_covers_the_true_rating_as_often_as_stated() {
        let truth: [f64; 4] = [0.0, 400.0, -100.0, 20.0];
        let mut random = fastrand::Rng::with_seed(24);
        let mut play = |difference: f64, pairs: u64| {
            let mut result = Pentanomial::default();
            for _ in 0..pairs {
                let game = |random: &mut fastrand::Rng| {
                    let score = expected_score(difference);
                    let drawn = 0.9 * score.min(1.0 - score);
                    let chance = random.f64();
                    usize::from(chance < score - drawn) + usize::from(chance < score + drawn)
                };
                result.0[game(&mut random) + game(&mut random)] += 1;
            }
            result
        };
        for pairs in [2, 20] {
            let (mut held, ladders) = ([0; 4], 150);
            for _ in 0..ladders {
                let mut results = Vec::new();
                for [first, second] in [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]] {
                    results.push(([first, second], play(truth[first] - truth[second], pairs)));
                }
                for (engine, rating) in rate(4, &results).iter().enumerate().skip(1) {
                    let [low, high] = rating.elo_interval.unwrap();
                    held[engine] += u32::from((low..=high).contains(&truth[engine]));
                }
            }
            for held in &held[1..] {
                let share = f64::from(*held) / f64::from(ladders);
                assert!(share > 0.9, "{pairs} pairs: {share}");
            }
        }
    }
}
