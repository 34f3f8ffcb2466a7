//! UCI engine for tests. Its score is a hash of the position's history, so that any mix-up shows,
//! and its arguments make it misbehave.
//!
//! Arguments are `name=number` or `name`:
//! - `crash=N`, `hang=N`, `late=N`, `garbage=N`: at every position N plies after the start of its
//!   game, exits, never answers, answers after the time limit, or prints text that is not UCI;
//! - `crash-every=N`: exits in its Nth search;
//! - `chatty`: prints more search output after each `bestmove`;
//! - `memory`: scores depend on the searches since `ucinewgame`;
//! - `delay=N`: each search takes N milliseconds;
//! - `plain`: has no option UCI_Chess960.

use std::io::{BufRead, Write, stdin, stdout};
use std::thread::sleep;
use std::time::Duration;

use tests::annotated::{FakeScore, fake_score};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|a| a == name);
    let number = |name: &str| -> Option<usize> {
        let value = |a: &String| a.strip_prefix(name)?.strip_prefix('=')?.parse().ok();
        arguments.iter().find_map(value)
    };
    let (mut position, mut searches, mut remembered) = (String::new(), 0, 0);
    for line in stdin().lock().lines() {
        let line = line.expect("commands are text");
        match line.split(' ').next().unwrap_or_default() {
            "uci" if has("plain") => say("id name Fake\nuciok"),
            "uci" => say(
                "id name Fake\noption name UCI_Chess960 type check default false\n\
                 option name Hash type spin default 1 min 1 max 9\nuciok",
            ),
            "isready" => say("readyok"),
            "ucinewgame" => remembered = 0,
            "position" => position = line,
            "go" => {
                let plies = line_plies(&position);
                let at = |name: &str| number(name) == Some(plies);
                searches += 1;
                remembered += 1;
                sleep(Duration::from_millis(number("delay").unwrap_or(0) as u64));
                if at("crash") || number("crash-every") == Some(searches) {
                    std::process::exit(1);
                }
                if at("garbage") {
                    stdout().write_all(&[0xff, 0, 0x80, b'\n']).expect("writes");
                    say("info depth 1 score cp\ninfo score cp 1 depth\nbestmove e9e9");
                    continue;
                }
                if at("hang") {
                    continue;
                }
                if at("late") {
                    sleep(Duration::from_secs(4));
                }
                let memory = if has("memory") { remembered } else { 0 };
                say(&answer(&position, memory));
                if has("chatty") {
                    say(
                        "info depth 99 score cp 31337\nbestmove a2a3\ninfo depth 98 score cp 31338",
                    );
                }
            }
            _ => {}
        }
    }
}

fn say(text: &str) {
    let mut out = stdout().lock();
    // Fails if the reader has ended.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

fn line_plies(position: &str) -> usize {
    position
        .split_once(" moves ")
        .map_or(0, |(_, moves)| moves.split(' ').count())
}

/// Returns the answer to a search, with a legal best move.
fn answer(position: &str, memory: i32) -> String {
    let (start, moves) = position.split_once(" moves ").unwrap_or((position, ""));
    let mut board = match start.strip_prefix("position fen ") {
        Some(fen) => engine::parse_fen(fen).expect("a legal FEN"),
        None => cozy_chess::Board::default(),
    };
    for text in moves.split_whitespace() {
        let mv = engine::parse_move(&board, text).expect("a legal move");
        board.play(mv);
    }
    let mut best = None;
    board.generate_moves(|moves| {
        best = moves.into_iter().next();
        best.is_some()
    });
    // Finished games are never evaluated.
    let best = best.expect("a position with a legal move");
    let (score, depth) = fake_score(position);
    let score = match score {
        FakeScore::Centipawns(centipawns) => format!("cp {}", centipawns + memory),
        FakeScore::Mate(moves) => format!("mate {moves}"),
    };
    format!(
        "info depth {} score cp 7777 pv a1a1\ninfo depth {depth} multipv 1 score {score} nodes 1\n\
         info depth {} score cp 8888 lowerbound\nbestmove {best} ponder a1a1",
        depth - 1,
        depth + 1,
    )
}
