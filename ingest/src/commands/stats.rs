//! `ingest stats`: statistics of a dataset.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use datasets::{AnyDataset, Dataset, SourceEntry, Split};
use host::StopSignal;

use crate::report::histogram::Histogram;
use crate::report::moves::MoveHistogram;
use crate::report::plot;
use crate::report::summary::{Counted, Report};
use crate::terminal::stopped::Stopped;

/// Arguments of `ingest stats`.
#[derive(Args)]
pub struct Arguments {
    /// The dataset
    dataset: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the report as an SVG
    #[arg(long, value_name = "FILE.svg", value_parser = picture)]
    plot: Option<PathBuf>,
}

/// Parses the path of a picture: a name ending in .svg, or an existing device or pipe.
fn picture(text: &str) -> std::result::Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match text.ends_with(".svg") || (path.exists() && !path.is_file()) {
        true => Ok(path),
        false => Err("expected a name that ends with .svg".to_string()),
    }
}

/// Runs `ingest stats`.
///
/// # Errors
/// If the dataset cannot be read, or the plot cannot be written.
pub fn run(arguments: &Arguments) -> Result<()> {
    if let Some(plot) = &arguments.plot {
        host::check_free_for_markup(plot)?;
    }
    match AnyDataset::open(&arguments.dataset)? {
        AnyDataset::Evaluations(dataset) => show::<Histogram>(arguments, &dataset),
        AnyDataset::Moves(dataset) => show::<MoveHistogram>(arguments, &dataset),
    }
}

fn show<H: Counted>(arguments: &Arguments, dataset: &Dataset<H::Row>) -> Result<()> {
    let path = arguments.dataset.as_path();
    let stop = StopSignal::listen()?;
    let manifest = dataset.manifest();
    let (counts, tally) = (manifest.counts, &manifest.tally);
    let bytes_on_disk = folder_size(path).with_context(|| path.display().to_string())?;
    let positions = counts.positions_train + counts.positions_validation;
    let sources: Vec<SourceEntry> = manifest.sources.iter().map(SourceEntry::outline).collect();
    let report = Report::<H> {
        kind: manifest.kind,
        games: tally.games,
        games_annotated: tally.games_annotated,
        games_kept: tally.games_kept,
        labels: tally.labels,
        mates: tally.mates,
        gaps: tally.gaps,
        duplicates_merged: counts.duplicates_merged,
        merged_or_beyond_cap: counts.merged_or_beyond_cap,
        positions_train: counts.positions_train,
        positions_validation: counts.positions_validation,
        seen_on_both_sides: counts.seen_on_both_sides,
        skipped: &tally.skipped,
        examples: &tally.examples,
        months: &tally.months,
        ratings: &tally.ratings,
        unrated: tally.unrated,
        bytes_on_disk,
        bytes_per_position: bytes_on_disk as f64 / positions.max(1) as f64,
        fingerprint: dataset.fingerprint(),
        format_version: manifest.format_version,
        tool: &manifest.tool,
        filters: &manifest.filters,
        sources: &sources,
        train: count(dataset, Split::Train, &stop)?,
        validation: count(dataset, Split::Validation, &stop)?,
    };
    if let Some(file) = &arguments.plot {
        let name = path.file_name().unwrap_or(path.as_os_str());
        plot::draw(file, &name.to_string_lossy(), &report)?;
    }
    Ok(host::print(&match arguments.json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => H::text(path, &report)?,
    })?)
}

fn count<H: Counted>(dataset: &Dataset<H::Row>, split: Split, stop: &StopSignal) -> Result<H> {
    let mut histogram = H::new();
    for block in dataset.blocks(split)? {
        if stop.is_asked() {
            bail!(Stopped::for_good(stop));
        }
        block?.iter().for_each(|record| histogram.add(record));
    }
    Ok(histogram)
}

fn folder_size(path: &Path) -> std::io::Result<u64> {
    let mut size = 0;
    let entries = match std::fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let metadata = match entry.metadata() {
            // A build running now may delete files.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        size += if metadata.is_dir() {
            folder_size(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(size)
}
