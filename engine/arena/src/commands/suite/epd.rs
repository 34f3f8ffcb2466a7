//! EPD problems: a position, then operations such as `bm Qg6;`.

use anyhow::{Context, Result, anyhow, bail};
use cozy_chess::util::parse_san_move;
use cozy_chess::{Board, Move};
use engine::{Position, parse_move};

/// A test position and its task.
pub struct Problem {
    /// The `id` operation, else the position.
    pub id: String,
    /// Position to search.
    pub position: Position,
    /// Condition that solves the problem.
    pub task: Task,
}

/// Condition that solves a problem.
#[derive(Debug, PartialEq)]
pub enum Task {
    /// Playing one of `best`, if there are any, and none of `avoid`.
    Move {
        /// Moves of `bm`.
        best: Vec<Move>,
        /// Moves of `am`.
        avoid: Vec<Move>,
        /// Points of moves, from STS's own `c8` (points) and `c9` (moves).
        points: Vec<(Move, u32)>,
    },
    /// Announcing the mate in this many moves, from `bm #5` or `bm #-5`: negative if the side to
    /// move is mated.
    Mate(i32),
}

impl Problem {
    /// Parses one line.
    ///
    /// # Errors
    /// If the position, a move or a number is invalid, or `bm` and `am` are both missing.
    pub fn parse(line: &str) -> Result<Problem> {
        let rest = after_position(line);
        let position = Position::from_fen(&line[..line.len() - rest.len()])?;
        let operations = operations(rest);
        let find = |name: &str| {
            let mut found = operations.iter().filter(|(opcode, _)| *opcode == name);
            found.next().map_or("", |(_, operand)| operand)
        };
        let task = match find("bm").strip_prefix('#') {
            Some(moves) => Task::Mate(moves.parse().context("the distance of a mate")?),
            None => Task::Move {
                best: san_moves(position.board(), find("bm"))?,
                avoid: san_moves(position.board(), find("am"))?,
                points: points(position.board(), find("c9"), find("c8"))?,
            },
        };
        if matches!(&task, Task::Move { best, avoid, .. } if best.is_empty() && avoid.is_empty()) {
            bail!("neither bm nor am");
        }
        let id = match find("id") {
            "" => position.board().to_string(),
            id => id.to_string(),
        };
        Ok(Problem { id, position, task })
    }
}

/// Returns the opcodes with their operands, without quotation marks.
fn operations(text: &str) -> Vec<(&str, &str)> {
    let mut quoted = false;
    let ends = |symbol: char| {
        quoted ^= symbol == '"';
        symbol == ';' && !quoted
    };
    text.split(ends)
        .filter_map(|operation| operation.trim().split_once(char::is_whitespace))
        .map(|(opcode, operand)| (opcode, operand.trim().trim_matches('"')))
        .collect()
}

/// Returns the operations after the four fields of an EPD, or the six of a FEN.
fn after_position(line: &str) -> &str {
    let counters = line.split_ascii_whitespace().nth(4);
    let is_fen = counters.is_some_and(|field| field.starts_with(|c: char| c.is_ascii_digit()));
    let mut rest = line.trim_start();
    for _ in 0..if is_fen { 6 } else { 4 } {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        rest = rest[end..].trim_start();
    }
    rest
}

fn san_moves(board: &Board, text: &str) -> Result<Vec<Move>> {
    text.split_ascii_whitespace()
        // Some suites separate the check sign from its move.
        .filter(|&word| word != "+")
        .map(|word| parse_san_move(board, word).map_err(|_| anyhow!("no legal move {word:?}")))
        .collect()
}

fn points(board: &Board, moves: &str, points: &str) -> Result<Vec<(Move, u32)>> {
    let (moves, points) = (moves.split_whitespace(), points.split_whitespace());
    moves
        .zip(points)
        .map(|(mv, points)| Ok((parse_move(board, mv)?, points.parse()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mv(text: &str) -> Move {
        text.parse().unwrap()
    }

    #[test]
    fn reads_best_moves_and_points() {
        let line = "4k2r/8/8/8/8/8/8/R3K2R w KQk - bm O-O Ra8+; am Kd1; id \"a; b.1\"; \
                    c8 \"100 7\"; c9 \"e1g1 a1a8\";";
        let problem = Problem::parse(line).unwrap();
        assert_eq!(problem.id, "a; b.1");
        let expected = Task::Move {
            best: vec![mv("e1h1"), mv("a1a8")],
            avoid: vec![mv("e1d1")],
            points: vec![(mv("e1h1"), 100), (mv("a1a8"), 7)],
        };
        assert_eq!(problem.task, expected);
    }

    #[test]
    fn reads_mates_with_and_without_counters() {
        for (line, mate) in [
            ("7k/8/6K1/8/8/8/8/1Q6 w - - bm #1;", 1),
            ("7k/8/6K1/8/8/8/8/1Q6 b - - 3 40 ; bm #-2", -2),
        ] {
            assert_eq!(Problem::parse(line).unwrap().task, Task::Mate(mate));
        }
    }

    #[test]
    fn accepts_a_separate_check_sign() {
        let line = "1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - - ; bm Qd1 + ; id BK.01 ";
        let problem = Problem::parse(line).unwrap();
        assert!(matches!(problem.task, Task::Move { best, .. } if best == [mv("d6d1")]));
        assert_eq!(problem.id, "BK.01");
    }

    #[test]
    fn refuses_invalid_problems() {
        let position = "7k/8/6K1/8/8/8/8/1Q6 w - -";
        for operations in ["", "id \"none\";", "bm Qb9;", "bm Rb8;", "bm #x;"] {
            assert!(Problem::parse(&format!("{position} {operations}")).is_err());
        }
    }
}
