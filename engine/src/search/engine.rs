//! The engine: an evaluator and everything a search remembers.

use std::sync::Arc;

use cozy_chess::Board;

use crate::board::Position;
use crate::endgame::Tablebase;
use crate::evaluation::{Evaluator, Score};
use crate::search::limits::Limits;
#[cfg(feature = "tune")]
use crate::search::params::Tunable;
use crate::search::reductions::Reductions;
use crate::search::report::{Outcome, Report, Signals};
use crate::search::shared::Shared;
use crate::search::table_memory::TableMemory;
use crate::search::threads;
use crate::search::transposition_table::{HashError, TranspositionTable};
use crate::search::worker::Worker;

/// Size of the transposition table of a new engine, in MiB.
pub const DEFAULT_HASH_MIB: usize = 16;
/// The largest transposition table that can be asked for, in MiB.
pub const MAX_HASH_MIB: usize = 128 << 10;
/// The most threads that can be asked for.
pub const MAX_THREADS: usize = 512;

/// Searches positions, and remembers from one search to the next.
pub struct Engine {
    evaluator: Evaluator,
    table: TranspositionTable,
    tablebase: Option<Arc<dyn Tablebase>>,
    reductions: Reductions,
    /// One a thread, the first of which reports.
    workers: Vec<Worker>,
}

impl Engine {
    /// An engine with a table of [`DEFAULT_HASH_MIB`] and one thread.
    pub fn new(evaluator: Evaluator) -> Engine {
        let mut table = TranspositionTable::new(DEFAULT_HASH_MIB).expect("a few MiB can be had");
        table.touch(1);
        Engine::with_table(evaluator, table)
    }

    /// An engine that keeps what it finds in memory that it shares with other programs, and
    /// uses what they have found there. To clear it clears it for all.
    ///
    /// # Panics
    /// Where that memory has less than eight words.
    pub fn sharing(evaluator: Evaluator, memory: Arc<dyn TableMemory>) -> Engine {
        Engine::with_table(evaluator, TranspositionTable::shared(memory))
    }

    fn with_table(evaluator: Evaluator, table: TranspositionTable) -> Engine {
        Engine {
            table,
            tablebase: None,
            reductions: Reductions::new(),
            workers: vec![Worker::new(&evaluator)],
            evaluator,
        }
    }

    /// Replaces the transposition table by an empty one of its own, in memory that all threads
    /// have the system map at once, so that no search waits for it.
    ///
    /// # Errors
    /// [`HashError`] when there is no memory for it; the present one stays.
    pub fn set_hash(&mut self, mebibytes: usize) -> Result<(), HashError> {
        // The old table goes before the new one is touched: there may not be memory for both.
        self.table = TranspositionTable::new(mebibytes)?;
        self.table.touch(self.workers.len());
        Ok(())
    }

    /// Searches with so many threads from now on, at least one and at most
    /// [`MAX_THREADS`]. With one, equal searches are equal.
    pub fn set_threads(&mut self, threads: usize) {
        let evaluator = &self.evaluator;
        self.workers
            .resize_with(threads.clamp(1, MAX_THREADS), || Worker::new(evaluator));
    }

    /// Has every search of the process use another value of a tunable, held within its
    /// bounds; this engine forgets all earlier searches.
    #[cfg(feature = "tune")]
    pub fn tune(&mut self, tunable: &Tunable, value: i32) {
        tunable.set(value);
        self.reductions = Reductions::new();
        self.clear();
    }

    /// Asks these tables about endgames from now on.
    pub fn set_tablebase(&mut self, tablebase: Option<Arc<dyn Tablebase>>) {
        self.tablebase = tablebase;
        self.clear();
    }

    /// Forgets all earlier searches. All threads wipe the table together.
    pub fn clear(&mut self) {
        self.table.clear(self.workers.len());
        self.workers.iter_mut().for_each(Worker::clear);
    }

    /// Changes the evaluator, and forgets the scores of the former one.
    pub fn change_evaluator(&mut self, change: impl FnOnce(&mut Evaluator)) {
        change(&mut self.evaluator);
        self.clear();
    }

    /// The static value of a board, from the view of the side to move.
    pub fn evaluate(&self, board: &Board) -> Score {
        self.evaluator.evaluate_board(board)
    }

    /// Searches until a limit is reached or the caller says stop, and reports
    /// every line of every iteration.
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
        threads::run(&mut shared, &mut self.workers, position, report)
    }
}
