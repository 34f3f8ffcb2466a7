//! Exploration in games that a policy learns from: noise on the priors of the root, and moves drawn
//! by visits (Silver et al., "A general reinforcement learning algorithm ...", Science 362, 2018).

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

/// Sum of the parameters of the noise's Dirichlet distribution, in equal parts one for each legal
/// move (0.3 for the 35 of a usual position).
const CONCENTRATION: f64 = 10.0;

/// Exploration of a game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exploration {
    /// Share of noise in the priors of the root, from 0 to 1.
    pub noise: f32,
    /// Plies from the start of a game in which moves are drawn by visits; later ones are the most
    /// visited.
    pub drawn_plies: u16,
}

/// Returns a sample of the noise: probabilities of so many moves.
pub fn noise(moves: usize, rng: &mut fastrand::Rng) -> Vec<f32> {
    let shape = CONCENTRATION / moves.max(1) as f64;
    let gammas: Vec<f64> = (0..moves).map(|_| gamma(shape, rng)).collect();
    let sum: f64 = gammas.iter().sum();
    gammas.iter().map(|gamma| (gamma / sum) as f32).collect()
}

/// Samples a gamma distribution of scale 1 (Marsaglia and Tsang, "A simple method for generating
/// gamma variables", 2000).
fn gamma(shape: f64, rng: &mut fastrand::Rng) -> f64 {
    if shape < 1.0 {
        let boost = libm::pow(rng.f64(), 1.0 / shape);
        // A sum of zeros would not be a distribution.
        return (boost * gamma(shape + 1.0, rng)).max(f64::MIN_POSITIVE);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(rng);
        let root = 1.0 + c * x;
        let v = root * root * root;
        // In (0, 1]: its logarithm is finite.
        let u = 1.0 - rng.f64();
        if v > 0.0 && libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

/// Samples the standard normal distribution (Box and Muller, 1958).
fn normal(rng: &mut fastrand::Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.f64()));
    radius * libm::cos(TAU * rng.f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gamma distribution of scale 1 has its shape as mean and variance.
    #[test]
    fn gammas_have_their_mean_and_variance() {
        let mut rng = fastrand::Rng::with_seed(1);
        for shape in [0.3, 1.0, 2.5, 10.0] {
            let count = 200_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..count {
                let sample = gamma(shape, &mut rng);
                sum += sample;
                squares += sample * sample;
            }
            let mean = sum / f64::from(count);
            let variance = squares / f64::from(count) - mean * mean;
            assert!((mean / shape - 1.0).abs() < 0.02, "{shape}: {mean}");
            assert!((variance / shape - 1.0).abs() < 0.05, "{shape}: {variance}");
        }
    }

    #[test]
    fn noise_is_a_distribution_that_prefers_a_few_moves() {
        let mut rng = fastrand::Rng::with_seed(2);
        // Two equal shares of 10 seldom differ much; of 218 moves a few have most.
        for (moves, least) in [(1, 0.99), (2, 0.55), (35, 0.1), (218, 0.1)] {
            let mut greatest = 0.0;
            for _ in 0..200 {
                let noise = noise(moves, &mut rng);
                let sum: f32 = noise.iter().sum();
                assert!((sum - 1.0).abs() < 1e-4 && noise.len() == moves);
                assert!(noise.iter().all(|p| (0.0..=1.0).contains(p)));
                greatest += noise.iter().fold(0.0f32, |a, b| a.max(*b)) / 200.0;
            }
            assert!(greatest > least, "{moves}: {greatest}");
        }
        assert!(noise(0, &mut rng).is_empty());
    }
}
