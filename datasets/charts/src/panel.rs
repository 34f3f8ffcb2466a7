//! What charts are drawn with, and the page they are put on.

use svg::node::Blob;
use svg::node::element::{Circle, Group, Line, Path, Polyline, Rectangle, SVG, Text, Title};

use crate::style::{Colour, style};

/// Width of a panel that can be read on a phone.
pub const WIDTH: f64 = 480.0;
/// Width of a panel that takes the room of two.
pub const WIDE: f64 = 2.0 * (WIDTH + PADDING) + GAP;
/// What a card of a sheet leaves free at its edges.
const PADDING: f64 = 20.0;
/// What a sheet leaves between cards and at its edges.
const GAP: f64 = 16.0;
/// Height of a line of a note.
const LINE: f64 = 18.0;

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

/// How loud a text is.
#[derive(Clone, Copy)]
pub enum Tone {
    /// Names.
    Plain,
    /// Axes and notes.
    Faint,
    /// Figures that matter.
    Strong,
    /// A panel's title.
    Title,
    /// A sheet's heading.
    Heading,
}

/// What a legend shows before a name.
#[derive(Clone, Copy)]
pub enum Mark {
    /// A filled square.
    Fill,
    /// A line.
    Line,
    /// A dashed line.
    Dashed,
}

/// One chart.
pub struct Panel {
    size: (f64, f64),
    head: f64,
    title: String,
    content: Group,
}

impl Panel {
    /// An empty panel with a title and a note, or neither; below them is room of this width
    /// and height to draw in, from 0.
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

    /// The width that there is to draw in.
    pub fn width(&self) -> f64 {
        self.size.0
    }

    /// The height that there is to draw in.
    pub fn height(&self) -> f64 {
        self.size.1
    }

    /// The panel as an SVG without colours of its own, for a page that has
    /// [`style`].
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

    /// Words.
    pub fn text(&mut self, at: Point, anchor: Anchor, tone: Tone, words: &str) {
        self.add(text(at, anchor, tone, words));
    }

    /// A filled rectangle; its hint is shown to who points at it.
    pub fn rectangle(&mut self, at: Point, size: (f64, f64), colour: Colour, hint: &str) {
        let mut rectangle = rectangle(at, size, &format!("fill {}", colour.class()));
        if !hint.is_empty() {
            rectangle = rectangle.add(Title::new(printable(hint)));
        }
        self.add(rectangle);
    }

    /// A thin line of the grid.
    pub fn rule(&mut self, from: Point, to: Point) {
        let line = Line::new()
            .set("x1", tenths(from.0))
            .set("y1", tenths(from.1))
            .set("x2", tenths(to.0))
            .set("y2", tenths(to.1));
        self.add(line.set("class", "grid"));
    }

    /// A line through points.
    pub fn line(&mut self, points: &[Point], colour: Colour) {
        self.polyline(points, "line", colour);
    }

    /// A dashed line through points.
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

    /// A disc; its hint is shown to who points at it.
    pub fn dot(&mut self, at: Point, radius: f64, colour: Colour, hint: &str) {
        let dot = Circle::new()
            .set("cx", tenths(at.0))
            .set("cy", tenths(at.1))
            .set("r", radius)
            .set("class", format!("fill {}", colour.class()))
            .add(Title::new(printable(hint)));
        self.add(dot);
    }

    /// A filled shape, as the commands of an SVG path.
    pub fn shape(&mut self, commands: &str, colour: Colour, opacity: f64) {
        let shape = Path::new().set("d", commands);
        let shape = shape.set("class", format!("fill {}", colour.class()));
        self.add(shape.set("fill-opacity", opacity));
    }

    /// Anything else that SVG can say.
    pub fn node(&mut self, node: impl Into<Box<dyn svg::Node>>) {
        self.add(node);
    }

    /// What marks mean, one after the other.
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

/// Rows of panels below a heading and its note, as an SVG that stands alone.
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
        // Blob: the stylesheet must not be escaped.
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

/// Without the characters that XML forbids.
fn printable(text: &str) -> String {
    let forbidden = |c: char| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}');
    text.replace(forbidden, "")
}

/// How much room a text takes in a wide font.
pub fn text_width(text: &str) -> f64 {
    7.3 * text.chars().count() as f64
}

/// As much of a text as there is room for.
pub fn fitted(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_string();
    }
    let room = (width / text_width("…")) as usize;
    let mut short: String = text.chars().take(room.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A text in lines.
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

/// Pixels to a tenth: finer than can be seen, and short in the file.
pub(crate) fn tenths(pixels: f64) -> f64 {
    (10.0 * pixels).round() / 10.0
}

#[cfg(test)]
mod tests {
    use svg::parser::Event;

    use super::*;

    /// A source, an engine or a player may be called anything.
    #[test]
    fn hostile_names_make_no_bad_xml() {
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
    fn sheets_hold_their_panels() {
        let panel = |height| Panel::new("a", "", (WIDTH, height));
        let wide = sheet(None, vec![vec![panel(100.0), panel(50.0)]]);
        assert!(wide.contains("viewBox=\"0 0 1088 202\""), "{wide}");
        let tall = sheet(None, vec![vec![panel(100.0)], vec![panel(50.0)]]);
        assert!(tall.contains("viewBox=\"0 0 552 338\""), "{tall}");
        assert!(tall.contains("prefers-color-scheme: dark"));
        assert_eq!(WIDE + 2.0 * PADDING + 2.0 * GAP, 1088.0);
    }

    #[test]
    fn texts_are_cut_and_wrapped_to_their_room() {
        assert_eq!(fitted("abc", 100.0), "abc");
        assert_eq!(fitted("abcdef", 22.0), "ab…");
        assert_eq!(wrapped("ab cd ef", 37.0), ["ab cd", "ef"]);
        assert!(wrapped("", 37.0).is_empty());
    }
}
