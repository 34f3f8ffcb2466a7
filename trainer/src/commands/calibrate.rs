//! `trainer calibrate`: scales a net's values to the pawns of other labels.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use host::Threads;
use models::{Metadata, Network};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::commands::output;
use crate::commands::values;
use crate::error::TrainerError;
use crate::files::{self, names};
use crate::net::{self, Net};
use crate::report::comparison::{self, Contender, Measures};
use crate::report::figures::Figures;
use crate::training::plan::TOOL;
use network::bound;

const EXAMPLE: &str = "\
Example: a net with labels by Stockfish, whose pawn is smaller than that of Lichess:
  trainer calibrate --net net.safetensors --pgn lichess.pgn.zst --out calibrated.safetensors

Engines differ in the size of their pawn, and a net has its labels' pawn. The command finds the
factor on all values with the smallest mean distance in win chance to other labels (`trainer
eval --help`), and multiplies the output layer by it. The order of positions stays the same,
unless weights reach the bound of training: they are clamped to it, and counted.";

/// Arguments of `trainer calibrate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Net to calibrate
    #[arg(short, long, alias = "model", value_name = "NET.safetensors")]
    net: PathBuf,
    /// PGN files with [%eval] comments, the labels
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pgn: Vec<PathBuf>,
    /// Net to write
    #[arg(short, long, value_name = "NET.safetensors", value_parser = values::net)]
    out: PathBuf,
    /// Replace an existing net
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    threads: Threads,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Output of `trainer calibrate`.
#[derive(Debug, Serialize)]
struct Calibration {
    /// Path of the net before calibration.
    model: PathBuf,
    /// Paths of the PGN files with the labels.
    data: Vec<PathBuf>,
    /// Factor on the net's values.
    factor: f64,
    /// Number of output weights and biases clamped to training's bound.
    held: usize,
    /// Figures of the net before calibration.
    before: Figures,
    /// Figures after calibration.
    after: Figures,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    arguments.threads.apply();
    host::check_free(&arguments.out, arguments.force)?;
    files::check_writable(&arguments.out)?;
    let net = net::read(&arguments.net)?;
    let measure = |network: &Network| {
        let contender = Contender::network(String::new(), network);
        let comparison = comparison::compare(&[contender], arguments.pgn.clone())?;
        Ok::<Measures, TrainerError>(comparison.rows[0].measures)
    };
    let Measures { figures, scaled } = measure(&net.network)?;
    let (network, held) = multiplied(&net.network, scaled.factor as f32);
    let calibration = Calibration {
        factor: scaled.factor,
        held,
        before: figures,
        after: measure(&network)?.figures,
        model: arguments.net,
        data: arguments.pgn,
    };
    let bytes = network.to_bytes(&metadata(&net, &calibration));
    files::write(&arguments.out, &bytes)?;
    if arguments.json {
        host::print(&output::json(&calibration))?;
    } else {
        host::print(&calibration.to_string())?;
    }
    Ok(())
}

/// Returns the network with its values multiplied by `factor`, and the number of weights and biases
/// clamped to training's bound, so that training can start from the net.
fn multiplied(network: &Network, factor: f32) -> (Network, usize) {
    let architecture = network.architecture();
    let mut layers = network.layers().to_vec();
    let most = bound(architecture, layers.len() - 1);
    let mut held = 0;
    if let Some(output) = layers.last_mut() {
        for number in output.weight.iter_mut().chain(&mut output.bias) {
            *number *= factor;
            held += usize::from(number.abs() > most);
            *number = number.clamp(-most, most);
        }
    }
    (Network::new(architecture, layers), held)
}

/// Returns the net's metadata with an entry on the calibration, without the figures on held-out
/// games, which no longer hold.
fn metadata(net: &Net, calibration: &Calibration) -> Metadata {
    let data = calibration.data.iter().filter_map(|path| path.file_name());
    let files: Vec<_> = data.map(|name| name.to_string_lossy()).collect();
    let how = json!({
        "factor": calibration.factor,
        "held": calibration.held,
        "positions": calibration.before.count,
        "files": files,
        "net": net.named(),
    });
    let mut training = match &net.metadata.training {
        Value::Object(training) => training.clone(),
        _ => Map::new(),
    };
    training.insert("calibration".to_string(), how);
    Metadata {
        training: training.into(),
        validation: Value::Null,
        tool: TOOL.to_string(),
        ..net.metadata.clone()
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let winchance = |figures: &Figures| figures.winchance.unwrap_or_default();
        writeln!(
            f,
            "{} times {:.3}: winchance L1 on {} {:.4} before, {:.4} now",
            self.model.display(),
            self.factor,
            names(&self.data),
            winchance(&self.before),
            winchance(&self.after),
        )?;
        match self.held {
            0 => Ok(()),
            held => writeln!(f, "weights clamped to the output layer's bound: {held}"),
        }
    }
}
