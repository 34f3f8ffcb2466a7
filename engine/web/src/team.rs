//! Lazy SMP over web workers: each worker has its own module, and all share a transposition
//! table in memory that the host provides.

use std::sync::Arc;

use engine::{Interrupt, TableMemory};

/// Memory shared by all workers of a team.
pub trait SharedMemory: Send + Sync {
    /// Size in 64-bit words.
    fn words(&self) -> usize;
    /// Returns the word at `index`, less than [`SharedMemory::words`].
    fn load(&self, index: usize) -> u64;
    /// Replaces the word at `index`, less than [`SharedMemory::words`].
    fn store(&self, index: usize, word: u64);
    /// Like [`TableMemory::find`], with indices into this memory.
    fn find(&self, cluster: usize, key: u64) -> Option<usize>;
}

/// Index of the current search's number. The page increments it when a search ends, which
/// stops the helpers of that search.
const SEARCH: usize = 0;
/// Index of the node counts, one word a helper, zeroed when a search begins.
const NODES: usize = 1;
/// Maximal number of helpers of one worker.
pub const MAX_HELPERS: usize = 15;
/// Index where the transposition table begins.
const TABLE: usize = NODES + MAX_HELPERS;

/// Shared memory of a team: search number, node counts, transposition table.
#[derive(Clone)]
pub struct Team(Arc<dyn SharedMemory>);

impl Team {
    /// Returns `None` if the memory is too small for a table.
    pub fn new(memory: Arc<dyn SharedMemory>) -> Option<Team> {
        (memory.words() >= 2 * TABLE).then_some(Team(memory))
    }

    /// Returns the node count of all helpers in the current search.
    pub fn nodes(&self) -> u64 {
        (0..MAX_HELPERS)
            .map(|helper| self.0.load(NODES + helper))
            .sum()
    }
}

impl TableMemory for Team {
    fn words(&self) -> usize {
        self.0.words() - TABLE
    }

    fn load(&self, index: usize) -> u64 {
        self.0.load(TABLE + index)
    }

    fn store(&self, index: usize, word: u64) {
        self.0.store(TABLE + index, word);
    }

    fn find(&self, cluster: usize, key: u64) -> Option<usize> {
        self.0.find(TABLE + cluster, key).map(|entry| entry - TABLE)
    }

    fn search(&self) -> u64 {
        self.0.load(SEARCH)
    }
}

/// Interrupt of a helper's search: publishes its node count and ends with the team's search.
pub struct Helper {
    pub team: Team,
    /// Helper number, less than [`MAX_HELPERS`].
    pub index: usize,
    /// Number of the search that is helped.
    pub search: u64,
}

impl Interrupt for Helper {
    fn is_due(&self, nodes: u64) -> bool {
        let over = self.team.search() != self.search;
        if !over {
            self.team.0.store(NODES + self.index, nodes);
        }
        over
    }
}
