//! What the program does, a file a command.

mod generate;
mod ladder;
mod matches;
mod suite;
mod tune;

use anyhow::Result;
use clap::{Parser, Subcommand};
use host::ExitCode;

pub use suite::ProblemError;
pub use tune::{ParametersError, RecordError};

/// The command line.
#[derive(Parser)]
#[command(
    name = "arena",
    version = host::VERSION.as_str(),
    about = "Kibitz's arena: games between engines and nets, self-play, test positions",
    after_help = "\
Example: a net that was trained today against the one that the engine has within:
  arena match --engine new.safetensors --engine net=embedded --book engine/books/openings.epd \\
      --tc 1+0.01 --games 200 --concurrency 2"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Let two engines or nets play a match
    Match(matches::MatchArgs),
    /// Let engines or nets play each other, and rate them
    Ladder(ladder::LadderArgs),
    /// Let a net play itself, for games to train on
    Generate(generate::GenerateArgs),
    /// Find better values for an engine's options by SPSA
    Tune(tune::TuneArgs),
    /// Solve the problems of an EPD file, and count
    Suite(suite::SuiteArgs),
}

/// Does what the command line says.
///
/// # Errors
/// What the command could not do.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.command {
        Command::Match(args) => matches::run(args),
        Command::Ladder(args) => ladder::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Suite(args) => suite::run(args),
    }
}
