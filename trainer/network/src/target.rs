//! Training target, in win-chance space.
//!
//! An extra pawn matters more in a level game than in a won one, so prediction and label are
//! compared as win chances: `w(p) = 2 / (1 + exp(-K p)) - 1`, from -1 (lost) over 0 to 1 (won),
//! with `p` in pawns for the side to move. `K` is Lichess's, fitted to the results of its rated
//! games (lila, `WinPercent`). The same function is `tanh(K p / 2)`, the form computed here. A
//! mate's label lies so far out (310 pawns and beyond) that it becomes ±1.

use records::position::Record;
use serde_json::{Value, json};

use features::K;
pub use features::win_chance;

/// Returns the derivative of the win chance by the value, per pawn, where the win chance is
/// `chance`.
pub fn slope(chance: f64) -> f64 {
    K / 2.0 * (1.0 - chance * chance)
}

/// Training target: the label's win chance, blended with the game's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// Weight of the result, from 0 to 1; the label has the rest.
    pub result_share: f32,
}

impl Aim {
    /// A target that ignores the result.
    pub const LABEL: Aim = Aim { result_share: 0.0 };

    /// Returns the target win chance of a position for the side to move, from the label alone if
    /// the result is unknown.
    pub fn target(self, record: &Record) -> f32 {
        // In f32, like a device's computation of the net's win chance.
        let label = (features::target_pawns(record) * (K / 2.0) as f32).tanh();
        match features::result(record) {
            Some(result) if self.result_share > 0.0 => {
                (1.0 - self.result_share) * label + self.result_share * result
            }
            _ => label,
        }
    }
}

/// Returns the entry of a net's metadata that describes transform and loss.
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
    use burn::tensor::Tensor;
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
    fn names_the_loss_by_its_exponent() {
        assert_eq!(metadata(1.0)["loss"], "L1");
        assert_eq!(metadata(2.5)["loss"], "|difference|^2.5");
    }

    /// A net that predicts its label exactly has a loss of zero.
    #[test]
    fn target_equals_the_devices_win_chance_of_the_label() {
        let records = games(500);
        let pawns: Vec<f32> = records.iter().map(features::target_pawns).collect();
        let pawns = Tensor::<Flex, 1>::from_floats(&pawns[..], &Default::default());
        let chances = (pawns * (K / 2.0)).tanh().into_data().to_vec::<f32>();
        let targets: Vec<f32> = records
            .iter()
            .map(|record| Aim::LABEL.target(record))
            .collect();
        assert_eq!(chances.unwrap(), targets);
    }

    #[test]
    fn blends_results_from_the_movers_view() {
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
