//! Helpers: searches without a clock, and positions with history.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{Engine, Limits, Outcome, Position, Signals, parse_move};

/// Returns signals with a stopped clock: only limits and `stop` end a search.
pub fn signals(stop: &AtomicBool) -> Signals<'_> {
    Signals {
        stop,
        pondering: None,
        elapsed: &|| Duration::ZERO,
    }
}

pub fn search(engine: &mut Engine, position: &Position, limits: &Limits) -> Outcome {
    let stop = AtomicBool::new(false);
    engine.search(position, limits, &signals(&stop), &mut |_| {})
}

pub fn played(fen: &str, moves: &str) -> Position {
    let mut position = Position::from_fen(fen).unwrap();
    for text in moves.split_ascii_whitespace() {
        let mv = parse_move(position.board(), text).unwrap();
        position.play(mv).unwrap();
    }
    position
}
