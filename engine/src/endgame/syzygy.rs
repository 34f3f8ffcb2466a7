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

/// A folder of tables could not be used.
#[derive(Debug, Error)]
pub enum TablesError {
    /// It could not be listed.
    #[error("cannot read the folder {folder:?}")]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It holds no table.
    #[error("no Syzygy tables in {0:?}")]
    Empty(PathBuf),
}

/// The Syzygy tables of some folders. Files are opened when first needed; a
/// damaged one counts as missing. Those that cannot be tables by their size are listed by
/// [`Syzygy::refused`].
pub struct Syzygy {
    tables: shakmaty_syzygy::Tablebase<Chess>,
    files: usize,
    refused: Vec<(PathBuf, io::Error)>,
    /// Whether wins that take too long are draws.
    fifty_moves: bool,
    probe_depth: i32,
}

impl Syzygy {
    /// Takes the tables (`KQvK.rtbw`, `KQvK.rtbz`) of all folders together.
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
                    // Not named like a table.
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

    /// Takes the tables of these names (`KQvK.rtbw`) from files of any kind; what is no
    /// table's name is left out.
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

    /// Whether the fifty-move rule holds, as it does at first: without it a win that
    /// takes longer is a win.
    pub fn set_fifty_move_rule(&mut self, holds: bool) {
        self.fifty_moves = holds;
    }

    /// For [`Tablebase::probe_depth`]; 1 at first.
    pub fn set_probe_depth(&mut self, plies: i32) {
        self.probe_depth = plies;
    }

    /// How many files there are.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Files named like tables that were refused, for instance for their size, and why.
    pub fn refused(&self) -> &[(PathBuf, io::Error)] {
        &self.refused
    }

    /// The position, if the tables may have it.
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

    /// The moves that keep the result, the one that comes nearest to a capture or pawn move
    /// first: a win hurries, a loss lingers.
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

    /// Plies to mate, or to a capture or pawn move, if the first of [`Tablebase::root_moves`]
    /// is played and answered alike. Tables may round it by one.
    pub fn plies_to_zeroing(&self, board: &Board) -> Option<u32> {
        let (found, _) = self.keeping(board)?.into_iter().next()?;
        Some(1 + found.plies.unsigned_abs())
    }

    /// What `mv` leads to, from the view of the side that plays it.
    fn judge(&self, position: &Chess, mv: shakmaty::Move) -> Result<Judgement, SyzygyError> {
        let mut after = position.clone();
        after.play_unchecked(mv);
        // Mate stands even on the hundredth ply.
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

/// What a move leads to.
struct Judgement {
    value: AmbiguousWdl,
    /// Plies to a capture or pawn move, without the move itself.
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
