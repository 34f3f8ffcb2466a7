//! Comparison of evaluators (nets, engines, material) on the same labelled positions.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use charts::{Colour, Dot, Panel, WIDTH, sheet};
use datasets::{Record, read_labelled};
use host::thousands;
use models::Network;
use serde::Serialize;

use crate::error::TrainerError;
use crate::files::names;
use crate::report::figures::Figures;
use crate::report::measurement::read_in_blocks;
use crate::report::scaled::Scaled;

/// Name of the material balance.
const MATERIAL: &str = "material";

/// Smallest share of labelled positions to compare without a warning: with fewer, the figures may
/// not represent the games. One in two, as `ingest annotate --every 2` leaves them, is enough.
const LEAST_SHARE: f64 = 0.4;

/// Number of runs of consecutive positions, for confidence intervals by batch means: positions of
/// one game are correlated, so single positions would give too narrow an interval.
const BATCHES: usize = 20;
/// Minimum length of a run.
const LEAST_BATCH: usize = 20;
/// 97.5 % quantile of Student's t distribution with `BATCHES - 1` degrees of freedom.
const T_95: f64 = 2.093;

/// Source of evaluations.
enum Evaluator {
    Material,
    Net(Box<network::Evaluator>),
    /// Pawns for the side to move, by EPD.
    Annotated(HashMap<String, f32>),
}

/// Contender: a name and its evaluations.
pub struct Contender {
    name: String,
    evaluator: Evaluator,
}

impl Contender {
    /// Returns the material balance as a contender.
    pub fn material() -> Contender {
        Contender {
            name: MATERIAL.to_string(),
            evaluator: Evaluator::Material,
        }
    }

    /// Returns a network as a contender.
    pub fn network(name: String, network: &Network) -> Contender {
        let evaluator = Evaluator::Net(Box::new(network::Evaluator::new(network)));
        Contender { name, evaluator }
    }

    /// Reads the evaluations in a PGN file, such as `ingest annotate --replace` writes for the
    /// labelled games.
    pub fn annotated(name: String, path: &Path) -> Result<Contender, TrainerError> {
        let mut values = HashMap::new();
        read_labelled(path, |record| {
            values.insert(record.epd(), features::target_pawns(&record));
        })?;
        let evaluator = Evaluator::Annotated(values);
        Ok(Contender { name, evaluator })
    }

    /// Returns the positions' values in pawns for the side to move; `None` for unevaluated ones.
    fn values(&self, records: &[Record]) -> Vec<Option<f32>> {
        let each = |value: &dyn Fn(&Record) -> Option<f32>| records.iter().map(value).collect();
        match &self.evaluator {
            Evaluator::Material => each(&|record| Some(features::material(record))),
            Evaluator::Net(network) => network.values(records).into_iter().map(Some).collect(),
            Evaluator::Annotated(values) => each(&|record| values.get(&record.epd()).copied()),
        }
    }
}

/// Checks that all names of contenders differ.
pub fn check_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), TrainerError> {
    let mut taken = vec![MATERIAL];
    for name in names {
        if taken.contains(&name) {
            return Err(TrainerError::Usage(format!(
                "two contenders are called {name:?} (the first is always {MATERIAL:?}): give each \
                 --contender another name"
            )));
        }
        taken.push(name);
    }
    Ok(())
}

/// Output of `trainer compare`.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Paths of the PGN files with the labels.
    pub data: Vec<PathBuf>,
    /// Positions excluded for a mate as their label.
    pub mates: u64,
    /// Positions excluded because a contender has no evaluation of them.
    pub not_evaluated: u64,
    /// Share of the labelled positions that every contender evaluates.
    pub share: f64,
    /// Warning about a small share.
    pub warning: Option<String>,
    /// Figures of the contenders, on the same positions.
    pub rows: Vec<Row>,
}

/// Figures of one contender.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Name of the contender.
    pub name: String,
    /// Number of labelled positions without its evaluation.
    pub missing: u64,
    /// Figures over all compared positions.
    #[serde(flatten)]
    pub measures: Measures,
    /// Figures of each run of consecutive positions; empty if there are too few.
    #[serde(skip)]
    pub batches: Vec<Measures>,
}

/// Figures of a contender, unscaled and scaled.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measures {
    /// Figures against the labels.
    #[serde(flatten)]
    pub figures: Figures,
    /// Figures with the evaluations scaled to the labels' pawn.
    pub scaled: Scaled,
}

/// Accumulated pairs of a contender.
#[derive(Default)]
struct ContenderPairs {
    /// Pairs of evaluation and label in pawns, without mates.
    pairs: Vec<(f32, f32)>,
    /// Number of labelled positions without an evaluation.
    missing: u64,
}

impl ContenderPairs {
    fn add(&mut self, record: &Record, value: f32) {
        if record.label().mate().is_none() {
            self.pairs.push((value, features::target_pawns(record)));
        }
    }

    fn row(&self, contender: &Contender) -> Row {
        let scaled = Scaled::best(&self.pairs);
        let length = self.pairs.len() / BATCHES;
        let batches = match length {
            ..LEAST_BATCH => Vec::new(),
            _ => {
                let batches = self.pairs.chunks_exact(length).take(BATCHES);
                let measures = batches.map(|pairs| Measures {
                    figures: Figures::of(pairs),
                    scaled: Scaled::by(scaled.factor, pairs),
                });
                measures.collect()
            }
        };
        Row {
            name: contender.name.clone(),
            missing: self.missing,
            measures: Measures {
                figures: Figures::of(&self.pairs),
                scaled,
            },
            batches,
        }
    }
}

/// Measures contenders against every label of PGN files except mates, counting repeated positions
/// again. The first contender must evaluate every position.
///
/// # Errors
/// [`TrainerError::Data`]; [`TrainerError::NoLabels`] without labels;
/// [`TrainerError::NothingToCompare`] if all contenders together evaluate no position but mates.
pub fn compare(contenders: &[Contender], data: Vec<PathBuf>) -> Result<Comparison, TrainerError> {
    let mut gatherings: Vec<ContenderPairs> = contenders
        .iter()
        .map(|_| ContenderPairs::default())
        .collect();
    let (mut labelled, mut not_evaluated) = (0, 0);
    for path in &data {
        read_in_blocks(path, |records| {
            let values: Vec<_> = contenders.iter().map(|each| each.values(records)).collect();
            for (index, record) in records.iter().enumerate() {
                labelled += 1;
                let values = values.iter().map(|values| values[index]);
                for (gathering, value) in gatherings.iter_mut().zip(values.clone()) {
                    gathering.missing += u64::from(value.is_none());
                }
                let Some(values) = values.collect::<Option<Vec<f32>>>() else {
                    not_evaluated += 1;
                    continue;
                };
                for (gathering, value) in gatherings.iter_mut().zip(values) {
                    gathering.add(record, value);
                }
            }
        })?;
    }
    if labelled == 0 {
        let files = names(&data);
        return Err(TrainerError::NoLabels { files });
    }
    let missing = contenders.iter().zip(&gatherings);
    let missing = missing.filter(|(_, gathering)| gathering.missing > 0);
    let missing: Vec<String> = missing
        .map(|(each, gathering)| format!("{:?} lacks {}", each.name, gathering.missing))
        .collect();
    let share = (labelled - not_evaluated) as f64 / labelled as f64;
    let rest = format!(
        "of {labelled} labelled positions {} are evaluated by all contenders: {}; give the same \
         games, annotated anew with `ingest annotate --replace`",
        labelled - not_evaluated,
        missing.join(", ")
    );
    if gatherings
        .iter()
        .any(|gathering| gathering.pairs.is_empty())
    {
        let why = match missing.is_empty() {
            true => "every label is a mate".to_string(),
            false => rest,
        };
        return Err(TrainerError::NothingToCompare { why });
    }
    let rows = contenders.iter().zip(&gatherings);
    let rows: Vec<Row> = rows.map(|(each, gathering)| gathering.row(each)).collect();
    Ok(Comparison {
        mates: labelled - not_evaluated - rows.first().map_or(0, |row| row.measures.figures.count),
        not_evaluated,
        share,
        warning: (share < LEAST_SHARE).then_some(rest),
        rows,
        data,
    })
}

/// Figure of all rows: title, description, accessor.
struct Figure {
    title: &'static str,
    note: &'static str,
    of: fn(&Measures) -> Option<f64>,
    /// Digits after the decimal point.
    digits: usize,
}

const FIGURES: [Figure; 4] = [
    Figure {
        title: "winchance L1",
        note: "Mean distance in win chance, -1 lost to 1 won. Less is better.",
        of: |measures| measures.figures.winchance,
        digits: 4,
    },
    Figure {
        title: "the same, scaled",
        note: "All evaluations times the factor that suits the labels best.",
        of: |measures| Some(measures.scaled.winchance),
        digits: 4,
    },
    Figure {
        title: "clamp10 L1",
        note: "Mean distance in pawns, clamped to ±10. Less is better.",
        of: |measures| measures.figures.clamp10,
        digits: 3,
    },
    Figure {
        title: "sign accuracy",
        note: "Share of right signs where |label| is a pawn or more.",
        of: |measures| measures.figures.sign_accuracy,
        digits: 4,
    },
];

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let positions = self
            .rows
            .first()
            .map_or(0, |row| row.measures.figures.count);
        writeln!(
            f,
            "{} positions of {}; left out: {} mates, {} not evaluated",
            thousands(positions),
            names(&self.data),
            thousands(self.mates),
            thousands(self.not_evaluated)
        )?;
        if let Some(warning) = &self.warning {
            writeln!(f, "WARNING: {warning}")?;
        }
        writeln!(f)?;
        let name = |row: &Row| row.name.chars().count();
        let width = self.rows.iter().map(name).max().unwrap_or(0);
        write!(f, "{:width$}", "")?;
        for Figure { title, .. } in FIGURES {
            write!(f, "  {title:>16}")?;
        }
        writeln!(f, "  {:>16}", "scaled by")?;
        for row in &self.rows {
            write!(f, "{:width$}", row.name)?;
            for figure in &FIGURES {
                write!(f, "  {:>16}", figure.text(row))?;
            }
            writeln!(f, "  {:>16.2}", row.measures.scaled.factor)?;
        }
        Ok(())
    }
}

impl Figure {
    fn text(&self, row: &Row) -> String {
        let value = (self.of)(&row.measures);
        value.map_or("-".to_string(), |x| format!("{x:.*}", self.digits))
    }

    /// Returns the 95 % confidence interval around `value`, by the scatter of the batches.
    fn interval(&self, row: &Row, value: f64) -> Option<[f64; 2]> {
        let batches: Vec<f64> = row.batches.iter().filter_map(self.of).collect();
        if batches.len() < BATCHES {
            return None;
        }
        let count = batches.len() as f64;
        let mean = batches.iter().sum::<f64>() / count;
        let squares: f64 = batches.iter().map(|x| (x - mean).powi(2)).sum();
        let error = T_95 * (squares / (count - 1.0) / count).sqrt();
        Some([value - error, value + error])
    }

    /// Draws a dot a row. A contender has the same colour in every panel.
    fn panel(&self, rows: &[Row]) -> Panel {
        let others = Colour::SERIES.into_iter().cycle();
        let colours = [Colour::Grey].into_iter().chain(others);
        let dots: Vec<Dot> = (rows.iter().zip(colours))
            .filter_map(|(row, colour)| {
                let value = (self.of)(&row.measures)?;
                Some(Dot {
                    name: row.name.clone(),
                    value,
                    interval: self.interval(row, value),
                    figure: self.text(row),
                    colour,
                })
            })
            .collect();
        let size = (WIDTH, Panel::dots_height(dots.len()));
        let mut panel = Panel::new(self.title, self.note, size);
        panel.dots(0.0, &dots);
        panel
    }
}

/// Returns the figures as a standalone SVG.
pub fn svg(comparison: &Comparison) -> String {
    let title = match &comparison.data[..] {
        [file] => file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        files => format!("{} files of games", files.len()),
    };
    let positions = comparison.rows.first();
    let positions = positions.map_or(0, |row| row.measures.figures.count);
    let note = format!(
        "{} positions, the same for all; 95 % intervals by {BATCHES} runs of consecutive positions. \
         Differences between contenders are surer than these.",
        thousands(positions)
    );
    let [a, b, c, d] = FIGURES.map(|figure| figure.panel(&comparison.rows));
    sheet(Some((&title, &note)), vec![vec![a, b], vec![c, d]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a game of three moves with these evaluations.
    fn annotated(folder: &Path, name: &str, values: [&str; 3]) -> PathBuf {
        let path = folder.join(name);
        let [a, b, c] = values.map(|value| match value {
            "" => String::new(),
            value => format!("{{ [%eval {value}] }} "),
        });
        let text = format!("[Event \"x\"]\n[Result \"*\"]\n\n1. e4 {a}1... d5 {b}2. exd5 {c}*\n");
        std::fs::write(&path, text).expect("a file");
        path
    }

    #[test]
    fn figures_cover_the_commonly_evaluated_positions() {
        let folder = tempfile::tempdir().expect("a folder");
        let labels = annotated(folder.path(), "labels.pgn", ["1.5", "-1.0", "#4"]);
        let near = annotated(folder.path(), "near.pgn", ["1.0", "-3.0", "2.0"]);
        let few = annotated(folder.path(), "few.pgn", ["-0.5", "", ""]);
        let contender =
            |name: &str, path| Contender::annotated(name.to_string(), path).expect("a contender");
        let all = [Contender::material(), contender("near", &near)];
        let comparison = compare(&all, vec![labels.clone()]).expect("positions");
        assert_eq!((comparison.mates, comparison.not_evaluated), (1, 0));
        let [material, figures] = &comparison.rows[..] else {
            panic!("{comparison:?}");
        };
        assert_eq!(material.measures.figures.clamp10, Some(1.25));
        assert_eq!(figures.measures.figures.count, 2);
        assert_eq!(figures.measures.figures.clamp10, Some(1.25));
        assert_eq!(figures.measures.figures.sign_accuracy, Some(1.0));

        let both = [
            Contender::material(),
            contender("near", &near),
            contender("few", &few),
        ];
        let comparison = compare(&both, vec![labels.clone()]).expect("positions");
        assert_eq!((comparison.mates, comparison.not_evaluated), (0, 2));
        let figures = |i: usize| comparison.rows[i].measures.figures;
        assert_eq!(figures(1).clamp10, Some(0.5));
        assert_eq!(
            (figures(2).clamp10, figures(2).sign_accuracy),
            (Some(2.0), Some(0.0))
        );
        let text = comparison.to_string();
        assert!(text.contains("\nnear      "), "{text}");
        let picture = svg(&comparison);
        assert!(
            picture.contains("0.500") && picture.contains("few"),
            "{picture}"
        );
    }

    #[test]
    fn contenders_keep_their_colours_and_intervals_hold_the_figures() {
        let gather = |name: &str, distance: f32| {
            let pairs = (0..1000)
                .map(|i| (distance * (i % 7) as f32, 1.5))
                .collect();
            let gathering = ContenderPairs { pairs, missing: 0 };
            gathering.row(&Contender {
                name: name.to_string(),
                evaluator: Evaluator::Material,
            })
        };
        let rows = [gather("material", 1.0), gather("a", 0.5), gather("b", 0.25)];
        for figure in FIGURES {
            let value = (figure.of)(&rows[0].measures).unwrap();
            let [low, high] = figure.interval(&rows[0], value).unwrap();
            assert!(low < value && value < high && high - low < value);
            let svg = figure.panel(&rows).inline();
            let dots: Vec<&str> = svg.split("<circle class=\"fill ").skip(1).collect();
            let colours = ["grey", "blue", "orange"];
            assert!(dots.len() == 3 && dots.iter().zip(colours).all(|(d, c)| d.starts_with(c)));
        }
    }

    #[test]
    fn refuses_positions_with_mates_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let labels = annotated(folder.path(), "labels.pgn", ["#3", "", ""]);
        let all = [Contender::annotated("a".to_string(), &labels).expect("a contender")];
        assert!(matches!(
            compare(&all, vec![labels]),
            Err(TrainerError::NothingToCompare { .. })
        ));
    }
}
