//! `arena generate`: real self-play games.

mod exploration;
mod formats;
mod games;
mod resume;

use std::path::Path;
use std::process::{Command, Output};

use engine::cozy_chess::Move;
use engine::{from_shakmaty, parse_fen};
use serde_json::Value;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Position};

fn command(arguments: &[&str], out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
    command.arg("generate").args(arguments).arg("--out");
    command.arg(out).arg("--json");
    command
}

fn generate(arguments: &[&str], out: &Path) -> Output {
    command(arguments, out).output().unwrap()
}

/// Returns the statistics of a complete output.
fn statistics(arguments: &[&str], out: &Path) -> Value {
    let output = generate(arguments, out);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the exit code and the message.
fn refusal(arguments: &[&str], out: &Path) -> (Option<i32>, String) {
    let output = generate(arguments, out);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), message)
}

/// A position, the move played from it, and the label behind the move.
struct Ply {
    position: Chess,
    mv: Move,
    /// White's score as written, and the depth.
    label: Option<(String, u32)>,
    /// Moves in UCI with their visits, as written.
    visits: Vec<(String, u32)>,
}

/// A game as shakmaty reads it; an illegal move panics.
struct Game {
    tags: Vec<(String, String)>,
    plies: Vec<Ply>,
    last: Chess,
    ending: String,
}

impl Game {
    fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(tag, _)| tag == name);
        found.map(|(_, value)| &**value)
    }

    /// Returns the index of the first position with a label.
    fn opening(&self) -> usize {
        1 + self
            .plies
            .iter()
            .position(|ply| ply.label.is_some())
            .unwrap()
    }

    /// Returns the label of the position before a ply.
    fn label(&self, ply: usize) -> &(String, u32) {
        self.plies[ply - 1].label.as_ref().unwrap()
    }
}

/// Parses games as this program writes them, not PGN in general.
fn games(text: &str) -> Vec<Game> {
    text.split("[Event ").skip(1).map(game).collect()
}

fn game(text: &str) -> Game {
    let (tags, movetext) = text.split_once("\n\n").unwrap();
    let tag = |line: &str| {
        let (name, value) = line.trim_matches(['[', ']']).split_once(" \"").unwrap();
        (name.to_string(), value.trim_end_matches('"').to_string())
    };
    let tags = tags.lines().skip(1).map(tag).collect();
    let mut game = Game {
        tags,
        plies: Vec::new(),
        last: Chess::default(),
        ending: String::new(),
    };
    if let Some(fen) = game.tag("FEN") {
        assert!(parse_fen(fen).is_ok(), "{fen}");
        let fen: Fen = fen.parse().unwrap();
        game.last = fen.into_position(CastlingMode::Chess960).unwrap();
    }
    let mut rest = movetext.trim();
    while !rest.is_empty() {
        if let Some(comment) = rest.strip_prefix('{') {
            let (comment, after) = comment.split_once('}').unwrap();
            rest = after.trim_start();
            let commands = comment.split("[%").skip(1).map(|command| {
                let (name, value) = command.split_once(' ').unwrap();
                (name, value.split_once(']').unwrap().0)
            });
            if !comment.contains("[%") {
                game.ending = comment.trim().to_string();
            }
            for (name, value) in commands {
                let ply = game.plies.last_mut().unwrap();
                match name {
                    "eval" => {
                        let (score, depth) = value.split_once(',').unwrap();
                        let label = (score.to_string(), depth.parse().unwrap());
                        assert_eq!(ply.label.replace(label), None);
                    }
                    "visits" => {
                        assert!(ply.visits.is_empty());
                        ply.visits.extend(value.split(',').map(|entry| {
                            let (mv, visits) = entry.split_once(':').unwrap();
                            (mv.to_string(), visits.parse().unwrap())
                        }));
                    }
                    other => panic!("{other}"),
                }
            }
            continue;
        }
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = after.trim_start();
        if after.is_empty() {
            assert_eq!(Some(word), game.tag("Result"));
        } else if !word.ends_with('.') {
            let position = game.last.clone();
            let san: SanPlus = word.parse().unwrap();
            let mv = san.san.to_move(&position).unwrap();
            game.last.play_unchecked(mv);
            game.plies.push(Ply {
                position,
                mv: from_shakmaty(mv).unwrap(),
                label: None,
                visits: Vec::new(),
            });
        }
    }
    let plies = game.plies.len().to_string();
    assert_eq!(game.tag("PlyCount"), Some(&*plies));
    game
}
