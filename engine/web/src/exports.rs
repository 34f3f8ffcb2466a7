//! The module's functions for JavaScript. Texts are UTF-8 in memory that
//! [`allocate`] has handed out; an answer lies where [`answer_start`] says.
#![allow(
    unsafe_code,
    reason = "exports and imports; the caller vouches for pointers"
)]

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::host::Host;
use crate::session::Session;
use crate::team::SharedMemory;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    fn now() -> f64;
    fn report(start: *const u8, length: usize);
}

#[link(wasm_import_module = "shared")]
unsafe extern "C" {
    /// How many words the workers of a team share; none without a team.
    fn words() -> usize;
    fn load(byte: usize) -> u64;
    fn store(byte: usize, word: u64);
    /// No entry is at byte 0.
    fn find(byte: usize, key: u64) -> usize;
}

struct Page;

impl Host for Page {
    fn now(&self) -> f64 {
        // SAFETY: the import takes nothing and touches no memory.
        unsafe { now() }
    }

    fn report(&self, json: &str) {
        // SAFETY: the host only reads these bytes, before it returns.
        unsafe { report(json.as_ptr(), json.len()) }
    }

    fn shared_memory(&self) -> Option<Arc<dyn SharedMemory>> {
        // SAFETY: as for `now`.
        let words = unsafe { words() };
        (words > 0).then(|| Arc::new(PageMemory { words }) as Arc<dyn SharedMemory>)
    }
}

struct PageMemory {
    words: usize,
}

impl PageMemory {
    /// The byte that a word begins with.
    fn byte(&self, index: usize) -> usize {
        assert!(index < self.words, "word {index} of {}", self.words);
        index * size_of::<u64>()
    }
}

impl SharedMemory for PageMemory {
    fn words(&self) -> usize {
        self.words
    }

    fn load(&self, index: usize) -> u64 {
        // SAFETY: the import only touches memory of the host, which has this word.
        unsafe { load(self.byte(index)) }
    }

    fn store(&self, index: usize, word: u64) {
        // SAFETY: as for `load`.
        unsafe { store(self.byte(index), word) }
    }

    fn find(&self, cluster: usize, key: u64) -> Option<usize> {
        // SAFETY: as for `load`; tables are of whole clusters.
        let byte = unsafe { find(self.byte(cluster), key) };
        (byte > 0).then_some(byte / size_of::<u64>())
    }
}

struct State {
    session: Session,
    answer: String,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State {
        session: Session::new().expect("the embedded network"),
        answer: String::new(),
    });
}

/// Memory for so many bytes, to be given to exactly one of the functions below.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    let bytes = vec![0u8; length].into_boxed_slice();
    Box::into_raw(bytes).cast()
}

/// Answers a request; returns the answer's length.
///
/// # Safety
/// `start` is from [`allocate`] with this `length`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(start: *mut u8, length: usize) -> usize {
    // SAFETY: as the caller promises.
    let request = unsafe { take(start, length) };
    STATE.with_borrow_mut(|state| {
        state.answer = state
            .session
            .answer(&String::from_utf8_lossy(&request), &Page);
        state.answer.len()
    })
}

/// Loads a net; returns the answer's length.
///
/// # Safety
/// As for [`ask`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn load_net(start: *mut u8, length: usize) -> usize {
    // SAFETY: as the caller promises.
    let net = unsafe { take(start, length) };
    STATE.with_borrow_mut(|state| {
        state.answer = state.session.load_net(&net);
        state.answer.len()
    })
}

/// Where the last answer lies, until the next question.
#[unsafe(no_mangle)]
pub extern "C" fn answer_start() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// The nodes of `engine bench DEPTH`, to compare speeds.
#[unsafe(no_mangle)]
pub extern "C" fn bench_nodes(depth: u32) -> u64 {
    let evaluator = engine::Evaluator::embedded().expect("the embedded network");
    engine::bench(
        &mut engine::Engine::new(evaluator),
        depth.into(),
        &AtomicBool::new(false),
        |_, _| {},
    )
}

/// # Safety
/// As for [`ask`].
unsafe fn take(start: *mut u8, length: usize) -> Box<[u8]> {
    // SAFETY: `allocate` made it from such a box, and it is taken once.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, length)) }
}
