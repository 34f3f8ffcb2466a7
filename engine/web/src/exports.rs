//! The module's functions for JavaScript. Texts are UTF-8 in memory that
//! [`allocate`] has handed out; an answer lies where [`answer_start`] says.
#![allow(
    unsafe_code,
    reason = "exports and imports; the caller vouches for pointers"
)]

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use crate::host::Host;
use crate::session::Session;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    fn now() -> f64;
    fn report(start: *const u8, length: usize);
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
