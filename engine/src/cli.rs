//! Command line: subcommands and their arguments.

mod bench;
mod book;
mod diagram;
mod error;
mod eval;
mod files;
mod lines;
mod memory;
mod perft;
mod play;
mod session;
mod spsa;
mod version;

use std::io;
use std::process;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use cozy_chess::Board;
use engine::parse_fen;
use engine::uci::{self, UciError};
use host::{ExitCode, InstallCommand};

#[derive(Parser)]
#[command(
    name = "engine",
    disable_version_flag = true,
    about = "Kibitz's chess engine. Without a command it speaks UCI.",
    after_help = "\
Other arguments are UCI lines, which are executed in order:
  engine \"position startpos moves e2e4\" \"go depth 12\"

Matches between engines and nets are played by another program, `arena`."
)]
struct Cli {
    /// Print version, commit and embedded network
    #[arg(short = 'V', long)]
    version: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Search fixed positions to a fixed depth; the node count is the engine's signature
    Bench(bench::BenchArgs),
    /// Count the leaves of the tree of legal moves
    Perft(perft::PerftArgs),
    /// Show the static evaluation of a position
    Eval(eval::EvalArgs),
    /// Play against the engine in a terminal
    Play(play::PlayArgs),
    /// Print the search parameters as SPSA inputs; builds with the feature `tune` have them as UCI
    /// options
    Spsa,
    #[command(flatten)]
    Install(InstallCommand),
    #[command(external_subcommand)]
    Lines(Vec<String>),
}

/// Runs the command line; an error becomes one line on stderr and an exit code.
pub fn main() -> process::ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        _ if cli.version => version::run().map(done),
        None => session::run(io::stdin()),
        Some(Command::Bench(args)) => bench::run(&args).map(done),
        Some(Command::Perft(args)) => perft::run(&args).map(done),
        Some(Command::Eval(args)) => eval::run(&args).map(done),
        Some(Command::Play(args)) => play::run(&args),
        Some(Command::Spsa) => spsa::run().map(done),
        Some(Command::Install(command)) => install(&command).map(done),
        Some(Command::Lines(lines)) => obey(&lines),
    };
    result.unwrap_or_else(|error| error::report(&error)).into()
}

/// Returns the lines before a `quit` that follows `genfens`. OpenBench gives both, and waits for all
/// openings, which `quit` would cut short.
fn without_quit(lines: &[String]) -> &[String] {
    let mut has_openings = false;
    let quit = lines.iter().position(|line| {
        let (command, _) = uci::Command::read(line);
        has_openings |= matches!(command, Some(uci::Command::GenFens(_)));
        has_openings && matches!(command, Some(uci::Command::Quit))
    });
    &lines[..quit.unwrap_or(lines.len())]
}

/// Runs UCI lines given as arguments. An unknown UCI command is a usage error: it was probably
/// meant as a subcommand.
fn obey(lines: &[String]) -> anyhow::Result<ExitCode> {
    let is_unknown = |line: &&String| {
        let (_, wrong) = uci::Command::read(line);
        matches!(wrong[..], [UciError::UnknownCommand(_)])
    };
    if let Some(line) = lines.iter().find(is_unknown) {
        let message = format!("{line:?} is neither a command nor a UCI line");
        let mut cli = Cli::command();
        cli.error(ErrorKind::InvalidSubcommand, message).exit();
    }
    session::run(io::Cursor::new(without_quit(lines).join("\n")))
}

/// Prints completions or writes man pages.
fn install(command: &InstallCommand) -> anyhow::Result<()> {
    Ok(command.run(Cli::command())?)
}

fn done((): ()) -> ExitCode {
    ExitCode::Done
}

/// Parses a positive integer.
fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("it must be a whole number, 1 or more".to_string()),
    }
}

/// Parses a FEN.
fn fen_argument(text: &str) -> Result<Board, String> {
    parse_fen(text).map_err(|error| error.to_string())
}
