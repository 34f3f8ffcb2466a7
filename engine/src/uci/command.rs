//! The commands of a GUI.

use std::str::SplitAsciiWhitespace;

use crate::board::{Position, parse_move};
use crate::search::BENCH_DEPTH;
use crate::uci::MAX_PLIES;
use crate::uci::error::{UciError, short};
use crate::uci::genfens::GenFens;
use crate::uci::go::Go;
use crate::uci::options::SetOption;

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
    /// `genfens`, no command of UCI: OpenBench's
    GenFens(GenFens),
    /// `d`: show the position. This and what follows but `quit` are no commands of UCI:
    /// people type them, as Stockfish has them
    Display,
    /// `eval`: show the static value of the position and of its pieces
    Eval,
    /// `flip`: exchange the sides of the position
    Flip,
    /// `bench`, with plies for each of its positions
    Bench(u64),
    /// `go perft`, with plies
    Perft(u32),
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
            Some("go") if words.clone().next() == Some("perft") => {
                plies("go perft", words.nth(1)).map(|plies| Some(Command::Perft(plies)))
            }
            Some("go") => {
                let (go, wrong) = Go::read(words);
                return (Some(Command::Go(go)), wrong);
            }
            Some("d") => Ok(Some(Command::Display)),
            Some("eval") => Ok(Some(Command::Eval)),
            Some("flip") => Ok(Some(Command::Flip)),
            Some("bench") => match words.next() {
                None => Ok(Some(Command::Bench(BENCH_DEPTH))),
                word => plies("bench", word).map(|plies| Some(Command::Bench(plies.into()))),
            },
            Some("ponderhit") => Ok(Some(Command::PonderHit)),
            Some("stop") => Ok(Some(Command::Stop)),
            Some("genfens") => GenFens::read(words).map(|asked| Some(Command::GenFens(asked))),
            Some("quit") => Ok(Some(Command::Quit)),
            Some(verb) => Err(UciError::UnknownCommand(short(verb))),
        };
        match command {
            Ok(command) => (command, Vec::new()),
            Err(error) => (None, vec![error]),
        }
    }
}

/// A number of plies, as `command` wants it.
fn plies(command: &'static str, word: Option<&str>) -> Result<u32, UciError> {
    word.and_then(|word| word.parse().ok())
        .filter(|plies| (1..=MAX_PLIES).contains(plies))
        .ok_or(UciError::BadPlies(command))
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
            ("go perft", "go perft wants a number of plies"),
            ("go perft -1", "go perft wants a number of plies"),
            ("go perft 100000", "from 1 to 128"),
            ("bench 0", "bench wants a number of plies"),
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
