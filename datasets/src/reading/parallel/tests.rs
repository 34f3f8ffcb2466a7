//! Tests of panicking threads.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use super::*;

const MARK: &[u8] = b"[Event \"panic\"]";

/// Fault injection for parsing.
pub(super) fn panic_if_marked(text: &[u8]) {
    if text.windows(MARK.len()).any(|window| window == MARK) {
        panic_any("a marked game");
    }
}

/// Reader that panics.
struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic_any("a reader")
    }
}

/// Returns the panic of a reading; fails if it hangs for a minute.
fn panic_of(reader: impl Read + Send + 'static) -> &'static str {
    let (done, outcome) = sync_channel(1);
    thread::spawn(move || {
        let reading = Reading::from(Source::plain(reader));
        let run = || reading.run(&Filters::default(), 2, |_: Batch| Ok(()));
        done.send(catch_unwind(AssertUnwindSafe(run))).unwrap();
    });
    let outcome = outcome.recv_timeout(Duration::from_secs(60));
    let panic = outcome.expect("it hangs").expect_err("it ends as if whole");
    panic.downcast_ref::<&str>().unwrap()
}

/// Returns many pieces of games, with `between` in the middle of a piece.
fn games(between: &[u8]) -> Vec<u8> {
    let game = b"[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval 0.2] } *\n\n";
    let games = game.repeat((8 << 20) / game.len());
    [&games, between, &games].concat()
}

#[test]
fn forwards_a_panic_of_any_thread() {
    let marked = [MARK, b"\n\n1. d4 { [%eval 0.1] } *\n\n"].concat();
    assert_eq!(panic_of(io::Cursor::new(games(&marked))), "a marked game");
    let broken = io::Cursor::new(games(b"")).chain(Failing);
    assert_eq!(panic_of(broken), "a reader");
}
