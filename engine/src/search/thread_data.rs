//! State of one search thread.

use cozy_chess::Move;

use crate::evaluation::Evaluator;
use crate::evaluation::score::{MAX_PLY, Score};
use crate::search::correction_history::CorrectionHistory;
use crate::search::history::History;
use crate::search::move_picker::MoveStack;
use crate::search::pv::PvTable;
use crate::search::transposition_table::ScoreBound;
use crate::search::tree::Tree;

/// Per-ply state that a node shares with its descendants.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// The corrected static evaluation; `None` in check.
    pub(crate) evaluation: Option<Score>,
    /// Move excluded by a singular search.
    pub(crate) excluded: Option<Move>,
    /// Double extensions on the line so far.
    pub(crate) doubles: u8,
}

impl Frame {
    const NEW: Frame = Frame {
        evaluation: None,
        excluded: None,
        doubles: 0,
    };
}

/// A root move.
#[derive(Clone, Debug)]
pub(crate) struct RootMove {
    /// Line that begins with this move.
    pub(crate) pv: Vec<Move>,
    /// Score if known, else `-Score::INFINITE`.
    pub(crate) score: Score,
    /// `Lower` if the move failed high and the search was halted before the re-search.
    pub(crate) bound: ScoreBound,
    /// Nodes spent on this move.
    pub(crate) nodes: u64,
}

/// State a search thread keeps between searches.
pub(crate) struct ThreadData {
    pub(crate) tree: Tree,
    pub(crate) frames: Vec<Frame>,
    pub(crate) history: History,
    pub(crate) corrections: CorrectionHistory,
    pub(crate) pv: PvTable,
    pub(crate) moves: MoveStack,
    pub(crate) root: Vec<RootMove>,
}

impl ThreadData {
    pub(crate) fn new(evaluator: &Evaluator) -> ThreadData {
        ThreadData {
            tree: Tree::new(evaluator),
            frames: vec![Frame::NEW; MAX_PLY + 2],
            history: History::new(),
            corrections: CorrectionHistory::new(),
            pv: PvTable::new(),
            moves: MoveStack::default(),
            root: Vec::new(),
        }
    }

    /// Clears the histories.
    pub(crate) fn clear(&mut self) {
        self.history.clear();
        self.corrections.clear();
    }

    /// Resets the per-search state.
    pub(crate) fn start(&mut self) {
        self.frames.fill(Frame::NEW);
        self.moves = MoveStack::default();
    }
}
