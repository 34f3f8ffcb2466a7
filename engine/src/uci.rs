//! UCI as text: commands in, `info` and `bestmove` lines out. Nothing here
//! reads or prints.

mod answer;
mod go;
mod options;

use std::str::SplitAsciiWhitespace;

use thiserror::Error;

use crate::{FenError, MoveError, Position, parse_move};

pub use answer::{best_move_line, info_line};
pub use go::Go;
pub use options::{DEFAULT_OVERHEAD, MAX_LINES, SetOption};

/// What is wrong with a line, or with a part of one.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UciError {
    /// No such command.
    #[error("unknown command {0:?}")]
    UnknownCommand(String),
    /// `position` without `startpos` or `fen`.
    #[error("position needs \"startpos\" or \"fen\"; the position stays as it was")]
    NoPosition,
    /// The FEN of `position` was refused.
    #[error("{0}; the position stays as it was")]
    Fen(#[from] FenError),
    /// A move of `position` was refused, and all that follow it.
    #[error("{0}; the position is the one before it")]
    Move(#[from] MoveError),
    /// A parameter of `go` lacks its number.
    #[error("go {name} needs a whole number{}; ignored", instead(.found))]
    BadGo {
        /// The parameter.
        name: &'static str,
        /// What stands in the number's place.
        found: Option<String>,
    },
    /// `go` has no such parameter.
    #[error("go knows no {0:?}; ignored")]
    UnknownGo(String),
    /// A move of `searchmoves` cannot be searched.
    #[error("searchmoves: {0}; ignored")]
    SearchMove(MoveError),
    /// All of them were of that kind.
    #[error("searchmoves names no legal move: all moves are searched")]
    NoSearchMove,
    /// No such option.
    #[error("unknown option {0:?}")]
    UnknownOption(String),
    /// The option exists, the value does not suit it.
    #[error("option {name} wants {wanted}")]
    BadValue {
        /// The option.
        name: &'static str,
        /// What it takes.
        wanted: String,
    },
}

fn instead(word: &Option<String>) -> String {
    word.as_ref()
        .map_or_else(String::new, |word| format!(", not {word:?}"))
}

/// A word of the GUI's, cut to a length that fits a message.
fn short(word: &str) -> String {
    word.chars().take(40).collect()
}

/// A command of the GUI.
#[derive(Clone, Debug)]
pub enum Command {
    /// `uci`
    Uci,
    /// `isready`
    IsReady,
    /// `ucinewgame`
    NewGame,
    /// `setoption`
    SetOption(SetOption),
    /// `position`, with its moves already played
    Position(Box<Position>),
    /// `go`
    Go(Go),
    /// `ponderhit`
    PonderHit,
    /// `stop`
    Stop,
    /// `quit`
    Quit,
}

impl Command {
    /// Reads a line, and says what is wrong with it. There is a command where
    /// enough of the line is right: for every `go`, so that every `go` has its
    /// answer, and for a `position` up to its first illegal move. There is none
    /// for an empty line, nor for `debug` and `register`, to which there is
    /// nothing to do.
    pub fn read(line: &str) -> (Option<Command>, Vec<UciError>) {
        let mut words = line.split_ascii_whitespace();
        let command = match words.next() {
            None | Some("debug" | "register") => Ok(None),
            Some("uci") => Ok(Some(Command::Uci)),
            Some("isready") => Ok(Some(Command::IsReady)),
            Some("ucinewgame") => Ok(Some(Command::NewGame)),
            Some("setoption") => SetOption::parse(line).map(|set| Some(Command::SetOption(set))),
            Some("position") => match read_position(words) {
                Ok((position, wrong)) => {
                    let position = Command::Position(Box::new(position));
                    return (Some(position), wrong.into_iter().collect());
                }
                Err(error) => Err(error),
            },
            Some("go") => {
                let (go, wrong) = Go::read(words);
                return (Some(Command::Go(go)), wrong);
            }
            Some("ponderhit") => Ok(Some(Command::PonderHit)),
            Some("stop") => Ok(Some(Command::Stop)),
            Some("quit") => Ok(Some(Command::Quit)),
            Some(verb) => Err(UciError::UnknownCommand(short(verb))),
        };
        match command {
            Ok(command) => (command, Vec::new()),
            Err(error) => (None, vec![error]),
        }
    }
}

/// The position, and why it is not the one at the end of the line.
fn read_position(words: SplitAsciiWhitespace) -> Result<(Position, Option<UciError>), UciError> {
    let mut words = words.peekable();
    let mut position = match words.next() {
        Some("startpos") => Position::startpos(),
        Some("fen") => {
            let mut fen = String::new();
            while let Some(word) = words.next_if(|&word| word != "moves") {
                fen.push_str(word);
                fen.push(' ');
            }
            Position::from_fen(&fen)?
        }
        _ => return Err(UciError::NoPosition),
    };
    for text in words.skip_while(|&word| word != "moves").skip(1) {
        let played = parse_move(position.board(), text).and_then(|mv| position.play(mv));
        if let Err(error) = played {
            return Ok((position, Some(error.into())));
        }
    }
    Ok((position, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command and the first complaint about a line.
    fn read(line: &str) -> (Option<Command>, String) {
        let (command, wrong) = Command::read(line);
        let first = wrong.first().map(UciError::to_string);
        (command, first.unwrap_or_default())
    }

    #[test]
    fn refused_lines_say_why() {
        let refused = [
            ("xyzzy", "unknown command"),
            ("position", "startpos"),
            ("position fen", "fewer than four fields"),
            ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "legal position"),
            ("setoption", "unknown option"),
            ("setoption name Hash value 0", "from 1 to"),
            ("setoption name Level value godlike", "easy"),
            (
                "setoption name Evaluation value taste",
                "network or material",
            ),
        ];
        for (line, reason) in refused {
            let (command, message) = read(line);
            assert!(command.is_none(), "{line}");
            assert!(message.contains(reason), "{line}: {message}");
        }
        for line in ["", "  \t", "debug on", "register later"] {
            let (command, message) = read(line);
            assert!(command.is_none() && message.is_empty(), "{line}: {message}");
        }
    }

    #[test]
    fn moves_before_an_illegal_one_are_kept() {
        for (line, reason, kept) in [
            ("position startpos moves e2e5 e2e4", "illegal", "e2e4"),
            ("position startpos moves e2e4 zz", "not a move", "e7e5"),
            ("position startpos moves e2e4 e2e4 e7e5", "illegal", "e7e5"),
        ] {
            let (command, message) = read(line);
            assert!(message.contains(reason), "{line}: {message}");
            let Some(Command::Position(position)) = command else {
                panic!("{line}: {command:?}");
            };
            assert!(parse_move(position.board(), kept).is_ok(), "{line}");
        }
    }
}
