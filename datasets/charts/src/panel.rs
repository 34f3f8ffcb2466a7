//! Drawing primitives of charts, and the page that holds panels.

use svg::node::Blob;
use svg::node::element::{Circle, Group, Line, Path, Polyline, Rectangle, SVG, Text, Title};

use crate::style::{Colour, style};

/// Width of a panel, readable on a phone.
pub const WIDTH: f64 = 480.0;
/// Width of a panel that spans two columns of a sheet.
pub const WIDE: f64 = 2.0 * (WIDTH + PADDING) + GAP;
/// Margin inside a card of a sheet.
const PADDING: f64 = 20.0;
/// Gap between cards, and at the edges of a sheet.
const GAP: f64 = 16.0;
/// Height of a line of a note.
const LINE: f64 = 18.0;

/// Position `(x, y)` in pixels, or in axis units.
pub type Point = (f64, f64);

/// Alignment of a text at its point.
#[derive(Clone, Copy)]
pub enum Anchor {
    /// The text starts at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// Emphasis of a text.
#[derive(Clone, Copy)]
pub enum Tone {
    /// Names.
    Plain,
    /// Axes and notes.
    Faint,
    /// Important figures.
    Strong,
    /// Title of a panel.
    Title,
    /// Heading of a sheet.
    Heading,
}

/// Legend symbol of a series.
#[derive(Clone, Copy)]
pub enum Mark {
    /// Filled square.
    Fill,
    /// Solid line.
    Line,
    /// Dashed line.
    Dashed,
}

/// A chart: a drawing area below an optional title and note.
pub struct Panel {
    size: (f64, f64),
    head: f64,
    title: String,
    content: Group,
}

impl Panel {
    /// Creates an empty panel with a drawing area of `size`, its origin at the top left. Without a
    /// title the note is dropped too.
    pub fn new(title: &str, note: &str, size: (f64, f64)) -> Panel {
        let lines = wrapped(note, size.0);
        let head = match title.is_empty() {
            true => 0.0,
            false => 30.0 + LINE * lines.len() as f64,
        };
        let mut panel = Panel {
            size,
            head,
            title: printable(title),
            content: Group::new(),
        };
        if title.is_empty() {
            return panel;
        }
        panel.text((0.0, 15.0 - head), Anchor::Start, Tone::Title, title);
        for (i, line) in lines.iter().enumerate() {
            let y = 36.0 + LINE * i as f64 - head;
            panel.text((0.0, y), Anchor::Start, Tone::Faint, line);
        }
        panel
    }

    /// Width of the drawing area.
    pub fn width(&self) -> f64 {
        self.size.0
    }

    /// Height of the drawing area.
    pub fn height(&self) -> f64 {
        self.size.1
    }

    /// Returns the panel as SVG without a stylesheet, for a page that includes [`style`].
    pub fn inline(self) -> String {
        let size = (self.size.0, self.head + self.size.1);
        let document = document(size, &self.title);
        document.add(self.placed(0.0, 0.0)).to_string()
    }

    fn placed(self, x: f64, y: f64) -> Group {
        let y = y + self.head;
        self.content.set("transform", format!("translate({x} {y})"))
    }

    fn add(&mut self, node: impl Into<Box<dyn svg::Node>>) {
        svg::Node::append(&mut self.content, node);
    }

    /// Draws a text.
    pub fn text(&mut self, at: Point, anchor: Anchor, tone: Tone, words: &str) {
        self.add(text(at, anchor, tone, words));
    }

    /// Draws a filled rectangle; `hint` is its tooltip.
    pub fn rectangle(&mut self, at: Point, size: (f64, f64), colour: Colour, hint: &str) {
        let mut rectangle = rectangle(at, size, &format!("fill {}", colour.class()));
        if !hint.is_empty() {
            rectangle = rectangle.add(Title::new(printable(hint)));
        }
        self.add(rectangle);
    }

    /// Draws a thin grid line.
    pub fn rule(&mut self, from: Point, to: Point) {
        let line = Line::new()
            .set("x1", tenths(from.0))
            .set("y1", tenths(from.1))
            .set("x2", tenths(to.0))
            .set("y2", tenths(to.1));
        self.add(line.set("class", "grid"));
    }

    /// Draws a line through points.
    pub fn line(&mut self, points: &[Point], colour: Colour) {
        self.polyline(points, "line", colour);
    }

    /// Draws a dashed line through points.
    pub fn dashed(&mut self, points: &[Point], colour: Colour) {
        self.polyline(points, "line dashed", colour);
    }

    fn polyline(&mut self, points: &[Point], class: &str, colour: Colour) {
        let points: Vec<String> = points
            .iter()
            .map(|&(x, y)| format!("{},{}", tenths(x), tenths(y)))
            .collect();
        let line = Polyline::new().set("points", points.join(" "));
        self.add(line.set("class", format!("{class} {}", colour.class())));
    }

    /// Draws a disc; `hint` is its tooltip.
    pub fn dot(&mut self, at: Point, radius: f64, colour: Colour, hint: &str) {
        let dot = Circle::new()
            .set("cx", tenths(at.0))
            .set("cy", tenths(at.1))
            .set("r", radius)
            .set("class", format!("fill {}", colour.class()))
            .add(Title::new(printable(hint)));
        self.add(dot);
    }

    /// Draws a filled shape from the commands of an SVG path.
    pub fn shape(&mut self, commands: &str, colour: Colour, opacity: f64) {
        let shape = Path::new().set("d", commands);
        let shape = shape.set("class", format!("fill {}", colour.class()));
        self.add(shape.set("fill-opacity", opacity));
    }

    /// Adds any SVG node.
    pub fn node(&mut self, node: impl Into<Box<dyn svg::Node>>) {
        self.add(node);
    }

    /// Draws a one-line legend: the symbol and name of each series.
    pub fn legend(&mut self, at: Point, entries: &[(Mark, Colour, &str)]) {
        const SWATCH: f64 = 20.0;
        let (mut x, y) = (at.0, at.1 - 4.5);
        for &(mark, colour, name) in entries {
            let line = [(x, y), (x + SWATCH, y)];
            match mark {
                Mark::Fill => self.rectangle((x + 8.0, y - 6.0), (12.0, 12.0), colour, ""),
                Mark::Line => self.line(&line, colour),
                Mark::Dashed => self.dashed(&line, colour),
            }
            let start = (x + SWATCH + 7.0, at.1);
            self.text(start, Anchor::Start, Tone::Plain, name);
            x += SWATCH + 18.0 + text_width(name);
        }
    }
}

/// Lays out rows of panels below an optional heading and note, as a standalone SVG.
pub fn sheet(heading: Option<(&str, &str)>, rows: Vec<Vec<Panel>>) -> String {
    let panels = rows.iter().flatten();
    let titles: Vec<&str> = match heading {
        Some((title, note)) => vec![title, note],
        None => panels.map(|panel| &panel.title[..]).collect(),
    };
    let title = titles.join("; ");
    let (mut placed, mut width, mut y) = (Group::new(), 0.0, GAP);
    if let Some((title, note)) = heading {
        let words = [(26.0, Tone::Heading, title), (50.0, Tone::Faint, note)];
        for (below, tone, words) in words {
            placed = placed.add(text((GAP + 4.0, y + below), Anchor::Start, tone, words));
        }
        y += 66.0;
    }
    for row in rows {
        let heights = row.iter().map(|panel| panel.head + panel.size.1);
        let height = heights.fold(0.0, f64::max);
        let mut x = GAP;
        for panel in row {
            let size = (panel.size.0 + 2.0 * PADDING, height + 2.0 * PADDING);
            placed = placed.add(rectangle((x, y), size, "card").set("rx", 8));
            placed = placed.add(panel.placed(x + PADDING, y + PADDING));
            x += size.0 + GAP;
        }
        width = f64::max(width, x);
        y += height + 2.0 * PADDING + GAP;
    }
    document((width, y), &printable(&title))
        .set("width", width)
        .set("height", y)
        // A Blob keeps the stylesheet unescaped.
        .add(Blob::new(format!("<style>\n{}</style>", style())))
        .add(rectangle((0.0, 0.0), (width, y), "paper"))
        .add(placed)
        .to_string()
}

fn document((width, height): (f64, f64), title: &str) -> SVG {
    SVG::new()
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("viewBox", (0.0, 0.0, width, height))
        .set("role", "img")
        .add(Title::new(title))
}

fn text(at: Point, anchor: Anchor, tone: Tone, words: &str) -> Text {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let text = Text::new(printable(words))
        .set("x", tenths(at.0))
        .set("y", tenths(at.1))
        .set("text-anchor", anchor);
    match tone {
        Tone::Plain => text,
        Tone::Faint => text.set("class", "faint"),
        Tone::Strong => text.set("class", "strong"),
        Tone::Title => text.set("class", "title"),
        Tone::Heading => text.set("class", "heading"),
    }
}

fn rectangle(at: Point, size: (f64, f64), class: &str) -> Rectangle {
    Rectangle::new()
        .set("x", tenths(at.0))
        .set("y", tenths(at.1))
        .set("width", tenths(size.0))
        .set("height", tenths(size.1))
        .set("class", class)
}

/// Removes the characters that XML forbids.
fn printable(text: &str) -> String {
    let forbidden = |c: char| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}');
    text.replace(forbidden, "")
}

/// Estimates the width of a text in a wide font.
pub fn text_width(text: &str) -> f64 {
    7.3 * text.chars().count() as f64
}

/// Truncates a text with an ellipsis to fit `width`.
pub fn fitted(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_string();
    }
    let room = (width / text_width("…")) as usize;
    let mut short: String = text.chars().take(room.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Wraps a text at word boundaries to lines of at most `width`.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line) + text_width(word) + text_width(" ") <= width => {
                *line += " ";
                *line += word;
            }
            _ => lines.push(fitted(word, width)),
        }
    }
    lines
}

/// Rounds pixels to tenths: finer than visible, and short in the file.
pub(crate) fn tenths(pixels: f64) -> f64 {
    (10.0 * pixels).round() / 10.0
}

#[cfg(test)]
mod tests {
    use svg::parser::Event;

    use super::*;

    /// Names of sources, engines and players are untrusted.
    #[test]
    fn escapes_hostile_names() {
        let name = "\x00\x1b[31m\u{FFFF}</text><script>&\"'";
        let mut panel = Panel::new(name, name, (WIDTH, 10.0));
        panel.text((0.0, 0.0), Anchor::Start, Tone::Plain, name);
        panel.rectangle((0.0, 0.0), (1.0, 1.0), Colour::Blue, name);
        panel.dot((0.0, 0.0), 1.0, Colour::Blue, name);
        panel.legend((0.0, 0.0), &[(Mark::Dashed, Colour::Grey, name)]);
        let svg = sheet(Some((name, name)), vec![vec![panel]]);
        let bad = |c: char| c.is_control() && c != '\n' || c == '\u{FFFF}';
        assert!(!svg.contains(bad), "{svg}");
        assert!(
            svg.contains("[31m&lt;/text&gt;&lt;script&gt;&amp;"),
            "{svg}"
        );
        let mut open = 0;
        for event in svg::read(&svg).unwrap() {
            match event {
                Event::Tag("script", ..) => panic!("{svg}"),
                Event::Tag(_, svg::node::element::tag::Type::Start, _) => open += 1,
                Event::Tag(_, svg::node::element::tag::Type::End, _) => open -= 1,
                Event::Error(error) => panic!("{error}: {svg}"),
                _ => {}
            }
        }
        assert_eq!(open, 0, "{svg}");
    }

    #[test]
    fn sheet_size_fits_its_panels() {
        let panel = |height| Panel::new("a", "", (WIDTH, height));
        let wide = sheet(None, vec![vec![panel(100.0), panel(50.0)]]);
        assert!(wide.contains("viewBox=\"0 0 1088 202\""), "{wide}");
        let tall = sheet(None, vec![vec![panel(100.0)], vec![panel(50.0)]]);
        assert!(tall.contains("viewBox=\"0 0 552 338\""), "{tall}");
        assert!(tall.contains("prefers-color-scheme: dark"));
        assert_eq!(WIDE + 2.0 * PADDING + 2.0 * GAP, 1088.0);
    }

    #[test]
    fn truncates_and_wraps_texts() {
        assert_eq!(fitted("abc", 100.0), "abc");
        assert_eq!(fitted("abcdef", 22.0), "ab…");
        assert_eq!(wrapped("ab cd ef", 37.0), ["ab cd", "ef"]);
        assert!(wrapped("", 37.0).is_empty());
    }
}
