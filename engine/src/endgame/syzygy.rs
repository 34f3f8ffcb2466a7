//! Syzygy endgame tables, read by shakmaty-syzygy.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cozy_chess::{Board, Color, Move};
use shakmaty::{Chess, Position};
use shakmaty_syzygy::filesystem::Filesystem;
use shakmaty_syzygy::{AmbiguousWdl, SyzygyError};
use thiserror::Error;

use crate::endgame::to_shakmaty::{from_shakmaty, to_shakmaty};
use crate::endgame::{Tablebase, Wdl};

/// An unusable folder of tables.
#[derive(Debug, Error)]
pub enum TablesError {
    /// The folder cannot be listed.
    #[error("cannot read the folder {folder:?}")]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The folder holds no table.
    #[error("no Syzygy tables in {0:?}")]
    Empty(PathBuf),
}

/// Syzygy tables of one or more folders. Files are opened at first use; a damaged file counts as
/// missing. [`Syzygy::refused`] lists files of an impossible size.
pub struct Syzygy {
    tables: shakmaty_syzygy::Tablebase<Chess>,
    files: usize,
    refused: Vec<(PathBuf, io::Error)>,
    /// Whether cursed wins count as draws.
    fifty_moves: bool,
    probe_depth: i32,
}

impl Syzygy {
    /// Opens the tables (`KQvK.rtbw`, `KQvK.rtbz`) of all folders.
    ///
    /// # Errors
    /// [`TablesError`] names the first folder without tables.
    #[cfg(any(unix, windows))]
    pub fn open(
        folders: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Syzygy, TablesError> {
        let mut tables = shakmaty_syzygy::Tablebase::new();
        let mut files = 0;
        let mut refused = Vec::new();
        for folder in folders {
            let folder = folder.as_ref();
            let unreadable = |source| TablesError::Unreadable {
                folder: folder.into(),
                source,
            };
            let before = files + refused.len();
            // `add_directory` would stop at the first file of a wrong size.
            for entry in std::fs::read_dir(folder).map_err(unreadable)? {
                let path = entry.map_err(unreadable)?.path();
                match tables.add_file(&path) {
                    Ok(()) => files += 1,
                    // Skip files not named like a table.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                    Err(error) => refused.push((path, error)),
                }
            }
            if files + refused.len() == before {
                return Err(TablesError::Empty(folder.into()));
            }
        }
        refused.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(Syzygy {
            refused,
            ..Syzygy::new(tables, files)
        })
    }

    /// Opens tables by file name (`KQvK.rtbw`) in a custom filesystem; other names are skipped.
    pub fn of_files(
        files: Arc<dyn Filesystem>,
        names: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Syzygy {
        let mut tables = shakmaty_syzygy::Tablebase::with_filesystem(files);
        let added = names
            .into_iter()
            .filter(|name| tables.add_file(name).is_ok());
        let files = added.count();
        Syzygy::new(tables, files)
    }

    fn new(tables: shakmaty_syzygy::Tablebase<Chess>, files: usize) -> Syzygy {
        Syzygy {
            tables,
            files,
            refused: Vec::new(),
            fifty_moves: true,
            probe_depth: 1,
        }
    }

    /// Sets whether the fifty-move rule holds (default: true). Without it, cursed wins are wins.
    pub fn set_fifty_move_rule(&mut self, holds: bool) {
        self.fifty_moves = holds;
    }

    /// Sets [`Tablebase::probe_depth`] (default: 1).
    pub fn set_probe_depth(&mut self, plies: i32) {
        self.probe_depth = plies;
    }

    /// Returns the number of table files.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Returns the files named like tables that were refused, for instance for their size, and why.
    pub fn refused(&self) -> &[(PathBuf, io::Error)] {
        &self.refused
    }

    /// Converts the position if tables can cover it: few enough pieces, no castling rights.
    fn known(&self, board: &Board) -> Option<Chess> {
        let castles = Color::ALL.iter().any(|&color| {
            let rights = board.castle_rights(color);
            rights.short.is_some() || rights.long.is_some()
        });
        if castles || board.occupied().len() > self.max_pieces() {
            return None;
        }
        to_shakmaty(board)
    }

    /// Returns the moves that keep the result, sorted by distance to zeroing: shortest first in
    /// wins, longest first in losses.
    fn keeping(&self, board: &Board) -> Option<Vec<(Judgement, shakmaty::Move)>> {
        let position = self.known(board)?;
        let mut judged = Vec::new();
        for mv in position.legal_moves() {
            judged.push((self.judge(&position, mv).ok()?, mv));
        }
        let value = judged.iter().map(|(found, _)| found.value).max()?;
        judged.retain(|(found, _)| found.value == value);
        judged.sort_by_key(|(found, _)| found.plies * value.signum());
        Some(judged)
    }

    /// Returns the plies to mate, or to a capture or pawn move, if the first of
    /// [`Tablebase::root_moves`] is played and answered alike. Table rounding may shift it by one.
    pub fn plies_to_zeroing(&self, board: &Board) -> Option<u32> {
        let (found, _) = self.keeping(board)?.into_iter().next()?;
        Some(1 + found.plies.unsigned_abs())
    }

    /// Probes the position after `mv`, from the point of view of the side that plays it.
    fn judge(&self, position: &Chess, mv: shakmaty::Move) -> Result<Judgement, SyzygyError> {
        let mut after = position.clone();
        after.play_unchecked(mv);
        // Mate takes precedence over the fifty-move rule, even on the hundredth ply.
        if after.is_checkmate() {
            return Ok(Judgement {
                value: AmbiguousWdl::Win,
                plies: 0,
            });
        }
        let dtz = self.tables.probe_dtz(&after)?;
        let value = match (self.fifty_moves, dtz.ignore_rounding().0.signum()) {
            (true, _) => -AmbiguousWdl::from_dtz_and_halfmoves(dtz, after.halfmoves()),
            (false, 0) => AmbiguousWdl::Draw,
            (false, 1..) => AmbiguousWdl::Loss,
            (false, _) => AmbiguousWdl::Win,
        };
        let plies = if mv.is_zeroing() {
            0
        } else {
            dtz.ignore_rounding().0.abs()
        };
        Ok(Judgement { value, plies })
    }
}

/// Tablebase result of a move.
struct Judgement {
    value: AmbiguousWdl,
    /// Plies to a capture or pawn move after the move; 0 if the move is one.
    plies: i32,
}

impl Tablebase for Syzygy {
    fn max_pieces(&self) -> u32 {
        self.tables.max_pieces() as u32
    }

    fn wdl(&self, board: &Board) -> Option<Wdl> {
        let wdl = self
            .tables
            .probe_wdl_after_zeroing(&self.known(board)?)
            .ok()?;
        Some(match (self.fifty_moves, from_syzygy(wdl)) {
            (false, Wdl::CursedWin) => Wdl::Win,
            (false, Wdl::BlessedLoss) => Wdl::Loss,
            (_, wdl) => wdl,
        })
    }

    fn probe_depth(&self) -> i32 {
        self.probe_depth
    }

    fn root_moves(&self, board: &Board) -> Option<(Wdl, Vec<Move>)> {
        let judged = self.keeping(board)?;
        let value = judged.first()?.0.value;
        let moves = judged
            .into_iter()
            .filter_map(|(_, mv)| from_shakmaty(mv))
            .collect();
        Some((from_syzygy(value.after_zeroing()), moves))
    }
}

fn from_syzygy(wdl: shakmaty_syzygy::Wdl) -> Wdl {
    match wdl {
        shakmaty_syzygy::Wdl::Loss => Wdl::Loss,
        shakmaty_syzygy::Wdl::BlessedLoss => Wdl::BlessedLoss,
        shakmaty_syzygy::Wdl::Draw => Wdl::Draw,
        shakmaty_syzygy::Wdl::CursedWin => Wdl::CursedWin,
        shakmaty_syzygy::Wdl::Win => Wdl::Win,
    }
}
