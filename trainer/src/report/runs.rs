//! Several runs side by side: how each went, and what differs in how they were
//! configured.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::error::TrainerError;
use crate::files::ending;
use crate::net;
use crate::report::course::Stretch;
use crate::report::metrics::{self, EpochLine};

/// Runs, and where their configurations differ.
#[derive(Debug, Serialize)]
pub struct Runs {
    /// The runs, as they were named.
    pub runs: Vec<Run>,
    /// What is not the same in all of them.
    pub differences: Vec<Difference>,
}

/// A run.
#[derive(Debug, Serialize)]
pub struct Run {
    /// What it is called in pictures, unlike all others.
    pub name: String,
    /// Its metrics.
    pub metrics: PathBuf,
    /// Epochs that have ended.
    pub epochs: u64,
    /// The epoch whose net was kept, and its figures.
    pub best: Figures,
    /// The last epoch.
    pub last: Figures,
    /// Time of its training, validation left out.
    pub seconds: f64,
    /// Positions that it trained on, all epochs together.
    pub positions: u64,
    /// Its epochs.
    #[serde(skip)]
    pub lines: Vec<EpochLine>,
    /// Its steps, if they were recorded.
    #[serde(skip)]
    pub steps: Vec<Stretch>,
    /// What its net says of itself; null if there is no net.
    #[serde(skip)]
    configuration: Value,
}

/// An epoch's figures; those on held-out games only if there are any.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    /// Counted from 1.
    pub epoch: u64,
    /// Mean over its positions.
    pub train_loss: f64,
    /// The training loss on held-out games.
    pub loss: Option<f64>,
    /// Mean distance in win chance.
    pub winchance: Option<f64>,
    /// Mean distance in pawns.
    pub clamp10: Option<f64>,
    /// Share of right signs.
    pub sign_accuracy: Option<f64>,
}

impl Figures {
    fn of(line: &EpochLine) -> Figures {
        Figures {
            epoch: line.epoch,
            train_loss: line.train_loss,
            loss: line.held_out("/loss"),
            winchance: line.held_out("/net/winchance"),
            clamp10: line.held_out("/net/clamp10"),
            sign_accuracy: line.held_out("/net/sign_accuracy"),
        }
    }
}

/// A part of the configurations that is not the same in all runs.
#[derive(Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Where it stands, such as `training learning_rate`.
    pub key: String,
    /// The values, run by run; null where there is none.
    pub values: Vec<Value>,
}

/// Reads runs by their nets or their metrics.
///
/// # Errors
/// [`TrainerError::Unreadable`], [`TrainerError::NoMetrics`] or
/// [`TrainerError::NetRefused`].
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

/// A run by its net, which has its metrics beside it, or by its metrics, which
/// may have a net beside them.
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
        Some(net) if net.metadata.validation["figures"] != best.validation => {
            return Err(refused("they are not of the net beside them"));
        }
        Some(net) => configuration(&net.metadata),
        None => Value::Null,
    };
    let steps = beside(ending::STEPS);
    let steps = match steps.exists() {
        true => metrics::read_steps(&steps)?,
        false => Vec::new(),
    };
    Ok(Run {
        name,
        epochs: last.epoch,
        best: Figures::of(best),
        last: Figures::of(last),
        seconds: lines.iter().map(EpochLine::seconds).sum(),
        positions: lines.iter().map(EpochLine::positions).sum(),
        metrics,
        lines,
        steps,
        configuration,
    })
}

/// What decides which net comes out.
fn configuration(metadata: &models::Metadata) -> Value {
    let mut all = serde_json::to_value(metadata).expect("plain JSON");
    if let Some(entries) = all.as_object_mut() {
        entries.remove("validation");
    }
    all
}

/// The name of a run's files without their ending.
fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let endings = ["safetensors", ending::METRICS];
    let mut stems = endings
        .iter()
        .filter_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'));
    stems.next().unwrap_or(&name).to_string()
}

/// What files are called, so that no two have the same name.
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

/// Finds the values that are not the same everywhere. Objects are looked into.
fn compare(values: &[&Value], key: &str, differences: &mut Vec<Difference>) {
    let Some((first, rest)) = values.split_first() else {
        return;
    };
    if rest.iter().all(|value| value == first) {
        return;
    }
    // Where one run has no such part, the entries of the others are shown.
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

/// A value of a configuration as text.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A figure of all runs: what it is called, and how it is shown.
pub type Row = (&'static str, fn(&Run) -> String);

/// The figures that runs are compared by.
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
    ("positions trained on", |run| {
        charts::thousands(run.positions)
    }),
    ("seconds of training", |run| format!("{:.1}", run.seconds)),
];

fn decimals(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".to_string(), |value| format!("{value:.digits$}"))
}

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
    use serde_json::json;

    #[test]
    fn only_what_differs_is_shown() {
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
        // Without a net nothing is known.
        let found = find(&[of(0.1, json!("plain")), Value::Null]);
        assert_eq!(found.len(), 3);
        assert_eq!(
            found[1],
            difference("training optimizer", &[json!("plain"), Value::Null])
        );
    }

    #[test]
    fn names_are_short_where_that_tells_them_apart() {
        let files = ["a/n.safetensors", "b/n.metrics.jsonl", "b/m.metrics.jsonl"];
        assert_eq!(names(&files.map(PathBuf::from)), ["a/n", "b/n", "m"]);
    }
}
