//! Page that compares runs: overlaid loss curves, and a table.

use charts::{Colour, Graph, Mark, Panel, Series, sheet};
use maud::{Markup, html};

use crate::report::course::thinned;
use crate::report::document::{document, drawn};
use crate::report::runs::{Difference, ROWS, Run, Runs, shown};

/// Upper limit of runs: each colour as a line and as a dashed line.
pub const MOST_RUNS: usize = 2 * Colour::SERIES.len();

/// Horizontal axis of a chart.
struct Across {
    title: &'static str,
    /// Coordinates of epoch ends.
    ends: fn(&Run) -> Vec<f64>,
    /// Coordinates of stretch ends; `None` if the axis counts only epochs.
    steps: Option<fn(&Run) -> Vec<f64>>,
}

const ACROSS: [Across; 3] = [
    Across {
        title: "epoch",
        ends: |run| run.lines.iter().map(|line| line.epoch as f64).collect(),
        steps: None,
    },
    Across {
        title: "positions",
        ends: |run| sums(run.lines.iter().map(|line| line.positions() as f64)),
        steps: Some(|run| sums(thinned(&run.steps).iter().map(|each| each.positions as f64))),
    },
    Across {
        title: "seconds of training",
        ends: |run| sums(run.lines.iter().map(|line| line.seconds())),
        steps: Some(|run| sums(thinned(&run.steps).iter().map(|each| each.seconds()))),
    },
];

/// Returns the running sums.
fn sums(parts: impl Iterator<Item = f64>) -> Vec<f64> {
    let sum = |sum: &mut f64, part| {
        *sum += part;
        Some(*sum)
    };
    parts.scan(0.0, sum).collect()
}

/// Returns the page.
pub fn html(runs: &Runs) -> String {
    let names: Vec<&str> = runs.runs.iter().map(|run| &run.name[..]).collect();
    let title = names.join(", ");
    let body = html! {
        h1 { (title) }
        p { "Losses are by distance in win chance, -1 lost to 1 won, mates included. Less is better. They compare only where wdl and loss_exponent are the same." }
        div.card.wide { (table(runs)) }
        h2 { "Curves" }
        div.grid {
            @for across in &ACROSS {
                @for panel in panels(runs, across) { (drawn(panel)) }
            }
        }
    };
    document(&title, html! {}, body)
}

/// Returns the curves as a standalone SVG.
pub fn svg(runs: &Runs) -> String {
    let rows = ACROSS.iter().map(|across| panels(runs, across));
    sheet(None, rows.collect())
}

/// Draws the losses on held-out games, if any, and in training.
fn panels(runs: &Runs, across: &Across) -> Vec<Panel> {
    let held_out = runs.runs.iter().any(|run| run.best.loss.is_some());
    let held_out = held_out.then(|| panel("Held-out loss", runs, across, held_out_curve));
    let training = panel("Training loss", runs, across, training_curve);
    held_out.into_iter().chain([training]).collect()
}

/// Returns the points of a run's curve, and whether to mark them with dots.
type Line = fn(&Run, &Across) -> (Vec<(f64, f64)>, bool);

fn held_out_curve(run: &Run, across: &Across) -> (Vec<(f64, f64)>, bool) {
    let losses = run.lines.iter().map(|line| Some(line.validation?.loss));
    let points = (across.ends)(run).into_iter().zip(losses);
    let points: Vec<_> = points.filter_map(|(x, loss)| Some((x, loss?))).collect();
    let few = points.len() <= 30;
    (points, few)
}

/// Draws steps if they were recorded and the axis counts them, else epochs.
fn training_curve(run: &Run, across: &Across) -> (Vec<(f64, f64)>, bool) {
    match across.steps {
        Some(ends) if !run.steps.is_empty() => {
            let steps = thinned(&run.steps);
            let losses = steps.iter().map(|each| each.train_loss);
            (ends(run).into_iter().zip(losses).collect(), false)
        }
        _ => {
            let losses = run.lines.iter().map(|line| line.train_loss);
            let points: Vec<_> = (across.ends)(run).into_iter().zip(losses).collect();
            let few = points.len() <= 30;
            (points, few)
        }
    }
}

fn panel(title: &str, runs: &Runs, across: &Across, line: Line) -> Panel {
    let series = runs.runs.iter().enumerate().map(|(index, run)| {
        let (points, dotted) = line(run, across);
        let (mark, colour) = line_style(index);
        Series {
            name: run.name.clone(),
            mark,
            colour,
            points,
            dotted,
        }
    });
    let series: Vec<Series> = series.collect();
    let places = series.iter().flat_map(|series| &series.points);
    let last = places.map(|point| point.0).fold(0.0, f64::max);
    let first = match across.steps {
        Some(_) => 0.0,
        // The first epoch ends at 1.
        None => 1.0,
    };
    let graph = Graph {
        title: &format!("{title} by {}", across.title),
        note: "",
        across: across.title,
        ends: (first, last),
        whole: across.steps.is_none(),
        levels: &[],
        series,
    };
    graph.panel()
}

/// Returns the line style of a run.
fn line_style(index: usize) -> (Mark, Colour) {
    let colours = Colour::SERIES.len();
    let mark = match index / colours % 2 {
        0 => Mark::Line,
        _ => Mark::Dashed,
    };
    (mark, Colour::SERIES[index % colours])
}

fn table(runs: &Runs) -> Markup {
    html! {
        table {
            tr {
                th { }
                @for run in &runs.runs { th.number { (run.name) } }
            }
            @for (name, show) in ROWS {
                tr {
                    th { (name) }
                    @for run in &runs.runs { td.number { (show(run)) } }
                }
            }
            @for Difference { key, values } in &runs.differences {
                tr {
                    th { (key.replace('_', " ")) }
                    @for value in values { td.number { (shown(value)) } }
                }
            }
        }
    }
}
