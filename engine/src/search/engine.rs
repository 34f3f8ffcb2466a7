//! The engine: an evaluator and the state kept between searches.

use std::sync::Arc;

use cozy_chess::Board;

use crate::board::Position;
use crate::endgame::Tablebase;
use crate::evaluation::{Evaluator, Score};
use crate::search::limits::Limits;
#[cfg(feature = "tune")]
use crate::search::params::Tunable;
use crate::search::puct::{self, Priors, PuctTree, VisitedMove};
use crate::search::reductions::Reductions;
use crate::search::report::{Outcome, Report, Signals};
use crate::search::shared::Shared;
use crate::search::table_memory::TableMemory;
use crate::search::thread_data::ThreadData;
use crate::search::threads;
use crate::search::transposition_table::{HashError, TranspositionTable};

/// Transposition table size of a new engine, in MiB.
pub const DEFAULT_HASH_MIB: usize = 16;
/// Maximum transposition table size, in MiB.
pub const MAX_HASH_MIB: usize = 128 << 10;
/// Maximum number of search threads.
pub const MAX_THREADS: usize = 512;

/// A chess engine: searches positions and keeps its tables between searches.
pub struct Engine {
    evaluator: Evaluator,
    table: TranspositionTable,
    tablebase: Option<Arc<dyn Tablebase>>,
    reductions: Reductions,
    /// State of each search thread; the first reports.
    threads: Vec<ThreadData>,
    /// Tree of the last [`Engine::search_puct`].
    puct: PuctTree,
}

impl Engine {
    /// Returns an engine with a table of [`DEFAULT_HASH_MIB`] and one thread.
    pub fn new(evaluator: Evaluator) -> Engine {
        let mut table = TranspositionTable::new(DEFAULT_HASH_MIB).expect("a few MiB can be had");
        table.touch(1);
        Engine::with_table(evaluator, table)
    }

    /// Returns an engine with its transposition table in memory shared with other programs: each
    /// uses the others' entries, and [`Engine::clear`] clears it for all.
    ///
    /// # Panics
    /// If `memory` has fewer than eight words.
    pub fn sharing(evaluator: Evaluator, memory: Arc<dyn TableMemory>) -> Engine {
        Engine::with_table(evaluator, TranspositionTable::shared(memory))
    }

    fn with_table(evaluator: Evaluator, table: TranspositionTable) -> Engine {
        Engine {
            table,
            tablebase: None,
            reductions: Reductions::new(),
            threads: vec![ThreadData::new(&evaluator)],
            evaluator,
            puct: PuctTree::default(),
        }
    }

    /// Replaces the transposition table by an empty, private one. All threads touch its memory at
    /// once, so that no search waits for the system to map it.
    ///
    /// # Errors
    /// [`HashError`] if there is not enough memory; the old table stays.
    pub fn set_hash(&mut self, mebibytes: usize) -> Result<(), HashError> {
        // Free the old table before touching the new one: memory may not suffice for both.
        self.table = TranspositionTable::new(mebibytes)?;
        self.table.touch(self.threads.len());
        Ok(())
    }

    /// Sets the number of search threads, clamped to `1..=`[`MAX_THREADS`]. With one thread,
    /// searches are deterministic.
    pub fn set_threads(&mut self, threads: usize) {
        let evaluator = &self.evaluator;
        self.threads
            .resize_with(threads.clamp(1, MAX_THREADS), || ThreadData::new(evaluator));
    }

    /// Sets a search parameter for the whole process, clamped to its bounds; clears this engine.
    #[cfg(feature = "tune")]
    pub fn tune(&mut self, tunable: &Tunable, value: i32) {
        tunable.set(value);
        self.reductions = Reductions::new();
        self.clear();
    }

    /// Sets the endgame tablebase, `None` for none; clears the engine.
    pub fn set_tablebase(&mut self, tablebase: Option<Arc<dyn Tablebase>>) {
        self.tablebase = tablebase;
        self.clear();
    }

    /// Clears the transposition table (on all threads), the histories and the tree of
    /// [`Engine::search_puct`].
    pub fn clear(&mut self) {
        self.puct.clear();
        self.table.clear(self.threads.len());
        self.threads.iter_mut().for_each(ThreadData::clear);
    }

    /// Changes the evaluator, and clears the engine.
    pub fn change_evaluator(&mut self, change: impl FnOnce(&mut Evaluator)) {
        change(&mut self.evaluator);
        self.clear();
    }

    /// Returns the static evaluation of a board from the side to move's point of view.
    pub fn evaluate(&self, board: &Board) -> Score {
        self.evaluator.evaluate_board(board)
    }

    /// Searches until a limit is reached or [`Signals::stop`] is due, and reports every line of
    /// every iteration.
    pub fn search(
        &mut self,
        position: &Position,
        limits: &Limits,
        signals: &Signals,
        report: &mut dyn FnMut(&Report),
    ) -> Outcome {
        self.table.age();
        let mut shared = Shared::new(
            &self.evaluator,
            &self.table,
            self.tablebase.as_deref(),
            limits,
            signals,
            &self.reductions,
        );
        threads::run(&mut shared, &mut self.threads, position, report)
    }

    /// Searches by PUCT, with a [`Person`](crate::Person)'s moves as priors, until a limit is reached or
    /// [`Signals::stop`] is due. Nodes are playouts; reports have the mean depth of the leaves. The
    /// tree takes as much memory as the transposition table, which quiescence search uses, and is
    /// kept for a search of the same game within the next two plies: [`Engine::clear`] before
    /// another person's.
    pub fn search_puct<'a>(
        &mut self,
        priors: impl Into<Priors<'a>>,
        position: &Position,
        limits: &Limits,
        signals: &Signals,
        report: &mut dyn FnMut(&Report),
    ) -> Outcome {
        self.table.age();
        // The limits of quiescence searches: those of nodes count playouts.
        let within = Limits {
            moves: limits.moves.clone(),
            time: limits.time,
            least_depth: 0,
            ..Limits::default()
        };
        let mut shared = Shared::new(
            &self.evaluator,
            &self.table,
            self.tablebase.as_deref(),
            &within,
            signals,
            &self.reductions,
        );
        puct::search(
            &mut self.puct,
            priors.into(),
            &mut shared,
            &mut self.threads,
            (position, limits),
            self.table.bytes(),
            report,
        )
    }

    /// Returns the moves of the last [`Engine::search_puct`], the most visited first; none after a
    /// search of some moves only.
    pub fn visited_moves(&self) -> Vec<VisitedMove> {
        self.puct.visited_moves()
    }
}
