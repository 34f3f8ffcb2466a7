//! Identity of an engine by content, so that work of one engine is not continued by another.

use std::env;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use host::{Action, FileError};
use sha2::{Digest, Sha256};

use crate::engine::{Engine, Setup};
use crate::options::Kind;

/// The identity of an engine: digests of its program and of the files that it is given, and
/// what it says of itself. Where these files lie does not count.
///
/// Files are those that an argument or the value of an option names, defaults included.
/// Logs, which change with every game, are left out: what is called so is taken for one.
/// Folders are not read, nor what a program loads without being told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name that the engine gives (`id name`).
    pub name: String,
    /// SHA-256 digests in hexadecimal digits, each under the name of what was digested:
    /// `program`, `argument 2`, `option EvalFile`, or `options` for the declared defaults.
    pub digests: Vec<(String, String)>,
}

impl Identity {
    /// The identity of an engine that was started by `setup`.
    ///
    /// # Errors
    /// [`FileError`] if one of its files cannot be read.
    pub fn of(setup: &Setup, engine: &Engine) -> Result<Identity, FileError> {
        let program = executable(&setup.program);
        let mut digests = vec![("program".to_string(), sha256(&program)?)];
        for (number, path) in argument_files(&setup.arguments) {
            digests.push((format!("argument {number}"), sha256(&path)?));
        }
        let mut declared = Sha256::new();
        for option in engine.options() {
            declared.update(format!("{}\0{}\n", option.name, option.default));
            let set = setup.options.iter().rev();
            let mut set = set.filter(|(name, _)| option.is(name));
            let value = set.next().map_or(&option.default, |(_, value)| value);
            // A check's `false` may be the name of a file too.
            let file = match option.kind {
                Kind::Text => option_file(&option.name, value, &program),
                _ => None,
            };
            if let Some(path) = file {
                digests.push((format!("option {}", option.name), sha256(&path)?));
            }
        }
        digests.push(("options".to_string(), format!("{:x}", declared.finalize())));
        Ok(Identity {
            name: engine.name().to_string(),
            digests,
        })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of SHA-256", self.name)?;
        for (number, (what, digest)) in self.digests.iter().enumerate() {
            let separator = if number == 0 { "" } else { "," };
            write!(f, "{separator} {digest} ({what})")?;
        }
        Ok(())
    }
}

/// The file that starting `program` runs: a name without a folder is searched in `PATH`.
fn executable(program: &Path) -> PathBuf {
    if program.components().count() > 1 {
        return program.into();
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let candidates = env::split_paths(&folders).flat_map(|folder| {
        let path = folder.join(program);
        let with_suffix = path.with_added_extension(env::consts::EXE_EXTENSION);
        [path, with_suffix]
    });
    let mut candidates = candidates.filter(|path| is_executable(path));
    candidates.next().unwrap_or_else(|| program.into())
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let metadata = path.metadata();
    metadata.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Files named by arguments, as `FILE` or `NAME=FILE`, with the arguments' numbers from 1.
fn argument_files(arguments: &[String]) -> Vec<(usize, PathBuf)> {
    let mut files = Vec::new();
    let mut before = "";
    for (argument, number) in arguments.iter().zip(1..) {
        let (name, value) = match argument.split_once('=') {
            Some(pair) if !Path::new(argument).is_file() => pair,
            _ => (before, &**argument),
        };
        // A flag names the value that follows it.
        before = if argument.starts_with('-') {
            argument
        } else {
            ""
        };
        if Path::new(value).is_file() && !is_log(name) {
            files.push((number, value.into()));
        }
    }
    files
}

/// The file that an option's value names, relative to the working folder or to the program's,
/// where engines look next.
fn option_file(name: &str, value: &str, program: &Path) -> Option<PathBuf> {
    let candidates = [value.into(), program.with_file_name(value)];
    let mut files = candidates.into_iter().filter(|path| path.is_file());
    files.next().filter(|_| !is_log(name))
}

/// Whether an option or argument of this name is a log, which the engine writes.
fn is_log(name: &str) -> bool {
    name.to_ascii_lowercase().contains("log")
}

/// The SHA-256 of the file that this process runs, in hexadecimal digits: the identity of an
/// engine in this process.
///
/// # Errors
/// [`FileError`] if it cannot be read.
pub fn own_sha256() -> Result<String, FileError> {
    // Linux's link stays readable after the program's file was replaced.
    let link = Path::new("/proc/self/exe");
    if link.exists() {
        return sha256(link);
    }
    let program = env::current_exe();
    sha256(&program.map_err(FileError::to(Action::Read, "this program"))?)
}

/// The SHA-256 of a file, in hexadecimal digits.
fn sha256(path: &Path) -> Result<String, FileError> {
    let digest = || {
        let mut digest = Sha256::new();
        io::copy(&mut File::open(path)?, &mut digest)?;
        Ok(format!("{:x}", digest.finalize()))
    };
    digest().map_err(FileError::to(Action::Read, path))
}
