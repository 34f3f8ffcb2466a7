//! Scores in the page's JSON.

use engine::Score;
use engine::cozy_chess::Color;
use serde::{Deserialize, Serialize};

use records::position::Label;

/// Score from White's view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum WhiteScore {
    /// Centipawns.
    Cp(i32),
    /// Moves to mate, negative if White is mated.
    Mate(i32),
}

impl WhiteScore {
    /// Converts a search score, from the view of `mover`.
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

    /// Converts the label of a PGN comment.
    pub fn of_label(label: Label) -> WhiteScore {
        match label.mate() {
            Some(moves) => WhiteScore::Mate(moves),
            None => WhiteScore::Cp(label.centipawns().unwrap_or_default()),
        }
    }

    /// Returns the label for a PGN comment; `None` for mate in 0.
    pub fn label(self) -> Option<Label> {
        match self {
            WhiteScore::Cp(centipawns) => Some(Label::from_centipawns(centipawns.into())),
            WhiteScore::Mate(moves) => Label::from_mate(moves.into()),
        }
    }
}
