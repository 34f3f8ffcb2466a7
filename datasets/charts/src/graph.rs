//! Line charts, such as a loss over steps.

use crate::numbers::short_count;
use crate::panel::{Anchor, Mark, Panel, Point, Tone, WIDTH, fitted, text_width};
use crate::scale::{Scale, Tick};
use crate::style::Colour;

/// Height of the plot area.
const HEIGHT: f64 = 230.0;
/// Height of the horizontal axis with its name.
const AXIS: f64 = 45.0;
/// Left edge of the plot area, after the axis values.
const LEFT: f64 = 48.0;
/// Height of a legend row.
const LEGEND: f64 = 22.0;
/// Width of a legend entry without its name.
const ENTRY: f64 = 46.0;

/// Line of a [`Graph`].
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Style of the line.
    pub mark: Mark,
    /// Colour of the line.
    pub colour: Colour,
    /// Points from left to right, in axis units. Non-finite points are skipped.
    pub points: Vec<Point>,
    /// Whether each point is marked by a dot, for series of few points.
    pub dotted: bool,
}

/// Chart of lines with common axes.
pub struct Graph<'a> {
    /// Title of the panel.
    pub title: &'a str,
    /// Note below the title: the meaning of the values.
    pub note: &'a str,
    /// Name of the horizontal axis.
    pub across: &'a str,
    /// First and last value of the horizontal axis.
    pub ends: (f64, f64),
    /// Whether the horizontal axis has integer ticks only.
    pub whole: bool,
    /// Values that the vertical axis always includes.
    pub levels: &'a [f64],
    /// Lines in drawing order, the last on top.
    pub series: Vec<Series>,
}

impl Graph<'_> {
    /// Draws the chart as a panel of [`WIDTH`], with a legend unless there is a single line.
    pub fn panel(&self) -> Panel {
        let entries = match &self.series[..] {
            [_] => Vec::new(),
            series => legend(series),
        };
        let rows = entries.last().map_or(0.0, |entry| entry.at.1 + LEGEND);
        let (top, bottom) = (rows + 10.0, rows + 10.0 + HEIGHT);
        let mut panel = Panel::new(self.title, self.note, (WIDTH, bottom + AXIS));
        for entry in entries {
            let at = (entry.at.0, entry.at.1 + 14.0);
            panel.legend(at, &[(entry.mark, entry.colour, &entry.name)]);
        }
        let x = Scale::new(self.ends, (LEFT, WIDTH - 8.0));
        let values = self.series.iter().flat_map(|series| &series.points);
        let values = values.map(|point| point.1).chain(self.levels.to_vec());
        let y = Scale::around(values, (bottom, top));
        for tick in y.ticks(5) {
            let at = y.at(tick.value);
            panel.rule((LEFT, at), (WIDTH, at));
            let at = (LEFT - 8.0, at + 4.5);
            panel.text(at, Anchor::End, Tone::Faint, &short(&tick));
        }
        let ticks = x.ticks(6).into_iter();
        for tick in ticks.filter(|tick| !self.whole || tick.value.fract() == 0.0) {
            let at = (x.at(tick.value), bottom + 20.0);
            panel.text(at, Anchor::Middle, Tone::Faint, &short(&tick));
        }
        let middle = ((LEFT + WIDTH) / 2.0, bottom + 40.0);
        panel.text(middle, Anchor::Middle, Tone::Faint, self.across);
        for series in &self.series {
            let finite = series.points.iter();
            let finite = finite.filter(|point| point.0.is_finite() && point.1.is_finite());
            let places: Vec<Point> = finite.map(|p| (x.at(p.0), y.at(p.1))).collect();
            // A line through one point is invisible.
            if series.dotted || places.len() == 1 {
                for &place in &places {
                    panel.dot(place, 3.5, series.colour, "");
                }
            }
            match series.mark {
                Mark::Dashed => panel.dashed(&places, series.colour),
                Mark::Line | Mark::Fill => panel.line(&places, series.colour),
            }
        }
        panel
    }
}

/// Formats an axis value in short form: `20k` instead of `20000`.
fn short(tick: &Tick) -> String {
    match tick.value.abs() {
        10_000.0.. => short_count(tick.value),
        _ => tick.text.clone(),
    }
}

/// Legend entry with its position.
struct Entry {
    at: Point,
    mark: Mark,
    colour: Colour,
    name: String,
}

/// Lays out the legend in as many rows as needed.
fn legend(series: &[Series]) -> Vec<Entry> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut entries = Vec::new();
    for series in series {
        let name = fitted(&series.name, WIDTH - ENTRY);
        let width = ENTRY + text_width(&name);
        if x > 0.0 && x + width > WIDTH {
            (x, y) = (0.0, y + LEGEND);
        }
        entries.push(Entry {
            at: (x, y),
            mark: series.mark,
            colour: series.colour,
            name,
        });
        x += width;
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::sheet;

    fn series(name: &str, points: &[Point]) -> Series {
        Series {
            name: name.to_string(),
            mark: Mark::Line,
            colour: Colour::Blue,
            points: points.to_vec(),
            dotted: false,
        }
    }

    fn drawn(series: Vec<Series>, ends: (f64, f64)) -> String {
        let graph = Graph {
            title: "Loss",
            note: "",
            across: "step",
            ends,
            whole: true,
            levels: &[],
            series,
        };
        let svg = sheet(None, vec![vec![graph.panel()]]);
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
        svg
    }

    #[test]
    fn draws_any_series() {
        drawn(vec![], (0.0, 0.0));
        drawn(vec![series("a", &[])], (0.0, 1.0));
        let broken = [(0.0, f64::NAN), (1.0, 2.0), (2.0, f64::INFINITY)];
        let svg = drawn(vec![series("a", &broken)], (0.0, 2.0));
        assert_eq!(svg.matches("<circle").count(), 1, "{svg}");
        let svg = drawn(
            vec![series("a", &[(0.0, 1.0), (50_000.0, 2.0)])],
            (0.0, 5e4),
        );
        assert!(svg.contains("\n20k\n") && !svg.contains("<circle"), "{svg}");
        // Two epochs.
        let svg = drawn(vec![series("a", &[(1.0, 7.0), (2.0, 8.0)])], (1.0, 2.0));
        assert!(svg.contains("\n1.0\n") && !svg.contains("\n1.2\n"), "{svg}");
    }

    #[test]
    fn legend_entries_never_overlap() {
        let names: Vec<String> = (0..9).map(|i| "n".repeat(5 + 9 * i)).collect();
        let entries = legend(
            &names
                .iter()
                .map(|name| series(name, &[]))
                .collect::<Vec<_>>(),
        );
        let end = |entry: &Entry| entry.at.0 + ENTRY + text_width(&entry.name);
        assert!(entries.iter().all(|entry| end(entry) <= WIDTH));
        for pair in entries.windows(2) {
            let below = pair[1].at.1 >= pair[0].at.1 + LEGEND;
            assert!(below || pair[1].at.0 >= end(&pair[0]));
        }
        assert!(entries[8].at.1 > 0.0);
    }
}
