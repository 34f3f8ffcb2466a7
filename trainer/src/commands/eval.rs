//! `trainer eval`: measures a net against labels, beside the material balance, and the engine's
//! integer inference against the net's floats.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use datasets::{AnyDataset, Dataset, MoveRecord};
use host::{Threads, thousands};
use models::bullet::BulletShape;
use serde::Serialize;

use crate::commands::output::json;
use crate::commands::values;
use crate::error::TrainerError;
use crate::files::{self, names};
use crate::net;
use crate::policy::baseline::TrainingMoves;
use crate::policy::figures as policy;
use crate::report::figures::{Figures, NetAndMaterial};
use crate::report::measurement::{self, Measurement};
use crate::report::scaled::Scaled;
use crate::report::subject::Subject;
use crate::report::summary;

const EXAMPLE: &str = "\
Examples:
  trainer eval --net net.safetensors --data 2013-02.dataset
  trainer eval --net net.safetensors --pgn annotated.pgn.zst other.pgn --json
  trainer eval --net net.safetensors --pgn annotated.pgn.zst --report net.html
  trainer eval --net quantised.bin --bullet 256x8:screlu:400 --pgn annotated.pgn.zst

Figures over all positions except those labelled with a mate, for the side to move:
  winchance L1   mean distance of 2/(1+exp(-0.368208 p))-1, p in pawns: -1 lost, 1 won
  clamp10 L1     mean distance in pawns, both sides clamped to +-10
  sign accuracy  share with the right sign where |label| is a pawn or more
Quiet positions are not in check, and the move played is neither a capture nor a promotion.
Phases go by the number of pieces on the board, kings and pawns included. The material
baseline counts pawn 1, knight 3.2, bishop 3.3, rook 5, queen 9. Also measured: the
calibration error, which is the distance between prediction and mean label of positions
with about the same prediction; and the distance between the engine's integers and the
net's floats, in centipawns, over all positions.

On a dataset of moves it measures a policy of `trainer fit --policy`: the share of moves
foretold, by the likeliest move and by the three likeliest, and the log-loss, beside the
usual move, which is the legal one most often played by the same piece to the same square:
  trainer eval --net policy.safetensors --data 2013-02.moves";

/// Arguments of `trainer eval`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE, group = ArgGroup::new("positions").required(true))]
pub struct Arguments {
    /// Net to measure
    #[arg(short, long, alias = "model", value_name = "NET.safetensors")]
    net: PathBuf,
    /// The net is a quantised.bin of bullet, of this shape, such as 256x8:screlu:400: hidden
    /// neurons, output buckets, activation (screlu or crelu) and scale
    #[arg(long, value_name = "HIDDENxBUCKETS:ACTIVATION:SCALE")]
    bullet: Option<BulletShape>,
    /// Dataset with the held-out games to measure on
    #[arg(short, long, value_name = "DATASET", group = "positions")]
    data: Option<PathBuf>,
    /// PGN files with [%eval] comments: measures on every labelled position
    #[arg(long, value_name = "FILE", num_args = 1.., group = "positions")]
    pgn: Vec<PathBuf>,
    /// Write an HTML report with pictures
    #[arg(long, value_name = "FILE.html", value_parser = values::page)]
    report: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Output of `trainer eval`.
#[derive(Debug, Serialize)]
pub struct EvalReport {
    /// Path of the net.
    pub model: PathBuf,
    /// Paths of the dataset or of the PGN files.
    pub data: Vec<PathBuf>,
    /// Measured figures.
    #[serde(flatten)]
    pub measured: Measurement,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    arguments.threads.apply();
    if let Some(path) = &arguments.report {
        files::check_picture(path)?;
    }
    let dataset = match arguments
        .data
        .as_deref()
        .map(AnyDataset::open)
        .transpose()?
    {
        Some(AnyDataset::Moves(dataset)) => return measure_policy(&arguments, &dataset),
        Some(AnyDataset::Evaluations(dataset)) => Some(dataset),
        None => None,
    };
    let net = match arguments.bullet {
        Some(shape) => net::read_bullet(&arguments.net, shape)?,
        None => net::read(&arguments.net)?,
    };
    let (measured, result) = match (&dataset, &arguments.data) {
        (Some(dataset), Some(path)) => (
            measurement::on_dataset(&net.network, dataset, path)?,
            Ok(()),
        ),
        _ => measurement::on_pgn(&net.network, &arguments.pgn),
    };
    let data = arguments.data.map_or(arguments.pgn, |path| vec![path]);
    let report = EvalReport {
        model: arguments.net,
        data,
        measured,
    };
    if result.is_ok() || report.measured.report.all.net.count > 0 {
        if arguments.json {
            host::print(&json(&report))?;
        } else {
            host::print(&report.to_string())?;
        }
        if let Some(path) = &arguments.report {
            let subject = match &dataset {
                Some(dataset) => Subject::HeldOut(dataset.manifest()),
                None => Subject::Games(&report.data),
            };
            summary::write(path, &net, subject, Some(&report.measured))?;
        }
    }
    result
}

/// Measures a policy on the held-out moves of a dataset.
fn measure_policy(
    arguments: &Arguments,
    dataset: &Dataset<MoveRecord>,
) -> Result<(), TrainerError> {
    if arguments.bullet.is_some() || arguments.report.is_some() {
        return Err(TrainerError::Usage(
            "--bullet and --report are of value networks; remove them to measure a policy"
                .to_string(),
        ));
    }
    let network = net::read_policy(&arguments.net)?;
    let training = TrainingMoves::count(dataset)?;
    let report = policy::measure(&network, dataset, &training)?;
    let report = report.ok_or_else(|| TrainerError::NoPositions {
        path: dataset.path().to_path_buf(),
        split: "held-out",
    })?;
    Ok(host::print(&match arguments.json {
        true => json(&report),
        false => report.to_string(),
    })?)
}

impl fmt::Display for EvalReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{} on {}", self.model.display(), names(&self.data))?;
        let Measurement {
            report,
            calibration,
            scaled,
            integers,
            worst: _,
        } = &self.measured;
        writeln!(f, "mates left out: {}", thousands(report.mates))?;
        writeln!(
            f,
            "\n{:23}{:>9}  {:^17}  {:^17}  {:^17}",
            "", "", "winchance L1", "clamp10 L1", "sign accuracy"
        )?;
        write!(f, "{:23}{:>9}", "", "positions")?;
        for _ in 0..3 {
            write!(f, "  {:>8} {:>8}", "net", "material")?;
        }
        writeln!(f)?;
        row(f, "all", &report.all)?;
        for (title, parts) in [
            ("by kind", &report.by_kind),
            ("by phase", &report.by_phase),
            ("by |label| in pawns", &report.by_label),
        ] {
            writeln!(f, "{title}")?;
            for part in parts {
                row(f, &format!("  {}", part.name), &part.comparison)?;
            }
        }
        if let Some(error) = calibration.error {
            writeln!(f, "\ncalibration: {error:.4} in win chance off on average")?;
        }
        if let Some(Scaled { factor, winchance }) = scaled
            && !SAME_PAWNS.contains(factor)
        {
            let apart = factor.max(1.0 / factor);
            writeln!(
                f,
                "the labels' pawn differs: they are {apart:.2}-fold apart from the net's values. \
                 Scaled, the net's winchance L1 is about {winchance:.3}; `trainer calibrate` \
                 scales a net"
            )?;
        }
        writeln!(f, "the engine's integers: {integers}")
    }
}

/// Factors between the pawns of a net and of labels that need no remark: labels of different years
/// differ as much.
const SAME_PAWNS: RangeInclusive<f64> = 0.6..=1.67;

fn row(f: &mut fmt::Formatter, name: &str, comparison: &NetAndMaterial) -> fmt::Result {
    write!(f, "{name:23}{:>9}", thousands(comparison.net.count))?;
    let cell = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.4}"));
    for figure in [
        |figures: &Figures| figures.winchance,
        |figures: &Figures| figures.clamp10,
        |figures: &Figures| figures.sign_accuracy,
    ] {
        let (net, material) = (figure(&comparison.net), figure(&comparison.material));
        write!(f, "  {:>8} {:>8}", cell(net), cell(material))?;
    }
    writeln!(f)
}
