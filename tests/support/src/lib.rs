//! What tests of all crates share: the larger data beside the repository, how a
//! test says that it is left out, signals, and inputs by python-chess.
//!
//! A test that is left out proves nothing, and must not look like one that
//! passed. [`skip`] says so on standard error, past the test harness, and notes
//! it in the file that [`SKIPS`] names; `tests/all.sh` counts and lists them at
//! its end. Where the data is there as a whole and `CI` is `true`, a file that
//! is missing in it is a failure ([`shared`]).

mod programs;

use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

pub use programs::{program, program_path};

/// The environment variable that names the file which skips are appended to,
/// one a line.
pub const SKIPS: &str = "KIBITZ_SKIPS";

/// Says that a test, or a part of one, is left out, and why.
///
/// # Panics
/// If the file that [`SKIPS`] names cannot be written.
pub fn skip(why: &str) {
    // Not by `eprintln`, which the test harness keeps to itself.
    let _ = writeln!(io::stderr(), "SKIPPED: {why}");
    if let Some(path) = env::var_os(SKIPS) {
        note(Path::new(&path), why).expect("the file that KIBITZ_SKIPS names can be written");
    }
}

fn note(path: &Path, why: &str) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    // In one write, so that lines of several processes do not mix.
    file.write_all(format!("{why}\n").as_bytes())
}

/// A file or folder of the larger data beside the repository. Where it is not,
/// `None`, said by [`skip`]: the test that asked for it is left out.
///
/// # Panics
/// With `CI=true`, if the data is there but this part of it is not.
pub fn shared(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let data = root.expect("tests/support").join("../shared/data");
    let ci = env::var_os("CI").is_some_and(|ci| ci == "true");
    match find(&data, name, ci) {
        Ok(path) => Some(path),
        Err(why) => {
            skip(&why);
            None
        }
    }
}

/// What is called `name` in the folder `data`, or why its test is left out.
fn find(data: &Path, name: &str, ci: bool) -> Result<PathBuf, String> {
    let path = data.join(name);
    if path.exists() {
        return Ok(path);
    }
    let why = format!("{} is not there", path.display());
    assert!(!(ci && data.is_dir()), "{why}, and {} is", data.display());
    Err(why)
}

/// Sends a process a signal, such as `TERM`.
///
/// # Panics
/// If that is not possible: there is no `kill`, or the process has ended.
pub fn send_signal(signal: &str, process: &Child) {
    let id = process.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &id]).status();
    assert!(sent.expect("kill can be started").success());
}

/// A position with the inputs that python-chess finds, a row of
/// `tests/reference/inputs.py`.
#[derive(Debug)]
pub struct Row {
    /// The move that leads to it, in UCI notation, and the FEN before it; none for
    /// the first position of a game.
    pub played: Option<(String, String)>,
    /// The position.
    pub fen: String,
    /// The indices of the inputs that are on, ascending, as the mover sees them.
    pub inputs: Vec<usize>,
}

/// The environment variable that names a file of rows in place of those kept in
/// `tests/data/inputs.tsv`; `tests/inputs.sh` sets it.
pub const INPUTS: &str = "KIBITZ_INPUTS";

/// The rows that are kept, or those of the file that [`INPUTS`] names.
///
/// # Panics
/// If there is no such file, or it is none of rows.
pub fn inputs_by_python() -> impl Iterator<Item = Row> {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/inputs.tsv");
    let path = env::var_os(INPUTS).map_or(kept, PathBuf::from);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(file).lines().map(|line| {
        let line = line.expect("rows can be read");
        let columns: Vec<&str> = line.split('\t').collect();
        let [before, played, fen, inputs] = columns[..] else {
            panic!("{line}")
        };
        let inputs = inputs
            .split(' ')
            .map(|input| input.parse().expect("an index"));
        Row {
            played: (!before.is_empty()).then(|| (played.to_string(), before.to_string())),
            fen: fen.to_string(),
            inputs: inputs.collect(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_are_noted_one_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("skips");
        note(&path, "no dump").unwrap();
        note(&path, "no browser").unwrap();
        let noted = std::fs::read_to_string(&path).unwrap();
        assert_eq!(noted, "no dump\nno browser\n");
    }

    #[test]
    fn data_that_is_not_there_leaves_a_test_out() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let why = find(&data, "games.pgn", true).unwrap_err();
        assert!(why.contains("games.pgn is not there"), "{why}");
    }

    #[test]
    fn a_part_that_is_missing_fails_in_ci_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("games.pgn"), "").unwrap();
        assert!(find(folder.path(), "games.pgn", true).is_ok());
        assert!(find(folder.path(), "other.pgn", false).is_err());
        let missing = std::panic::catch_unwind(|| find(folder.path(), "other.pgn", true));
        assert!(missing.is_err());
    }
}
