//! Several workers that search one position: each has a module of its own, and all have one
//! transposition table, in memory that the host lets them share.

use std::sync::Arc;

use engine::{Interrupt, TableMemory};

/// Memory that all workers of a team share.
pub trait SharedMemory: Send + Sync {
    /// How many words of 64 bits there are.
    fn words(&self) -> usize;
    /// A word, of an index less than [`SharedMemory::words`].
    fn load(&self, index: usize) -> u64;
    /// Replaces a word, of an index less than [`SharedMemory::words`].
    fn store(&self, index: usize, word: u64);
    /// As [`TableMemory::find`]; indices are of this memory.
    fn find(&self, cluster: usize, key: u64) -> Option<usize>;
}

/// The word that holds the number of the present search. The page counts it up at the end of
/// each: helpers stop where it is not theirs.
const SEARCH: usize = 0;
/// Behind the search's number, the nodes of each helper, none when a search begins.
const NODES: usize = 1;
/// The most workers that help another.
pub const MAX_HELPERS: usize = 15;
/// Behind the nodes, the table.
const TABLE: usize = NODES + MAX_HELPERS;

/// The memory of a team.
#[derive(Clone)]
pub struct Team(Arc<dyn SharedMemory>);

impl Team {
    /// `None` where the memory has no room for a table.
    pub fn new(memory: Arc<dyn SharedMemory>) -> Option<Team> {
        (memory.words() >= 2 * TABLE).then_some(Team(memory))
    }

    /// Nodes of all helpers in the present search.
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

/// A worker that helps in one search, and tells of its nodes.
pub struct Helper {
    pub team: Team,
    /// Less than [`MAX_HELPERS`].
    pub index: usize,
    /// The number of the search.
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
