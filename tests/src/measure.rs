//! Measurement of a process: wall time, processor time and memory.

use std::io::{self, Read, Seek};
use std::mem::MaybeUninit;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use std::os::unix::process::ExitStatusExt;

/// Resource usage of a finished process.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Wall time.
    pub wall: Duration,
    /// User and system time of all its threads.
    pub cpu: Duration,
    /// Peak resident memory in bytes. The kernel starts from the parent's memory at the fork, so
    /// measure from a small process.
    pub peak_bytes: u64,
}

/// Runs a command to its end and discards its output.
///
/// # Errors
/// If it cannot be started or fails; the error has its last line.
pub fn measure(command: &mut Command) -> io::Result<Usage> {
    let (status, said, usage) = watch(command)?;
    if !status.success() {
        let last = said.trim_end().lines().last().unwrap_or_default();
        return Err(io::Error::other(format!("{command:?}: {status}: {last}")));
    }
    Ok(usage)
}

/// Counts the instructions of a command on one rayon thread, its output discarded. Unlike times,
/// counts hardly depend on the machine's load: two differ by 0.1 % (a build spills by the clock).
///
/// Uses valgrind, because virtual machines rarely let `perf` count. The program runs some 40 times
/// slower, as on a processor without AVX-512.
///
/// # Errors
/// If valgrind cannot be started, the command fails, or valgrind prints no count.
pub fn instructions(command: &Command) -> io::Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .env("RAYON_NUM_THREADS", "1")
        .args(["--tool=cachegrind", "--cache-sim=no"])
        .arg("--cachegrind-out-file=/dev/null")
        .arg(command.get_program())
        .args(command.get_args());
    let (status, said, _) = watch(&mut valgrind)?;
    let count = said
        .lines()
        .rev()
        .find_map(|line| line.split_once("I refs:").or(line.split_once("I   refs:")))
        .and_then(|(_, count)| count.trim().replace(',', "").parse().ok());
    match count {
        Some(count) if status.success() => Ok(count),
        _ => Err(io::Error::other(format!("{valgrind:?}: {status}: {said}"))),
    }
}

/// Runs a command to its end. Returns its exit status, standard error and usage.
///
/// # Errors
/// If it cannot be started.
pub fn watch(command: &mut Command) -> io::Result<(ExitStatus, String, Usage)> {
    let mut said = tempfile::tempfile()?;
    let started = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said.try_clone()?)
        .spawn()?;
    let (status, usage) = wait(child.id())?;
    let wall = started.elapsed();
    let mut text = String::new();
    said.rewind()?;
    said.read_to_string(&mut text)?;
    let usage = Usage {
        wall,
        cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        peak_bytes: usage.ru_maxrss as u64 * 1024,
    };
    Ok((status, text, usage))
}

/// Returns the processor time of this process so far.
///
/// # Errors
/// If the system call fails.
pub fn own_cpu() -> io::Result<Duration> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for one `rusage`, which the call fills.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a `rusage` has only numbers, is valid when zeroed, and is now filled.
    let usage = unsafe { usage.assume_init() };
    Ok(duration(usage.ru_utime) + duration(usage.ru_stime))
}

/// Waits for a child and returns its resource usage, which the standard library does not report.
fn wait(id: u32) -> io::Result<(ExitStatus, libc::rusage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are valid for the types that the call fills.
        let done =
            unsafe { libc::wait4(id as libc::pid_t, &raw mut status, 0, usage.as_mut_ptr()) };
        if done >= 0 {
            // SAFETY: a `rusage` has only numbers and is valid when zeroed.
            return Ok((ExitStatus::from_raw(status), unsafe { usage.assume_init() }));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}
