//! Shared helpers of the whole-path tests: paths of programs and data, running a program, servers,
//! interrupted builds, and generated dumps for benchmarks.

pub mod annotated;
pub mod dump;
pub mod exit;
pub mod generator;
pub mod golden;
pub mod interrupted;
pub mod measure;
pub mod objects;
pub mod pzstd;
pub mod server;
pub mod training;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use datasets::{Dataset, Record, Row, Split};
use serde_json::Value;
pub use test_support::{limited, program, program_path, shared, skip};

/// Returns the root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the workspace")
}

/// Returns the path of a sample in the repository.
pub fn sample(name: &str) -> PathBuf {
    root().join("datasets/samples").join(name)
}

/// Decompresses a text file.
///
/// # Panics
/// If it is missing or damaged.
pub fn text_of(file: &Path) -> String {
    let file = std::fs::File::open(file).expect("a file");
    let bytes = zstd::decode_all(file).expect("zstd frames");
    String::from_utf8(bytes).expect("text")
}

/// Returns the first `count` games of PGN text.
///
/// # Panics
/// If the text has no more games than that.
pub fn first_games(text: &str, count: usize) -> &str {
    let (end, _) = (text.match_indices("[Event \"").nth(count)).expect("more games");
    &text[..end]
}

/// Returns a Python with `package`: `KIBITZ_PYTHON`, or the one that `tests/all.sh` installs.
/// Without the package, calls [`skip`] and returns `None`.
pub fn python(package: &str) -> Option<Command> {
    let ours = root().join("target/python/bin/python");
    let python = std::env::var_os("KIBITZ_PYTHON").map_or(ours, PathBuf::from);
    let probe = Command::new(&python)
        .args(["-c", &format!("import {package}")])
        .output();
    if probe.is_ok_and(|output| output.status.success()) {
        return Some(Command::new(python));
    }
    skip(&format!(
        "{} has no {package}; tests/all.sh installs it",
        python.display()
    ));
    None
}

/// Output and exit code of a finished program.
#[derive(Debug)]
pub struct Said {
    /// Exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        Said {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Said {
    /// Asserts that the program succeeded.
    pub fn succeeded(self) -> Said {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    /// Returns the last line of standard error.
    pub fn last_line(&self) -> &str {
        self.err.trim_end().lines().last().unwrap_or_default()
    }

    /// Asserts that the program failed with `code`, without a panic, and that its last line
    /// contains `words`.
    pub fn failed(self, code: i32, words: &[&str]) -> Said {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        let last = self.last_line();
        for word in words {
            assert!(last.contains(word), "{word:?} is not in {last:?}");
        }
        self
    }
}

/// Returns the Python script of a page.
///
/// # Panics
/// If the page has none.
pub fn documented_script(page: &str) -> String {
    let text = std::fs::read_to_string(root().join(page)).expect("a page of the repository");
    let (_, rest) = text.split_once("```python\n").expect("a script");
    let (script, _) = rest.split_once("```").expect("its end");
    script.to_string()
}

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Said {
    command
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("the program starts")
        .into()
}

/// Returns the real dumps; empty if they are missing, which calls [`skip`].
///
/// # Panics
/// If there are two or fewer.
pub fn real_dumps() -> Vec<PathBuf> {
    let Some(folder) = shared("lichess_pgn") else {
        return Vec::new();
    };
    let files = folder.read_dir().expect("a folder");
    let paths = files.map(|file| file.expect("a file").path());
    let dumps: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "zst"))
        .collect();
    assert!(dumps.len() > 2, "{dumps:?}");
    dumps
}

/// Runs `ingest build SOURCES --out DATASET`.
pub fn build(sources: &[&Path], dataset: &Path) -> Said {
    run(program("ingest")
        .arg("build")
        .args(sources)
        .arg("--out")
        .arg(dataset))
}

/// Returns the command `ingest merge DATASETS --out DATASET`.
pub fn merging(datasets: &[PathBuf], out: &Path) -> Command {
    let mut command = program("ingest");
    command.arg("merge").args(datasets).arg("--out").arg(out);
    command
}

/// Runs [`merging`].
pub fn merge(datasets: &[PathBuf], out: &Path) -> Said {
    run(&mut merging(datasets, out))
}

/// Returns the command `ingest shard DATASET --number N --out DIR`.
pub fn sharding(dataset: &Path, number: &str, out: &Path) -> Command {
    let mut command = program("ingest");
    command.arg("shard").arg(dataset).args(["--number", number]);
    command.arg("--out").arg(out);
    command
}

/// Runs [`sharding`].
pub fn shard(dataset: &Path, number: &str, out: &Path) -> Said {
    run(&mut sharding(dataset, number, out))
}

/// Parses the output of `ingest stats DATASET --json`.
pub fn stats(dataset: &Path) -> Value {
    let said = run(program("ingest").args(["stats", "--json"]).arg(dataset)).succeeded();
    serde_json::from_str(&said.out).expect("stats prints JSON")
}

/// Returns all records of one split of a dataset of evaluations, in order.
///
/// # Panics
/// If the dataset cannot be read.
pub fn records(dataset: &Path, split: Split) -> Vec<Record> {
    rows(dataset, split)
}

/// Returns all rows of one split of a dataset, in order.
///
/// # Panics
/// If the dataset cannot be read.
pub fn rows<R: Row>(dataset: &Path, split: Split) -> Vec<R> {
    let dataset = Dataset::<R>::open_rows(dataset).expect("a dataset");
    let blocks = dataset.blocks(split).expect("an index of blocks");
    let blocks: Vec<_> = blocks.map(|block| block.expect("a block")).collect();
    blocks.concat()
}

/// Returns all records of both splits.
pub fn both_sides(dataset: &Path) -> [Vec<Record>; 2] {
    [Split::Train, Split::Validation].map(|split| records(dataset, split))
}

/// Returns everything that equal datasets of evaluations share: [`contents_of`].
pub fn contents(dataset: &Path) -> ([Vec<Record>; 2], Value) {
    contents_of(dataset)
}

/// Returns everything that equal datasets share: the rows of both splits, and the output of
/// `stats` without the folder's size, which depends on when RocksDB compacts.
///
/// # Panics
/// If the dataset cannot be read.
pub fn contents_of<R: Row>(dataset: &Path) -> ([Vec<R>; 2], Value) {
    let mut stats = stats(dataset);
    let object = stats.as_object_mut().expect("stats prints an object");
    object.remove("bytes_on_disk");
    object.remove("bytes_per_position");
    let sides = [Split::Train, Split::Validation].map(|split| rows(dataset, split));
    (sides, stats)
}

/// Copies a folder.
///
/// # Panics
/// If `cp` fails.
pub fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").arg(from).arg(to).status();
    assert!(copied.expect("cp starts").success());
}
