//! Ctrl-C: what was played so far counts.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// The exit code of what was interrupted: 128 and the number of SIGINT, as a
/// shell gives it for programs that the signal ends.
pub const EXIT_CODE: u8 = 130;

/// A flag that the first Ctrl-C raises; the second ends the program at once.
///
/// # Errors
/// What the system said.
pub fn on_ctrl_c() -> io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    // In this order: the first signal finds the flag down.
    flag::register_conditional_shutdown(SIGINT, EXIT_CODE.into(), Arc::clone(&asked))?;
    flag::register(SIGINT, Arc::clone(&asked))?;
    Ok(asked)
}
