//! Ways in which a game ended.

use serde::{Deserialize, Serialize};

/// Values of Lichess's Termination tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Termination {
    /// On the board, by resignation or by agreement.
    Normal,
    /// Loss on time.
    TimeForfeit,
    /// A player left.
    Abandoned,
    /// A player was found cheating.
    RulesInfraction,
    /// The game did not end.
    Unterminated,
}

impl Termination {
    /// All terminations with their command-line names.
    pub const NAMES: [(Termination, &str); 5] = [
        (Termination::Normal, "normal"),
        (Termination::TimeForfeit, "time-forfeit"),
        (Termination::Abandoned, "abandoned"),
        (Termination::RulesInfraction, "rules-infraction"),
        (Termination::Unterminated, "unterminated"),
    ];

    /// Parses the tag; `None` for values that Lichess does not write.
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

    /// Returns whether the game ended off the board, so that its result says little about its
    /// positions.
    pub(crate) fn is_unfair(self) -> bool {
        matches!(
            self,
            Termination::TimeForfeit | Termination::Abandoned | Termination::RulesInfraction
        )
    }
}
