//! Scores as the page gets them.

use engine::Score;
use engine::cozy_chess::Color;
use serde::{Deserialize, Serialize};

use records::position::Label;

/// From White's view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum WhiteScore {
    /// Centipawns.
    Cp(i32),
    /// Moves to mate, negative where White is mated.
    Mate(i32),
}

impl WhiteScore {
    /// The score of a search for `mover`.
    pub fn of(score: Score, mover: Color) -> WhiteScore {
        let sign = match mover {
            Color::White => 1,
            Color::Black => -1,
        };
        match score.moves_to_mate() {
            Some(moves) => WhiteScore::Mate(sign * moves),
            None => WhiteScore::Cp(sign * score.centipawns()),
        }
    }

    /// The score that a comment tells.
    pub fn of_label(label: Label) -> WhiteScore {
        match label.mate() {
            Some(moves) => WhiteScore::Mate(moves),
            None => WhiteScore::Cp(label.centipawns().unwrap_or_default()),
        }
    }

    /// For a comment; `None` where the game is over, which needs none.
    pub fn label(self) -> Option<Label> {
        match self {
            WhiteScore::Cp(centipawns) => Some(Label::from_centipawns(centipawns.into())),
            WhiteScore::Mate(moves) => Label::from_mate(moves.into()),
        }
    }
}
