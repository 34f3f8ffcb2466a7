//! `trainer forecast`: short fits, and what more games, width or epochs would gain.

use std::env;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use datasets::{Dataset, Split};
use host::{StopSignal, Threads, eta, tell, thousands};
use tempfile::TempDir;

use crate::batch::filter::{Sample, Selection};
use crate::commands::device::DeviceOption;
use crate::commands::fit::Fit;
use crate::commands::output::json;
use crate::commands::recipe::{NetworkOptions, Stage};
use crate::commands::{dataset, values};
use crate::error::TrainerError;
use crate::files;
use crate::report::forecast::{Forecast, Measured};
use crate::report::forecast_plot;
use crate::report::learning_curves::{Extent, ShortFit, share};
use crate::training::device::Device;
use crate::training::plan::Plan;
use crate::training::short_fits::{self, ShortFits};

const EXAMPLE: &str = "\
Example: before a night of training, what should it have more of?
  trainer forecast --data 2013-02.dataset --epochs 10 --plot forecast.svg

The options describe a run of `trainer fit`. The command trains on an eighth, a quarter and a
half of its positions; and on an eighth with an eighth, a quarter and a half of the first
layer's neurons, and with a quarter and a half of the epochs. Together that takes about 1.4
times as long as the run. It fits a power law to each series of held-out losses, and prints
the loss to expect of the run, and with twice the data, width or epochs.

Fits on an eighth are repeated with another seed, which also chooses other positions. From
their spread come the intervals, which hold nine of ten losses if the power law goes on. A
gain within its spread is reported as \"cannot tell\", and so are losses that fall faster with
each doubling: no power law does that, and the fits were too short.

Positions are chosen by hash, from all games. New games differ more than new positions of the
same games, so twice as many games should gain at least what is forecast for the data. Gains of
width and epochs are those on an eighth of the data: on all of it, width tends to gain more,
epochs less. A wider net also makes the engine slower.";

/// Arguments of `trainer forecast`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Write the forecast as JSON
    #[arg(short, long, value_name = "FILE.json", value_parser = values::figures)]
    out: Option<PathBuf>,
    /// Replace an existing --out
    #[arg(long)]
    force: bool,
    /// Draw losses and forecast as SVG
    #[arg(long, value_name = "FILE.svg", value_parser = values::picture)]
    plot: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOption,
    #[command(flatten)]
    network: NetworkOptions,
    #[command(flatten)]
    stage: Stage,
    /// First seed of the starting weights, of the order and of the choice of positions
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true,
          value_parser = values::seed)]
    seed: u64,
    /// Fits of each size on an eighth of the data
    #[arg(long, value_name = "N", default_value = "2", allow_negative_numbers = true,
          value_parser = values::seeds)]
    seeds: u64,
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
    if let Some(out) = &arguments.out {
        host::check_free(out, arguments.force)?;
        files::check_writable(out)?;
    }
    if let Some(plot) = &arguments.plot {
        files::check_picture(plot)?;
    }
    let device = arguments.device.find()?;
    let path = arguments.stage.data()?;
    let dataset = dataset::open_to_train_on(path)?;
    if dataset.len(Split::Validation) == 0 {
        return Err(TrainerError::NoPositions {
            path: path.to_path_buf(),
            split: "held-out",
        });
    }
    let mut runs = Runs {
        network: &arguments.network,
        stage: &arguments.stage,
        dataset: &dataset,
        device: &device,
        seed: arguments.seed,
        samples: Vec::new(),
    };
    let forecast = Forecast::new(runs.measure(path, arguments.seeds)?);
    let figures = json(&forecast);
    host::print(&match arguments.json {
        true => figures.clone(),
        false => forecast.to_string(),
    })?;
    if let Some(out) = &arguments.out {
        files::write(out, figures.as_bytes())?;
    }
    if let Some(plot) = &arguments.plot {
        files::write(plot, forecast_plot::svg(&forecast).as_bytes())?;
    }
    Ok(())
}

/// Settings common to all fits.
struct Runs<'a> {
    network: &'a NetworkOptions,
    stage: &'a Stage,
    dataset: &'a Dataset,
    device: &'a Device,
    seed: u64,
    /// Samples counted so far.
    samples: Vec<Selection>,
}

impl Runs<'_> {
    /// Carries out the short fits.
    fn measure(&mut self, path: &Path, seeds: u64) -> Result<Measured, TrainerError> {
        let whole = self.whole()?;
        let size = short_fits::extent(&whole);
        let base = self.plan(size.on_base(), self.seed)?;
        let short = ShortFits::new(&whole, &base, seeds);
        tell(format_args!(
            "forecast of {:#} on {}: {} positions, {} epochs",
            whole.architecture,
            self.device,
            thousands(whole.selection.positions),
            whole.epochs,
        ));
        let mut measured = Measured {
            data: path.to_path_buf(),
            fingerprint: self.dataset.fingerprint().to_string(),
            architecture: whole.architecture.to_string(),
            device: self.device.to_string(),
            whole: size,
            positions: whole.selection.positions,
            material: None,
            fits: Vec::new(),
            left_out: Vec::new(),
        };
        if !short.fits.is_empty() {
            tell(format_args!(
                "{} short fits, together {:.1} times the arithmetic of that run",
                short.fits.len(),
                short.cost(size),
            ));
            for (axis, why) in &short.left_out {
                tell(format_args!(
                    "twice the {}: cannot tell: {why}",
                    axis.name()
                ));
            }
            self.fit_all(&short, size, &mut measured)?;
        }
        measured.left_out = short.left_out;
        Ok(measured)
    }

    /// Carries out all fits in a temporary folder.
    fn fit_all(
        &mut self,
        short: &ShortFits,
        whole: Extent,
        measured: &mut Measured,
    ) -> Result<(), TrainerError> {
        let stop = StopSignal::listen().unwrap_or_else(|error| {
            tell(format_args!("Ctrl-C will end the program at once: {error}"));
            StopSignal::default()
        });
        let folder = tempfile::tempdir();
        let folder = folder.map_err(TrainerError::unwritable(&env::temp_dir()))?;
        let (began, mut done) = (Instant::now(), 0.0);
        for (index, &(extent, seed)) in short.fits.iter().enumerate() {
            tell(format_args!(
                "fit {} of {}: {} of the data, width {}, {} epochs, seed {seed}{}",
                index + 1,
                short.fits.len(),
                share(extent.data),
                extent.first,
                extent.epochs,
                time_left(began.elapsed(), done, short.cost(whole)),
            ));
            let mut plan = self.plan(extent, seed)?;
            plan.out = folder.path().join(format!("fit{}.safetensors", index + 1));
            let positions = plan.selection.positions;
            let ended = self.device.run(Fit {
                dataset: self.dataset,
                plan: &mut plan,
                stop: &stop,
            });
            let summary = match ended {
                Ok(summary) => summary,
                Err(error) => return Err(without_checkpoint(error, folder)),
            };
            let validation = summary.validation.expect("there are held-out positions");
            measured.material = Some(validation.material_loss);
            measured.fits.push(ShortFit {
                extent,
                seed,
                positions,
                loss: validation.loss,
                seconds: summary.seconds,
            });
            done += short_fits::cost(extent, whole);
        }
        Ok(())
    }

    /// Returns the plan of the run to forecast.
    fn whole(&self) -> Result<Plan, TrainerError> {
        let start = self.network.start()?;
        let plan = self.stage.plan(start, self.stage.selection(self.dataset)?);
        if plan.init.is_some() {
            return Err(TrainerError::Usage(
                "a net to start from cannot be narrowed; remove --init".to_string(),
            ));
        }
        Ok(Plan {
            seed: self.seed,
            ..plan
        })
    }

    /// Returns the plan of a short fit. Options that are not given have the defaults for its number
    /// of positions.
    fn plan(&mut self, extent: Extent, seed: u64) -> Result<Plan, TrainerError> {
        let start = self.network.start()?;
        let selection = self.sample(Sample {
            share: extent.data,
            seed,
        })?;
        let mut plan = self.stage.plan(start, selection);
        plan.architecture.first = extent.first;
        Ok(Plan {
            device: self.device.clone(),
            epochs: extent.epochs,
            seed,
            ..plan
        })
    }

    /// Returns the positions of a sample, which fits of several sizes share; counts each only once.
    fn sample(&mut self, sample: Sample) -> Result<Selection, TrainerError> {
        let mut samples = self.samples.iter();
        if let Some(counted) = samples.find(|counted| counted.filter.sample == Some(sample)) {
            return Ok(*counted);
        }
        let selection = self.stage.sampled(sample).selection(self.dataset)?;
        self.samples.push(selection);
        Ok(selection)
    }
}

/// Returns the error of a fit in `folder`, from which none can resume. The batch of a diverged fit
/// is kept there.
fn without_checkpoint(error: TrainerError, folder: TempDir) -> TrainerError {
    match error {
        TrainerError::Interrupted { exit_code, .. } => TrainerError::Stopped { exit_code },
        TrainerError::Diverged { .. } => {
            let _kept = folder.keep();
            error
        }
        _ => error,
    }
}

/// Formats the time left at the pace so far, for a line of progress; empty before the first fit.
fn time_left(elapsed: Duration, done: f64, total: f64) -> String {
    match done > 0.0 {
        true => {
            let left = elapsed.as_secs_f64() * (total - done) / done;
            format!(
                "; all fits {}",
                eta(Duration::from_secs(left.round() as u64))
            )
        }
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_time_left() {
        let elapsed = Duration::from_secs(60);
        assert_eq!(time_left(elapsed, 0.0, 1.4), "");
        let left = time_left(elapsed, 0.35, 1.4);
        assert_eq!(left, "; all fits ETA 00:03:00");
    }
}
