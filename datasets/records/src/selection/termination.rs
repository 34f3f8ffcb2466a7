//! How a game ended.

use serde::{Deserialize, Serialize};

/// The values of Lichess's Termination tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Termination {
    /// On the board, by resignation or by agreement.
    Normal,
    /// A player's time ran out.
    TimeForfeit,
    /// A player left.
    Abandoned,
    /// A player was found to have had help.
    RulesInfraction,
    /// It did not end.
    Unterminated,
}

impl Termination {
    /// Every termination with its name on the command line.
    pub const NAMES: [(Termination, &str); 5] = [
        (Termination::Normal, "normal"),
        (Termination::TimeForfeit, "time-forfeit"),
        (Termination::Abandoned, "abandoned"),
        (Termination::RulesInfraction, "rules-infraction"),
        (Termination::Unterminated, "unterminated"),
    ];

    /// Reads the tag; `None` for what Lichess does not write.
    pub(crate) fn of_tag(tag: &[u8]) -> Option<Termination> {
        match tag {
            b"Normal" => Some(Termination::Normal),
            b"Time forfeit" => Some(Termination::TimeForfeit),
            b"Abandoned" => Some(Termination::Abandoned),
            b"Rules infraction" => Some(Termination::RulesInfraction),
            b"Unterminated" => Some(Termination::Unterminated),
            _ => None,
        }
    }

    /// Whether the game ended off the board, so that its result says little
    /// about its positions.
    pub(crate) fn is_unfair(self) -> bool {
        matches!(
            self,
            Termination::TimeForfeit | Termination::Abandoned | Termination::RulesInfraction
        )
    }
}
