//! The space the loss is measured in.
//!
//! A pawn more matters when the game is level and hardly when it is won, so
//! prediction and label are compared as chances of winning:
//! `w(p) = 2 / (1 + exp(-K p)) - 1`, from -1 (lost) over 0 to 1 (won), with `p`
//! in pawns from the view of the side to move. `K` is Lichess's, fitted to
//! the results of its rated games (lila, `WinPercent`). The same function is
//! `tanh(K p / 2)`, which is how it is computed. A mate's label lies so far
//! out (310 pawns and beyond) that it becomes ±1.

use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use serde_json::{Value, json};

/// Lichess's constant, per pawn.
const K: f64 = 0.368208;

/// The win chance of a value in pawns: -1 lost, 1 won.
pub fn win_chance(pawns: f32) -> f32 {
    (f64::from(pawns) * K / 2.0).tanh() as f32
}

/// How fast the win chance grows with the value where it is `chance`, per pawn.
pub fn slope(chance: f64) -> f64 {
    K / 2.0 * (1.0 - chance * chance)
}

/// The loss: the mean distance (L1) between the win chances of `pawns`, the
/// network's output, and of `labels`, in pawns too. Shapes `[batch]`, result
/// `[1]`.
pub fn loss<B: Backend>(pawns: Tensor<B, 1>, labels: Tensor<B, 1>) -> Tensor<B, 1> {
    let win_chance = |pawns: Tensor<B, 1>| (pawns * (K / 2.0)).tanh();
    (win_chance(pawns) - win_chance(labels)).abs().mean()
}

/// The transform as a net's metadata names it.
pub fn metadata() -> Value {
    json!({
        "name": "winchance",
        "formula": "2 / (1 + exp(-k * pawns)) - 1",
        "k": K,
        "loss": "L1",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_flex::Flex;

    #[test]
    fn is_lichess_win_chance() {
        for (pawns, expected) in [(0.0, 0.0), (1.0, 0.182_047), (-3.0, -0.502_306)] {
            let formula = 2.0 / (1.0 + (-K * f64::from(pawns)).exp()) - 1.0;
            assert!((f64::from(win_chance(pawns)) - formula).abs() < 1e-6);
            assert!(
                (win_chance(pawns) - expected).abs() < 1e-4,
                "{}",
                win_chance(pawns)
            );
        }
        assert_eq!(win_chance(319.99), 1.0);
        let rise = f64::from(win_chance(1.01) - win_chance(0.99)) / 0.02;
        assert!((slope(f64::from(win_chance(1.0))) - rise).abs() < 1e-4);
    }

    #[test]
    fn loss_is_the_mean_distance() {
        let device = Default::default();
        let pawns = Tensor::<Flex, 1>::from_floats([0.0, 2.0], &device);
        let labels = Tensor::from_floats([1.0, -319.99], &device);
        let loss = loss(pawns, labels).into_scalar();
        let expected = (win_chance(1.0) + win_chance(2.0) + 1.0) / 2.0;
        assert!((loss - expected).abs() < 1e-6, "{loss}");
    }
}
