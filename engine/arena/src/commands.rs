//! Subcommands, one file each, with their arguments.

mod generate;
mod ladder;
mod matches;
mod suite;
mod tune;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};
use host::{ExitCode, InstallCommand};

pub use suite::ProblemError;
pub use tune::{ParametersError, RecordError};

/// The command line.
#[derive(Parser)]
#[command(
    name = "arena",
    version = host::VERSION.as_str(),
    about = "Kibitz's arena: matches between engines and nets, self-play, SPSA tuning, test suites",
    after_help = "\
Example: a newly trained net against the embedded one:
  arena match --engine new.safetensors --engine net=embedded --book engine/books/openings.epd \\
      --tc 1+0.01 --games 200 --concurrency 2"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play a match between two engines or nets
    Match(matches::MatchArgs),
    /// Play a ladder or gauntlet, and rate the engines
    Ladder(ladder::LadderArgs),
    /// Generate training games by self-play of a net
    Generate(generate::GenerateArgs),
    /// Tune an engine's options by SPSA
    Tune(tune::TuneArgs),
    /// Solve the test positions of an EPD file
    Suite(suite::SuiteArgs),
    #[command(flatten)]
    Install(InstallCommand),
}

/// Runs the given command.
///
/// # Errors
/// The error of the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.command {
        Command::Match(args) => matches::run(args),
        Command::Ladder(args) => ladder::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Suite(args) => suite::run(args),
        Command::Install(command) => {
            command.run(Arguments::command())?;
            Ok(ExitCode::Done)
        }
    }
}
