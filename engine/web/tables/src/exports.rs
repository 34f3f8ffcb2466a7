//! The module's functions for JavaScript. Texts are UTF-8 in memory that [`allocate`] has
//! handed out; an answer lies where [`answer_start`] says.
#![allow(unsafe_code, reason = "exports; the caller vouches for pointers")]

use std::cell::RefCell;

use crate::Tables;

struct State {
    tables: Tables,
    answer: String,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State {
        tables: Tables::new([]),
        answer: String::new(),
    });
}

/// Memory for so many bytes, to be given to exactly one of the functions below.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// The files that the host has, separated by spaces.
///
/// # Safety
/// `start` is from [`allocate`] with this `length`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn list(start: *mut u8, length: usize) {
    // SAFETY: as the caller promises.
    let names = unsafe { text(start, length) };
    STATE.with_borrow_mut(|state| state.tables = Tables::new(names.split_whitespace()));
}

/// Takes the bytes of a file that was wanted.
///
/// # Safety
/// As for [`list`], of both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bring(name: *mut u8, name_length: usize, start: *mut u8, length: usize) {
    // SAFETY: as the caller promises.
    let (name, bytes) = unsafe { (text(name, name_length), take(start, length)) };
    STATE.with_borrow(|state| state.tables.bring(&name, bytes));
}

/// Asks about the position of a FEN; returns the answer's length.
///
/// # Safety
/// As for [`list`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(start: *mut u8, length: usize) -> usize {
    // SAFETY: as the caller promises.
    let fen = unsafe { text(start, length) };
    STATE.with_borrow_mut(|state| {
        let answer = state.tables.ask(&fen);
        state.answer = serde_json::to_string(&answer).expect("numbers and texts can be written");
        state.answer.len()
    })
}

/// Where the last answer lies, until the next question.
#[unsafe(no_mangle)]
pub extern "C" fn answer_start() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// # Safety
/// As for [`list`].
unsafe fn take(start: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: `allocate` made it from such a box, and it is taken once.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, length)) }.into_vec()
}

/// # Safety
/// As for [`list`].
unsafe fn text(start: *mut u8, length: usize) -> String {
    // SAFETY: as the caller promises.
    let bytes = unsafe { take(start, length) };
    String::from_utf8_lossy(&bytes).into_owned()
}
