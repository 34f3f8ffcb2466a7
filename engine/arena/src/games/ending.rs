//! How games end.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Checkmate.
    Checkmate,
    /// Stalemate.
    Stalemate,
    /// A position stood three times.
    Repetition,
    /// A hundred plies without capture or pawn move.
    FiftyMoves,
    /// Neither side can mate.
    InsufficientMaterial,
    /// The loser called its own position lost.
    Resignation,
    /// Both engines called the position level.
    AgreedDraw,
    /// An endgame table knows the result.
    Tablebase,
    /// Drawn for its length.
    TooLong,
    /// The loser's clock ran out.
    TimeForfeit,
    /// The loser's move was illegal or no move.
    IllegalMove,
    /// The loser's program ended.
    Crash,
    /// The loser's program did not answer, though no clock ran.
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
