//! JavaScript interface of the module. Texts are UTF-8 in buffers from [`allocate`]; the
//! answer starts at [`answer_start`].
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

/// Allocates `length` bytes; exactly one of the functions below must take them back.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// Sets the names of the host's table files, separated by spaces.
///
/// # Safety
/// `start` is from [`allocate`] with this `length`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn list(start: *mut u8, length: usize) {
    // SAFETY: as the caller promises.
    let names = unsafe { text(start, length) };
    STATE.with_borrow_mut(|state| state.tables = Tables::new(names.split_whitespace()));
}

/// Stores the bytes of a requested file.
///
/// # Safety
/// As for [`list`], for both buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bring(name: *mut u8, name_length: usize, start: *mut u8, length: usize) {
    // SAFETY: as the caller promises.
    let (name, bytes) = unsafe { (text(name, name_length), take(start, length)) };
    STATE.with_borrow(|state| state.tables.bring(&name, bytes));
}

/// Probes the position of a FEN; returns the length of the JSON answer in bytes.
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

/// Returns the address of the last answer, valid until the next request.
#[unsafe(no_mangle)]
pub extern "C" fn answer_start() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// # Safety
/// As for [`list`]; takes ownership of the buffer.
unsafe fn take(start: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: `allocate` leaked this box, and the caller passes it only once.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, length)) }.into_vec()
}

/// # Safety
/// As for [`list`]; takes ownership of the buffer.
unsafe fn text(start: *mut u8, length: usize) -> String {
    // SAFETY: as the caller promises.
    let bytes = unsafe { take(start, length) };
    String::from_utf8_lossy(&bytes).into_owned()
}
