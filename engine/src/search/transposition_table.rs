//! Transposition table shared by all threads of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use cozy_chess::{Move, Piece, Square};
use thiserror::Error;

use crate::evaluation::Score;
use crate::search::table_memory::{
    CLUSTER_WORDS, Cluster, ENTRIES, LINE_BYTES, Memory, TableMemory,
};

/// Memory for a transposition table of this size is not available.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("no memory for a transposition table of {mebibytes} MiB")]
pub struct HashError {
    mebibytes: usize,
}

/// Relation of a score to the true score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreBound {
    /// The score is exact.
    Exact,
    /// The true score is at least this.
    Lower,
    /// The true score is at most this.
    Upper,
}

impl ScoreBound {
    /// Returns the bound that a search of the window `(alpha, beta)` proves by its score.
    pub(crate) fn of(score: Score, alpha: Score, beta: Score) -> ScoreBound {
        match score {
            _ if score >= beta => ScoreBound::Lower,
            _ if score > alpha => ScoreBound::Exact,
            _ => ScoreBound::Upper,
        }
    }

    /// Returns whether a score with this bound contradicts `guess`.
    pub(crate) fn refutes(self, score: Score, guess: Score) -> bool {
        match self {
            ScoreBound::Exact => true,
            ScoreBound::Lower => score > guess,
            ScoreBound::Upper => score < guess,
        }
    }
}

/// Table entry of a position, with its score relative to the probing ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableEntry {
    pub(crate) score: Score,
    pub(crate) mv: Option<Move>,
    pub(crate) depth: i32,
    pub(crate) bound: ScoreBound,
    /// Whether the position was ever searched as a PV node.
    pub(crate) pv: bool,
    /// Uncorrected evaluation, if computed.
    pub(crate) evaluation: Option<Score>,
}

/// Number of generations; ages wrap around after this many searches.
const GENERATIONS: u8 = 32;
/// Replacement: plies of depth that outweigh one generation of age.
const PLIES_A_GENERATION: i32 = 4;

/// Transposition table: search results by position key, with clusters of four entries.
pub(crate) struct TranspositionTable {
    memory: Memory,
    clusters: usize,
    generation: AtomicU8,
}

impl TranspositionTable {
    /// Whether [`TranspositionTable::prefetch`] does anything. If so, evaluating takes no longer
    /// than waiting for the entry; otherwise the stored evaluation saves the work.
    pub(crate) const FETCHES_AHEAD: bool = cfg!(target_arch = "x86_64");

    pub(crate) fn new(mebibytes: usize) -> Result<TranspositionTable, HashError> {
        let too_large = || HashError { mebibytes };
        let bytes = mebibytes.checked_mul(1 << 20).ok_or_else(too_large)?;
        TranspositionTable::of_clusters((bytes / LINE_BYTES).max(1)).ok_or_else(too_large)
    }

    fn of_clusters(clusters: usize) -> Option<TranspositionTable> {
        Some(TranspositionTable {
            memory: Memory::own(clusters)?,
            clusters,
            generation: AtomicU8::new(0),
        })
    }

    /// Returns a table in shared memory, which may already hold entries.
    ///
    /// # Panics
    /// If `memory` is smaller than a cluster.
    pub(crate) fn shared(memory: Arc<dyn TableMemory>) -> TranspositionTable {
        let clusters = memory.words() / CLUSTER_WORDS;
        assert!(clusters > 0, "a table has at least one cluster");
        TranspositionTable {
            memory: Memory::Shared(memory),
            clusters,
            generation: AtomicU8::new(0),
        }
    }

    /// Clears the table on up to `threads` threads. The memory is wiped and kept: fresh memory from
    /// the system would be mapped page by page while the next search's clock runs.
    pub(crate) fn clear(&mut self, threads: usize) {
        self.memory.clear(threads);
        self.generation = AtomicU8::new(0);
    }

    /// Makes the system map the memory of a new table, on up to `threads` threads.
    pub(crate) fn touch(&mut self, threads: usize) {
        self.memory.touch(threads);
    }

    /// Returns the size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.clusters * LINE_BYTES
    }

    /// Starts a new generation: existing entries age.
    pub(crate) fn age(&self) {
        let next = match &self.memory {
            Memory::Own { .. } => self.generation.load(Ordering::Relaxed) + 1,
            Memory::Shared(memory) => (memory.search() % u64::from(GENERATIONS)) as u8,
        };
        self.generation.store(next % GENERATIONS, Ordering::Relaxed);
    }

    /// Prefetches the cluster of `key`.
    #[inline]
    pub(crate) fn prefetch(&self, key: u64) {
        self.cluster(key).prefetch();
    }

    #[inline(always)]
    pub(crate) fn probe(&self, key: u64, ply: usize) -> Option<TableEntry> {
        let cluster = self.cluster(key);
        let slot = cluster.find(key)?;
        let data = cluster.load(slot + 1);
        // Another thread may have overwritten the entry since `find`.
        (data != 0 && cluster.load(slot) ^ data == key).then(|| Data::unpack(data).entry(ply))
    }

    pub(crate) fn store(&self, key: u64, ply: usize, entry: &TableEntry) {
        let generation = self.generation.load(Ordering::Relaxed);
        let cluster = self.cluster(key);
        let found = cluster.find(key);
        let value = |slot| Data::unpack(cluster.load(slot + 1)).value(generation);
        let least = || {
            let least = ENTRIES.into_iter().min_by_key(|&slot| value(slot));
            least.expect("a cluster has entries")
        };
        let slot = found.unwrap_or_else(least);
        let word = cluster.load(slot + 1);
        let mut new = Data::of(entry, ply, generation);
        if word != 0 && cluster.load(slot) ^ word == key {
            let old = Data::unpack(word);
            // Upper bounds have no move; keep the one stored earlier.
            if new.mv == PackedMove::NONE {
                new.mv = old.mv;
            }
            let exact = entry.bound == ScoreBound::Exact;
            let much_deeper = i32::from(old.depth) > i32::from(new.depth) + PLIES_A_GENERATION;
            if !exact && much_deeper && old.generation == generation {
                return;
            }
        }
        let data = new.pack();
        cluster.store(slot, key ^ data);
        cluster.store(slot + 1, data);
    }

    /// Returns the share of entries written by the current search, in permille (UCI `hashfull`).
    pub(crate) fn permille_full(&self) -> usize {
        let generation = self.generation.load(Ordering::Relaxed);
        let clusters = self.clusters.min(250);
        let used = (0..clusters)
            .map(|index| self.memory.cluster(index))
            .flat_map(|cluster| ENTRIES.into_iter().map(move |slot| cluster.load(slot + 1)))
            .filter(|&word| word != 0 && Data::unpack(word).generation == generation)
            .count();
        used * 1000 / (clusters * ENTRIES.len())
    }

    /// Returns the cluster of `key`: the key's upper half is mapped evenly to any number of
    /// clusters. (Not the whole key: WebAssembly has no 128-bit product.)
    #[inline]
    fn cluster(&self, key: u64) -> Cluster<'_> {
        let index = (((key >> 32) * self.clusters as u64) >> 32) as usize;
        self.memory.cluster(index)
    }
}

/// Packed entry of 64 bits; never all zero, since `bound` is encoded as 1 to 3.
#[derive(Clone, Copy)]
struct Data {
    /// Score relative to the node, see [`Score::relative_to_node`].
    score: i16,
    mv: PackedMove,
    depth: u8,
    bound: ScoreBound,
    pv: bool,
    /// Generation in 5 bits.
    generation: u8,
    evaluation: Option<Score>,
}

/// Encoding of a missing evaluation.
const NO_EVALUATION: i16 = i16::MIN;

impl Data {
    fn of(entry: &TableEntry, ply: usize, generation: u8) -> Data {
        Data {
            score: entry.score.relative_to_node(ply),
            mv: PackedMove::pack(entry.mv),
            depth: entry.depth.clamp(0, u8::MAX.into()) as u8,
            bound: entry.bound,
            pv: entry.pv,
            generation,
            evaluation: entry.evaluation,
        }
    }

    fn entry(self, ply: usize) -> TableEntry {
        TableEntry {
            score: Score::relative_to_root(self.score, ply),
            mv: self.mv.unpack(),
            depth: self.depth.into(),
            bound: self.bound,
            pv: self.pv,
            evaluation: self.evaluation,
        }
    }

    fn pack(self) -> u64 {
        let bound = match self.bound {
            ScoreBound::Exact => 1,
            ScoreBound::Lower => 2,
            ScoreBound::Upper => 3,
        };
        let evaluation = self.evaluation.map_or(NO_EVALUATION, Score::to_bits);
        u64::from(self.score as u16)
            | u64::from(self.mv.0) << 16
            | u64::from(self.pv) << 31
            | u64::from(self.depth) << 32
            | u64::from(self.generation << 2 | bound) << 40
            | u64::from(evaluation as u16) << 48
    }

    fn unpack(word: u64) -> Data {
        Data {
            score: word as i16,
            mv: PackedMove((word >> 16) as u16 & PackedMove::MASK),
            pv: word >> 31 & 1 == 1,
            depth: (word >> 32) as u8,
            bound: match (word >> 40) & 3 {
                1 => ScoreBound::Exact,
                2 => ScoreBound::Lower,
                _ => ScoreBound::Upper,
            },
            generation: (word >> 42) as u8 % GENERATIONS,
            evaluation: Some((word >> 48) as i16)
                .filter(|&bits| bits != NO_EVALUATION)
                .map(Score::from_bits),
        }
    }

    /// Returns the replacement value: deep and recent entries stay.
    fn value(self, generation: u8) -> i32 {
        let age = (GENERATIONS + generation - self.generation) % GENERATIONS;
        i32::from(self.depth) - PLIES_A_GENERATION * i32::from(age)
    }
}

/// A move in 15 bits: from, to, and promotion (0 none, 1 knight to 4 queen). Zero (a1 to a1)
/// encodes `None`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PackedMove(u16);

impl PackedMove {
    const NONE: PackedMove = PackedMove(0);
    const MASK: u16 = (1 << 15) - 1;

    fn pack(mv: Option<Move>) -> PackedMove {
        let Some(mv) = mv else {
            return PackedMove::NONE;
        };
        let promotion = mv.promotion.map_or(0, |piece| piece as u16);
        PackedMove(mv.from as u16 | (mv.to as u16) << 6 | promotion << 12)
    }

    fn unpack(self) -> Option<Move> {
        let square = |bits: u16| Square::index(usize::from(bits & 63));
        (self != PackedMove::NONE).then(|| Move {
            from: square(self.0),
            to: square(self.0 >> 6),
            promotion: match self.0 >> 12 {
                0 => None,
                piece => Piece::try_index(piece.into()),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::search::table_memory;

    fn entry(depth: i32, mv: &str) -> TableEntry {
        TableEntry {
            score: Score::from_centipawns(-37),
            mv: Some(mv.parse().unwrap()),
            depth,
            bound: ScoreBound::Lower,
            pv: false,
            evaluation: None,
        }
    }

    /// Returns keys of one cluster of a 1 MiB table.
    fn keys() -> impl Iterator<Item = u64> {
        1..
    }

    #[test]
    fn clusters_are_cache_lines() {
        for mebibytes in [1, 2, 7] {
            let table = TranspositionTable::new(mebibytes).unwrap();
            for key in [0, 1 << 60, u64::MAX / 3, u64::MAX] {
                let Cluster::Own(cluster) = table.cluster(key) else {
                    panic!("it has memory of its own");
                };
                assert_eq!(size_of_val(cluster), LINE_BYTES);
                assert_eq!(cluster.as_ptr().addr() % LINE_BYTES, 0);
            }
        }
    }

    #[test]
    fn entries_round_trip() {
        let table = TranspositionTable::new(1).unwrap();
        for bound in [ScoreBound::Exact, ScoreBound::Lower, ScoreBound::Upper] {
            for mv in ["e2e4", "a1h8", "b7a8q", "g2h1n", "h8a1"] {
                for evaluation in [None, Some(-20_000), Some(-1), Some(0), Some(20_000)] {
                    let given = TableEntry {
                        bound,
                        pv: bound == ScoreBound::Lower,
                        evaluation: evaluation.map(Score::from_centipawns),
                        ..entry(5, mv)
                    };
                    table.store(42, 3, &given);
                    assert_eq!(table.probe(42, 3), Some(given));
                }
            }
        }
        assert_eq!(table.probe(43, 3), None, "another key of the same cluster");
    }

    #[test]
    fn a_torn_entry_is_not_found() {
        let table = TranspositionTable::new(1).unwrap();
        table.store(42, 0, &entry(5, "e2e4"));
        let cluster = table.cluster(42);
        cluster.store(1, cluster.load(1) ^ 1 << 40);
        assert_eq!(table.probe(42, 0), None);
    }

    /// Shared memory in which another program overwrites an entry once it has been found.
    struct Contended {
        words: [AtomicU64; CLUSTER_WORDS],
        others: Mutex<Option<[u64; 2]>>,
    }

    impl TableMemory for Contended {
        fn words(&self) -> usize {
            CLUSTER_WORDS
        }
        fn load(&self, index: usize) -> u64 {
            self.words[index].load(Ordering::Relaxed)
        }
        fn store(&self, index: usize, word: u64) {
            self.words[index].store(word, Ordering::Relaxed);
        }
        fn find(&self, cluster: usize, key: u64) -> Option<usize> {
            let found = table_memory::find(key, |index| self.load(cluster + index))?;
            if let Some([first, data]) = self.others.lock().unwrap().take() {
                self.store(found, first);
                self.store(found + 1, data);
            }
            Some(cluster + found)
        }
        fn search(&self) -> u64 {
            0
        }
    }

    #[test]
    fn ignores_entries_overwritten_during_a_probe() {
        let memory = Arc::new(Contended {
            words: Default::default(),
            others: Mutex::new(None),
        });
        let mut table = TranspositionTable::shared(Arc::clone(&memory) as Arc<dyn TableMemory>);
        table.store(7, 0, &entry(9, "d2d4"));
        let others = [memory.load(0), memory.load(1)];
        table.clear(1);
        table.store(42, 0, &entry(5, "e2e4"));
        *memory.others.lock().unwrap() = Some(others);
        assert_eq!(table.probe(42, 0), None);
        assert_eq!(table.probe(7, 0), Some(entry(9, "d2d4")));
        // The move stored by the other program belongs to another position.
        table.clear(1);
        *memory.others.lock().unwrap() = Some(others);
        let without_move = TableEntry {
            mv: None,
            ..entry(5, "e2e4")
        };
        table.store(42, 0, &without_move);
        assert_eq!(table.probe(42, 0), Some(without_move));
    }

    #[test]
    fn replaces_the_shallowest_and_oldest() {
        let table = TranspositionTable::new(1).unwrap();
        for (key, depth) in keys().zip([6, 5, 7, 8]) {
            table.store(key, 0, &entry(depth, "e2e4"));
        }
        table.store(5, 0, &entry(1, "d2d4"));
        let held = |table: &TranspositionTable| -> Vec<u64> {
            keys()
                .take(6)
                .filter(|&key| table.probe(key, 0).is_some())
                .collect()
        };
        assert_eq!(held(&table), [1, 3, 4, 5]);
        table.age();
        table.store(5, 0, &entry(4, "d2d4"));
        table.age();
        // Depth 6 at age two is worth less than depth 4 at age one.
        table.store(6, 0, &entry(1, "d2d4"));
        assert_eq!(held(&table), [3, 4, 5, 6]);
    }

    #[test]
    fn keeps_a_much_deeper_bound_of_the_same_search() {
        let table = TranspositionTable::new(1).unwrap();
        table.store(1, 0, &entry(9, "e2e4"));
        table.store(1, 0, &entry(4, "d2d4"));
        assert_eq!(table.probe(1, 0).unwrap().depth, 9);
        table.store(1, 0, &entry(6, "d2d4"));
        assert_eq!(table.probe(1, 0).unwrap().depth, 6);
    }

    #[test]
    fn a_bound_without_a_move_keeps_the_stored_move() {
        let table = TranspositionTable::new(1).unwrap();
        table.store(1, 0, &entry(3, "e2e4"));
        let upper = TableEntry {
            mv: None,
            bound: ScoreBound::Upper,
            ..entry(4, "e2e4")
        };
        table.store(1, 0, &upper);
        assert_eq!(table.probe(1, 0).unwrap().mv, entry(3, "e2e4").mv);
    }

    #[test]
    fn hashfull_counts_only_this_search() {
        let mut table = TranspositionTable::new(1).unwrap();
        assert_eq!(table.permille_full(), 0);
        for key in 0..1_000_000u64 {
            let key = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            table.store(key, 0, &entry(1, "e2e4"));
        }
        assert!(table.permille_full() > 950);
        table.age();
        assert_eq!(table.permille_full(), 0);
        table.clear(1);
        assert_eq!(table.probe(0, 0), None);
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        assert!(TranspositionTable::new(usize::MAX).is_err());
        assert!(TranspositionTable::new(1 << 40).is_err());
    }
}
