//! Programs that the benchmark measures.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use tests::measure::{Usage, instructions, measure};
use tests::pzstd::cores;

use crate::files::{Files, program};

/// Benchmarked command.
pub struct Contender {
    /// Name in the table.
    pub name: String,
    /// Input it reads.
    pub input: Input,
    /// Rows that it extracts.
    pub finds: Found,
    /// Usage of each run.
    pub runs: Vec<Usage>,
    /// Instructions of a single-threaded run, if counted.
    pub instructions: Option<u64>,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Dataset it makes, deleted before each run.
    makes: Option<PathBuf>,
}

/// Rows that a contender extracts from its input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// No rows, only decompressed text.
    Nothing,
    /// Evaluations.
    Labels,
    /// Moves.
    Moves,
}

/// Input of a contender.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Dump of many frames.
    Dump,
    /// Same text in one frame.
    SingleFrame,
    /// Beginning of the text.
    Slice,
}

impl Contender {
    fn unpacker(name: String, input: Input, words: &[&str], file: &Path) -> Contender {
        Contender {
            name,
            input,
            finds: Found::Nothing,
            runs: Vec::new(),
            instructions: None,
            program: words[0].into(),
            arguments: arguments(&words[1..], file),
            makes: None,
        }
    }

    /// Runs the command once and records its usage.
    pub fn run(&mut self) -> Result<()> {
        let usage = measure(&mut self.command()?)?;
        self.runs.push(usage);
        Ok(())
    }

    /// Returns whether a run may take 40 times longer; python-chess would need minutes.
    pub fn is_countable(&self) -> bool {
        self.input != Input::Slice
    }

    /// Counts the instructions of one run.
    pub fn count_instructions(&mut self) -> Result<()> {
        self.instructions = Some(instructions(&self.command()?)?);
        Ok(())
    }

    /// Returns the command, after deleting its previous output.
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

/// Returns all installed contenders.
pub fn line_up(files: &Files, python: &Path) -> Result<Vec<Contender>> {
    let threads = format!("-p{}", cores());
    let mut line = vec![
        ingest(files, Input::Dump, &files.dump, Found::Labels)?,
        ingest(files, Input::Dump, &files.dump, Found::Moves)?,
    ];
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
        line.push(ingest(files, Input::SingleFrame, file, Found::Labels)?);
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

fn ingest(files: &Files, input: Input, file: &Path, finds: Found) -> Result<Contender> {
    let (name, words, dataset) = match finds {
        Found::Moves => ("build --moves", &["build", "--moves"][..], &files.moves),
        _ => ("ingest build", &["build"][..], &files.dataset),
    };
    let mut words = arguments(words, file);
    words.extend(["--out".into(), dataset.clone().into()]);
    Ok(Contender {
        name: name.into(),
        input,
        finds,
        runs: Vec::new(),
        instructions: None,
        program: program("ingest")?,
        arguments: words,
        makes: Some(dataset.clone()),
    })
}

fn python_chess(files: &Files, python: &Path) -> Contender {
    let script = tests::root().join("tests/reference/read_labels.py");
    Contender {
        name: "python-chess".into(),
        input: Input::Slice,
        finds: Found::Labels,
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

/// Returns whether a program is installed and runs with `arguments`.
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
