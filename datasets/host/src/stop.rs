//! Stop signals: graceful shutdown at a point from which the program can continue later.

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

/// Exit code after a signal, as shells give it, minus the signal number.
const SIGNAL_BASE: u8 = 128;

/// Interval at which waiting code polls the stop flag.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Time left to a program to end by itself before it is made to.
const GRACE: Duration = Duration::from_secs(1);

/// Flag set by SIGINT (Ctrl-C), SIGTERM (a scheduler, `docker stop`) or SIGHUP (a closed terminal).
/// Clones share it.
#[derive(Clone, Debug, Default)]
pub struct StopSignal {
    asked: Arc<AtomicBool>,
    /// Number of the latest signal; 0 before any.
    signal: Arc<AtomicUsize>,
}

impl StopSignal {
    /// Installs the signal handlers. The first signal sets the flag, the second ends the program at
    /// once. SIGHUP stays ignored in a program started by `nohup`.
    ///
    /// # Errors
    /// Any error of the operating system.
    pub fn listen() -> io::Result<StopSignal> {
        let stop = StopSignal::default();
        let signals = signals();
        // Signals are held back meanwhile: one between two registrations would be lost.
        held_back(&signals, || -> io::Result<()> {
            for &signal in &signals {
                let number = signal as u8;
                // Registered before the flag's handler, so the first signal finds the flag unset.
                flag::register_conditional_shutdown(
                    signal,
                    (SIGNAL_BASE + number).into(),
                    Arc::clone(&stop.asked),
                )?;
                flag::register_usize(signal, Arc::clone(&stop.signal), number.into())?;
                flag::register(signal, Arc::clone(&stop.asked))?;
            }
            Ok(())
        })?;
        Ok(stop)
    }

    /// Makes the program exit one to two seconds after a stop signal even if it is blocked, for
    /// example on a pipe. For programs without state that could be lost.
    ///
    /// # Errors
    /// Any error of the operating system when it starts the thread.
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

    /// Returns whether a stop signal has arrived.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flag that a stop signal sets.
    pub fn flag(&self) -> &AtomicBool {
        &self.asked
    }

    /// Returns the exit code after a stop; that of Ctrl-C if no signal has arrived.
    pub fn exit_code(&self) -> ExitCode {
        let signal = self.signal.load(Ordering::Relaxed) as u8;
        ExitCode::of(SIGNAL_BASE + signal).unwrap_or(ExitCode::Interrupted)
    }
}

/// Runs blocking work, such as reading a pipe, on a separate thread. Returns `None` if `stop` is
/// set first; the thread is then detached, and ends with the program at the latest.
pub fn unless_stopped<T: Send + 'static>(
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (working, done) = channel::<()>();
    let worker = thread::spawn(move || {
        let outcome = work();
        // On a panic, unwinding drops it too.
        drop(working);
        outcome
    });
    while done.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
    }
    Some(worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// Signals that request a stop.
#[cfg(unix)]
fn signals() -> Vec<i32> {
    use signal_hook::consts::SIGHUP;
    let mut signals = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// Signals that request a stop.
#[cfg(not(unix))]
fn signals() -> Vec<i32> {
    vec![SIGINT, SIGTERM]
}

/// Runs `work` while this thread receives none of the signals; those sent meanwhile arrive
/// afterwards.
#[cfg(unix)]
fn held_back<T>(signals: &[i32], work: impl FnOnce() -> T) -> T {
    use std::mem::MaybeUninit;
    use std::ptr::null_mut;
    let mut blocked = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both sets are writable; `sigemptyset` initialises the one, `pthread_sigmask` the
    // other, since with a valid first argument it cannot fail.
    let before = unsafe {
        libc::sigemptyset(blocked.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(blocked.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, blocked.as_ptr(), before.as_mut_ptr());
        before.assume_init()
    };
    let outcome = work();
    // SAFETY: the set is initialised, and the previous mask is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut()) };
    outcome
}

/// Runs `work`: signals cannot be held back here.
#[cfg(not(unix))]
fn held_back<T>(_signals: &[i32], work: impl FnOnce() -> T) -> T {
    work()
}

/// Returns whether the parent process had set the signal to be ignored.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: with a null new action the call only writes the current one to `action`, which is
    // writable; it is zeroed before, which is a valid value.
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
    fn detaches_work_that_does_not_end() {
        let stop = AtomicBool::new(false);
        assert_eq!(unless_stopped(&stop, || 7), Some(7));
        let panic = std::panic::catch_unwind(|| unless_stopped(&stop, || panic!("no work")));
        assert!(panic.is_err());
        stop.store(true, Ordering::Relaxed);
        assert_eq!(unless_stopped(&stop, thread::park), None);
    }

    #[test]
    fn a_signal_during_registration_arrives_and_gives_the_exit_code() {
        let stop = held_back(&[SIGTERM], || {
            // Without a handler it would end the process.
            signal_hook::low_level::raise(SIGTERM).unwrap();
            let stop = StopSignal::listen().unwrap();
            assert!(!stop.is_asked());
            assert_eq!(stop.exit_code(), ExitCode::Interrupted);
            stop
        });
        assert!(stop.clone().is_asked());
        assert_eq!(stop.exit_code() as u8, 143);
    }
}
