//! Reasons for the end of a game.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Reason for the end of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Checkmate,
    Stalemate,
    /// Threefold repetition.
    Repetition,
    /// Fifty-move rule: a hundred plies without capture or pawn move.
    FiftyMoves,
    /// Insufficient material: neither side can mate.
    InsufficientMaterial,
    /// Adjudicated loss by the loser's own scores.
    Resignation,
    /// Adjudicated draw by the scores of both engines.
    AgreedDraw,
    /// Adjudication by endgame tables.
    Tablebase,
    /// Adjudicated draw at the maximum length.
    TooLong,
    /// Loss on time.
    TimeForfeit,
    /// Illegal or unreadable move of the loser.
    IllegalMove,
    /// The loser's process ended.
    Crash,
    /// No answer from the loser within the hang timeout, without a clock.
    Hang,
}

impl From<engine::Ending> for Ending {
    fn from(ending: engine::Ending) -> Ending {
        match ending {
            engine::Ending::Checkmate { .. } => Ending::Checkmate,
            engine::Ending::Stalemate => Ending::Stalemate,
            engine::Ending::Repetition => Ending::Repetition,
            engine::Ending::FiftyMoves => Ending::FiftyMoves,
            engine::Ending::InsufficientMaterial => Ending::InsufficientMaterial,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ending::Checkmate => "checkmate",
            Ending::Stalemate => "stalemate",
            Ending::Repetition => "repetition",
            Ending::FiftyMoves => "fifty moves",
            Ending::InsufficientMaterial => "insufficient material",
            Ending::Resignation => "resignation",
            Ending::AgreedDraw => "agreed draw",
            Ending::Tablebase => "tablebase",
            Ending::TooLong => "too long",
            Ending::TimeForfeit => "time forfeit",
            Ending::IllegalMove => "illegal move",
            Ending::Crash => "crash",
            Ending::Hang => "hang",
        })
    }
}
