//! The engine: an evaluator and everything a search remembers.

use cozy_chess::Board;

use crate::heuristics::{Heuristics, ScoredMove};
use crate::pv::PvTable;
use crate::search::Search;
use crate::table::Table;
use crate::tree::Tree;
use crate::{Evaluator, HashError, Limits, Outcome, Position, Report, Signals};

/// Size of the transposition table of a new engine, in MiB.
pub const DEFAULT_HASH_MIB: usize = 16;
/// The largest transposition table that can be asked for, in MiB.
pub const MAX_HASH_MIB: usize = 4096;

/// Searches positions, and remembers from one search to the next.
pub struct Engine {
    pub(crate) evaluator: Evaluator,
    pub(crate) table: Table,
    pub(crate) heuristics: Heuristics,
    pub(crate) tree: Tree,
    pub(crate) pv: PvTable,
    /// The moves of all nodes on the present line, one after the other.
    pub(crate) moves: Vec<ScoredMove>,
}

impl Engine {
    /// An engine with a table of [`DEFAULT_HASH_MIB`].
    pub fn new(evaluator: Evaluator) -> Engine {
        Engine {
            table: Table::new(DEFAULT_HASH_MIB).expect("a few MiB can be had"),
            heuristics: Heuristics::new(),
            tree: Tree::new(&evaluator),
            pv: PvTable::new(),
            moves: Vec::new(),
            evaluator,
        }
    }

    /// Replaces the transposition table by an empty one.
    ///
    /// # Errors
    /// [`HashError`] when there is no memory for it; the present one stays.
    pub fn set_hash(&mut self, mebibytes: usize) -> Result<(), HashError> {
        self.table = Table::new(mebibytes)?;
        Ok(())
    }

    /// Forgets all earlier searches.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Changes the evaluator, and forgets the scores of the former one.
    pub fn change_evaluator(&mut self, change: impl FnOnce(&mut Evaluator)) {
        change(&mut self.evaluator);
        self.clear();
    }

    /// The static value of a board, from the view of the side to move.
    pub fn evaluate(&self, board: &Board) -> crate::Score {
        self.evaluator.evaluate_board(board)
    }

    /// Searches until a limit is reached or the caller says stop, and reports
    /// after every iteration.
    pub fn search(
        &mut self,
        position: &Position,
        limits: &Limits,
        signals: &Signals,
        report: &mut dyn FnMut(&Report),
    ) -> Outcome {
        self.table.age();
        self.heuristics.clear();
        self.moves.clear();
        self.tree.start(position, &self.evaluator);
        Search::new(self, limits, signals).run(report)
    }
}
