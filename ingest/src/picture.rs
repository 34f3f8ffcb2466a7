//! What a picture is drawn with: text, rectangles, lines, and the charts that
//! are made of them. Lengths are in pixels, from the top left.

use indicatif::HumanCount;
use svg::Document;
use svg::node::Blob;
use svg::node::element::{Line, Rectangle, Text, Title};

/// Height of a bar with its value, in [`Picture::bars`].
pub const BAR_HEIGHT: f64 = 26.0;
/// Height of one line of shares, in [`Picture::shares`].
const SHARES_HEIGHT: f64 = 58.0;

/// Colours that stay apart for the colour-blind (after Okabe and Ito), the
/// strongest first.
pub const COLOURS: [&str; 4] = ["#0072b2", "#e69f00", "#009e73", "#b0b7bf"];
const INK: &str = "#1f2933";
const FAINT_INK: &str = "#616e7c";
const GRID: &str = "#e4e7eb";
const BACKGROUND: &str = "#f5f7fa";
const PAPER: &str = "#ffffff";

/// What a card leaves free at its edges.
const PADDING: f64 = 20.0;
/// The widest column of a chart, so that a single one is no wall.
const MAX_COLUMN: f64 = 72.0;

/// Where a chart lies.
#[derive(Clone, Copy)]
pub struct Area {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// One column of a chart.
pub struct Column {
    /// Its height, in the chart's unit.
    pub value: f64,
    /// Where a mark is set beside its value, in the same unit.
    pub mark: Option<f64>,
    /// What to say when it is pointed at.
    pub hint: String,
}

/// One line of [`Picture::shares`]: its name, and its parts with their names.
pub struct Shares<'a> {
    /// What is divided.
    pub title: &'a str,
    /// The parts.
    pub parts: Vec<(&'a str, u64)>,
}

/// Where a text ends up relative to its point.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG in the making.
pub struct Picture {
    document: Document,
}

impl Picture {
    /// An empty picture, described for those who cannot see it.
    pub fn new(width: f64, height: f64, description: &str) -> Picture {
        // Blob: the stylesheet must not be escaped.
        let style = format!(
            "<style>text {{ font-family: 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif; \
             fill: {INK} }} .faint {{ fill: {FAINT_INK} }}</style>"
        );
        let document = Document::new()
            .set("viewBox", (0.0, 0.0, width, height))
            .set("width", width)
            .set("height", height)
            .set("role", "img")
            .add(Title::new(description))
            .add(Blob::new(style));
        let mut picture = Picture { document };
        picture.rectangle(0.0, 0.0, (width, height), BACKGROUND, 0.0, "");
        picture
    }

    /// The SVG's text.
    pub fn into_svg(self) -> String {
        self.document.to_string()
    }

    fn add(&mut self, node: impl Into<Box<dyn svg::Node>>) {
        svg::Node::append(&mut self.document, node);
    }

    fn rectangle(&mut self, x: f64, y: f64, size: (f64, f64), fill: &str, radius: f64, hint: &str) {
        let mut rectangle = Rectangle::new()
            .set("x", tenths(x))
            .set("y", tenths(y))
            .set("width", tenths(size.0))
            .set("height", tenths(size.1))
            .set("fill", fill);
        if radius > 0.0 {
            rectangle = rectangle.set("rx", radius);
        }
        if !hint.is_empty() {
            rectangle = rectangle.add(Title::new(hint));
        }
        self.add(rectangle);
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let line = Line::new()
            .set("x1", tenths(from.0))
            .set("y1", tenths(from.1))
            .set("x2", tenths(to.0))
            .set("y2", tenths(to.1));
        self.add(line.set("stroke", colour).set("stroke-width", width));
    }

    fn text(&mut self, x: f64, y: f64, size: u32, text: impl Into<String>, anchor: Anchor) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let mut node = Text::new(text)
            .set("x", tenths(x))
            .set("y", tenths(y))
            .set("font-size", size)
            .set("text-anchor", anchor);
        node = match size {
            ..14 => node.set("class", "faint"),
            14..16 => node,
            16.. => node.set("font-weight", 600),
        };
        self.add(node);
    }

    /// The head of the picture, above everything else.
    pub fn heading(&mut self, area: Area, title: &str, note: &str) {
        self.text(area.x, area.y + 26.0, 26, title, Anchor::Start);
        self.text(area.x, area.y + 50.0, 14, note, Anchor::Start);
    }

    /// A card with a figure and what it counts.
    pub fn figure(&mut self, area: Area, figure: &str, name: &str) {
        self.paper(area);
        let middle = area.x + area.width / 2.0;
        self.text(middle, area.y + 38.0, 24, figure, Anchor::Middle);
        self.text(middle, area.y + 60.0, 13, name, Anchor::Middle);
    }

    /// A card with a title and a note; gives the room that it leaves.
    pub fn card(&mut self, area: Area, title: &str, note: &str) -> Area {
        const HEAD: f64 = 66.0;
        self.paper(area);
        self.text(area.x + PADDING, area.y + 30.0, 16, title, Anchor::Start);
        self.text(area.x + PADDING, area.y + 50.0, 13, note, Anchor::Start);
        Area {
            x: area.x + PADDING,
            y: area.y + HEAD,
            width: area.width - 2.0 * PADDING,
            height: area.height - HEAD - PADDING,
        }
    }

    /// What the two colours of a card's columns and marks mean, in its head.
    pub fn legend(&mut self, card: Area, columns: (&str, &str), marks: (&str, &str)) {
        let (mut right, y) = (card.x + card.width - PADDING, card.y + 30.0);
        for ((name, colour), height) in [(marks, 3.0), (columns, 10.0)] {
            self.text(right, y, 13, name, Anchor::End);
            right -= text_width(name, 13.0) + 12.0;
            let top = y - 4.5 - height / 2.0;
            self.rectangle(right, top, (12.0, height), colour, 0.0, "");
            right -= 18.0;
        }
    }

    fn paper(&mut self, area: Area) {
        self.rectangle(area.x, area.y, (area.width, area.height), PAPER, 8.0, "");
    }

    /// Columns side by side, with a scale at the left and names below: each
    /// name with its place, in columns from the left edge.
    pub fn columns(
        &mut self,
        area: Area,
        columns: &[Column],
        names: &[(f64, String)],
        unit: impl Fn(f64) -> String,
        colour: &str,
    ) {
        const LEFT: f64 = 46.0;
        const BELOW: f64 = 24.0;
        let (left, bottom) = (area.x + LEFT, area.y + area.height - BELOW);
        let (width, height) = (area.width - LEFT, area.height - BELOW);
        let highest = columns
            .iter()
            .map(|column| column.value.max(column.mark.unwrap_or(0.0)))
            .fold(0.0, f64::max);
        let step = round_step(highest, 5);
        let top = step * (highest / step).ceil().max(1.0);
        let level = |value: f64| bottom - height * value / top;
        let steps = (top / step).round() as u32;
        for value in (0..=steps).map(|i| f64::from(i) * step) {
            let y = level(value);
            self.line((left, y), (left + width, y), GRID, 1.0);
            self.text(left - 8.0, y + 4.0, 12, unit(value), Anchor::End);
        }
        let slot = (width / columns.len().max(1) as f64).min(MAX_COLUMN);
        let first = left + (width - slot * columns.len() as f64) / 2.0;
        let gap = if slot > 5.0 { 1.0 + slot / 20.0 } else { 0.4 };
        for (i, column) in columns.iter().enumerate() {
            let x = first + slot * i as f64;
            let y = level(column.value);
            if column.value > 0.0 {
                let size = (slot - gap, bottom - y);
                self.rectangle(x + gap / 2.0, y, size, colour, 0.0, &column.hint);
            }
            if let Some(mark) = column.mark.filter(|&mark| mark > 0.0) {
                let (y, end) = (level(mark), x + slot - gap / 2.0);
                self.line((x + gap / 2.0, y), (end, y), COLOURS[1], 3.0);
            }
        }
        for (place, name) in names {
            let x = first + slot * place;
            self.text(x, bottom + 18.0, 12, name, Anchor::Middle);
        }
    }

    /// One bar below another, named at the left, with its value behind it.
    /// The longest of all would be as long as `whole`.
    pub fn bars(&mut self, area: Area, names_width: f64, bars: &[(String, u64, &str)], whole: u64) {
        const VALUE: f64 = 170.0;
        let left = area.x + names_width;
        for (i, (name, count, colour)) in bars.iter().enumerate() {
            let y = area.y + BAR_HEIGHT * i as f64;
            let share = (*count as f64 / whole.max(1) as f64).min(1.0);
            let length = ((area.width - names_width - VALUE) * share).max(1.0);
            self.text(left - 10.0, y + 15.0, 13, name, Anchor::End);
            if *count > 0 {
                self.rectangle(left, y + 2.0, (length, BAR_HEIGHT - 8.0), colour, 0.0, "");
            }
            let value = format!("{} ({})", thousands(*count), percent(*count, whole));
            self.text(left + length + 8.0, y + 15.0, 13, value, Anchor::Start);
        }
    }

    /// Bars that are each divided into parts, with the parts' names below.
    pub fn shares(&mut self, area: Area, lines: &[Shares]) {
        const NAMES: f64 = 86.0;
        for (i, Shares { title, parts }) in lines.iter().enumerate() {
            let y = area.y + SHARES_HEIGHT * i as f64;
            let (mut x, mut name_x) = (area.x + NAMES, area.x + NAMES);
            let (width, total) = (area.width - NAMES, parts.iter().map(|part| part.1).sum());
            self.text(area.x, y + 18.0, 14, *title, Anchor::Start);
            for (&(name, count), colour) in parts.iter().zip(COLOURS) {
                let length = width * count as f64 / u64::max(total, 1) as f64;
                let hint = format!("{name}: {}", thousands(count));
                self.rectangle(x, y + 2.0, (length, 22.0), colour, 0.0, &hint);
                x += length;
                self.rectangle(name_x, y + 34.0, (10.0, 10.0), colour, 2.0, "");
                let name = format!("{name} {}", percent(count, total));
                self.text(name_x + 15.0, y + 43.0, 12, &name, Anchor::Start);
                name_x += 29.0 + text_width(&name, 12.0);
            }
        }
    }
}

/// Pixels to a tenth: finer than can be seen, and short in the file.
fn tenths(pixels: f64) -> f64 {
    (10.0 * pixels).round() / 10.0
}

/// How much room a text takes in a wide font.
pub fn text_width(text: &str, size: f64) -> f64 {
    0.56 * size * text.chars().count() as f64
}

/// A whole step of 1, 2, 2.5 or 5 times a power of ten that divides a height
/// into at most so many parts.
fn round_step(highest: f64, parts: u32) -> f64 {
    let rough = (highest / f64::from(parts)).max(1.0);
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0].map(|factor| factor * power);
    let fits = |step: &f64| *step >= rough && step.fract() == 0.0;
    steps.into_iter().find(fits).unwrap_or(10.0 * power)
}

/// `1,234,567`.
pub fn thousands(count: u64) -> String {
    HumanCount(count).to_string()
}

/// A count for little room: `250`, `12k`, `1.5M`, `1.1B`.
pub fn short_count(count: f64) -> String {
    let (count, unit) = match count {
        ..1e3 => (count, ""),
        ..1e6 => (count / 1e3, "k"),
        ..1e9 => (count / 1e6, "M"),
        _ => (count / 1e9, "B"),
    };
    format!("{}{unit}", tenths(count))
}

/// A share as text.
pub fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    if part > 0 && share < 0.05 {
        "< 0.1 %".to_string()
    } else {
        format!("{share:.1} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(
            [0, 999, 1000, 1234567].map(thousands),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [0.0, 250.0, 1500.0, 2e6].map(short_count),
            ["0", "250", "1.5k", "2M"]
        );
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(1, 100_000), "< 0.1 %");
        assert_eq!(percent(0, 0), "0.0 %");
    }

    #[test]
    fn steps_are_round() {
        for (highest, step) in [
            (100.0, 20.0),
            (103.0, 25.0),
            (11.0, 5.0),
            (0.0, 1.0),
            (1234.0, 250.0),
        ] {
            assert_eq!(round_step(highest, 5), step, "{highest}");
        }
    }
}
