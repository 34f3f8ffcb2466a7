//! One thread's part of a search: its line of positions and what it has
//! learned.

use cozy_chess::Move;

use crate::evaluation::Evaluator;
use crate::evaluation::score::{MAX_PLY, Score};
use crate::search::correction_history::CorrectionHistory;
use crate::search::history::History;
use crate::search::move_picker::MoveStack;
use crate::search::pv::PvTable;
use crate::search::transposition_table::ScoreBound;
use crate::search::tree::Tree;

/// What a node leaves for its children and grandchildren.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// The corrected static evaluation; `None` in check.
    pub(crate) evaluation: Option<Score>,
    /// The move that a singular search leaves out.
    pub(crate) excluded: Option<Move>,
    /// Double extensions from the root to here.
    pub(crate) doubles: u8,
}

impl Frame {
    const NEW: Frame = Frame {
        evaluation: None,
        excluded: None,
        doubles: 0,
    };
}

/// A move of the root.
#[derive(Clone, Debug)]
pub(crate) struct RootMove {
    /// The line that begins with it.
    pub(crate) pv: Vec<Move>,
    /// Its score where that is known, else the lowest.
    pub(crate) score: Score,
    /// From below where the move was too good for the window, and the search was
    /// halted before a wider one told how good.
    pub(crate) bound: ScoreBound,
    /// Nodes spent on it.
    pub(crate) nodes: u64,
}

/// What one thread carries from search to search.
pub(crate) struct Worker {
    pub(crate) tree: Tree,
    pub(crate) frames: Vec<Frame>,
    pub(crate) history: History,
    pub(crate) corrections: CorrectionHistory,
    pub(crate) pv: PvTable,
    pub(crate) moves: MoveStack,
    pub(crate) root: Vec<RootMove>,
}

impl Worker {
    pub(crate) fn new(evaluator: &Evaluator) -> Worker {
        Worker {
            tree: Tree::new(evaluator),
            frames: vec![Frame::NEW; MAX_PLY + 2],
            history: History::new(),
            corrections: CorrectionHistory::new(),
            pv: PvTable::new(),
            moves: MoveStack::default(),
            root: Vec::new(),
        }
    }

    /// Forgets what earlier searches taught.
    pub(crate) fn clear(&mut self) {
        self.history.clear();
        self.corrections.clear();
    }

    /// Makes the worker ready to search from another root.
    pub(crate) fn start(&mut self) {
        self.frames.fill(Frame::NEW);
        self.moves = MoveStack::default();
    }
}
