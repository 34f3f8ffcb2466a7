//! Comparison of runs: figures, and differences of configurations.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::TrainerError;
use crate::files::ending;
use crate::net;
use crate::report::figures::decimals;
use crate::report::metrics::{self, Epoch, Stretch};

/// Runs, and the differences of their configurations.
#[derive(Debug, Serialize)]
pub struct Runs {
    /// Runs in the given order.
    pub runs: Vec<Run>,
    /// Settings that differ between runs.
    pub differences: Vec<Difference>,
}

/// Metrics and configuration of one run.
#[derive(Debug, Serialize)]
pub struct Run {
    /// Unique name in pictures.
    pub name: String,
    /// Path of the metrics.
    pub metrics: PathBuf,
    /// Number of finished epochs.
    pub epochs: u64,
    /// Figures of the epoch with the kept net.
    pub best: EpochFigures,
    /// Figures of the last epoch.
    pub last: EpochFigures,
    /// Training time in seconds, validation excluded.
    pub seconds: f64,
    /// Training positions of all epochs together.
    pub positions: u64,
    /// Metrics of the epochs.
    #[serde(skip)]
    pub lines: Vec<Epoch>,
    /// Metrics of the steps; empty if not recorded.
    #[serde(skip)]
    pub steps: Vec<Stretch>,
    /// Net's metadata; null without a net.
    #[serde(skip)]
    configuration: Value,
}

/// Figures of an epoch; those on held-out games only if there are any.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EpochFigures {
    /// Number of the epoch, counted from 1.
    pub epoch: u64,
    /// Mean training loss over its positions.
    pub train_loss: f64,
    /// Training loss on held-out games.
    pub loss: Option<f64>,
    /// Mean error in win chance.
    pub winchance: Option<f64>,
    /// Mean error in pawns.
    pub clamp10: Option<f64>,
    /// Share of right signs.
    pub sign_accuracy: Option<f64>,
}

impl EpochFigures {
    fn of(epoch: &Epoch) -> EpochFigures {
        let net = epoch.validation.map(|held_out| held_out.figures.net);
        EpochFigures {
            epoch: epoch.epoch,
            train_loss: epoch.train_loss,
            loss: epoch.validation.map(|held_out| held_out.loss),
            winchance: net.and_then(|net| net.winchance),
            clamp10: net.and_then(|net| net.clamp10),
            sign_accuracy: net.and_then(|net| net.sign_accuracy),
        }
    }
}

/// Setting that differs between runs.
#[derive(Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Path of the setting, such as `training learning_rate`.
    pub key: String,
    /// Values by run; null where missing.
    pub values: Vec<Value>,
}

/// Reads runs by their nets or their metrics.
///
/// # Errors
/// [`TrainerError::Unreadable`], [`TrainerError::NoMetrics`] or [`TrainerError::NetRefused`].
pub fn read(files: &[PathBuf]) -> Result<Runs, TrainerError> {
    let names = names(files);
    let runs = files.iter().zip(names);
    let runs = runs.map(|(file, name)| read_run(file, name));
    let runs: Vec<Run> = runs.collect::<Result<_, _>>()?;
    let configurations: Vec<&Value> = runs.iter().map(|run| &run.configuration).collect();
    let mut differences = Vec::new();
    compare(&configurations, "", &mut differences);
    Ok(Runs { runs, differences })
}

/// Reads a run by its net with metrics beside it, or by its metrics, with or without a net.
fn read_run(file: &Path, name: String) -> Result<Run, TrainerError> {
    let stem = stem(file);
    let beside = |ending: &str| file.with_file_name(format!("{stem}.{ending}"));
    let model = beside("safetensors");
    let metrics = match file == model {
        true => beside(ending::METRICS),
        false => file.to_path_buf(),
    };
    let found = (file == model || model.exists()).then(|| net::read(&model));
    let found = found.transpose()?;
    let lines = metrics::read_epochs(&metrics)?;
    let refused = |why: &str| TrainerError::NoMetrics {
        path: metrics.clone(),
        why: why.to_string(),
    };
    let (Some(best), Some(last)) = (metrics::best(&lines), lines.last()) else {
        return Err(refused("no epoch has ended yet"));
    };
    let configuration = match &found {
        Some(net) if net.metadata.validation["figures"] != json!(best.validation) => {
            return Err(refused("not of the net beside it"));
        }
        Some(net) => configuration(&net.metadata),
        None => Value::Null,
    };
    Ok(Run {
        name,
        epochs: last.epoch,
        best: EpochFigures::of(best),
        last: EpochFigures::of(last),
        seconds: lines.iter().map(Epoch::seconds).sum(),
        positions: lines.iter().map(Epoch::positions).sum(),
        metrics,
        lines,
        steps: metrics::read_steps(&beside(ending::STEPS))?,
        configuration,
    })
}

/// Returns the metadata without validation figures: the settings that decide the net.
fn configuration(metadata: &models::Metadata) -> Value {
    let mut all = serde_json::to_value(metadata).expect("plain JSON");
    if let Some(entries) = all.as_object_mut() {
        entries.remove("validation");
    }
    all
}

/// Returns the file name of a run without extension.
fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let endings = ["safetensors", ending::METRICS];
    let mut stems = endings
        .iter()
        .filter_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'));
    stems.next().unwrap_or(&name).to_string()
}

/// Returns short, unique names of the files.
fn names(files: &[PathBuf]) -> Vec<String> {
    let short: Vec<String> = files.iter().map(|file| stem(file)).collect();
    let unique = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
    let names = short.iter().zip(files);
    let names = names.map(|(name, file)| match unique(name) {
        true => name.clone(),
        false => file.with_file_name(name).display().to_string(),
    });
    names.collect()
}

/// Collects the values that differ, descending into objects.
fn compare(values: &[&Value], key: &str, differences: &mut Vec<Difference>) {
    let Some((first, rest)) = values.split_first() else {
        return;
    };
    if rest.iter().all(|value| value == first) {
        return;
    }
    // A run without this object counts as having null entries.
    let objects = |value: &&&Value| value.is_object();
    if values
        .iter()
        .all(|value| value.is_object() || value.is_null())
    {
        let objects = values.iter().filter(objects);
        let mut keys: Vec<&String> = objects
            .flat_map(|value| {
                value
                    .as_object()
                    .into_iter()
                    .flat_map(|entries| entries.keys())
            })
            .collect();
        keys.sort_unstable();
        keys.dedup();
        for name in keys {
            let entries: Vec<&Value> = values.iter().map(|value| &value[name]).collect();
            let key = match key {
                "" => name.clone(),
                key => format!("{key} {name}"),
            };
            compare(&entries, &key, differences);
        }
        return;
    }
    differences.push(Difference {
        key: key.to_string(),
        values: values.iter().map(|&value| value.clone()).collect(),
    });
}

/// Formats a configuration value.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Row of the table: name, and formatter of a run's figure.
pub type Row = (&'static str, fn(&Run) -> String);

/// Rows of the comparison.
pub const ROWS: [Row; 9] = [
    ("best epoch", |run| {
        format!("{} of {}", run.best.epoch, run.epochs)
    }),
    ("held-out loss", |run| decimals(run.best.loss, 4)),
    ("winchance L1", |run| decimals(run.best.winchance, 4)),
    ("clamp10 L1", |run| decimals(run.best.clamp10, 3)),
    ("sign accuracy", |run| decimals(run.best.sign_accuracy, 4)),
    ("held-out loss, last epoch", |run| {
        decimals(run.last.loss, 4)
    }),
    ("training loss, last epoch", |run| {
        decimals(Some(run.last.train_loss), 4)
    }),
    ("positions trained on", |run| host::thousands(run.positions)),
    ("seconds of training", |run| format!("{:.1}", run.seconds)),
];

impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let names = self.runs.iter().map(|run| run.name.clone());
        let mut table = vec![(String::new(), names.collect::<Vec<_>>())];
        for (name, show) in ROWS {
            table.push((name.to_string(), self.runs.iter().map(show).collect()));
        }
        for Difference { key, values } in &self.differences {
            table.push((key.clone(), values.iter().map(shown).collect()));
        }
        let length = |text: &String| text.chars().count();
        let first = table.iter().map(|(key, _)| length(key)).max().unwrap_or(0);
        let column = |index: usize| table.iter().map(move |row| length(&row.1[index])).max();
        let widths: Vec<usize> = (0..self.runs.len()).filter_map(column).collect();
        for (key, values) in &table {
            write!(f, "{key:first$}")?;
            for (value, width) in values.iter().zip(&widths) {
                write!(f, "  {value:>width$}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_only_differences() {
        let of = |rate: f64, optimizer: Value| json!({ "training": { "learning_rate": rate, "seed": 1, "optimizer": optimizer } });
        let find = |values: &[Value]| {
            let mut found = Vec::new();
            compare(&values.iter().collect::<Vec<_>>(), "", &mut found);
            found
        };
        let adam = json!({ "name": "AdamW", "weight_decay": 0.3 });
        assert_eq!(find(&[of(0.1, adam.clone()), of(0.1, adam.clone())]), []);
        let difference = |key: &str, values: &[Value]| Difference {
            key: key.to_string(),
            values: values.to_vec(),
        };
        let less = json!({ "name": "AdamW", "weight_decay": 0.1 });
        assert_eq!(
            find(&[of(0.1, adam.clone()), of(0.2, less), of(0.1, adam.clone())]),
            [
                difference(
                    "training learning_rate",
                    &[json!(0.1), json!(0.2), json!(0.1)]
                ),
                difference(
                    "training optimizer weight_decay",
                    &[json!(0.3), json!(0.1), json!(0.3)]
                ),
            ]
        );
        // A run without a net has no configuration.
        let found = find(&[of(0.1, json!("plain")), Value::Null]);
        assert_eq!(found.len(), 3);
        assert_eq!(
            found[1],
            difference("training optimizer", &[json!("plain"), Value::Null])
        );
    }

    #[test]
    fn names_are_short_and_unique() {
        let files = ["a/n.safetensors", "b/n.metrics.jsonl", "b/m.metrics.jsonl"];
        assert_eq!(names(&files.map(PathBuf::from)), ["a/n", "b/n", "m"]);
    }
}
