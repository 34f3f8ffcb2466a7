//! What makes an output.

use host::FileError;
use serde::{Deserialize, Serialize};
use uci_client::own_sha256;

use crate::selfplay::tally::Tally;

/// The program and its version.
const PROGRAM: &str = concat!("kibitz ", env!("CARGO_PKG_VERSION"));

/// The commit that the program was built from, with `-dirty` where its sources had
/// been changed; `None` where git knows none.
pub const COMMIT: Option<&str> = option_env!("KIBITZ_COMMIT");

/// The identity of this program, which plays for nets: its version, and its digest where the
/// commit does not say what it was built from.
///
/// # Errors
/// Where the program's file cannot be read.
pub fn program_identity() -> Result<String, FileError> {
    match COMMIT {
        Some(commit) if !commit.ends_with("-dirty") => Ok(PROGRAM.to_string()),
        _ => Ok(format!("{PROGRAM} of SHA-256 {}", own_sha256()?)),
    }
}

/// All that decides which games are played. An output is gone on with only by the
/// same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// What plays, and its version.
    pub program: String,
    /// The commit that it was built from, if that is known.
    pub commit: Option<String>,
    /// The net's name.
    pub net: String,
    /// The SHA-256 of the net's file; of material there is none.
    pub net_sha256: Option<String>,
    /// Size of the transposition table.
    pub hash_mib: usize,
    /// Nodes after which a search begins no new iteration.
    pub nodes: u64,
    /// Nodes that a search has at most.
    pub hard_nodes: u64,
    /// Random plies of every other game; the rest have one more.
    pub random_plies: usize,
    /// Centipawns beyond which an opening is decided.
    pub opening_limit: u16,
    /// Whether games begin from the positions of Chess960.
    pub chess960: bool,
    /// When the loser resigns.
    pub resign: Option<String>,
    /// When games are called a draw.
    pub draw: Option<String>,
    /// The endgame tables.
    pub syzygy: Option<String>,
    /// Decides the openings.
    pub seed: u64,
    /// Games to play.
    pub games: Option<u64>,
    /// Positions after which no game is added.
    pub positions: Option<u64>,
}

impl Settings {
    /// Returns these settings with the games or positions of `other`.
    pub fn with_amount_of(self, other: &Settings) -> Settings {
        Settings {
            games: other.games,
            positions: other.positions,
            ..self
        }
    }

    /// Whether an output of so many games and positions has all that is asked for.
    pub fn is_enough(&self, tally: &Tally) -> bool {
        self.games.is_some_and(|games| tally.games >= games)
            || (self.positions).is_some_and(|positions| tally.positions >= positions)
    }

    /// The program as games name it: with its commit and what matters most.
    pub fn annotator(&self) -> String {
        let commit = self.commit.as_ref().map(|commit| format!(" {commit}"));
        format!(
            "{}{}, {} nodes, seed {}",
            self.program,
            commit.unwrap_or_default(),
            self.nodes,
            self.seed
        )
    }
}
