//! The ratings of a ladder as a picture. Lengths are in pixels, from the top
//! left; colours are classes of [`STYLE`].

use svg::Document;
use svg::node::Blob;
use svg::node::element::{Circle, Line, Rectangle, Text, Title};

use crate::statistics::ratings::Rating;

const WIDTH: f64 = 640.0;
const GAP: f64 = 28.0;
/// Where the first row begins.
const HEAD: f64 = 92.0;
const ROW: f64 = 40.0;
/// Room for the names on the left and the figures on the right.
const NAMES: f64 = 150.0;
const FIGURES: f64 = 134.0;
/// Longer names are cut: they would run into the chart.
const LONGEST_NAME: usize = 20;

/// The colours of Okabe and Ito, lighter on dark ground, as in the other
/// pictures of this project.
const STYLE: &str = "\
text { font-family: system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1f2933 }
.faint { fill: #52606d }
.strong { font-weight: 600 }
.paper { fill: #ffffff }
.grid { stroke: #e1e5ea }
.zero { stroke: #9aa5b1 }
.error { stroke: #0072b2; stroke-width: 2.5; stroke-linecap: round }
.rating { fill: #0072b2 }
@media (prefers-color-scheme: dark) {
text { fill: #e4e7eb }
.faint { fill: #a3aebb }
.paper { fill: #171c22 }
.grid { stroke: #2c3540 }
.zero { stroke: #616e7c }
.error { stroke: #4cb0ea }
.rating { fill: #4cb0ea }
}
";

/// Draws ratings with their intervals, one a row in the given order.
pub fn draw(rows: &[(&str, Rating)]) -> String {
    let bottom = HEAD + ROW * rows.len() as f64;
    let height = bottom + 24.0 + GAP;
    let scale = Scale::over(rows);
    let mut chart = Chart(
        Document::new()
            .set("viewBox", (0.0, 0.0, WIDTH, height))
            .set("width", WIDTH)
            .set("height", height)
            .set("role", "img")
            .add(Title::new("Elo ladder"))
            // Blob: the stylesheet must not be escaped.
            .add(Blob::new(format!("<style>\n{STYLE}</style>")))
            .add(
                Rectangle::new()
                    .set("width", WIDTH)
                    .set("height", height)
                    .set("class", "paper"),
            ),
    );
    chart.text((GAP, GAP + 16.0), 17, "strong", "start", "Elo ladder");
    let anchor = rows.iter().find(|row| row.1.elo_interval.is_none());
    let anchor = anchor.map_or("", |row| row.0);
    let note = format!("Logistic Elo from {anchor}, with the 95 % interval of the difference.");
    chart.text((GAP, GAP + 37.0), 13, "faint", "start", &note);
    for tick in scale.ticks() {
        let x = scale.x(tick);
        let (class, label) = match tick {
            0.0 => ("zero", "0".to_string()),
            _ => ("grid", format!("{tick:+.0}")),
        };
        chart.line((x, HEAD - 8.0), (x, bottom), class);
        chart.text((x, bottom + 19.0), 13, "faint", "middle", &label);
    }
    for (i, (name, rating)) in rows.iter().enumerate() {
        chart.row(HEAD + ROW * (i as f64 + 0.5), name, rating, &scale);
    }
    chart.0.to_string()
}

/// From Elo to pixels.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// All ratings with the ends of their intervals that there are, and some
    /// room.
    fn over(rows: &[(&str, Rating)]) -> Scale {
        let ends = rows.iter().flat_map(|(_, rating)| {
            let ends = rating.elo_interval.unwrap_or_default();
            [rating.elo, ends[0], ends[1]]
        });
        let ends = ends.filter(|elo| elo.is_finite());
        let low = ends.clone().fold(0.0, f64::min);
        let high = ends.fold(0.0, f64::max);
        let room = (0.05 * (high - low)).max(1.0);
        Scale {
            low: low - room,
            high: high + room,
        }
    }

    /// Where an end of an interval is drawn; `None` beyond the chart.
    fn end(&self, elo: f64) -> Option<f64> {
        elo.is_finite().then(|| self.x(elo))
    }

    fn x(&self, elo: f64) -> f64 {
        let left = GAP + NAMES;
        let width = WIDTH - left - FIGURES - GAP;
        left + width * (elo - self.low) / (self.high - self.low)
    }

    /// Some five round numbers.
    fn ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0].map(|factor| factor * power);
        let step = steps.into_iter().find(|&step| step >= rough);
        let step = step.unwrap_or(10.0 * power);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        (first as i64..=last as i64)
            .map(|i| i as f64 * step)
            .collect()
    }
}

struct Chart(Document);

impl Chart {
    fn row(&mut self, y: f64, name: &str, rating: &Rating, scale: &Scale) {
        let x = scale.x(rating.elo);
        let figures = match rating.elo_interval {
            Some([low, high]) => format!("{:+.0} [{low:+.0}, {high:+.0}]", rating.elo),
            None => "0, anchor".to_string(),
        };
        if let Some(interval) = rating.elo_interval {
            let [left, right] = interval.map(|elo| scale.end(elo));
            // An interval without end runs to that of the chart, and is open there.
            let [first, last] = [scale.low, scale.high].map(|elo| scale.x(elo));
            let (from, to) = (left.unwrap_or(first), right.unwrap_or(last));
            self.line((from, y), (to, y), "error");
            for end in [left, right].into_iter().flatten() {
                self.line((end, y - 5.0), (end, y + 5.0), "error");
            }
        }
        let dot = Circle::new()
            .set("cx", tenths(x))
            .set("cy", tenths(y))
            .set("r", 6)
            .set("class", "rating")
            .add(Title::new(format!("{name}: {figures}")));
        svg::Node::append(&mut self.0, dot);
        let mut short: String = name.chars().take(LONGEST_NAME).collect();
        if short.len() < name.len() {
            short.pop();
            short.push('…');
        }
        self.text((GAP, y + 4.5), 14, "", "start", &short);
        self.text((WIDTH - GAP, y + 4.5), 13, "strong", "end", &figures);
    }

    fn text(&mut self, at: (f64, f64), size: u32, class: &str, anchor: &str, words: &str) {
        let text = Text::new(words)
            .set("x", tenths(at.0))
            .set("y", tenths(at.1))
            .set("font-size", size)
            .set("text-anchor", anchor)
            .set("class", class);
        svg::Node::append(&mut self.0, text);
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let line = Line::new()
            .set("x1", tenths(from.0))
            .set("y1", tenths(from.1))
            .set("x2", tenths(to.0))
            .set("y2", tenths(to.1))
            .set("class", class);
        svg::Node::append(&mut self.0, line);
    }
}

/// Pixels to a tenth: finer than can be seen, and short in the file.
fn tenths(pixels: f64) -> f64 {
    (10.0 * pixels).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_drawn_lies_within_the_chart() {
        let rating = |elo, elo_interval| Rating { elo, elo_interval };
        let anchor = ("a < b", rating(0.0, None));
        let around = |elo: f64, error: f64| rating(elo, Some([elo - error, elo + error]));
        for rows in [
            vec![anchor, ("c", around(0.0, 0.0))],
            vec![anchor, ("c", around(-900.0, 450.0))],
            vec![anchor, ("c", around(3.2, 4.1))],
            vec![anchor, ("c", rating(640.0, Some([120.0, f64::INFINITY])))],
            vec![anchor, ("c", around(0.0, f64::INFINITY))],
        ] {
            let scale = Scale::over(&rows);
            let ticks = scale.ticks();
            assert!(
                ticks.contains(&0.0) && (2..=11).contains(&ticks.len()),
                "{ticks:?}"
            );
            let left = |rating: &Rating| rating.elo_interval.and_then(|ends| scale.end(ends[0]));
            let left = |rating| left(rating).unwrap_or(scale.x(rating.elo));
            assert!(rows.iter().all(|row| left(&row.1) > GAP + NAMES));
            let svg = draw(&rows);
            assert!(svg.contains("a &lt; b"), "{svg}");
            let coordinates = svg.replace("inf]", "").replace("[-inf", "");
            assert!(
                !coordinates.contains("NaN") && !coordinates.contains("inf"),
                "{svg}"
            );
        }
    }
}
