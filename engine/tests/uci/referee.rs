//! Judges the engine's output: by shakmaty's rules, which the engine does not use, and an
//! independent reading of the protocol.

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Position};

/// Returns the position of a `position` line, after the moves before the first illegal one; `None`
/// if there is none.
pub fn position(line: &str) -> Option<Chess> {
    let (before, moves) = line.split_once(" moves").unwrap_or((line, ""));
    let words: Vec<&str> = before.split_ascii_whitespace().collect();
    let mut position = match words.as_slice() {
        ["position", "startpos", ..] => Chess::default(),
        ["position", "fen", fields @ ..] => {
            let fen: Fen = fields.join(" ").parse().ok()?;
            fen.into_position(CastlingMode::Chess960).ok()?
        }
        _ => return None,
    };
    for text in moves.split_ascii_whitespace() {
        match legal(&position, text) {
            Some(mv) => position.play_unchecked(mv),
            None => break,
        }
    }
    Some(position)
}

fn legal(position: &Chess, text: &str) -> Option<shakmaty::Move> {
    let mv: UciMove = text.parse().ok()?;
    mv.to_move(position).ok()
}

/// Returns the legal moves after a `position` line.
///
/// # Panics
/// If the line has no position.
pub fn moves(line: &str) -> Vec<String> {
    let position = position(line).expect("a position");
    let moves = position.legal_moves();
    let texts = moves
        .iter()
        .map(|mv| mv.to_uci(CastlingMode::Standard).to_string());
    texts.collect()
}

/// Returns whether the moves can be played one after the other.
pub fn are_legal<'a>(position: &Chess, moves: impl IntoIterator<Item = &'a str>) -> bool {
    let mut position = position.clone();
    moves.into_iter().all(|text| {
        let mv = legal(&position, text);
        mv.inspect(|&mv| position.play_unchecked(mv)).is_some()
    })
}

/// Checks an answer to `go`.
pub fn judge_best_move(position: &Chess, line: &str) -> Result<(), String> {
    let words: Vec<&str> = line.split(' ').collect();
    let right = match words.as_slice() {
        ["bestmove", "0000"] => position.legal_moves().is_empty(),
        ["bestmove", best] => are_legal(position, [*best]),
        ["bestmove", best, "ponder", answer] => are_legal(position, [*best, *answer]),
        _ => false,
    };
    right.then_some(()).ok_or_else(|| format!("{line:?}"))
}

/// Checks an `info` line of a search.
pub fn judge_info(position: &Chess, line: &str) -> Result<(), String> {
    let wrong = |why: &str| Err(format!("{why}: {line:?}"));
    if position.legal_moves().is_empty() {
        let right = match position.is_check() {
            true => "info depth 0 score mate 0",
            false => "info depth 0 score cp 0",
        };
        return (line == right)
            .then_some(())
            .ok_or_else(|| format!("{line:?}"));
    }
    let mut words = line.split(' ');
    if words.next() != Some("info") {
        return wrong("no info");
    }
    let mut seen: Vec<&str> = Vec::new();
    while let Some(name) = words.next() {
        if seen.contains(&name) {
            return wrong("a field comes twice");
        }
        seen.push(name);
        let mut number = || words.next().and_then(|word| word.parse::<i64>().ok());
        let whole = |number: Option<i64>| number.is_some_and(|number| number >= 0);
        let right = match name {
            "depth" | "multipv" => number().is_some_and(|number| number >= 1),
            "seldepth" | "nodes" | "nps" | "time" | "tbhits" => whole(number()),
            "hashfull" => number().is_some_and(|number| (0..=1_000).contains(&number)),
            "score" => match words.next() {
                Some("cp") => words.next().is_some_and(|word| {
                    let score: Result<i32, _> = word.parse();
                    score.is_ok_and(|score| score.abs() < 100_000)
                }),
                Some("mate") => words.next().is_some_and(|word| {
                    let moves: Result<i32, _> = word.parse();
                    moves.is_ok_and(|moves| moves != 0 && moves.abs() <= 128)
                }),
                _ => false,
            },
            "lowerbound" | "upperbound" => seen[seen.len() - 2] == "score",
            "pv" => {
                let moves: Vec<&str> = words.by_ref().collect();
                !moves.is_empty() && are_legal(position, moves)
            }
            _ => false,
        };
        if !right {
            return wrong(name);
        }
    }
    let needed = ["depth", "multipv", "score", "nodes", "nps", "time", "pv"];
    match needed.iter().find(|name| !seen.contains(name)) {
        Some(name) => wrong(&format!("no {name}")),
        None => Ok(()),
    }
}
