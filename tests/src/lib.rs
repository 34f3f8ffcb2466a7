//! What the whole-path tests share: where the programs and the data are, and
//! how a program is run; and dumps by generator, to measure with.

pub mod annotated;
pub mod dump;
pub mod generator;
pub mod golden;
pub mod measure;
pub mod objects;
pub mod pzstd;
pub mod server;
pub mod training;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use datasets::{Dataset, Record, Split};
use serde_json::Value;
pub use test_support::{program, program_path, shared, skip};

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the workspace")
}

/// A sample that the repository ships.
pub fn sample(name: &str) -> PathBuf {
    root().join("datasets/samples").join(name)
}

/// A Python that has a package: `KIBITZ_PYTHON`, or the one that `tests/all.sh`
/// makes. Without it, `None`, said by [`skip`].
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

/// What a finished program said.
#[derive(Debug)]
pub struct Said {
    /// Its exit code; `None` if a signal ended it.
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
    /// Panics unless the program succeeded.
    pub fn succeeded(self) -> Said {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    /// The last line of standard error.
    pub fn last_line(&self) -> &str {
        self.err.trim_end().lines().last().unwrap_or_default()
    }

    /// Panics unless the program failed with this code, without a panic of its
    /// own, and its last line names what was wrong.
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

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Said {
    command
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("the program starts")
        .into()
}

/// The real dumps; none where they are missing, which is [said](skip).
///
/// # Panics
/// If there are hardly any.
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

/// `ingest build SOURCES --out DATASET`.
pub fn build(sources: &[&Path], dataset: &Path) -> Said {
    run(program("ingest")
        .arg("build")
        .args(sources)
        .arg("--out")
        .arg(dataset))
}

/// `ingest merge DATASETS --out DATASET`, to be run.
pub fn merging(datasets: &[PathBuf], out: &Path) -> Command {
    let mut command = program("ingest");
    command.arg("merge").args(datasets).arg("--out").arg(out);
    command
}

/// The same, run.
pub fn merge(datasets: &[PathBuf], out: &Path) -> Said {
    run(&mut merging(datasets, out))
}

/// `ingest shard DATASET --number N --out DIR`, to be run.
pub fn sharding(dataset: &Path, number: &str, out: &Path) -> Command {
    let mut command = program("ingest");
    command.arg("shard").arg(dataset).args(["--number", number]);
    command.arg("--out").arg(out);
    command
}

/// The same, run.
pub fn shard(dataset: &Path, number: &str, out: &Path) -> Said {
    run(&mut sharding(dataset, number, out))
}

/// `ingest stats DATASET --json`, parsed.
pub fn stats(dataset: &Path) -> Value {
    let said = run(program("ingest").args(["stats", "--json"]).arg(dataset)).succeeded();
    serde_json::from_str(&said.out).expect("stats prints JSON")
}

/// Every record of one side of a dataset, in its order.
///
/// # Panics
/// If it cannot be read.
pub fn records(dataset: &Path, split: Split) -> Vec<Record> {
    let dataset = Dataset::open(dataset).expect("a dataset");
    let blocks = dataset.blocks(split).expect("an index of blocks");
    let blocks: Vec<_> = blocks.map(|block| block.expect("a block")).collect();
    blocks.concat()
}

/// Every record of both sides.
pub fn both_sides(dataset: &Path) -> [Vec<Record>; 2] {
    [Split::Train, Split::Validation].map(|split| records(dataset, split))
}

/// Everything that must be equal in equal datasets: the records of both sides,
/// and all that `stats` says but the folder's size, which depends on when
/// RocksDB tidies its own files.
///
/// # Panics
/// If it cannot be read.
pub fn contents(dataset: &Path) -> ([Vec<Record>; 2], Value) {
    let mut stats = stats(dataset);
    let object = stats.as_object_mut().expect("stats prints an object");
    object.remove("bytes_on_disk");
    object.remove("bytes_per_position");
    (both_sides(dataset), stats)
}

/// Copies a folder.
///
/// # Panics
/// If `cp` fails.
pub fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").arg(from).arg(to).status();
    assert!(copied.expect("cp starts").success());
}
