//! Where the entries of a transposition table lie.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Words of a cluster, which share a line of the cache.
pub(super) const CLUSTER_WORDS: usize = 8;
/// Words of an entry: the key exclusive-or the data, and the data. An entry
/// that two threads wrote at once does not match its key, and is as good as
/// absent (R. Hyatt and T. Mann, "A lock-less transposition table
/// implementation for parallel search", ICGA Journal 25, 2002).
const ENTRY_WORDS: usize = 2;
/// The first words of a cluster's entries.
pub(super) const ENTRIES: [usize; CLUSTER_WORDS / ENTRY_WORDS] = [0, 2, 4, 6];
pub(super) const LINE_BYTES: usize = CLUSTER_WORDS * size_of::<AtomicU64>();

/// Memory for a transposition table that several programs share, each of which searches the
/// same position: workers of a page, say, whose own memories are apart.
pub trait TableMemory: Send + Sync {
    /// How many words of 64 bits there are, all zero at the beginning.
    fn words(&self) -> usize;
    /// A word, of an index less than [`TableMemory::words`].
    fn load(&self, index: usize) -> u64;
    /// Replaces a word, of an index less than [`TableMemory::words`].
    fn store(&self, index: usize, word: u64);
    /// In the cluster of eight words from an index on, the first word of the first entry that
    /// is empty or has this key. An entry has two words: its data, which is zero where it is
    /// empty, is the second, and its key exclusive-or the data the first.
    fn find(&self, cluster: usize, key: u64) -> Option<usize> {
        find(key, |index| self.load(cluster + index)).map(|entry| cluster + entry)
    }
    /// The number of the present search, which all programs agree on: entries of earlier
    /// ones give way.
    fn search(&self) -> u64;
}

/// See [`TableMemory::find`]; words are counted from the cluster's first.
#[inline(always)]
pub(super) fn find(key: u64, load: impl Fn(usize) -> u64) -> Option<usize> {
    for entry in ENTRIES {
        let data = load(entry + 1);
        if data == 0 || load(entry) ^ data == key {
            return Some(entry);
        }
    }
    None
}

/// The memory of a table.
pub(super) enum Memory {
    Own {
        words: Box<[AtomicU64]>,
        /// The word at which the first cluster begins, so that each is one line of the
        /// cache.
        first: usize,
    },
    Shared(Arc<dyn TableMemory>),
}

/// Words of a page of 4 KiB, the smallest that a system maps at once.
const PAGE_WORDS: usize = 4096 / size_of::<AtomicU64>();
/// Words that a thread wipes or touches at a time: 4 MiB.
const PART_WORDS: usize = (4 << 20) / size_of::<AtomicU64>();

impl Memory {
    /// Memory of its own for so many clusters, all zero; `None` where the system has not so
    /// much. [`Memory::touch`] makes the system map it.
    pub(super) fn own(clusters: usize) -> Option<Memory> {
        let count = (clusters + 1).checked_mul(CLUSTER_WORDS)?;
        // Systems promise more than they have, and kill whoever uses it.
        if !physical_memory_holds(count.checked_mul(size_of::<AtomicU64>())?) {
            return None;
        }
        let words: Box<[AtomicU64]> = bytemuck::try_zeroed_slice_box(count).ok()?;
        ask_for_huge_pages(&words);
        let misaligned = words.as_ptr().addr() % LINE_BYTES;
        let first = (LINE_BYTES - misaligned) % LINE_BYTES / size_of::<AtomicU64>();
        Some(Memory::Own { words, first })
    }

    /// Writes a zero to every page of new memory of its own, on so many threads: the system
    /// maps it now, and not page by page while a clock runs.
    pub(super) fn touch(&mut self, threads: usize) {
        if let Memory::Own { words, .. } = self {
            share(words, threads, |part| {
                for word in part.iter().step_by(PAGE_WORDS) {
                    word.store(0, Ordering::Relaxed);
                }
            });
        }
    }

    pub(super) fn cluster(&self, index: usize) -> Cluster<'_> {
        let start = index * CLUSTER_WORDS;
        match self {
            Memory::Own { words, first } => Cluster::Own(
                words[first + start..]
                    .first_chunk()
                    .expect("a cluster of the table"),
            ),
            Memory::Shared(memory) => Cluster::Shared(&**memory, start),
        }
    }

    /// Makes every word zero, on so many threads where the memory is its own.
    pub(super) fn clear(&mut self, threads: usize) {
        match self {
            Memory::Own { words, .. } => share(words, threads, bytemuck::fill_zeroes),
            Memory::Shared(memory) => (0..memory.words()).for_each(|index| memory.store(index, 0)),
        }
    }
}

/// Calls `each` with every part of the words, on up to `threads` threads.
fn share(words: &mut [AtomicU64], threads: usize, each: impl Fn(&mut [AtomicU64]) + Sync) {
    let helpers = threads.min(words.len() / PART_WORDS).saturating_sub(1);
    let parts = Mutex::new(words.chunks_mut(PART_WORDS));
    let next = || parts.lock().expect("no thread panics").next();
    let work = || {
        while let Some(part) = next() {
            each(part);
        }
    };
    if helpers == 0 {
        // WebAssembly has no threads.
        return work();
    }
    thread::scope(|scope| {
        for _ in 0..helpers {
            // The system has no more threads: those already started do the rest.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

/// The words of a cluster.
#[derive(Clone, Copy)]
pub(super) enum Cluster<'a> {
    Own(&'a [AtomicU64; CLUSTER_WORDS]),
    /// Those from an index on.
    Shared(&'a dyn TableMemory, usize),
}

impl Cluster<'_> {
    #[inline(always)]
    pub(super) fn load(self, index: usize) -> u64 {
        match self {
            Cluster::Own(words) => words[index].load(Ordering::Relaxed),
            Cluster::Shared(memory, start) => memory.load(start + index),
        }
    }

    #[inline(always)]
    pub(super) fn store(self, index: usize, word: u64) {
        match self {
            Cluster::Own(words) => words[index].store(word, Ordering::Relaxed),
            Cluster::Shared(memory, start) => memory.store(start + index, word),
        }
    }

    /// The first word of the first entry that is empty or has this key.
    #[inline(always)]
    pub(super) fn find(self, key: u64) -> Option<usize> {
        match self {
            Cluster::Own(words) => find(key, |index| words[index].load(Ordering::Relaxed)),
            Cluster::Shared(memory, start) => memory.find(start, key).map(|entry| entry - start),
        }
    }

    /// Has the processor fetch it.
    #[inline]
    pub(super) fn prefetch(self) {
        #[cfg(target_arch = "x86_64")]
        if let Cluster::Own(words) = self {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch reads nothing that the program can see, and the address
            // is that of a reference.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().cast()) }
        }
    }
}

/// Asks the system to map memory in large pages: most lookups of a table
/// would otherwise miss the processor's table of small ones too.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(words: &[AtomicU64]) {
    const HUGE_PAGE: usize = 2 << 20;
    let range = words.as_ptr_range();
    let start = range.start.addr().next_multiple_of(HUGE_PAGE);
    let bytes = range.end.addr().saturating_sub(start) / HUGE_PAGE * HUGE_PAGE;
    if bytes > 0 {
        let start = range.start.with_addr(start).cast_mut().cast();
        // SAFETY: the pages lie wholly within `words`, and the advice changes
        // nothing in them. Where it is not taken, all works as before.
        unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_: &[AtomicU64]) {}

/// Returns whether the machine has `bytes` of physical memory, or does not say how much.
#[cfg(target_os = "linux")]
fn physical_memory_holds(bytes: usize) -> bool {
    // SAFETY: `sysconf` reads numbers of the system.
    let number = |name| usize::try_from(unsafe { libc::sysconf(name) });
    match (number(libc::_SC_PHYS_PAGES), number(libc::_SC_PAGESIZE)) {
        (Ok(pages), Ok(page)) => bytes <= pages.saturating_mul(page),
        _ => true,
    }
}

#[cfg(not(target_os = "linux"))]
fn physical_memory_holds(_: usize) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_wipe_every_word() {
        let clusters = 5 * PART_WORDS / CLUSTER_WORDS / 2;
        for threads in [1, 2, 3, 64] {
            let mut memory = Memory::own(clusters).unwrap();
            memory.touch(threads);
            let Memory::Own { words, .. } = &mut memory else {
                panic!("it has memory of its own");
            };
            words.iter_mut().for_each(|word| *word.get_mut() = 7);
            memory.clear(threads);
            let Memory::Own { words, .. } = &mut memory else {
                panic!("it has memory of its own");
            };
            assert!(
                words.iter_mut().all(|word| *word.get_mut() == 0),
                "{threads}"
            );
        }
    }
}
