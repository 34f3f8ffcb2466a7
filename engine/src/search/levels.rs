//! Playing strength: limits the search, and chooses among moves close to the best.

use std::fmt;
use std::str::FromStr;

use crate::search::limits::Limits;
use crate::search::report::Line;

/// Minimum `UCI_Elo`.
pub const MIN_ELO: u32 = 400;
/// Maximum `UCI_Elo`.
pub const MAX_ELO: u32 = 2850;
/// `UCI_Elo` from which the margin is 0, and only the node limit grows.
const BEST_FROM: u32 = 2000;

/// Playing strength of an opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Two plies, any move within 70 centipawns of the best.
    Easy,
    /// Three plies, any move within 30 centipawns of the best.
    Medium,
    /// Four plies, the best move.
    Hard,
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Level, String> {
        match text {
            "easy" => Ok(Level::Easy),
            "medium" => Ok(Level::Medium),
            "hard" => Ok(Level::Hard),
            _ => Err(format!("level {text:?} is not easy, medium or hard")),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Easy => "easy",
            Level::Medium => "medium",
            Level::Hard => "hard",
        })
    }
}

/// Restrictions that weaken the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handicap {
    depth: Option<u64>,
    nodes: Option<u64>,
    /// Moves within this many centipawns of the best may be played.
    margin: i32,
}

impl From<Level> for Handicap {
    fn from(level: Level) -> Handicap {
        let (depth, margin) = match level {
            Level::Easy => (2, 70),
            Level::Medium => (3, 30),
            Level::Hard => (4, 0),
        };
        Handicap {
            depth: Some(depth),
            nodes: None,
            margin,
        }
    }
}

impl Handicap {
    /// Returns the handicap for `UCI_Elo`, clamped to [`MIN_ELO`]`..=`[`MAX_ELO`].
    ///
    /// Measured against Stockfish 19's `UCI_Elo` (`docs/engine.md`).
    pub fn of_elo(elo: u32) -> Handicap {
        let elo = elo.clamp(MIN_ELO, MAX_ELO);
        let doublings = |from: u32, elo_each: f64| f64::from(elo - from) / elo_each;
        let (nodes, margin) = if elo < BEST_FROM {
            let nodes = 63.0 * doublings(MIN_ELO, 400.0).exp2();
            (nodes, 105.0 * (-doublings(MIN_ELO, 650.0)).exp2())
        } else {
            (260.0 * doublings(BEST_FROM, 180.0).exp2(), 0.0)
        };
        Handicap {
            depth: None,
            nodes: Some(nodes as u64),
            margin: margin as i32,
        }
    }

    /// Returns the largest allowed loss of a move against the best, in centipawns.
    pub fn margin(&self) -> i32 {
        self.margin
    }

    /// Tightens the limits of a search. With a margin, every root move gets a full window, so that
    /// scores are comparable. Nodes count from the first, as they did when the strengths were
    /// measured.
    pub fn apply(&self, limits: &mut Limits) {
        let least = |limit: Option<u64>, own: Option<u64>| limit.into_iter().chain(own).min();
        limits.depth = least(limits.depth, self.depth);
        limits.nodes = least(limits.nodes, self.nodes);
        if self.nodes.is_some() {
            limits.least_depth = 0;
        }
        limits.lines = if self.margin > 0 { usize::MAX } else { 1 };
    }

    /// Returns the number of lines within the margin; `lines` is sorted best first.
    pub fn near(&self, lines: &[Line]) -> usize {
        let scores = lines.iter().map(|line| line.score.centipawns());
        let least = scores.clone().next().unwrap_or(0) - self.margin;
        scores.take_while(|score| *score >= least).count()
    }

    /// Returns one of the lines within the margin; `lines` is sorted best first. `draw` is a random
    /// number from 0 to 1. `None` without lines.
    pub fn choose<'a>(&self, lines: &'a [Line], draw: f64) -> Option<&'a Line> {
        let near = self.near(lines);
        lines.get(((draw * near as f64) as usize).min(near.saturating_sub(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Score;

    fn lines(scores: &[i32]) -> Vec<Line> {
        let line = |&score| Line {
            score: Score::from_centipawns(score),
            pv: Vec::new(),
        };
        scores.iter().map(line).collect()
    }

    #[test]
    fn only_moves_within_the_margin_are_chosen() {
        let lines = lines(&[120, 120, 90, 89, 50, 49]);
        for (level, count) in [(Level::Easy, 5), (Level::Medium, 3), (Level::Hard, 2)] {
            let handicap = Handicap::from(level);
            assert_eq!(handicap.near(&lines), count, "{level}");
            for draw in 0..count {
                let within = (draw as f64 + 0.5) / count as f64;
                assert_eq!(handicap.choose(&lines, within), Some(&lines[draw]));
            }
            assert_eq!(handicap.choose(&lines, 1.0), Some(&lines[count - 1]));
        }
        assert_eq!(Handicap::from(Level::Easy).choose(&[], 0.5), None);
    }

    #[test]
    fn limits_only_tighten() {
        let mut limits = Limits {
            depth: Some(3),
            lines: 5,
            ..Limits::default()
        };
        Handicap::from(Level::Hard).apply(&mut limits);
        assert_eq!((limits.depth, limits.nodes), (Some(3), None));
        assert_eq!(limits.lines, 1);
        Handicap::from(Level::Easy).apply(&mut limits);
        assert_eq!((limits.depth, limits.lines), (Some(2), usize::MAX));
    }

    #[test]
    fn higher_elo_means_more_nodes_and_a_smaller_margin() {
        let all: Vec<Handicap> = (0..=3000).step_by(50).map(Handicap::of_elo).collect();
        assert!(all.is_sorted_by(|low, high| low.margin >= high.margin));
        // Full windows at every move cost nodes that a single line does not need.
        for part in all.chunk_by(|low, high| (low.margin > 0) == (high.margin > 0)) {
            assert!(part.is_sorted_by_key(|handicap| handicap.nodes));
        }
        let of = |elo| {
            let handicap = Handicap::of_elo(elo);
            (handicap.nodes, handicap.margin)
        };
        assert_eq!(of(0), (Some(63), 105));
        assert_eq!(of(MIN_ELO + 650), (Some(194), 52));
        assert_eq!(of(BEST_FROM - 1).1, 19);
        assert_eq!(of(BEST_FROM), (Some(260), 0));
        assert_eq!(of(9999), (Some(6862), 0));
    }
}
