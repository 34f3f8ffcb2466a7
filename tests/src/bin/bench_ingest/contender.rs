//! The programs that are measured.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use tests::measure::{Usage, instructions, measure};
use tests::pzstd::cores;

use crate::files::{Files, program};

/// A command that is run again and again.
pub struct Contender {
    /// How the table names it.
    pub name: String,
    /// What it reads.
    pub input: Input,
    /// Whether it finds the labels, or only unpacks.
    pub finds_labels: bool,
    /// What each run took.
    pub runs: Vec<Usage>,
    /// Instructions of a run on one thread, if they were counted.
    pub instructions: Option<u64>,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// A dataset that it makes, and that must not be there before.
    makes: Option<PathBuf>,
}

/// What a contender reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// The dump.
    Dump,
    /// The same text in one frame.
    SingleFrame,
    /// The beginning of the text.
    Slice,
}

impl Contender {
    fn unpacker(name: String, input: Input, words: &[&str], file: &Path) -> Contender {
        Contender {
            name,
            input,
            finds_labels: false,
            runs: Vec::new(),
            instructions: None,
            program: words[0].into(),
            arguments: arguments(&words[1..], file),
            makes: None,
        }
    }

    /// Runs once more.
    pub fn run(&mut self) -> Result<()> {
        let usage = measure(&mut self.command()?)?;
        self.runs.push(usage);
        Ok(())
    }

    /// Whether it can be run 40 times slower: python-chess would take minutes.
    pub fn is_countable(&self) -> bool {
        self.input != Input::Slice
    }

    /// Counts the instructions of a run.
    pub fn count_instructions(&mut self) -> Result<()> {
        self.instructions = Some(instructions(&self.command()?)?);
        Ok(())
    }

    /// What runs, its output out of the way.
    fn command(&self) -> Result<Command> {
        if let Some(dataset) = &self.makes
            && dataset.exists()
        {
            std::fs::remove_dir_all(dataset).with_context(|| dataset.display().to_string())?;
        }
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        Ok(command)
    }
}

/// All that are installed.
pub fn line_up(files: &Files, python: &Path) -> Result<Vec<Contender>> {
    let threads = format!("-p{}", cores());
    let mut line = vec![ingest(files, Input::Dump, &files.dump)?];
    line.push(Contender::unpacker(
        "zstd -dc".into(),
        Input::Dump,
        &["zstd", "-dc"],
        &files.dump,
    ));
    if works(Path::new("pzstd"), &["--version"]) {
        line.push(Contender::unpacker(
            format!("pzstd -dc {threads}"),
            Input::Dump,
            &["pzstd", "-dc", &threads],
            &files.dump,
        ));
    }
    if let Some(file) = &files.single_frame {
        line.push(ingest(files, Input::SingleFrame, file)?);
        line.push(Contender::unpacker(
            "zstd -dc".into(),
            Input::SingleFrame,
            &["zstd", "-dc"],
            file,
        ));
    }
    if works(python, &["-c", "import chess.pgn"]) {
        line.push(python_chess(files, python));
    }
    Ok(line)
}

fn ingest(files: &Files, input: Input, file: &Path) -> Result<Contender> {
    let mut words = arguments(&["build"], file);
    words.extend(["--out".into(), files.dataset.clone().into()]);
    Ok(Contender {
        name: "ingest build".into(),
        input,
        finds_labels: true,
        runs: Vec::new(),
        instructions: None,
        program: program("ingest")?,
        arguments: words,
        makes: Some(files.dataset.clone()),
    })
}

fn python_chess(files: &Files, python: &Path) -> Contender {
    let script = tests::root().join("tests/reference/read_labels.py");
    Contender {
        name: "python-chess".into(),
        input: Input::Slice,
        finds_labels: true,
        runs: Vec::new(),
        instructions: None,
        program: python.to_path_buf(),
        arguments: vec![script.into(), files.slice.clone().into()],
        makes: None,
    }
}

fn arguments(words: &[&str], file: &Path) -> Vec<OsString> {
    let words = words.iter().map(OsString::from);
    words.chain([file.into()]).collect()
}

/// Whether a program is installed, and does this much.
pub fn works(program: &Path, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let works = status.is_ok_and(|status| status.success());
    if !works {
        eprintln!(
            "{} {}: not installed, left out",
            program.display(),
            arguments.join(" ")
        );
    }
    works
}
