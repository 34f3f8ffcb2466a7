//! Read-ahead on a detached thread: a blocked source, such as a pipe, does not delay the return.

use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::{Builder, JoinHandle};

use crate::stop::POLL_INTERVAL;

/// Iterator over items that a [`Reader`] has read ahead. Ends early if `stop` is set or the reader
/// dropped, also while the source is blocked.
pub struct ReadAhead<'a, T> {
    items: Receiver<T>,
    stop: &'a AtomicBool,
    /// Upgrades as long as the [`Reader`] exists.
    reader: Weak<()>,
}

/// Thread that reads an iterator ahead. Dropping this handle detaches it.
pub struct Reader<I> {
    thread: JoinHandle<I>,
    /// Dropped with the reader, which ends its [`ReadAhead`].
    handle: Arc<()>,
}

/// Starts to read `items`, up to `capacity` and one more ahead.
///
/// # Errors
/// If the system gives no thread.
pub fn read_ahead<I>(
    mut items: I,
    capacity: usize,
    stop: &AtomicBool,
) -> io::Result<(ReadAhead<'_, I::Item>, Reader<I>)>
where
    I: Iterator<Item: Send> + Send + 'static,
{
    let (sender, received) = sync_channel(capacity);
    let thread = Builder::new().spawn(move || {
        let _ = items.by_ref().all(|item| sender.send(item).is_ok());
        items
    })?;
    let handle = Arc::new(());
    let ahead = ReadAhead {
        items: received,
        stop,
        reader: Arc::downgrade(&handle),
    };
    Ok((ahead, Reader { thread, handle }))
}

impl<T> Iterator for ReadAhead<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        while !self.stop.load(Ordering::Relaxed) && self.reader.strong_count() > 0 {
            match self.items.recv_timeout(POLL_INTERVAL) {
                Ok(item) => return Some(item),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        None
    }
}

impl<I> Reader<I> {
    /// Waits for the end of the iterator, and returns it.
    ///
    /// # Panics
    /// If the iterator has panicked.
    pub fn join(self) -> I {
        let Reader { thread, handle } = self;
        let items = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        drop(handle);
        items
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    #[test]
    fn gives_all_items_and_returns_the_iterator() {
        let stop = AtomicBool::new(false);
        for capacity in [0, 1, 100] {
            let (ahead, reader) = read_ahead((0..10).fuse(), capacity, &stop).unwrap();
            assert!(ahead.eq(0..10));
            assert_eq!(reader.join().next(), None);
        }
    }

    #[test]
    fn a_blocked_source_delays_neither_stop_nor_drop() {
        let blocked = || {
            std::iter::from_fn(|| {
                thread::park();
                Some(())
            })
        };
        let stop = AtomicBool::new(false);
        let (mut ahead, reader) = read_ahead(blocked(), 1, &stop).unwrap();
        drop(reader);
        assert_eq!(ahead.next(), None);
        let (mut ahead, _reader) = read_ahead(blocked(), 1, &stop).unwrap();
        stop.store(true, Ordering::Relaxed);
        assert_eq!(ahead.next(), None);
    }

    #[test]
    fn a_panic_of_the_source_is_resumed() {
        let stop = AtomicBool::new(false);
        let items = (0..5).inspect(|&item| assert!(item != 3, "a source"));
        let (ahead, reader) = read_ahead(items, 1, &stop).unwrap();
        assert!(ahead.eq(0..3));
        assert!(catch_unwind(AssertUnwindSafe(|| reader.join())).is_err());
    }
}
