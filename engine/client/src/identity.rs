//! Identity of an engine by content, so that work of one engine is not continued by another.

use std::env;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use host::{Action, FileError};
use sha2::{Digest, Sha256};

use crate::engine_process::{EngineProcess, Setup};
use crate::options::Kind;

/// Identity of an engine: its name, and digests of its program, its files and its declared
/// defaults. The location of files does not matter.
///
/// Files are those named by an argument or an option value, defaults included, except logs, which
/// change with every game and are recognised by the name of the option. Folders are not read, nor
/// files that a program loads by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name given by the engine (`id name`).
    pub name: String,
    /// SHA-256 digests in hexadecimal, each with its source: `program`, `argument 2`,
    /// `option EvalFile`, or `options` for the declared defaults.
    pub digests: Vec<(String, String)>,
}

impl Identity {
    /// Returns the identity of an engine that was started by `setup`.
    ///
    /// # Errors
    /// [`FileError`] if one of its files cannot be read.
    pub fn of(setup: &Setup, engine: &EngineProcess) -> Result<Identity, FileError> {
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
            // Only text options name files: a check's `false` may also be the name of a file.
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

/// Returns the file that is run for `program`: a bare name is searched in `PATH`.
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

/// Returns files named by arguments, as `FILE` or `NAME=FILE`, with the numbers of the arguments
/// from 1.
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

/// Returns the file named by an option value, relative to the working folder or else to the
/// program's, where engines look next.
fn option_file(name: &str, value: &str, program: &Path) -> Option<PathBuf> {
    let candidates = [value.into(), program.with_file_name(value)];
    let mut files = candidates.into_iter().filter(|path| path.is_file());
    files.next().filter(|_| !is_log(name))
}

/// Returns whether an option or argument of this name is a log, which the engine writes.
fn is_log(name: &str) -> bool {
    name.to_ascii_lowercase().contains("log")
}

/// Returns the SHA-256 of the executable of this process, in hexadecimal: the identity of an engine
/// in this process.
///
/// # Errors
/// [`FileError`] if it cannot be read.
pub fn own_sha256() -> Result<String, FileError> {
    // The link stays readable after the executable was replaced.
    let link = Path::new("/proc/self/exe");
    if link.exists() {
        return sha256(link);
    }
    let program = env::current_exe();
    sha256(&program.map_err(FileError::to(Action::Read, "this program"))?)
}

fn sha256(path: &Path) -> Result<String, FileError> {
    let digest = || {
        let mut digest = Sha256::new();
        io::copy(&mut File::open(path)?, &mut digest)?;
        Ok(format!("{:x}", digest.finalize()))
    };
    digest().map_err(FileError::to(Action::Read, path))
}
