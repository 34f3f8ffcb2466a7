//! Settings of a self-play output.

use host::FileError;
use serde::{Deserialize, Serialize};
use uci_client::own_sha256;

use crate::selfplay::exploration::Exploration;
use crate::selfplay::tally::Tally;

/// Program name and version.
const PROGRAM: &str = concat!("kibitz ", env!("CARGO_PKG_VERSION"));

/// Commit that the program was built from, with `-dirty` if its sources were changed; `None`
/// outside a checkout.
pub const COMMIT: Option<&str> = option_env!("KIBITZ_COMMIT");

/// Returns the identity of this program, which plays for nets: its version, and its digest unless a
/// clean commit identifies it.
///
/// # Errors
/// If the program's file cannot be read.
pub fn program_identity() -> Result<String, FileError> {
    match COMMIT {
        Some(commit) if !commit.ends_with("-dirty") => Ok(PROGRAM.to_string()),
        _ => Ok(format!("{PROGRAM} of SHA-256 {}", own_sha256()?)),
    }
}

/// All settings that decide which games are played. An output is continued only by equal settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Program and version.
    pub program: String,
    /// Commit that it was built from, if known.
    pub commit: Option<String>,
    /// Name of the net.
    pub net: String,
    /// SHA-256 of the net's file; `None` for material.
    pub net_sha256: Option<String>,
    /// Policy of games by PUCT; `None` for alpha-beta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySettings>,
    /// Size of the transposition table in MiB.
    pub hash_mib: usize,
    /// Soft node limit: no new iteration begins after it.
    pub nodes: u64,
    /// Hard node limit of a search.
    pub hard_nodes: u64,
    /// Random plies of even-numbered games; odd-numbered games have one more.
    pub random_plies: usize,
    /// Centipawns above which an opening is rejected as decided.
    pub opening_limit: u16,
    /// Whether games start from Chess960 positions.
    pub chess960: bool,
    /// Resign adjudication, if any.
    pub resign: Option<String>,
    /// Draw adjudication, if any.
    pub draw: Option<String>,
    /// Endgame tables, if any.
    pub syzygy: Option<String>,
    /// Seed of the openings.
    pub seed: u64,
    /// Games to play.
    pub games: Option<u64>,
    /// Positions after which no game is added.
    pub positions: Option<u64>,
}

/// Settings of games by PUCT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicySettings {
    /// SHA-256 of the policy's file; `None` for a uniform one.
    pub sha256: Option<String>,
    #[serde(flatten)]
    pub exploration: Exploration,
}

impl Eq for PolicySettings {}

impl Settings {
    /// Returns whether all settings but the numbers of games and positions are equal.
    pub fn equals_but_amount(&self, other: &Settings) -> bool {
        let with_amount = Settings {
            games: other.games,
            positions: other.positions,
            ..self.clone()
        };
        with_amount == *other
    }

    /// Returns whether an output with these counts is complete.
    pub fn is_enough(&self, tally: &Tally) -> bool {
        self.games.is_some_and(|games| tally.games >= games)
            || (self.positions).is_some_and(|positions| tally.positions >= positions)
    }

    /// Returns the `Annotator` tag: program, commit, nodes and seed.
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
