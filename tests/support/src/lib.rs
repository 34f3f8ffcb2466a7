//! Shared test support of all crates: the large data beside the repository, visible skips, signals,
//! and inputs computed by python-chess.
//!
//! A skipped test proves nothing and must not look like a passed one. [`skip`] prints to standard
//! error, past the test harness, and appends to the file that [`SKIPS`] names; `tests/all.sh`
//! counts and lists the skips at its end. If the data folder exists and `CI` is `true`, a missing
//! file in it is a failure ([`shared`]).

mod programs;

use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

pub use programs::{program, program_path};

/// Environment variable with the path of the file to which skips are appended, one a line.
pub const SKIPS: &str = "KIBITZ_SKIPS";

/// Reports that a test, or a part of one, is skipped, and why.
///
/// # Panics
/// If the file that [`SKIPS`] names cannot be written.
pub fn skip(why: &str) {
    // The test harness captures `eprintln`.
    let _ = writeln!(io::stderr(), "SKIPPED: {why}");
    if let Some(path) = env::var_os(SKIPS) {
        note(Path::new(&path), why).expect("the file that KIBITZ_SKIPS names can be written");
    }
}

fn note(path: &Path, why: &str) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    // A single write, so that lines of several processes do not mix.
    file.write_all(format!("{why}\n").as_bytes())
}

/// Returns a file or folder of the large data beside the repository. If it is missing, calls
/// [`skip`] and returns `None`: the caller leaves its test out.
///
/// # Panics
/// With `CI=true`, if the data folder exists but this file does not.
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

/// Returns the path of `name` in the folder `data`, or the reason for a skip.
fn find(data: &Path, name: &str, ci: bool) -> Result<PathBuf, String> {
    let path = data.join(name);
    if path.exists() {
        return Ok(path);
    }
    let why = format!("{} is not there", path.display());
    assert!(!(ci && data.is_dir()), "{why}, and {} is", data.display());
    Err(why)
}

/// Sends a signal, such as `TERM`, to a process.
///
/// # Panics
/// If `kill` is missing or the process has ended.
pub fn send_signal(signal: &str, process: &Child) {
    let id = process.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &id]).status();
    assert!(sent.expect("kill can be started").success());
}

/// Returns the command with its files limited to `kibibytes` each: further writes fail, as on a full
/// disk.
pub fn limited(command: &Command, kibibytes: u32) -> Command {
    let script = format!("trap '' XFSZ; ulimit -f {kibibytes}; exec \"$@\"");
    let mut shell = Command::new("bash");
    shell.args(["-c", &script, "bash"]);
    shell.arg(command.get_program()).args(command.get_args());
    shell
}

/// Position with its inputs by python-chess; a row of `tests/reference/inputs.py`.
#[derive(Debug)]
pub struct Row {
    /// UCI move leading to the position, and the FEN before it; `None` for the first position of a
    /// game.
    pub played: Option<(String, String)>,
    /// FEN of the position.
    pub fen: String,
    /// Indices of the active inputs, ascending, from the mover's view.
    pub inputs: Vec<usize>,
}

/// Environment variable with the path of a file of rows to use in place of `tests/data/inputs.tsv`;
/// `tests/inputs.sh` sets it.
pub const INPUTS: &str = "KIBITZ_INPUTS";

/// Returns the rows of `tests/data/inputs.tsv`, or of the file that [`INPUTS`] names.
///
/// # Panics
/// If the file is missing or malformed.
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
    fn appends_skips_one_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("skips");
        note(&path, "no dump").unwrap();
        note(&path, "no browser").unwrap();
        let noted = std::fs::read_to_string(&path).unwrap();
        assert_eq!(noted, "no dump\nno browser\n");
    }

    #[test]
    fn skips_without_the_data_folder() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let why = find(&data, "games.pgn", true).unwrap_err();
        assert!(why.contains("games.pgn is not there"), "{why}");
    }

    #[test]
    fn fails_on_a_missing_file_only_in_ci() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("games.pgn"), "").unwrap();
        assert!(find(folder.path(), "games.pgn", true).is_ok());
        assert!(find(folder.path(), "other.pgn", false).is_err());
        let missing = std::panic::catch_unwind(|| find(folder.path(), "other.pgn", true));
        assert!(missing.is_err());
    }
}
