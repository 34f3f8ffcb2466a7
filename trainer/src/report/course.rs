//! Course of a run: per-step metrics thinned to few stretches, and their pictures.

use charts::{Colour, Graph, Mark, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::report::metrics::{self, Epoch, Stretch};

/// Steps of a run in at most [`MOST`] stretches of equal length, except that the last may be
/// shorter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    stretches: Vec<Stretch>,
}

/// Upper limit of stretches kept: more than a picture can show.
pub const MOST: usize = 1000;

/// Upper limit of stretches drawn: on some 400 pixels, more are unreadable.
const DRAWN: usize = 200;

impl Course {
    /// Adds the next step. If there are too many stretches, merges them in pairs.
    pub fn add(&mut self, step: Stretch) {
        let length = self.stretches.first().map_or(0, |first| first.steps);
        match self.stretches.last_mut() {
            Some(last) if last.steps < length => *last = last.with(step),
            _ => self.stretches.push(step),
        }
        if self.stretches.len() > MOST {
            self.stretches = in_groups(&self.stretches, 2);
        }
    }

    /// Returns the stretches in order.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }
}

/// Merges groups of `length` stretches.
fn in_groups(stretches: &[Stretch], length: usize) -> Vec<Stretch> {
    let groups = stretches.chunks(length);
    groups.filter_map(Stretch::joined).collect()
}

/// Merges stretches to as many as are drawn.
pub fn thinned(stretches: &[Stretch]) -> Vec<Stretch> {
    in_groups(stretches, stretches.len().div_ceil(DRAWN).max(1))
}

/// Draws learning rate, gradient norm, speed and waiting time by step, with a line at `clip_norm`.
pub fn panels(stretches: &[Stretch], clip_norm: Option<f64>) -> Vec<Panel> {
    let drawn = thinned(stretches);
    let of = |value: fn(&Stretch) -> f64| -> Vec<(f64, f64)> {
        let points = drawn.iter().map(|each| (each.step as f64, value(each)));
        points.collect()
    };
    let ends = (0.0, last_step(stretches));
    let graph = |title: &str, note: &str, series: Vec<Series>| {
        let graph = Graph {
            title,
            note,
            across: "step",
            ends,
            whole: true,
            levels: &[0.0],
            series,
        };
        graph.panel()
    };
    let line = |name: &str, colour, points| vec![series(name, Mark::Line, colour, points)];
    let norms = of(|each| each.gradient_norm);
    let mut gradients = line("mean", Colour::Blue, norms.clone());
    // A line far above all gradients would flatten their curve.
    let longest = norms.iter().map(|point| point.1).fold(0.0, f64::max);
    if let Some(clip) = clip_norm.filter(|clip| *clip < 2.0 * longest) {
        let level = vec![(ends.0, clip), (ends.1, clip)];
        gradients.push(series("--clip-norm", Mark::Dashed, Colour::Grey, level));
    }
    vec![
        graph(
            "Learning rate",
            "Of each step.",
            line("rate", Colour::Blue, of(|each| each.learning_rate)),
        ),
        graph(
            "Gradient",
            "Length of all parameters together, before clipping.",
            gradients,
        ),
        graph(
            "Positions a second",
            "Training alone.",
            line("rate", Colour::Blue, of(Stretch::positions_per_second)),
        ),
        graph(
            "Waiting for data",
            "Share of the time in which no batch was ready, in %.",
            line("share", Colour::Blue, of(Stretch::waiting_percent)),
        ),
    ]
}

/// Draws the loss by step, with held-out losses at the ends of epochs.
pub fn loss_panel(stretches: &[Stretch], epochs: &[Epoch]) -> Panel {
    let drawn = thinned(stretches);
    let ends = (0.0, last_step(stretches));
    let training = drawn.iter().map(|each| (each.step as f64, each.train_loss));
    let mut lines = vec![series(
        "training",
        Mark::Line,
        Colour::Orange,
        training.collect(),
    )];
    let mut positions = 0;
    let held_out = epochs.iter().filter_map(|epoch| {
        positions += epoch.positions();
        let step = step_after(stretches, positions)?;
        Some((step, epoch.validation?.loss))
    });
    let held_out: Vec<(f64, f64)> = held_out.collect();
    if !held_out.is_empty() {
        lines.push(Series {
            dotted: held_out.len() <= 50,
            ..series("held-out games", Mark::Line, Colour::Blue, held_out)
        });
    }
    if let Some(loss) = metrics::material(epochs) {
        let level = vec![(ends.0, loss), (ends.1, loss)];
        lines.push(series(
            "material on those",
            Mark::Dashed,
            Colour::Grey,
            level,
        ));
    }
    let graph = Graph {
        title: "Loss by step",
        note: "By distance in win chance, -1 lost to 1 won, mates included.",
        across: "step",
        ends,
        whole: true,
        levels: &[],
        series: lines,
    };
    graph.panel()
}

/// Returns the step, interpolated, after which `positions` positions were trained on; `None` if
/// there are fewer.
fn step_after(stretches: &[Stretch], positions: u64) -> Option<f64> {
    let mut behind = 0;
    stretches.iter().find_map(|each| {
        let before = behind;
        behind += each.positions;
        let left = positions.checked_sub(before)?;
        let share = left as f64 / each.positions as f64;
        let first = each.step - each.steps;
        (share <= 1.0).then_some(first as f64 + share * each.steps as f64)
    })
}

fn last_step(stretches: &[Stretch]) -> f64 {
    stretches.last().map_or(1.0, |last| last.step as f64)
}

fn series(name: &str, mark: Mark, colour: Colour, points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.to_string(),
        mark,
        colour,
        points,
        dotted: false,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::report::metrics::tests::epoch;

    /// Returns the course of `steps` steps, each of 100 positions and a second.
    pub fn course(steps: u64) -> Course {
        let mut course = Course::default();
        for step in 1..=steps {
            course.add(Stretch {
                step,
                steps: 1,
                positions: 100,
                train_loss: 0.2 + 1.0 / step as f64,
                gradient_norm: 1.0,
                learning_rate: 1e-3 / step as f64,
                waiting_seconds: 0.25,
                computing_seconds: 0.75,
            });
        }
        course
    }

    #[test]
    fn thinning_keeps_totals_and_means() {
        for steps in [0, 1, 999, 1000, 1001, 1999, 2001, 12_345, 100_000] {
            let course = course(steps);
            let stretches = course.stretches();
            assert!(stretches.len() <= MOST && (steps < 1000 || stretches.len() > MOST / 2));
            for stretches in [stretches, &thinned(stretches)] {
                let Some(all) = Stretch::joined(stretches) else {
                    assert_eq!(steps, 0);
                    continue;
                };
                assert_eq!(
                    (all.step, all.steps, all.positions),
                    (steps, steps, 100 * steps)
                );
                let losses = (1..=steps).map(|step| 0.2 + 1.0 / step as f64);
                let mean = losses.sum::<f64>() / steps as f64;
                assert!((all.train_loss - mean).abs() < 1e-9, "{steps} steps");
                assert!((all.seconds() - steps as f64).abs() < 1e-6);
                assert_eq!(all.learning_rate, 1e-3 / steps as f64);
                let (last, rest) = stretches.split_last().unwrap();
                assert!(rest.iter().all(|each| each.steps == stretches[0].steps));
                assert!(last.steps <= stretches[0].steps);
            }
            assert!(thinned(stretches).len() <= DRAWN);
        }
    }

    #[test]
    fn an_epoch_ends_at_its_step() {
        let course = course(2001);
        let at = |positions| step_after(course.stretches(), positions);
        assert_eq!(
            [0, 100, 50_050, 200_100].map(at),
            [0.0, 1.0, 500.5, 2001.0].map(Some)
        );
        assert_eq!(at(200_101), None);
        assert_eq!(step_after(&[], 1), None);
    }

    #[test]
    fn draws_any_number_of_steps() {
        for steps in [0, 1, 2, 5000] {
            let course = course(steps);
            let mut drawn = panels(course.stretches(), Some(0.5));
            let epochs = [epoch(1, 100 * steps, 0.4, Some(0.3))];
            drawn.push(loss_panel(course.stretches(), &epochs));
            for panel in drawn {
                let svg = charts::sheet(None, vec![vec![panel]]);
                assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
            }
        }
    }
}
