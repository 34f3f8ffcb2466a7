//! Signals that ask a program to stop where it can go on from.

use std::io;
use std::panic::resume_unwind;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::ExitCode;

/// The exit code of a program that a signal ended, as a shell gives it, is
/// this and the number of the signal.
const SIGNAL_BASE: u8 = 128;

/// How often those who wait look whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// How long a program that is to end soon has to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// Whether somebody asked the program to stop: Ctrl-C (SIGINT), a scheduler or
/// `docker stop` (SIGTERM), or a terminal that was closed (SIGHUP). Clones ask
/// the same.
#[derive(Clone, Debug, Default)]
pub struct StopSignal {
    asked: Arc<AtomicBool>,
    /// The number of the signal that came last; 0 if none came.
    signal: Arc<AtomicUsize>,
}

impl StopSignal {
    /// Listens from now on. The first signal asks to stop, the second ends the
    /// program at once. A program that `nohup` started does not mind SIGHUP.
    ///
    /// # Errors
    /// What the system said.
    pub fn listen() -> io::Result<StopSignal> {
        let stop = StopSignal::default();
        for signal in signals() {
            let number = signal as u8;
            // In this order: the first signal finds the flag down.
            flag::register_conditional_shutdown(
                signal,
                (SIGNAL_BASE + number).into(),
                Arc::clone(&stop.asked),
            )?;
            flag::register_usize(signal, Arc::clone(&stop.signal), number.into())?;
            flag::register(signal, Arc::clone(&stop.asked))?;
        }
        Ok(stop)
    }

    /// Has the program end a second or two after it was asked to, whatever it waits
    /// for, such as a reader that sleeps: for programs that hold nothing which could
    /// be lost.
    ///
    /// # Errors
    /// What the system said, where it gives no thread.
    pub fn end_soon(&self) -> io::Result<()> {
        let stop = self.clone();
        let watch = move || {
            while !stop.is_asked() {
                thread::sleep(GRACE);
            }
            thread::sleep(GRACE);
            exit(stop.exit_code() as i32);
        };
        thread::Builder::new().spawn(watch).map(drop)
    }

    /// Whether to stop.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flag that is set when the program is asked to stop.
    pub fn flag(&self) -> &AtomicBool {
        &self.asked
    }

    /// The exit code of a program that stopped because it was asked to, by
    /// default as after Ctrl-C.
    pub fn exit_code(&self) -> ExitCode {
        let signal = self.signal.load(Ordering::Relaxed) as u8;
        ExitCode::of(SIGNAL_BASE + signal).unwrap_or(ExitCode::Interrupted)
    }
}

/// Does work that may wait for others, such as the reading of a pipe, on a
/// thread of its own. `None` if `stop` is set before it is done: the thread is
/// then left to itself, and ends with the program at the latest.
pub fn unless_stopped<T: Send + 'static>(
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (working, done) = channel::<()>();
    let worker = thread::spawn(move || {
        let outcome = work();
        // A panic drops it as well.
        drop(working);
        outcome
    });
    while done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
    }
    Some(worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// The signals that ask to stop.
#[cfg(unix)]
fn signals() -> Vec<i32> {
    use signal_hook::consts::SIGHUP;
    let mut signals = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// The signals that ask to stop.
#[cfg(not(unix))]
fn signals() -> Vec<i32> {
    vec![SIGINT, SIGTERM]
}

/// Whether whoever started the program had it ignore the signal.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: with a null new action the call only writes the present one to
    // `action`, which is writable; all its bytes are zero before, a valid value.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn work_that_does_not_end_is_left_to_itself() {
        let stop = AtomicBool::new(false);
        assert_eq!(unless_stopped(&stop, || 7), Some(7));
        let panic = std::panic::catch_unwind(|| unless_stopped(&stop, || panic!("no work")));
        assert!(panic.is_err());
        stop.store(true, Ordering::Relaxed);
        assert_eq!(unless_stopped(&stop, thread::park), None);
    }

    #[test]
    fn the_signal_is_told_by_the_exit_code() {
        let stop = StopSignal::listen().unwrap();
        assert!(!stop.is_asked());
        assert_eq!(stop.exit_code(), ExitCode::Interrupted);
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert!(stop.clone().is_asked());
        assert_eq!(stop.exit_code() as u8, 143);
    }
}
