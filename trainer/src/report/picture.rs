//! What pictures are drawn with. A [`Panel`] is one chart, drawn narrow so
//! that it can be read on a phone; [`sheet`] puts some on a page of their own.
//! Lengths are in pixels, from the top left. Colours are classes of [`STYLE`],
//! which follows the reader's choice of light or dark.

use svg::node::Blob;
use svg::node::element::{Circle, Group, Line, Path, Polyline, Rectangle, SVG, Text, Title};

/// Width of every panel.
pub const WIDTH: f64 = 480.0;
/// Room for a panel's title and note.
const HEAD: f64 = 56.0;
/// What a sheet leaves between panels and at its edges.
const GAP: f64 = 28.0;

/// The colours: those of Okabe and Ito, which stay apart for the colour-blind,
/// lighter on dark ground. `net` is the net that is measured, `rival` what it
/// is compared with; `plus` and `minus` are the ends of a diverging scale,
/// whose middle is the ground itself.
pub const STYLE: &str = "\
svg text { font-family: system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1f2933 }
svg .faint { fill: #52606d }
svg .strong { font-weight: 600 }
svg .paper { fill: #ffffff }
svg .ground { fill: #eef1f4 }
svg .grid { stroke: #e1e5ea }
svg .axis { stroke: #9aa5b1 }
svg .net, svg .plus { fill: #0072b2 }
svg .rival { fill: #b0b7bf }
svg .other, svg .minus { fill: #d55e00 }
svg .line { stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round }
svg .line.net, svg .line.rival, svg .line.other { fill: none }
svg .line.net { stroke: #0072b2 }
svg .line.rival { stroke: #8793a0; stroke-dasharray: 7 5 }
svg .line.other { stroke: #d55e00 }
@media (prefers-color-scheme: dark) {
svg text { fill: #e4e7eb }
svg .faint { fill: #a3aebb }
svg .paper { fill: #171c22 }
svg .ground { fill: #222a33 }
svg .grid { stroke: #2c3540 }
svg .axis { stroke: #616e7c }
svg .net, svg .plus { fill: #4cb0ea }
svg .rival { fill: #616e7c }
svg .other, svg .minus { fill: #f59342 }
svg .line.net { stroke: #4cb0ea }
svg .line.rival { stroke: #8793a0 }
svg .line.other { stroke: #f59342 }
}
";

/// A point.
pub type Point = (f64, f64);

/// Where a text ends up relative to its point.
#[derive(Clone, Copy)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// One chart, [`WIDTH`] wide.
pub struct Panel {
    height: f64,
    title: String,
    content: Group,
}

impl Panel {
    /// An empty panel with a title and a note; below them is `height` to draw
    /// in, from 0.
    pub fn new(title: &str, note: &str, height: f64) -> Panel {
        let mut panel = Panel {
            height: HEAD + height,
            title: title.to_string(),
            content: Group::new(),
        };
        panel.text((0.0, 16.0 - HEAD), 17, "strong", Anchor::Start, title);
        panel.text((0.0, 37.0 - HEAD), 13, "faint", Anchor::Start, note);
        panel
    }

    /// The panel as an SVG without colours of its own, for a page that has
    /// [`STYLE`].
    pub fn inline(self) -> String {
        let (height, title) = (self.height, self.title.clone());
        document(WIDTH, height, &title)
            .add(self.placed(0.0, 0.0))
            .to_string()
    }

    fn placed(self, x: f64, y: f64) -> Group {
        self.content
            .set("transform", format!("translate({x} {})", y + HEAD))
    }

    fn add(&mut self, node: impl Into<Box<dyn svg::Node>>) {
        svg::Node::append(&mut self.content, node);
    }

    /// Words. Sizes below 13 cannot be read on a phone.
    pub fn text(
        &mut self,
        at: Point,
        size: u32,
        class: &str,
        anchor: Anchor,
        words: impl Into<String>,
    ) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = Text::new(words)
            .set("x", tenths(at.0))
            .set("y", tenths(at.1))
            .set("font-size", size)
            .set("text-anchor", anchor)
            .set("class", class);
        self.add(text);
    }

    /// A filled rectangle.
    pub fn rectangle(&mut self, at: Point, size: (f64, f64), class: &str) {
        let rectangle = Rectangle::new()
            .set("x", tenths(at.0))
            .set("y", tenths(at.1))
            .set("width", tenths(size.0))
            .set("height", tenths(size.1))
            .set("class", class);
        self.add(rectangle);
    }

    /// A thin straight line.
    pub fn rule(&mut self, from: Point, to: Point, class: &str) {
        let line = Line::new()
            .set("x1", tenths(from.0))
            .set("y1", tenths(from.1))
            .set("x2", tenths(to.0))
            .set("y2", tenths(to.1))
            .set("class", class);
        self.add(line);
    }

    /// A line through points.
    pub fn line(&mut self, points: &[Point], class: &str) {
        let points: Vec<String> = points
            .iter()
            .map(|&(x, y)| format!("{},{}", tenths(x), tenths(y)))
            .collect();
        let line = Polyline::new().set("points", points.join(" "));
        self.add(line.set("class", format!("line {class}")));
    }

    /// A disc; its hint is shown to who points at it.
    pub fn dot(&mut self, at: Point, radius: f64, class: &str, hint: &str) {
        let dot = Circle::new()
            .set("cx", tenths(at.0))
            .set("cy", tenths(at.1))
            .set("r", radius)
            .set("class", class)
            .add(Title::new(hint));
        self.add(dot);
    }

    /// A filled shape, as the commands of an SVG path.
    pub fn shape(&mut self, commands: &str, class: &str, opacity: f64) {
        let shape = Path::new().set("d", commands).set("class", class);
        self.add(shape.set("fill-opacity", opacity));
    }

    /// What the lines or fills of some classes mean, one after the other.
    pub fn legend(&mut self, at: Point, entries: &[(&str, &str)], lines: bool) {
        const SWATCH: f64 = 20.0;
        let mut x = at.0;
        for &(class, name) in entries {
            match lines {
                true => self.line(&[(x, at.1 - 4.5), (x + SWATCH, at.1 - 4.5)], class),
                false => self.rectangle((x + 6.0, at.1 - 10.5), (12.0, 12.0), class),
            }
            self.text((x + SWATCH + 7.0, at.1), 13, "", Anchor::Start, name);
            x += SWATCH + 25.0 + 6.6 * name.chars().count() as f64;
        }
    }
}

/// Panels beside and below each other, as an SVG that stands alone.
pub fn sheet(panels: Vec<Panel>, columns: usize) -> String {
    let columns = columns.min(panels.len()).max(1);
    let titles: Vec<&str> = panels.iter().map(|panel| &panel.title[..]).collect();
    let title = titles.join("; ");
    let (mut placed, mut y) = (Group::new(), GAP);
    let mut panels = panels.into_iter().peekable();
    while panels.peek().is_some() {
        let row: Vec<Panel> = panels.by_ref().take(columns).collect();
        let height = row.iter().map(|panel| panel.height).fold(0.0, f64::max);
        for (i, panel) in row.into_iter().enumerate() {
            placed = placed.add(panel.placed(GAP + i as f64 * (WIDTH + GAP), y));
        }
        y += height + GAP;
    }
    let width = GAP + columns as f64 * (WIDTH + GAP);
    let paper = Rectangle::new()
        .set("width", width)
        .set("height", y)
        .set("class", "paper");
    document(width, y, &title)
        .set("width", width)
        .set("height", y)
        // Blob: the stylesheet must not be escaped.
        .add(Blob::new(format!("<style>\n{STYLE}</style>")))
        .add(paper)
        .add(placed)
        .to_string()
}

fn document(width: f64, height: f64, title: &str) -> SVG {
    SVG::new()
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("viewBox", (0.0, 0.0, width, height))
        .set("role", "img")
        .add(Title::new(title))
}

/// Pixels to a tenth: finer than can be seen, and short in the file.
pub fn tenths(pixels: f64) -> f64 {
    (10.0 * pixels).round() / 10.0
}

/// Round numbers within a range, about so many.
pub fn ticks(low: f64, high: f64, about: u32) -> Vec<f64> {
    let rough = (high - low) / f64::from(about);
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps
        .into_iter()
        .find(|&step| step >= 0.999 * rough)
        .unwrap_or(10.0 * power);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let near = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() < 1e-9, "{found:?}");
            }
        };
        near(ticks(1.0, 5.0, 4), &[1.0, 2.0, 3.0, 4.0, 5.0]);
        near(ticks(0.21, 0.3, 5), &[0.22, 0.24, 0.26, 0.28, 0.3]);
        near(ticks(-1.0, 1.0, 4), &[-1.0, -0.5, 0.0, 0.5, 1.0]);
        near(ticks(0.0, 1300.0, 3), &[0.0, 500.0, 1000.0]);
    }

    #[test]
    fn words_are_escaped_and_sheets_hold_their_panels() {
        let panels = || {
            vec![
                Panel::new("a < b & c", "", 100.0),
                Panel::new("d", "", 50.0),
            ]
        };
        let wide = sheet(panels(), 2);
        assert!(
            wide.contains("a &lt; b &amp; c") && !wide.contains("a < b"),
            "{wide}"
        );
        assert!(wide.contains("viewBox=\"0 0 1044 212\""), "{wide}");
        assert!(sheet(panels(), 1).contains("viewBox=\"0 0 536 346\""));
    }
}
