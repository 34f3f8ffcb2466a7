//! `trainer eval`: how far a net is from the labels, beside material alone.

use std::fmt;
use std::path::{Path, PathBuf};

use datasets::{Dataset, Record, Split, pgn};
use models::{Feature, Network};
use rayon::prelude::*;
use serde::Serialize;

use crate::failure::Failure;
use crate::figures::{Comparison, Figures, Report, Tally};
use crate::position;

/// PGN positions that are evaluated together.
const BLOCK: usize = 8192;

/// What `trainer eval` prints.
#[derive(Debug, Serialize)]
pub struct Evaluation {
    /// The net's file.
    pub model: PathBuf,
    /// The dataset, or the PGN files.
    pub data: Vec<PathBuf>,
    /// The figures.
    #[serde(flatten)]
    pub report: Report,
}

/// Evaluates a network on the held-out games of a dataset.
///
/// # Errors
/// [`Failure::Data`] or [`Failure::NoPositions`].
pub fn on_dataset(network: &Network, path: &Path) -> Result<Report, Failure> {
    let dataset = Dataset::open(path)?;
    if dataset.len(Split::Validation) == 0 {
        return Err(Failure::NoPositions {
            path: path.to_path_buf(),
            split: "validation",
        });
    }
    let mut tally = Tally::default();
    for block in dataset.blocks(Split::Validation)? {
        add(&mut tally, network, &block?);
    }
    Ok(tally.report())
}

/// Evaluates a network on every labelled position of PGN files; a position
/// that occurs twice counts twice. If a file is damaged, the error comes with
/// the figures of what was read.
pub fn on_pgn(network: &Network, paths: &[PathBuf]) -> (Report, Result<(), Failure>) {
    let mut tally = Tally::default();
    let mut result = Ok(());
    for path in paths {
        let mut block = Vec::with_capacity(BLOCK);
        let read = pgn::read_labelled(path, |record| {
            block.push(record);
            if block.len() == BLOCK {
                add(&mut tally, network, &block);
                block.clear();
            }
        });
        add(&mut tally, network, &block);
        if let Err(error) = read {
            result = Err(error.into());
            break;
        }
    }
    (tally.report(), result)
}

fn add(tally: &mut Tally, network: &Network, records: &[Record]) {
    let value = |record: &Record| {
        let features: Vec<Feature> = position::features(record).collect();
        network.evaluate(&features)
    };
    let values: Vec<f32> = records.par_iter().map(value).collect();
    for (record, value) in records.iter().zip(values) {
        tally.add(record, value);
    }
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let data: Vec<String> = self
            .data
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        writeln!(f, "{} on {}", self.model.display(), data.join(", "))?;
        writeln!(f, "mates left out: {}", self.report.mates)?;
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
        row(f, "all", &self.report.all)?;
        for (title, parts) in [
            ("by phase", &self.report.by_phase),
            ("by |label| in pawns", &self.report.by_label),
        ] {
            writeln!(f, "{title}")?;
            for part in parts {
                row(f, &format!("  {}", part.name), &part.comparison)?;
            }
        }
        Ok(())
    }
}

fn row(f: &mut fmt::Formatter, name: &str, comparison: &Comparison) -> fmt::Result {
    write!(f, "{name:23}{:>9}", comparison.net.count)?;
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
