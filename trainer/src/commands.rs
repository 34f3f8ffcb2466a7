//! Command line: one file a subcommand, each with its arguments. `values` parses option values,
//! `dataset` opens datasets for training, `output` formats results.

mod bench;
mod calibrate;
mod compare;
mod dataset;
mod devices;
mod eval;
mod export;
mod fit;
mod linear;
mod output;
mod recipe;
mod report;
mod values;

use clap::{Parser, Subcommand};

use crate::error::TrainerError;

/// Trains Kibitz's network on a dataset, and measures nets.
#[derive(Debug, Parser)]
#[command(version = host::VERSION.as_str(), after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 another failure, 2 wrong command line or recipe, 3 file missing or
unreadable, 4 damaged input, 5 dataset or output refused, 6 net refused, 7 cannot write,
8 no such device, or it failed, 9 training diverged, 130 interrupted with Ctrl-C (--resume continues), 143 by SIGTERM,
129 by SIGHUP.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Train a network on a dataset; keeps the net best on its held-out games.
    Fit(Box<fit::Arguments>),
    /// Fit piece-square tables, which a network must beat, and write them as a net.
    Linear(linear::Arguments),
    /// Measure a net against the labels of held-out games or of PGN files.
    Eval(eval::Arguments),
    /// Measure nets and other engines against the labels of the same PGN files.
    Compare(compare::Arguments),
    /// Scale a net's values to the pawns of other labels, by one factor.
    Calibrate(calibrate::Arguments),
    /// Write a net for other engines: source code of Rust or C, or a file of bullet.
    Export(export::Arguments),
    /// Compare runs: their curves, their figures, and the differences of their configurations.
    Report(report::Arguments),
    /// Measure the training speed of a device, of the dataset reader, and of both together.
    Bench(bench::Arguments),
    /// List the devices to train on: GPUs by name, with their memory, and the CPU.
    Devices(devices::Arguments),
}

/// Runs a command line.
///
/// # Errors
/// [`TrainerError`], with its exit code.
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    match arguments.command {
        Command::Fit(arguments) => fit::run(*arguments),
        Command::Linear(arguments) => linear::run(arguments),
        Command::Eval(arguments) => eval::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Calibrate(arguments) => calibrate::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Devices(arguments) => devices::run(arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
