//! What a process costs: wall time, processor time and memory.

use std::io::{self, Read, Seek};
use std::mem::MaybeUninit;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use std::os::unix::process::ExitStatusExt;

/// What a process took from its start to its end.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Time by the clock on the wall.
    pub wall: Duration,
    /// Processor time, user's and system's, of all its threads.
    pub cpu: Duration,
    /// Peak resident memory, in bytes. The kernel counts from what the parent
    /// has held, so that it is exact only above that: measure from a small
    /// process.
    pub peak_bytes: u64,
}

/// Runs a command to its end, its output thrown away.
///
/// # Errors
/// If it cannot be started, or fails: then with the end of what it said.
pub fn measure(command: &mut Command) -> io::Result<Usage> {
    let (status, said, usage) = watch(command)?;
    if !status.success() {
        let last = said.trim_end().lines().last().unwrap_or_default();
        return Err(io::Error::other(format!("{command:?}: {status}: {last}")));
    }
    Ok(usage)
}

/// Instructions that a command takes on one thread of rayon, its output thrown
/// away. Unlike times they hardly depend on what else the machine does: two
/// counts differ by 0.1 % (a build spills by the clock).
///
/// Counted by valgrind, since virtual machines rarely let `perf` count. It runs
/// the program some 40 times slower, and as if the processor had no AVX-512.
///
/// # Errors
/// If valgrind cannot be started, the command fails, or there is no count.
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

/// Runs a command to its end, however it ends, and gives what it wrote to
/// standard error.
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

/// Processor time that this process has taken so far.
///
/// # Errors
/// If the system does not tell.
pub fn own_cpu() -> io::Result<Duration> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to memory for one `rusage`, which the call fills.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a `rusage` is numbers only, valid when zeroed, and now filled.
    let usage = unsafe { usage.assume_init() };
    Ok(duration(usage.ru_utime) + duration(usage.ru_stime))
}

/// Waits for a child, and tells what it used: the standard library does not.
fn wait(id: u32) -> io::Result<(ExitStatus, libc::rusage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to memory of the type that the call fills.
        let done =
            unsafe { libc::wait4(id as libc::pid_t, &raw mut status, 0, usage.as_mut_ptr()) };
        if done >= 0 {
            // SAFETY: a `rusage` is numbers only, valid when zeroed.
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
