//! The ratings of a ladder as a picture. Lengths are in pixels, from the top
//! left; colours are classes of [`STYLE`].

use svg::Document;
use svg::node::Blob;
use svg::node::element::{Circle, Line, Rectangle, Text, Title};

use super::ratings::Rating;

const WIDTH: f64 = 640.0;
const GAP: f64 = 28.0;
/// Where the first row begins.
const HEAD: f64 = 92.0;
const ROW: f64 = 40.0;
/// Room for the names on the left and the figures on the right.
const NAMES: f64 = 150.0;
const FIGURES: f64 = 104.0;
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

/// Draws ratings with their errors, one a row in the given order.
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
    let anchor = rows.iter().find(|row| row.1.elo_error.is_none());
    let anchor = anchor.map_or("", |row| row.0);
    let note = format!("Logistic Elo from {anchor}, with the 95 % error of the difference.");
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
    /// All ratings with their errors, and some room.
    fn over(rows: &[(&str, Rating)]) -> Scale {
        let error = |rating: &Rating| rating.elo_error.unwrap_or_default();
        let ends = |side: f64| {
            rows.iter()
                .map(move |(_, rating)| rating.elo + side * error(rating))
        };
        let low = ends(-1.0).fold(0.0, f64::min);
        let high = ends(1.0).fold(0.0, f64::max);
        let room = (0.05 * (high - low)).max(1.0);
        Scale {
            low: low - room,
            high: high + room,
        }
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
        let mut figures = format!("{:+.0}", rating.elo);
        if let Some(error) = rating.elo_error {
            let (left, right) = (scale.x(rating.elo - error), scale.x(rating.elo + error));
            self.line((left, y), (right, y), "error");
            for end in [left, right] {
                self.line((end, y - 5.0), (end, y + 5.0), "error");
            }
            figures += &format!(" ±{error:.0}");
        } else {
            figures = "0, anchor".to_string();
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
        let rating = |elo, elo_error| Rating { elo, elo_error };
        for rows in [
            vec![("a < b", rating(0.0, None)), ("c", rating(0.0, Some(0.0)))],
            vec![
                ("a < b", rating(0.0, None)),
                ("c", rating(-900.0, Some(450.0))),
            ],
            vec![("a < b", rating(0.0, None)), ("c", rating(3.2, Some(4.1)))],
        ] {
            let scale = Scale::over(&rows);
            let ticks = scale.ticks();
            assert!(
                ticks.contains(&0.0) && (2..=11).contains(&ticks.len()),
                "{ticks:?}"
            );
            let left = |rating: &Rating| rating.elo - rating.elo_error.unwrap_or(0.0);
            assert!(rows.iter().all(|row| scale.x(left(&row.1)) > GAP + NAMES));
            let svg = draw(&rows);
            assert!(svg.contains("a &lt; b") && !svg.contains("NaN"), "{svg}");
        }
    }
}
