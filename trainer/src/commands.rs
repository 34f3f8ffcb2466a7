//! Command line: one file a subcommand, each with its arguments. `values` parses option values,
//! `dataset` opens datasets for training, `output` formats results.

mod bench;
mod calibrate;
mod compare;
mod dataset;
mod device;
mod devices;
mod eval;
mod export;
mod fit;
mod fit_policy;
mod forecast;
mod linear;
mod output;
mod recipe;
mod report;
mod values;

use clap::{CommandFactory, Parser, Subcommand};
use host::InstallCommand;

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
    /// Forecast from short fits what would pay next: more games, a wider net or more epochs.
    Forecast(Box<forecast::Arguments>),
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
    #[command(flatten)]
    Install(InstallCommand),
}

/// Runs a command line.
///
/// # Errors
/// [`TrainerError`], with its exit code.
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    match arguments.command {
        Command::Fit(arguments) => fit::run(*arguments),
        Command::Forecast(arguments) => forecast::run(*arguments),
        Command::Linear(arguments) => linear::run(arguments),
        Command::Eval(arguments) => eval::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Calibrate(arguments) => calibrate::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Devices(arguments) => devices::run(arguments),
        Command::Install(command) => Ok(command.run(Arguments::command())?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn short_and_earlier_names_mean_the_same() {
        let parsed = |line: &str| {
            let arguments = Arguments::try_parse_from(line.split_whitespace());
            format!("{:?}", arguments.unwrap_or_else(|error| panic!("{error}")))
        };
        for (line, other) in [
            (
                "trainer fit --data d --out n.safetensors --learning-rate 0.1 --batch 64 --threads 2",
                "trainer fit -d d -o n.safetensors --lr 0.1 --batch-size 64 -t 2",
            ),
            (
                "trainer fit --out n.safetensors --activation squared-clipped-relu",
                "trainer fit --out n.safetensors --activation screlu",
            ),
            (
                "trainer forecast --data d --out f.json --threads 2",
                "trainer forecast -d d -o f.json -t 2",
            ),
            (
                "trainer bench --batch 64 --activation clipped-relu",
                "trainer bench --batch-size 64 --activation crelu",
            ),
            (
                "trainer eval --net n.safetensors --data d",
                "trainer eval --model n.safetensors -d d",
            ),
            (
                "trainer calibrate --net a.safetensors --pgn g.pgn --out b.safetensors",
                "trainer calibrate --model a.safetensors --pgn g.pgn -o b.safetensors",
            ),
            (
                "trainer compare --pgn g.pgn --contender a=a.pgn --plot a.svg",
                "trainer compare --pgn g.pgn --contender a=a.pgn --picture a.svg",
            ),
            (
                "trainer report n.safetensors --plot a.svg",
                "trainer report n.safetensors --picture a.svg",
            ),
        ] {
            assert_eq!(parsed(line), parsed(other), "{other}");
        }
    }
}
