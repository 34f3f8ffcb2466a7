//! Ctrl-C: a run stops where it can go on from.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// The exit code of a run that was interrupted: 128 and the number of SIGINT,
/// as a shell gives it for programs that the signal ends.
pub const EXIT_CODE: u8 = 130;

/// Whether the user asked to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens to Ctrl-C from now on. The first asks to stop, the second ends
    /// the program at once: files are there whole or not at all.
    ///
    /// # Errors
    /// What the system said.
    pub fn on_ctrl_c() -> io::Result<Interrupt> {
        let asked = Arc::new(AtomicBool::new(false));
        // In this order: the first signal finds the flag down.
        flag::register_conditional_shutdown(SIGINT, EXIT_CODE.into(), Arc::clone(&asked))?;
        flag::register(SIGINT, Arc::clone(&asked))?;
        Ok(Interrupt(asked))
    }

    /// Whether to stop.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
