//! JavaScript interface of the module. Texts are UTF-8 in buffers from [`allocate`]; the
//! answer starts at [`answer_start`].
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
    /// Size of the memory shared by the team of workers, in 64-bit words; 0 without a team.
    fn words() -> usize;
    fn load(byte: usize) -> u64;
    fn store(byte: usize, word: u64);
    /// Byte offset of the matching table entry; 0 if none matches, since no entry is there.
    fn find(byte: usize, key: u64) -> usize;
}

/// The host's imports as a [`Host`].
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

/// The host's imports as [`SharedMemory`].
struct PageMemory {
    words: usize,
}

impl PageMemory {
    /// Returns the byte offset of a word; panics if `index` is out of range.
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
        // SAFETY: the import accesses only the host's memory, and `byte` checks the index.
        unsafe { load(self.byte(index)) }
    }

    fn store(&self, index: usize, word: u64) {
        // SAFETY: as for `load`.
        unsafe { store(self.byte(index), word) }
    }

    fn find(&self, cluster: usize, key: u64) -> Option<usize> {
        // SAFETY: as for `load`; the table's size is a whole number of clusters.
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

/// Allocates `length` bytes; exactly one of the functions below must take them back.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    let bytes = vec![0u8; length].into_boxed_slice();
    Box::into_raw(bytes).cast()
}

/// Answers a JSON request; returns the answer's length in bytes.
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

/// Loads a `.safetensors` network; returns the answer's length in bytes.
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

/// Loads the `.safetensors` file of a policy; returns the answer's length in bytes.
///
/// # Safety
/// As for [`ask`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn load_policy(start: *mut u8, length: usize) -> usize {
    // SAFETY: as the caller promises.
    let policy = unsafe { take(start, length) };
    STATE.with_borrow_mut(|state| {
        state.answer = state.session.load_policy(&policy);
        state.answer.len()
    })
}

/// Returns the address of the last answer, valid until the next request.
#[unsafe(no_mangle)]
pub extern "C" fn answer_start() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// Runs `engine bench DEPTH` and returns its node count, to compare speeds.
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
/// As for [`ask`]; takes ownership of the buffer.
unsafe fn take(start: *mut u8, length: usize) -> Box<[u8]> {
    // SAFETY: `allocate` leaked this box, and the caller passes it only once.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, length)) }
}
