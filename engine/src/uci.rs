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

/// Why a line was refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UciError {
    /// No such command.
    #[error("unknown command {0:?}")]
    UnknownCommand(String),
    /// `position` without `startpos` or `fen`.
    #[error("position needs \"startpos\" or \"fen\"")]
    NoPosition,
    /// The FEN of `position` was refused.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// A move of `position` was refused.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// A parameter of `go` lacks its number.
    #[error("go {0} needs a number")]
    BadGo(&'static str),
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
    /// Reads a line; `None` for an empty one, and for `debug` and `register`,
    /// to which there is nothing to do.
    ///
    /// # Errors
    /// [`UciError`] says what is wrong with the line; it is then to be ignored.
    pub fn parse(line: &str) -> Result<Option<Command>, UciError> {
        let mut words = line.split_ascii_whitespace();
        let Some(verb) = words.next() else {
            return Ok(None);
        };
        Ok(Some(match verb {
            "uci" => Command::Uci,
            "isready" => Command::IsReady,
            "ucinewgame" => Command::NewGame,
            "setoption" => Command::SetOption(SetOption::parse(line)?),
            "position" => Command::Position(Box::new(parse_position(words)?)),
            "go" => Command::Go(Go::parse(words)?),
            "ponderhit" => Command::PonderHit,
            "stop" => Command::Stop,
            "quit" => Command::Quit,
            "debug" | "register" => return Ok(None),
            _ => return Err(UciError::UnknownCommand(verb.chars().take(40).collect())),
        }))
    }
}

fn parse_position(words: SplitAsciiWhitespace) -> Result<Position, UciError> {
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
        position.play(parse_move(position.board(), text)?)?;
    }
    Ok(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_lines_say_why() {
        let refused = [
            ("xyzzy", "unknown command"),
            ("position", "startpos"),
            ("position fen", "fewer than four fields"),
            ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "legal position"),
            ("position startpos moves e2e5", "illegal"),
            ("position startpos moves e2e4 zz", "not a move"),
            ("go depth", "number"),
            ("go movetime soon", "number"),
            ("setoption", "unknown option"),
            ("setoption name Hash value 0", "from 1 to"),
            ("setoption name Level value godlike", "easy"),
            (
                "setoption name Evaluation value taste",
                "network or material",
            ),
        ];
        for (line, reason) in refused {
            let message = Command::parse(line).unwrap_err().to_string();
            assert!(message.contains(reason), "{line}: {message}");
        }
        for line in ["", "  \t", "debug on", "register later"] {
            assert!(Command::parse(line).unwrap().is_none());
        }
    }
}
