//! Memory of the transposition table: private or shared between programs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Words of a cluster, which fills one cache line.
pub(super) const CLUSTER_WORDS: usize = 8;
/// Words of an entry: the key XOR the data, and the data. An entry that two threads wrote at once
/// does not match its key, and counts as absent (R. Hyatt and T. Mann, "A lock-less transposition
/// table implementation for parallel search", ICGA Journal 25, 2002).
const ENTRY_WORDS: usize = 2;
/// Offsets of a cluster's entries.
pub(super) const ENTRIES: [usize; CLUSTER_WORDS / ENTRY_WORDS] = [0, 2, 4, 6];
pub(super) const LINE_BYTES: usize = CLUSTER_WORDS * size_of::<AtomicU64>();

/// Memory of a transposition table shared by several programs that search the same position, such
/// as web workers with separate address spaces.
pub trait TableMemory: Send + Sync {
    /// Returns the number of 64-bit words, all initially zero.
    fn words(&self) -> usize;
    /// Returns a word; `index` is below [`TableMemory::words`].
    fn load(&self, index: usize) -> u64;
    /// Sets a word; `index` is below [`TableMemory::words`].
    fn store(&self, index: usize, word: u64);
    /// Returns the index of the first entry that is empty or has this key, in the cluster of eight
    /// words that starts at index `cluster`. An entry has two words: its key XOR its data, and its
    /// data, which is zero if it is empty.
    fn find(&self, cluster: usize, key: u64) -> Option<usize> {
        find(key, |index| self.load(cluster + index)).map(|entry| cluster + entry)
    }
    /// Returns the number of the current search, the same for all programs: entries of earlier
    /// searches age.
    fn search(&self) -> u64;
}

/// Implements [`TableMemory::find`], with indices relative to the cluster.
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

/// Memory of a table.
pub(super) enum Memory {
    Own {
        words: Box<[AtomicU64]>,
        /// First word of the first cluster, which aligns clusters with cache lines.
        first: usize,
    },
    Shared(Arc<dyn TableMemory>),
}

/// Words of a 4 KiB page, the smallest unit that a system maps.
const PAGE_WORDS: usize = 4096 / size_of::<AtomicU64>();
/// Words that a thread clears or touches at a time: 4 MiB.
const PART_WORDS: usize = (4 << 20) / size_of::<AtomicU64>();

impl Memory {
    /// Allocates zeroed, private memory for `clusters` clusters; `None` if the system does not have
    /// as much. [`Memory::touch`] makes the system map it.
    pub(super) fn own(clusters: usize) -> Option<Memory> {
        let count = (clusters + 1).checked_mul(CLUSTER_WORDS)?;
        // Systems overcommit, and kill the process that uses the memory.
        if !physical_memory_holds(count.checked_mul(size_of::<AtomicU64>())?) {
            return None;
        }
        let words: Box<[AtomicU64]> = bytemuck::try_zeroed_slice_box(count).ok()?;
        ask_for_huge_pages(&words);
        let misaligned = words.as_ptr().addr() % LINE_BYTES;
        let first = (LINE_BYTES - misaligned) % LINE_BYTES / size_of::<AtomicU64>();
        Some(Memory::Own { words, first })
    }

    /// Writes to every page of new private memory on up to `threads` threads: the system maps it
    /// now, not page by page while a clock runs.
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

    /// Zeroes every word, on up to `threads` threads if private.
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
            // The system has no more threads: continue with those started.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

/// A cluster's words.
#[derive(Clone, Copy)]
pub(super) enum Cluster<'a> {
    Own(&'a [AtomicU64; CLUSTER_WORDS]),
    /// Shared memory and the index of the cluster's first word.
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

    /// Returns the offset of the first entry that is empty or has this key.
    #[inline(always)]
    pub(super) fn find(self, key: u64) -> Option<usize> {
        match self {
            Cluster::Own(words) => find(key, |index| words[index].load(Ordering::Relaxed)),
            Cluster::Shared(memory, start) => memory.find(start, key).map(|entry| entry - start),
        }
    }

    /// Prefetches the cluster into the cache.
    #[inline]
    pub(super) fn prefetch(self) {
        #[cfg(target_arch = "x86_64")]
        if let Cluster::Own(words) = self {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch has no visible effect, and the address is that of a reference.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().cast()) }
        }
    }
}

/// Requests huge pages: most table lookups would otherwise miss the TLB too.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(words: &[AtomicU64]) {
    const HUGE_PAGE: usize = 2 << 20;
    let range = words.as_ptr_range();
    let start = range.start.addr().next_multiple_of(HUGE_PAGE);
    let bytes = range.end.addr().saturating_sub(start) / HUGE_PAGE * HUGE_PAGE;
    if bytes > 0 {
        let start = range.start.with_addr(start).cast_mut().cast();
        // SAFETY: the pages lie wholly within `words`, and the advice does not change their
        // contents. A failure is harmless.
        unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_: &[AtomicU64]) {}

/// Returns whether the machine has `bytes` of physical memory; true if its size is unknown.
#[cfg(target_os = "linux")]
fn physical_memory_holds(bytes: usize) -> bool {
    // SAFETY: `sysconf` only reads system constants.
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
