//! Dot, column, bar and share charts on a [`Panel`].

use host::thousands;

use crate::numbers::percent;
use crate::panel::{Anchor, Panel, Tone, fitted, text_width};
use crate::scale::{Scale, round_step};
use crate::style::Colour;

/// Height of one row of [`Panel::dots`].
const DOT_HEIGHT: f64 = 34.0;
/// Height of the axis of [`Panel::dots`].
const AXIS: f64 = 26.0;
/// Height of one row of [`Panel::bars`].
const BAR_HEIGHT: f64 = 26.0;
/// Height of one row of [`Panel::shares`].
const SHARES_HEIGHT: f64 = 58.0;
/// Maximum width of a column, so that charts of few columns stay readable.
const MAX_COLUMN: f64 = 72.0;

/// Row of [`Panel::dots`].
pub struct Dot {
    /// Label of the row.
    pub name: String,
    /// Position of the dot on the axis.
    pub value: f64,
    /// Lower and upper end of the interval; an infinite end is drawn open.
    pub interval: Option<[f64; 2]>,
    /// The value as text, shown at the right.
    pub figure: String,
    /// Colour of dot and interval.
    pub colour: Colour,
}

/// Column of [`Panel::columns`].
pub struct Column {
    /// Height, in the chart's unit.
    pub value: f64,
    /// Height of a second, marked value in the same unit.
    pub mark: Option<f64>,
    /// Tooltip.
    pub hint: String,
}

/// Row of [`Panel::bars`].
pub struct Bar {
    /// Label of the bar.
    pub name: String,
    /// Count that the bar shows.
    pub count: u64,
    /// Total that `count` is a part of; it would fill the whole width.
    pub whole: u64,
    /// Colour of the bar.
    pub colour: Colour,
}

/// Row of [`Panel::shares`].
pub struct Shares<'a> {
    /// Label of the row.
    pub title: &'a str,
    /// Names and counts of the parts, at most four; the third has the baseline's colour.
    pub parts: Vec<(&'a str, u64)>,
}

impl Panel {
    /// Draws a horizontal grid between two edges, with about `about` values at the left.
    pub fn levels(&mut self, y: &Scale, (left, right): (f64, f64), about: u32) {
        for tick in y.ticks(about) {
            let at = y.at(tick.value);
            self.rule((left, at), (right, at));
            let at = (left - 8.0, at + 4.5);
            self.text(at, Anchor::End, Tone::Faint, &tick.text);
        }
    }

    /// Returns the height of [`Panel::dots`] with this many rows.
    pub fn dots_height(rows: usize) -> f64 {
        DOT_HEIGHT * rows as f64 + AXIS
    }

    /// Draws one dot per row with its interval, on a common axis that fits the values and need not
    /// begin at 0.
    pub fn dots(&mut self, top: f64, rows: &[Dot]) {
        let longest = |text: fn(&Dot) -> &str| {
            let widths = rows.iter().map(|row| text_width(text(row)));
            widths.fold(0.0, f64::max)
        };
        let names = longest(|row| &row.name).min(0.4 * self.width());
        let (left, right) = (
            names + 14.0,
            self.width() - longest(|row| &row.figure) - 14.0,
        );
        let bottom = top + DOT_HEIGHT * rows.len() as f64;
        let ends = |row: &Dot| row.interval.unwrap_or([row.value; 2]);
        let values = rows
            .iter()
            .flat_map(|row| [row.value, ends(row)[0], ends(row)[1]]);
        let x = Scale::around(values, (left, right));
        for tick in x.ticks(6) {
            let at = x.at(tick.value);
            self.rule((at, top), (at, bottom));
            self.text((at, bottom + 20.0), Anchor::Middle, Tone::Faint, &tick.text);
        }
        for (i, row) in rows.iter().enumerate() {
            let y = top + DOT_HEIGHT * (i as f64 + 0.5);
            let name = fitted(&row.name, names);
            self.text((names, y + 4.5), Anchor::End, Tone::Plain, &name);
            let end = (self.width(), y + 4.5);
            self.text(end, Anchor::End, Tone::Strong, &row.figure);
            if let Some([low, high]) = row.interval {
                self.line(&[(x.at(low), y), (x.at(high), y)], row.colour);
                // An infinite end has no cap.
                for end in [low, high].into_iter().filter(|end| end.is_finite()) {
                    self.line(&[(x.at(end), y - 4.0), (x.at(end), y + 4.0)], row.colour);
                }
            }
            if row.value.is_finite() {
                let hint = format!("{}: {}", row.name, row.figure);
                self.dot((x.at(row.value), y), 5.5, row.colour, &hint);
            }
        }
    }

    /// Draws columns side by side down to the panel's end, with a scale at the left. `names` are
    /// the labels below, each with its position in columns from the left edge.
    pub fn columns(
        &mut self,
        top: f64,
        columns: &[Column],
        names: &[(f64, String)],
        unit: impl Fn(f64) -> String,
        colour: Colour,
    ) {
        const LEFT: f64 = 46.0;
        let bottom = self.height() - 24.0;
        let (top, width) = (top + 20.0, self.width() - LEFT);
        let values = columns
            .iter()
            .map(|column| column.value.max(column.mark.unwrap_or(0.0)));
        let highest = values.fold(0.0, f64::max);
        // Counts have no fractional ticks.
        let step = round_step(highest.max(1.0), 5).max(1.0);
        let highest = step * (highest / step).ceil().max(1.0);
        let y = Scale::new((0.0, highest), (bottom, top));
        let levels = (highest / step).round() as u32;
        for value in (0..=levels).map(|level| f64::from(level) * step) {
            let at = y.at(value);
            self.rule((LEFT, at), (LEFT + width, at));
            let at = (LEFT - 8.0, at + 4.5);
            self.text(at, Anchor::End, Tone::Faint, &unit(value));
        }
        let slot = (width / columns.len().max(1) as f64).min(MAX_COLUMN);
        let first = LEFT + (width - slot * columns.len() as f64) / 2.0;
        let gap = if slot > 5.0 { 1.0 + slot / 20.0 } else { 0.4 };
        for (i, column) in columns.iter().enumerate() {
            let (x, level) = (first + slot * i as f64, y.at(column.value));
            if column.value > 0.0 {
                let size = (slot - gap, bottom - level);
                self.rectangle((x + gap / 2.0, level), size, colour, &column.hint);
            }
            if let Some(mark) = column.mark.filter(|&mark| mark > 0.0) {
                let at = (x + gap / 2.0, y.at(mark) - 1.5);
                self.rectangle(at, (slot - gap, 3.0), Colour::Orange, "");
            } else if slot == MAX_COLUMN {
                let at = (x + slot / 2.0, level - 6.0);
                self.text(at, Anchor::Middle, Tone::Strong, &unit(column.value));
            }
        }
        for (place, name) in names {
            let at = (first + slot * place, bottom + 19.0);
            self.text(at, Anchor::Middle, Tone::Faint, name);
        }
    }

    /// Returns the height of [`Panel::bars`] with this many rows.
    pub fn bars_height(rows: usize) -> f64 {
        BAR_HEIGHT * rows as f64
    }

    /// Draws one bar per row, with its name at the left and its count and share behind it.
    pub fn bars(&mut self, top: f64, names_width: f64, bars: &[Bar]) {
        const VALUE: f64 = 178.0;
        for (i, bar) in bars.iter().enumerate() {
            let y = top + BAR_HEIGHT * i as f64;
            let share = (bar.count as f64 / bar.whole.max(1) as f64).min(1.0);
            let length = ((self.width() - names_width - VALUE) * share).max(1.0);
            let at = (names_width - 10.0, y + 15.0);
            self.text(at, Anchor::End, Tone::Plain, &bar.name);
            if bar.count > 0 {
                let size = (length, BAR_HEIGHT - 8.0);
                self.rectangle((names_width, y + 2.0), size, bar.colour, "");
            }
            let (count, share) = (thousands(bar.count), percent(bar.count, bar.whole));
            let at = (names_width + length + 8.0, y + 15.0);
            let value = format!("{count} ({share})");
            self.text(at, Anchor::Start, Tone::Faint, &value);
        }
    }

    /// Returns the height of [`Panel::shares`] with this many rows.
    pub fn shares_height(rows: usize) -> f64 {
        SHARES_HEIGHT * rows as f64
    }

    /// Draws one bar per row, divided into its parts, with their names and shares below.
    pub fn shares(&mut self, lines: &[Shares]) {
        const NAMES: f64 = 58.0;
        const COLOURS: [Colour; 4] = [Colour::Blue, Colour::Yellow, Colour::Green, Colour::Grey];
        for (i, Shares { title, parts }) in lines.iter().enumerate() {
            let y = SHARES_HEIGHT * i as f64;
            let (mut x, mut name_x) = (NAMES, NAMES);
            let total: u64 = parts.iter().map(|part| part.1).sum();
            self.text((0.0, y + 18.0), Anchor::Start, Tone::Plain, title);
            for (&(name, count), colour) in parts.iter().zip(COLOURS) {
                let length = (self.width() - NAMES) * count as f64 / total.max(1) as f64;
                let hint = format!("{name}: {}", thousands(count));
                self.rectangle((x, y + 2.0), (length, 22.0), colour, &hint);
                x += length;
                self.rectangle((name_x, y + 34.0), (10.0, 10.0), colour, "");
                let name = format!("{name} {}", percent(count, total));
                self.text((name_x + 14.0, y + 43.5), Anchor::Start, Tone::Faint, &name);
                name_x += 24.0 + 0.95 * text_width(&name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::{WIDTH, sheet};

    fn drawn(height: f64, draw: impl FnOnce(&mut Panel)) -> String {
        let mut panel = Panel::new("", "", (WIDTH, height));
        draw(&mut panel);
        let svg = sheet(None, vec![vec![panel]]);
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
        svg
    }

    #[test]
    fn draws_an_axis_for_any_dots() {
        let dot = |value, interval| Dot {
            name: "a < b".to_string(),
            value,
            interval,
            figure: String::new(),
            colour: Colour::Blue,
        };
        let open = [120.0, f64::INFINITY];
        for (rows, texts) in [
            (vec![], 0),
            (vec![dot(0.0, None)], 1),
            (vec![dot(0.0, None), dot(0.0, Some([0.0, 0.0]))], 2),
            (vec![dot(0.94, None), dot(0.99, Some([0.98, 1.0]))], 2),
            (vec![dot(0.0, None), dot(640.0, Some(open))], 2),
            (vec![dot(f64::NAN, None)], 1),
        ] {
            let svg = drawn(Panel::dots_height(rows.len()), |panel| {
                panel.dots(0.0, &rows)
            });
            assert_eq!(svg.matches("a &lt; b\n</text>").count(), texts, "{svg}");
        }
    }

    #[test]
    fn draws_empty_bars_columns_and_shares() {
        drawn(200.0, |panel| {
            panel.columns(0.0, &[], &[], |value| value.to_string(), Colour::Blue);
            let parts = vec![("a", 0), ("b", 0)];
            panel.shares(&[Shares { title: "", parts }]);
            let bar = Bar {
                name: String::new(),
                count: 0,
                whole: 0,
                colour: Colour::Grey,
            };
            panel.bars(0.0, 100.0, &[bar]);
        });
    }

    #[test]
    fn labels_few_columns_with_their_values() {
        let column = |value| Column {
            value,
            mark: None,
            hint: String::new(),
        };
        let draw = |count: usize| {
            let columns: Vec<Column> = (0..count).map(|_| column(80_000.0)).collect();
            drawn(200.0, |panel| {
                panel.columns(
                    0.0,
                    &columns,
                    &[],
                    |value| format!("<{value}>"),
                    Colour::Blue,
                );
            })
        };
        assert_eq!(draw(2).matches("class=\"strong\"").count(), 2);
        assert_eq!(draw(20).matches("class=\"strong\"").count(), 0);
    }
}
