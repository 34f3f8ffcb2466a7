//! Ratings that explain the results of many engines against each other.
//!
//! The model is that of Bradley and Terry (Biometrika 39, 1952) with Elo's
//! scale: between two engines the expected score is logistic in the difference
//! of their ratings, and the ratings are those under which the scores are
//! likeliest, draws counting as half a win. One drawn game is added between
//! any two that meet, so that an engine that wins all its games has a rating.
//!
//! Draws, and openings that favour one side, make scores less scattered than
//! the model has it; so the errors come from the scatter of the pairs of
//! games about the model (the "sandwich" covariance, P. Huber 1967), and are
//! between two engines what the match's own error is.

use std::f64::consts::LN_10;

use serde::Serialize;

use super::super::matches::pentanomial::{Pentanomial, Z_95, expected_score};

/// Elo in a unit of the logistic function.
const ELO: f64 = 400.0 / LN_10;
/// The drawn game that is added, in pairs of games.
const PRIOR: f64 = 0.5;
/// No step is larger, in units of the logistic function: far from the maximum
/// the next approximation may overshoot.
const STEP: f64 = 2.0;

/// A place on the Elo scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rating {
    /// From the first engine, which stands at 0.
    pub elo: f64,
    /// Half the width of the 95 % interval of the difference to the first
    /// engine; `None` for that one.
    pub elo_error: Option<f64>,
}

/// Rates `engines` engines by their results: who met, and the pairs of games
/// from the view of the first of them. All must be connected by meetings.
pub fn rate(engines: usize, results: &[([usize; 2], Pentanomial)]) -> Vec<Rating> {
    let mut elo = vec![0.0; engines];
    let mut system = System::at(&elo, results);
    // Newton's method doubles the right digits every time; a hundred steps
    // reach any rating that a hundred thousand games can show.
    for _ in 0..100 {
        let step = system.step();
        for (elo, step) in elo.iter_mut().skip(1).zip(&step) {
            *elo += ELO * step.clamp(-STEP, STEP);
        }
        system = System::at(&elo, results);
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
    let errors = system.standard_errors();
    let errors = errors.into_iter().map(|error| Some(Z_95 * ELO * error));
    (elo.iter().zip(std::iter::once(None).chain(errors)))
        .map(|(&elo, elo_error)| Rating { elo, elo_error })
        .collect()
}

type Matrix = Vec<Vec<f64>>;

/// The likelihood near some ratings. The first engine's is fixed, so there is
/// a row for each of the others.
struct System {
    gradient: Vec<f64>,
    /// The inverse of minus the second derivatives.
    covariance: Matrix,
    /// How far the gradient's terms scatter.
    scatter: Matrix,
}

impl System {
    fn at(elo: &[f64], results: &[([usize; 2], Pentanomial)]) -> System {
        let size = elo.len() - 1;
        let mut gradient = vec![0.0; size];
        let mut information = vec![vec![0.0; size]; size];
        let mut scatter = information.clone();
        for &([first, second], pairs) in results {
            let expected = expected_score(elo[first] - elo[second]);
            let prior = (PRIOR, 0.5);
            let seen = (pairs.0.iter().zip(0u8..))
                .map(|(&count, points)| (count as f64, f64::from(points) / 4.0));
            let (mut count, mut excess, mut square) = (0.0, 0.0, 0.0);
            for (times, points) in seen.chain([prior]) {
                count += times;
                excess += times * (points - expected);
                square += times * (points - expected).powi(2);
            }
            for (row, sign) in [(first, 1.0), (second, -1.0)] {
                if row > 0 {
                    gradient[row - 1] += sign * excess;
                }
            }
            add_difference(
                &mut information,
                [first, second],
                count * expected * (1.0 - expected),
            );
            add_difference(&mut scatter, [first, second], square);
        }
        System {
            gradient,
            covariance: inverse(information),
            scatter,
        }
    }

    fn step(&self) -> Vec<f64> {
        let rows = self.covariance.iter();
        rows.map(|row| row.iter().zip(&self.gradient).map(|(a, b)| a * b).sum())
            .collect()
    }

    fn standard_errors(&self) -> Vec<f64> {
        let size = self.gradient.len();
        let variance = |row: &Vec<f64>| -> f64 {
            let terms = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
            terms
                .map(|(i, j)| row[i] * self.scatter[i][j] * row[j])
                .sum()
        };
        self.covariance
            .iter()
            .map(|row| variance(row).sqrt())
            .collect()
    }
}

/// Adds `weight` times the square of the difference of two unknowns.
fn add_difference(matrix: &mut Matrix, engines: [usize; 2], weight: f64) {
    for row in engines.into_iter().filter(|&row| row > 0) {
        for column in engines.into_iter().filter(|&column| column > 0) {
            let sign = if row == column { 1.0 } else { -1.0 };
            matrix[row - 1][column - 1] += sign * weight;
        }
    }
}

/// By Gauss and Jordan; the matrix is positive definite, so no rows are
/// exchanged.
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

    /// Pairs of a thousand whose score is that of `elo`, as nearly as can be.
    fn pairs(elo: f64) -> Pentanomial {
        let wins = (1e6 * expected_score(elo)).round() as u64;
        Pentanomial([1_000_000 - wins, 0, 0, 0, wins])
    }

    #[test]
    fn two_engines_have_the_elo_and_the_error_of_their_match() {
        let pairs = Pentanomial([332, 433, 498, 333, 334]);
        let [first, second] = rate(2, &[([0, 1], pairs)])[..] else {
            panic!("two ratings");
        };
        let elo = pairs.elo();
        assert_eq!((first.elo, first.elo_error), (0.0, None));
        assert!((second.elo + elo.value.unwrap()).abs() < 0.01, "{second:?}");
        let error = second.elo_error.unwrap();
        assert!((error - elo.error.unwrap()).abs() < 0.02, "{second:?}");
    }

    #[test]
    fn consistent_results_give_back_the_ratings_they_were_made_from() {
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
        // The third meeting is worth something to the first two.
        let all = rate(4, &results)[1].elo_error.unwrap();
        let alone = rate(2, &[([1, 0], pairs(120.0))])[1].elo_error.unwrap();
        assert!(all < alone, "{all} {alone}");
    }

    #[test]
    fn an_engine_that_wins_everything_is_rated_with_much_doubt() {
        let results = [([0, 1], Pentanomial([10, 0, 0, 0, 0]))];
        let rating = rate(2, &results)[1];
        assert!((500.0..1000.0).contains(&rating.elo), "{rating:?}");
        assert!(rating.elo_error.unwrap() > 200.0, "{rating:?}");
        let nothing = rate(2, &[([0, 1], Pentanomial::default())])[1];
        assert!(nothing.elo.abs() < 1e-9 && nothing.elo_error.is_some());
    }
}
