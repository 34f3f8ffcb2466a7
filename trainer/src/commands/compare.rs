//! `trainer compare`: measures several evaluators on the same labelled positions.

use std::path::{Path, PathBuf};

use clap::Args;
use host::{Threads, tell};
use models::bullet::BulletShape;

use crate::commands::output::json;
use crate::commands::values;
use crate::error::TrainerError;
use crate::files;
use crate::net;
use crate::report::comparison::{self, Contender};

const EXAMPLE: &str = "\
Example: a net beside Stockfish, depth 8, on games with evaluations:
  ingest annotate games.pgn.zst --engine stockfish --depth 8 --replace --out depth8.pgn.zst
  trainer compare --pgn games.pgn.zst --contender kibitz=models/default.safetensors \\
      --contender 'Stockfish depth 8=depth8.pgn.zst' --plot compared.svg

All figures are over the positions that every contender evaluates, except those labelled with
a mate; `trainer eval --help` explains them. Material comes first.";

/// Arguments of `trainer compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// PGN files with [%eval] comments, the labels
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pgn: Vec<PathBuf>,
    /// A net (.safetensors, or .bin with --bullet), or a PGN file of the same games with another
    /// engine's evaluations; may be given several times
    #[arg(long, value_name = "NAME=FILE", required = true, value_parser = values::named_file)]
    contender: Vec<(String, PathBuf)>,
    /// Shape of the contenders that are a quantised.bin of bullet, as in `trainer eval`
    #[arg(long, value_name = "HIDDENxBUCKETS:ACTIVATION:SCALE")]
    bullet: Option<BulletShape>,
    /// Draw the figures as SVG
    #[arg(long, alias = "picture", value_name = "FILE.svg", value_parser = values::picture)]
    plot: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    arguments.threads.apply();
    let mut contenders = vec![Contender::material()];
    let names = arguments.contender.iter().map(|(name, _)| &name[..]);
    comparison::check_names(names)?;
    if let Some(path) = &arguments.plot {
        files::check_picture(path)?;
    }
    let ends_with = |path: &Path, end: &str| path.extension().is_some_and(|found| found == end);
    let of_bullet = |path: &Path| ends_with(path, "bin") || ends_with(path, "nnue");
    if arguments.bullet.is_some() && !arguments.contender.iter().any(|(_, path)| of_bullet(path)) {
        return Err(TrainerError::Usage(
            "--bullet is for contenders whose file ends with .bin or .nnue".to_string(),
        ));
    }
    for (name, path) in arguments.contender {
        contenders.push(if ends_with(&path, "safetensors") {
            Contender::network(name, &net::read(&path)?.network)
        } else if of_bullet(&path) {
            let Some(shape) = arguments.bullet else {
                return Err(TrainerError::Usage(format!(
                    "{}: give the shape of this net of bullet by --bullet, such as \
                     256x8:screlu:400",
                    path.display()
                )));
            };
            Contender::network(name, &net::read_bullet(&path, shape)?.network)
        } else {
            Contender::annotated(name, &path)?
        });
    }
    let comparison = comparison::compare(&contenders, arguments.pgn)?;
    if arguments.json {
        if let Some(warning) = &comparison.warning {
            tell(format_args!("trainer: WARNING: {warning}"));
        }
        host::print(&json(&comparison))?;
    } else {
        host::print(&comparison.to_string())?;
    }
    match arguments.plot {
        Some(path) => files::write(&path, comparison::svg(&comparison).as_bytes()),
        None => Ok(()),
    }
}
