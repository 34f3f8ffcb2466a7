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
use records::position::Record;
use serde_json::{Value, json};

use inputs::K;
pub use inputs::win_chance;

use inputs as position;

/// How fast the win chance grows with the value where it is `chance`, per pawn.
pub fn slope(chance: f64) -> f64 {
    K / 2.0 * (1.0 - chance * chance)
}

/// What training aims at: the label's win chance, blended with the game's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// How much the result counts, from 0 to 1. The label counts the rest.
    pub result_share: f32,
}

impl Aim {
    /// The label alone.
    pub const LABEL: Aim = Aim { result_share: 0.0 };

    /// The win chance that the net should give a position, from the mover's view. The
    /// label's alone, where the result is unknown.
    pub fn target(self, record: &Record) -> f32 {
        // In f32, as a device computes the net's.
        let label = (position::target_pawns(record) * (K / 2.0) as f32).tanh();
        match position::result(record) {
            Some(result) if self.result_share > 0.0 => {
                (1.0 - self.result_share) * label + self.result_share * result
            }
            _ => label,
        }
    }
}

/// The loss: the mean of `|w(pawns) - target|^exponent`. `pawns` is the network's output,
/// `targets` are win chances. Shapes `[batch]`, result `[1]`.
pub fn loss<B: Backend>(pawns: Tensor<B, 1>, targets: Tensor<B, 1>, exponent: f64) -> Tensor<B, 1> {
    let distance = ((pawns * (K / 2.0)).tanh() - targets).abs();
    match exponent {
        1.0 => distance.mean(),
        _ => distance.powf_scalar(exponent).mean(),
    }
}

/// Transform and loss as a net's metadata names them.
pub fn metadata(exponent: f64) -> Value {
    json!({
        "name": "winchance",
        "formula": "2 / (1 + exp(-k * pawns)) - 1",
        "k": K,
        "loss": match exponent {
            1.0 => "L1".to_string(),
            _ => format!("|difference|^{exponent}"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_flex::Flex;
    use records::position::{GameResult, Label, Origin};
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, Chess};

    use crate::testing::games;

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
        let targets = Tensor::from_floats([win_chance(1.0), -1.0], &device);
        let of = |exponent| loss(pawns.clone(), targets.clone(), exponent).into_scalar();
        let distances = [win_chance(1.0), win_chance(2.0) + 1.0];
        for exponent in [1.0, 2.0, 2.5] {
            let powers = distances.map(|distance| distance.powf(exponent as f32));
            let expected = (powers[0] + powers[1]) / 2.0;
            assert!((of(exponent) - expected).abs() < 1e-6, "{exponent}");
        }
    }

    #[test]
    fn an_exponent_of_one_is_l1_and_no_other_has_its_name() {
        assert_eq!(metadata(1.0)["loss"], "L1");
        assert_eq!(metadata(2.5)["loss"], "|difference|^2.5");
    }

    /// Where the net's value is the label, nothing is left to learn.
    #[test]
    fn a_target_is_what_a_device_makes_of_the_label_to_the_bit() {
        let records = games(500);
        let pawns: Vec<f32> = records.iter().map(position::target_pawns).collect();
        let pawns = Tensor::<Flex, 1>::from_floats(&pawns[..], &Default::default());
        let chances = (pawns * (K / 2.0)).tanh().into_data().to_vec::<f32>();
        let targets: Vec<f32> = records
            .iter()
            .map(|record| Aim::LABEL.target(record))
            .collect();
        assert_eq!(chances.unwrap(), targets);
    }

    #[test]
    fn results_are_blended_as_the_mover_sees_them() {
        let aim = Aim { result_share: 0.25 };
        let of = |turn: &str, result| {
            let fen = format!("4k3/8/8/8/8/8/8/R3K3 {turn} - - 0 1");
            let fen: Fen = fen.parse().unwrap();
            let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
            let origin = Origin {
                result,
                ..Origin::default()
            };
            aim.target(&Record::new(&position, Label::from_centipawns(300), origin))
        };
        let label = win_chance(3.0);
        for (result, white) in [
            (GameResult::WhiteWins, 1.0),
            (GameResult::Draw, 0.0),
            (GameResult::BlackWins, -1.0),
        ] {
            let expected = 0.75 * label + 0.25 * white;
            assert!((of("w", Some(result)) - expected).abs() < 1e-6);
            assert!((of("b", Some(result)) + expected).abs() < 1e-6);
        }
        assert!(
            (of("b", None) + label).abs() < 1e-6,
            "unknown: the label alone"
        );
    }
}
