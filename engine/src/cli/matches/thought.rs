//! What an engine says of the move it plays.

use std::fmt;
use std::str::SplitAsciiWhitespace;

/// A score as UCI has it, from the view of the engine that says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// An evaluation.
    Centipawns(i32),
    /// Mates, or with a negative number is mated, in so many moves.
    Mate(i32),
}

impl Evaluation {
    /// To compare with: a mate is more than any evaluation.
    pub fn centipawns(self) -> i32 {
        match self {
            Evaluation::Centipawns(centipawns) => centipawns,
            Evaluation::Mate(moves) if moves > 0 => i32::MAX,
            Evaluation::Mate(_) => -i32::MAX,
        }
    }
}

/// As cutechess-cli writes it: pawns, or plies to the mate.
impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Evaluation::Centipawns(0) => f.write_str("0.00"),
            Evaluation::Centipawns(centipawns) => {
                write!(f, "{:+.2}", f64::from(centipawns) / 100.0)
            }
            Evaluation::Mate(moves) if moves > 0 => write!(f, "+M{}", 2 * i64::from(moves) - 1),
            Evaluation::Mate(moves) => write!(f, "-M{}", -2 * i64::from(moves)),
        }
    }
}

/// The last that was said before a move; what was not said is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thought {
    /// The value of the position.
    pub score: Option<Evaluation>,
    /// Plies of the last iteration.
    pub depth: Option<u32>,
    /// Nodes in all.
    pub nodes: Option<u64>,
}

impl Thought {
    /// Takes in an `info` line. Lines of other moves than the best are passed
    /// over, and scores that are only bounds.
    pub fn hear(&mut self, line: &str) {
        let mut words = line.split_ascii_whitespace();
        let mut heard = *self;
        while let Some(word) = words.next() {
            match word {
                "depth" => heard.depth = number(&mut words).or(heard.depth),
                "nodes" => heard.nodes = number(&mut words).or(heard.nodes),
                "score" => heard.score = score(&mut words).or(heard.score),
                "lowerbound" | "upperbound" => heard.score = self.score,
                "multipv" if number(&mut words) != Some(1u32) => return,
                "pv" | "string" => break,
                _ => {}
            }
        }
        *self = heard;
    }
}

fn number<T: std::str::FromStr>(words: &mut SplitAsciiWhitespace) -> Option<T> {
    words.next()?.parse().ok()
}

fn score(words: &mut SplitAsciiWhitespace) -> Option<Evaluation> {
    match words.next()? {
        "cp" => number(words).map(Evaluation::Centipawns),
        "mate" => number(words).map(Evaluation::Mate),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_on_the_best_move_counts() {
        let mut thought = Thought::default();
        for line in [
            "info depth 7 seldepth 9 multipv 1 score cp -31 nodes 900 nps 1 pv e2e4 e7e5",
            "info depth 7 multipv 2 score cp -99 nodes 901 pv d2d4",
            "info depth 8 score cp 500 lowerbound nodes 1000 pv e2e4",
            "info depth 8 currmove e2e4 currmovenumber 1",
            "info string score cp 7 depth 99",
        ] {
            thought.hear(line);
        }
        let expected = Thought {
            score: Some(Evaluation::Centipawns(-31)),
            depth: Some(8),
            nodes: Some(1000),
        };
        assert_eq!(thought, expected);
        thought.hear("info depth 9 score mate -2 nodes 1100");
        assert_eq!(thought.score, Some(Evaluation::Mate(-2)));
    }

    #[test]
    fn scores_are_written_as_cutechess_does() {
        use Evaluation::{Centipawns, Mate};
        let written = [
            Centipawns(30),
            Centipawns(-5),
            Centipawns(0),
            Mate(3),
            Mate(-2),
        ];
        let written = written.map(|score| score.to_string());
        assert_eq!(written, ["+0.30", "-0.05", "0.00", "+M5", "-M4"]);
    }
}
