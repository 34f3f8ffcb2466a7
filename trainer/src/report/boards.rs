//! Boards of the positions with a net's largest errors.

use charts::{Anchor, Colour, Panel, Tone};
use datasets::Record;
use svg::node::element::Path;

use network::target::win_chance;

/// Number of positions kept.
const KEPT: usize = 10;
/// Boards that differ in fewer squares count as the same moment of a game.
const ALIKE: usize = 8;
const SQUARE: f64 = 32.0;

/// Position with a large error.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    /// First four fields of the FEN.
    pub epd: String,
    /// Label in pawns for the side to move.
    pub label: f32,
    /// Net's value in pawns for the side to move.
    pub value: f32,
}

impl Mistake {
    /// Returns the error in win chance.
    fn error(&self) -> f32 {
        (win_chance(self.value) - win_chance(self.label)).abs()
    }

    /// Returns the pieces from a8 to h1, with a dot for an empty square.
    fn squares(&self) -> Vec<char> {
        let placement = self.epd.split(' ').next().unwrap_or_default();
        let squares = placement.chars().filter(|&c| c != '/');
        let squares = squares.flat_map(|c| match c.to_digit(10) {
            Some(empty) => vec!['.'; empty as usize],
            None => vec![c],
        });
        squares.collect()
    }

    fn is_like(&self, other: &Mistake) -> bool {
        let (a, b) = (self.squares(), other.squares());
        a.iter().zip(&b).filter(|(a, b)| a != b).count() < ALIKE
    }

    /// Draws the board from White's side.
    pub fn panel(&self) -> Panel {
        const WIDTH: f64 = 8.0 * SQUARE;
        let mover = match self.epd.split(' ').nth(1) {
            Some("b") => "Black",
            _ => "White",
        };
        let note = format!("label {:+.1}, net {:+.1}", self.label, self.value);
        let title = format!("{mover} to move");
        let mut panel = Panel::new(&title, &note, (WIDTH, WIDTH + 18.0));
        for (square, piece) in self.squares().into_iter().enumerate() {
            let (rank, file) = (square / 8, square % 8);
            let at = (SQUARE * file as f64, SQUARE * rank as f64);
            let colour = match (rank + file) % 2 {
                0 => Colour::LightSquare,
                _ => Colour::DarkSquare,
            };
            panel.rectangle(at, (SQUARE, SQUARE), colour, "");
            if let Some(outline) = outline(piece) {
                let (fill, stroke) = match piece.is_uppercase() {
                    true => ("#ffffff", "#1f2933"),
                    false => ("#1f2933", "#e4e7eb"),
                };
                let place = format!("translate({} {}) scale({})", at.0, at.1, SQUARE / 45.0);
                let path = Path::new()
                    .set("d", outline)
                    .set("transform", place)
                    .set("fill", fill)
                    .set("stroke", stroke)
                    .set("stroke-width", 1.5)
                    .set("stroke-linejoin", "round");
                panel.node(path);
            }
        }
        for (i, file) in ('a'..='h').enumerate() {
            let at = (SQUARE * (i as f64 + 0.5), WIDTH + 15.0);
            panel.text(at, Anchor::Middle, Tone::Faint, &file.to_string());
        }
        panel
    }
}

/// Returns the outline of a piece in a square of 45, as an SVG path.
fn outline(piece: char) -> Option<&'static str> {
    Some(match piece.to_ascii_lowercase() {
        'p' => {
            "M22.5 9a5.5 5.5 0 0 0-3.6 9.6c-3 1.6-4.4 4.4-3.6 7.4.4 1.6 1.3 2.6 2.3 3.3-3.6 1.9-6.6 5.4-6.6 9.7h23c0-4.3-3-7.8-6.6-9.7 1-.7 1.9-1.7 2.3-3.3.8-3-.6-5.8-3.6-7.4A5.5 5.5 0 0 0 22.5 9z"
        }
        'n' => {
            "M12 39c0-9 7-11 7-17-3 2-5 2-6.5 5-1.5 2-3.5 1-4.5-1 0-4 4-6.5 5-10 .5-2 2-4 4.5-5L18 7l4 3c8 0 14 7 13.5 29z"
        }
        'b' => {
            "M22.5 6a2.6 2.6 0 0 0-1.7 4.6C16 14 13 18 13 22c0 3 1.5 5.5 4 7l-1.5 5C13 35 10 35.5 9 39h27c-1-3.5-4-4-6.5-5L28 29c2.5-1.5 4-4 4-7 0-4-3-8-7.8-11.4A2.6 2.6 0 0 0 22.5 6z"
        }
        'r' => "M10 39v-4l3-2V18l-3-3V8h5v3h5V8h5v3h5V8h5v7l-3 3v15l3 2v4z",
        'q' => "M8 14l4.5 20v5h20v-5L37 14l-7 10-1.5-14-6 13.5L16.5 10 15 24z",
        'k' => {
            "M21 5h3v3h3v3h-3v4c1.6 1 2.4 2.6 2.4 4.3C32 15.5 39 18 37.5 25c-.8 3.6-4.5 5.5-5 9v5h-20v-5c-.5-3.5-4.2-5.4-5-9C6 18 13 15.5 18.6 19.3c0-1.7.8-3.3 2.4-4.3v-4h-3V8h3z"
        }
        _ => return None,
    })
}

/// Accumulates the worst mistakes, only the worst of similar positions.
#[derive(Clone, Debug, Default)]
pub struct Worst(Vec<Mistake>);

impl Worst {
    /// Adds a position without a mate label that the net evaluates at `value` pawns.
    pub fn add(&mut self, record: &Record, value: f32) {
        let label = features::target_pawns(record);
        let least = self.0.get(KEPT - 1).map_or(0.0, Mistake::error);
        if (win_chance(value) - win_chance(label)).abs() <= least {
            return;
        }
        let epd = record.epd();
        let mistake = Mistake { epd, label, value };
        let place = self
            .0
            .partition_point(|other| other.error() >= mistake.error());
        if self.0[..place].iter().any(|other| other.is_like(&mistake)) {
            return;
        }
        self.0.retain(|other| !other.is_like(&mistake));
        self.0.insert(place, mistake);
        self.0.truncate(KEPT);
    }

    /// Returns the mistakes, the worst first.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;

    #[test]
    fn keeps_the_worst_of_each_moment_in_order() {
        let rook = "4k3/8/8/8/8/8/8/R3K3 b - - 0 1";
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let mut worst = Worst::default();
        worst.add(&record(rook, 500), 5.0); // mover's view: 10 pawns off
        worst.add(&record(start, 20), 0.2); // right
        worst.add(&record(start, 20), -2.0);
        worst.add(&record(rook, 500), 0.0);
        worst.add(&record(rook, 700), 7.0);
        let [first, second] = worst.mistakes() else {
            panic!("{worst:?}")
        };
        assert_eq!((first.label, first.value), (-7.0, 7.0));
        assert_eq!((second.label, second.value), (0.2, -2.0));
        let svg = first.panel().inline();
        assert!(svg.contains("Black to move") && svg.contains("label -7.0, net +7.0"));
        // 64 squares, and a rook and two kings.
        assert_eq!(svg.matches("<rect").count(), 64, "{svg}");
        assert_eq!(svg.matches("<path").count(), 3, "{svg}");
    }
}
