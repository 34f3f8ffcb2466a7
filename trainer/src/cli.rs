//! The command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use burn::backend::Autodiff;
#[cfg(feature = "cuda")]
use burn_cuda::{Cuda, CudaDevice};
use burn_flex::{Flex, FlexDevice};
use clap::{ArgGroup, Args, Parser, Subcommand};
use datasets::{Dataset, Split};
use host::{StopSignal, tell};
use models::Shape;

use crate::bench::{self, Bench};
use crate::clipping::CLIP_NORM;
use crate::compare::{self, Contender};
use crate::device::{Device, DeviceChoice};
use crate::eval::{self, Evaluation};
use crate::failure::Failure;
use crate::files;
use crate::fit::{self, Summary};
use crate::linear;
use crate::net;
use crate::plan::Plan;
use crate::regularisation::Regularisation;
use crate::report::{self, Subject};
use crate::validation::Validation;
use crate::values;

/// Trains Kibitz's network on a dataset, and measures nets.
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 2 wrong command line, 3 file missing or unreadable, 4 damaged input,
5 dataset or output refused, 6 net refused, 7 cannot write, 8 no such device, 9 training
diverged, 130 interrupted with Ctrl-C (--resume goes on), 143 by SIGTERM, 129 by SIGHUP.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Train a network: a dataset in, the best net on its held-out games out.
    Fit(FitArguments),
    /// Fit piece-square tables, which a network must beat, and write them as a net.
    Linear(LinearArguments),
    /// Measure a net against the labels of held-out games or of PGN files.
    Eval(EvalArguments),
    /// Measure nets and other engines against the labels of the same PGN files.
    Compare(CompareArguments),
    /// Measure how fast a device trains, what its reader gives, and the limit.
    Bench(BenchArguments),
}

const FIT_EXAMPLE: &str = "\
Example: a dataset of one month, then a net from it:
  ingest build lichess_db_standard_rated_2013-02.pgn.zst --out 2013-02.dataset
  trainer fit --data 2013-02.dataset --out net.safetensors

Beside net.safetensors, the net of the best epoch, appear net.report.html (all there is
to see, in one page), net.metrics.jsonl (one object an epoch), net.svg (the curves),
net.calibration.svg, net.errors.svg, net.neurons.svg (what the first layer looks at),
net.golden.json (the net's values of 64 positions, to check other implementations with)
and net.checkpoint, the run as it stands. On the CPU the same command gives the same
net, bit for bit, on processors of the same kind.

However a run ends, with Ctrl-C, kill -9 or a power cut, the same command with --resume
goes on from the checkpoint, and on the CPU ends as if nothing had happened. Where no
checkpoint is, --resume begins; where the run has ended, it says so. Without --resume a
net or a checkpoint that is there is never written over.

If the loss, the gradient or a weight stops being a number, the run ends, and the batch
that did it is in net.diverged.txt, which `ingest build` reads.";

#[derive(Debug, Args)]
#[command(after_help = FIT_EXAMPLE)]
struct FitArguments {
    /// Dataset, as `ingest build` writes it
    #[arg(long, value_name = "DATASET")]
    data: PathBuf,
    /// Where to write the net
    #[arg(long, value_name = "NET.safetensors", value_parser = values::net)]
    out: PathBuf,
    /// Device: auto takes a GPU where there is one; cuda:0,1 shares each step between two
    #[arg(long, value_name = "auto|cpu|cuda[:N,...]", default_value = "auto")]
    device: DeviceChoice,
    /// Passes over the training positions
    #[arg(long, value_name = "N", default_value = "5", allow_negative_numbers = true,
          value_parser = values::epochs)]
    epochs: u64,
    /// Positions a step; by default 512 for small datasets, up to 16384 for large ones
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::batch)]
    batch: Option<usize>,
    /// Learning rate at the peak of the schedule
    #[arg(long, value_name = "RATE", default_value = "0.003", allow_negative_numbers = true,
          value_parser = values::learning_rate)]
    learning_rate: f64,
    /// Decides the starting weights and the order of positions
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true,
          value_parser = values::seed)]
    seed: u64,
    /// Sizes of the three hidden layers
    #[arg(long, value_name = "N,N,N", default_value = "451,32,32", allow_hyphen_values = true,
          value_parser = values::shape)]
    hidden: Shape,
    /// Shorten gradients that are longer, all parameters together (docs/training.md)
    #[arg(long, value_name = "LENGTH", default_value_t = CLIP_NORM, allow_negative_numbers = true,
          value_parser = values::positive)]
    clip_norm: f32,
    /// Start from this net instead of random weights
    #[arg(long, value_name = "NET.safetensors", conflicts_with = "hidden")]
    init: Option<PathBuf>,
    /// Go on from the checkpoint beside the net, if there is one
    #[arg(long)]
    resume: bool,
    /// Time between two checkpoints within an epoch
    #[arg(long, value_name = "MINUTES", default_value = "5", allow_negative_numbers = true,
          value_parser = values::minutes)]
    checkpoint_minutes: Duration,
    /// Print the summary as JSON on standard output
    #[arg(long)]
    json: bool,
}

const LINEAR_EXAMPLE: &str = "\
Example: what a piece is worth on each square, and no more, then how far that is from a net:
  trainer linear --data 2013-02.dataset --out linear.safetensors
  trainer compare --pgn games.pgn.zst --contender linear=linear.safetensors \\
      --contender net=net.safetensors
  engine match --engine net.safetensors --engine linear.safetensors --depth 4 \\
      --games 400 --book openings.epd

The tables are fitted by the loss of `trainer fit`, and written as a small net that computes
their sum: all programs take it. The same command gives the same net.";

#[derive(Debug, Args)]
#[command(after_help = LINEAR_EXAMPLE)]
struct LinearArguments {
    /// Dataset, as `ingest build` writes it
    #[arg(long, value_name = "DATASET")]
    data: PathBuf,
    /// Where to write the net
    #[arg(long, value_name = "NET.safetensors", value_parser = values::net)]
    out: PathBuf,
    /// Passes over the training positions
    #[arg(long, value_name = "N", default_value = "5", allow_negative_numbers = true,
          value_parser = values::epochs)]
    epochs: u64,
    /// Decides the order of positions
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true,
          value_parser = values::seed)]
    seed: u64,
    /// Print the summary as JSON on standard output
    #[arg(long)]
    json: bool,
}

const EVAL_EXAMPLE: &str = "\
Examples:
  trainer eval --model net.safetensors --data 2013-02.dataset
  trainer eval --model net.safetensors --pgn annotated.pgn.zst other.pgn --json
  trainer eval --model net.safetensors --pgn annotated.pgn.zst --report net.html

Figures over all positions whose label is no mate, from the view of the side to move:
  winchance L1   mean distance of 2/(1+exp(-0.368208 p))-1, p in pawns: -1 lost, 1 won
  clamp10 L1     mean distance in pawns, both sides clamped to +-10
  sign accuracy  share with the right sign where |label| is a pawn or more
Phases go by the number of pieces on the board, kings and pawns included. The material
baseline counts pawn 1, knight 3.2, bishop 3.3, rook 5, queen 9. Also measured: the
calibration, which is how far the mean label of the positions with about the same
prediction is from it; and how far the engine's integers are from the net's floats, in
centipawns, over all positions.";

#[derive(Debug, Args)]
#[command(after_help = EVAL_EXAMPLE, group = ArgGroup::new("positions").required(true))]
struct EvalArguments {
    /// Net to measure
    #[arg(long, value_name = "NET.safetensors")]
    model: PathBuf,
    /// Dataset: its held-out games are taken
    #[arg(long, value_name = "DATASET", group = "positions")]
    data: Option<PathBuf>,
    /// PGN files with [%eval] comments: every labelled position is taken
    #[arg(long, value_name = "FILE", num_args = 1.., group = "positions")]
    pgn: Vec<PathBuf>,
    /// Write a report with pictures as one page, for a browser
    #[arg(long, value_name = "FILE.html", value_parser = values::page)]
    report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const COMPARE_EXAMPLE: &str = "\
Example: a net beside Stockfish, depth 8, on games with evaluations:
  ingest annotate games.pgn.zst --engine stockfish --depth 8 --replace --out depth8.pgn.zst
  trainer compare --pgn games.pgn.zst --contender kibitz=models/default.safetensors \\
      --contender 'Stockfish depth 8=depth8.pgn.zst' --picture compared.svg

All figures are over the positions that every contender has an evaluation of and whose
label is no mate; `trainer eval --help` says what they are. Material comes first.";

#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLE)]
struct CompareArguments {
    /// PGN files with [%eval] comments, the labels
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pgn: Vec<PathBuf>,
    /// A net (.safetensors), or the same games as another engine evaluated them (PGN); may be
    /// given several times
    #[arg(long, value_name = "NAME=FILE", required = true, value_parser = values::named_file)]
    contender: Vec<(String, PathBuf)>,
    /// Draw the figures
    #[arg(long, value_name = "FILE.svg", value_parser = values::picture)]
    picture: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const BENCH_EXAMPLE: &str = "\
Examples:
  trainer bench --data june.dataset
  trainer bench --device cuda --json        no dataset: the device alone

Rates are samples a second of each part alone and of reader and device together, as
`trainer fit` runs them, on the default network. What the device can do at most comes from
its own speed, in products of square f32 matrices and in memory, and from the arithmetic
and the bytes that a sample costs, which are counted, not measured.";

#[derive(Debug, Args)]
#[command(after_help = BENCH_EXAMPLE)]
struct BenchArguments {
    /// Dataset to read; without it, positions of random games are trained on
    #[arg(long, value_name = "DATASET")]
    data: Option<PathBuf>,
    /// Device: auto takes a GPU where there is one; cuda:0,1 shares each step between two
    #[arg(long, value_name = "auto|cpu|cuda[:N,...]", default_value = "auto")]
    device: DeviceChoice,
    /// Positions a step
    #[arg(long, value_name = "N", default_value = "16384", allow_negative_numbers = true,
          value_parser = values::batch)]
    batch: usize,
    /// How long each part is measured, in seconds; a warm-up comes before
    #[arg(long, value_name = "S", default_value = "5", allow_negative_numbers = true,
          value_parser = values::seconds)]
    seconds: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs a command line.
///
/// # Errors
/// [`Failure`], which knows its exit code.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Fit(arguments) => run_fit(arguments),
        Command::Linear(arguments) => run_linear(arguments),
        Command::Eval(arguments) => run_eval(arguments),
        Command::Compare(arguments) => run_compare(arguments),
        Command::Bench(arguments) => run_bench(arguments),
    }
}

fn run_fit(arguments: FitArguments) -> Result<(), Failure> {
    let device = Device::find(arguments.device)?;
    let dataset = dataset_to_train_on(&arguments.data)?;
    let init = match arguments.init {
        Some(path) => Some(net::read_to_train(&path)?),
        None => None,
    };
    let shape = init
        .as_ref()
        .map_or(arguments.hidden, |net| net.network.shape());
    let positions = dataset.len(Split::Train);
    let plan = Plan {
        out: arguments.out,
        shape,
        regularisation: Regularisation::for_positions(positions),
        init,
        device,
        epochs: arguments.epochs,
        batch: arguments.batch.unwrap_or_else(|| batch_for(positions)),
        learning_rate: arguments.learning_rate,
        clip_norm: arguments.clip_norm,
        seed: arguments.seed,
        checkpoint_every: arguments.checkpoint_minutes,
        resume: arguments.resume,
    };
    let stop = StopSignal::listen().unwrap_or_else(|error| {
        tell(format_args!(
            "Ctrl-C will end the run without a checkpoint: {error}"
        ));
        StopSignal::default()
    });
    let summary = match &plan.device {
        Device::Cpu => fit::fit::<Autodiff<Flex>>(&dataset, &plan, &[FlexDevice], &stop)?,
        #[cfg(feature = "cuda")]
        Device::Cuda(gpus) => {
            fit::fit::<Autodiff<Cuda>>(&dataset, &plan, &cuda_devices(gpus), &stop)?
        }
    };
    report::write_beside(&summary.net, &dataset)?;
    if arguments.json {
        print_json(&summary)
    } else {
        print(&in_words(&summary))
    }
}

/// The power of two that gives an epoch at least 1,500 steps, without which it
/// takes more epochs to learn as much, from 512, below which steps cost as much,
/// to 16,384, beyond which a device gains nothing.
fn batch_for(positions: u64) -> usize {
    let most = (positions / 1_500).max(1);
    (1usize << most.ilog2()).clamp(512, 16_384)
}

fn in_words(summary: &Summary) -> String {
    format!(
        "{}: epoch {} of {}, trained on {} in {:.0} s ({:.0} samples/s)\n{}\
         all about it: {}\n",
        summary.net.display(),
        summary.best_epoch,
        summary.epochs,
        summary.device,
        summary.seconds,
        summary.samples_per_second,
        figures(summary.validation),
        summary.report.display(),
    )
}

fn run_linear(arguments: LinearArguments) -> Result<(), Failure> {
    let dataset = dataset_to_train_on(&arguments.data)?;
    let plan = linear::Plan {
        out: arguments.out,
        epochs: arguments.epochs,
        batch: batch_for(dataset.len(Split::Train)),
        seed: arguments.seed,
    };
    let summary = linear::fit(&dataset, &plan)?;
    if arguments.json {
        print_json(&summary)
    } else {
        let (net, seconds) = (summary.net.display(), summary.seconds);
        print(&format!(
            "{net}: piece-square tables, fitted in {seconds:.0} s\n{}",
            figures(summary.validation)
        ))
    }
}

/// The figures on the held-out games, each in a line.
fn figures(validation: Option<Validation>) -> String {
    let Some(validation) = validation else {
        return "no game was held out, so nothing says how good it is\n".to_string();
    };
    let figures = validation.figures;
    let show = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.4}"));
    let lines = [
        (
            "winchance L1",
            figures.net.winchance,
            figures.material.winchance,
        ),
        ("clamp10 L1", figures.net.clamp10, figures.material.clamp10),
        (
            "sign accuracy",
            figures.net.sign_accuracy,
            figures.material.sign_accuracy,
        ),
    ];
    let line = |(name, net, material)| {
        let (net, material) = (show(net), show(material));
        format!("{name:13} on held-out games: {net} (material alone {material})\n")
    };
    lines.into_iter().map(line).collect()
}

fn run_eval(arguments: EvalArguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.report {
        files::check_writable(path)?;
    }
    let net = net::read(&arguments.model)?;
    let dataset = arguments.data.as_deref().map(Dataset::open).transpose()?;
    let (measured, result) = match (&dataset, &arguments.data) {
        (Some(dataset), Some(path)) => (eval::on_dataset(&net.network, dataset, path)?, Ok(())),
        _ => eval::on_pgn(&net.network, &arguments.pgn),
    };
    let data = arguments.data.map_or(arguments.pgn, |path| vec![path]);
    let evaluation = Evaluation {
        model: arguments.model,
        data,
        measured,
    };
    if result.is_ok() || evaluation.measured.report.all.net.count > 0 {
        if arguments.json {
            print_json(&evaluation)?;
        } else {
            print(&evaluation.to_string())?;
        }
        if let Some(path) = &arguments.report {
            let subject = match &dataset {
                Some(dataset) => Subject::HeldOut(dataset.manifest()),
                None => Subject::Games(&evaluation.data),
            };
            report::write(path, &net, subject, Some(&evaluation.measured))?;
        }
    }
    result
}

fn run_compare(arguments: CompareArguments) -> Result<(), Failure> {
    let mut contenders = vec![Contender::material()];
    let names = arguments.contender.iter().map(|(name, _)| &name[..]);
    compare::check_names(names)?;
    if let Some(path) = &arguments.picture {
        files::check_writable(path)?;
    }
    for (name, path) in arguments.contender {
        contenders.push(match path.extension() {
            Some(extension) if extension == "safetensors" => Contender::net(name, &path)?,
            _ => Contender::annotated(name, &path)?,
        });
    }
    let comparison = compare::compare(&contenders, arguments.pgn)?;
    if arguments.json {
        if let Some(warning) = &comparison.warning {
            tell(format_args!("trainer: WARNING: {warning}"));
        }
        print_json(&comparison)?;
    } else {
        print(&comparison.to_string())?;
    }
    match arguments.picture {
        Some(path) => files::write(&path, compare::svg(&comparison).as_bytes()),
        None => Ok(()),
    }
}

fn run_bench(arguments: BenchArguments) -> Result<(), Failure> {
    let device = Device::find(arguments.device)?;
    let dataset = match &arguments.data {
        Some(path) => Some(dataset_to_train_on(path)?),
        None => None,
    };
    let plan = Bench {
        dataset: dataset.as_ref(),
        batch: arguments.batch,
        time: arguments.seconds,
        device,
    };
    let report = match &plan.device {
        Device::Cpu => bench::bench::<Autodiff<Flex>>(&plan, &[FlexDevice])?,
        #[cfg(feature = "cuda")]
        Device::Cuda(gpus) => bench::bench::<Autodiff<Cuda>>(&plan, &cuda_devices(gpus))?,
    };
    if arguments.json {
        print_json(&report)
    } else {
        print(&report.to_string())
    }
}

/// The GPUs of these numbers as Burn knows them.
#[cfg(feature = "cuda")]
fn cuda_devices(gpus: &[usize]) -> Vec<CudaDevice> {
    gpus.iter().map(|&gpu| CudaDevice::new(gpu)).collect()
}

/// Opens a dataset that has a position to train on.
fn dataset_to_train_on(path: &Path) -> Result<Dataset, Failure> {
    let dataset = Dataset::open(path)?;
    if dataset.len(Split::Train) > 0 {
        Ok(dataset)
    } else {
        Err(Failure::NoPositions {
            path: path.to_path_buf(),
            split: "training",
        })
    }
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).expect("numbers and names");
    print(&(text + "\n"))
}

/// Prints results.
fn print(text: &str) -> Result<(), Failure> {
    host::print(text).map_err(Failure::unwritable(Path::new("standard output")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn batches_grow_with_the_dataset() {
        assert_eq!(
            [1, 65_000, 4_000_000, 100_000_000].map(batch_for),
            [512, 512, 2048, 16_384]
        );
    }
}
