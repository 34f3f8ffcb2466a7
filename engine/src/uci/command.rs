//! Commands of a GUI.

use std::str::SplitAsciiWhitespace;

use crate::board::{Position, parse_move, repair_fen};
use crate::search::{BENCH_DEPTH, MAX_BENCH_DEPTH};
use crate::uci::MAX_PLIES;
use crate::uci::error::{UciError, short};
use crate::uci::genfens::GenFens;
use crate::uci::go::Go;
use crate::uci::options::SetOption;

/// A parsed UCI command.
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
    /// `position` with its moves already played
    Position(Box<Position>),
    /// Unplayable `position`: the engine has no position until the next one
    NoPosition,
    /// `go`
    Go(Go),
    /// `ponderhit`
    PonderHit,
    /// `stop`
    Stop,
    /// `genfens`, an extension for OpenBench
    GenFens(GenFens),
    /// `d`: show the position. This command and the next ones up to `quit` are not UCI: they are
    /// typed by hand, as in Stockfish
    Display,
    /// `eval`: show the static evaluation and the pieces' values
    Eval,
    /// `flip`: swap the colours of the position
    Flip,
    /// `bench` with its depth in plies
    Bench(u64),
    /// `go perft` with its depth in plies
    Perft(u32),
    /// `quit`
    Quit,
}

impl Command {
    /// Parses a line into a command and the errors in it. Every `go` yields a command, so that it
    /// is answered; a `position` keeps the moves before its first illegal one, and is
    /// [`Command::NoPosition`] if unplayable, so that no search uses the previous position. Empty
    /// lines, `debug` and `register` yield no command.
    pub fn read(line: &str) -> (Option<Command>, Vec<UciError>) {
        let mut words = line.split_ascii_whitespace();
        let command = match words.next() {
            None | Some("debug" | "register") => Ok(None),
            Some("uci") => Ok(Some(Command::Uci)),
            Some("isready") => Ok(Some(Command::IsReady)),
            Some("ucinewgame") => Ok(Some(Command::NewGame)),
            Some("setoption") => SetOption::parse(line).map(|set| Some(Command::SetOption(set))),
            Some("position") => {
                let mut wrong = Vec::new();
                let command = match read_position(words, &mut wrong) {
                    Ok(position) => Command::Position(Box::new(position)),
                    Err(error) => {
                        wrong.push(error);
                        Command::NoPosition
                    }
                };
                return (Some(command), wrong);
            }
            Some("go") if words.clone().next() == Some("perft") => {
                let plies = plies("go perft", words.nth(1), MAX_PLIES);
                plies.map(|plies| Some(Command::Perft(plies)))
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
                word => plies("bench", word, MAX_BENCH_DEPTH as u32)
                    .map(|plies| Some(Command::Bench(plies.into()))),
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

/// Parses a number of plies for `command`.
fn plies(command: &'static str, word: Option<&str>, most: u32) -> Result<u32, UciError> {
    word.and_then(|word| word.parse().ok())
        .filter(|plies| (1..=most).contains(plies))
        .ok_or(UciError::BadPlies { command, most })
}

/// Returns the position after the moves before the first illegal one, and appends faults of the
/// line to `wrong`.
fn read_position(
    words: SplitAsciiWhitespace,
    wrong: &mut Vec<UciError>,
) -> Result<Position, UciError> {
    let mut words = words.peekable();
    let mut position = match words.next() {
        Some("startpos") => Position::startpos(),
        Some("fen") => {
            let mut fields = Vec::new();
            while let Some(word) = words.next_if(|&word| word != "moves") {
                fields.push(word);
            }
            let fen = repair_fen(&fields.join(" "))?;
            wrong.extend(fen.repairs.into_iter().map(UciError::FenRepair));
            // Without counters, EPD operations may follow.
            if let Some(word) = fields.get(6).or_else(|| mistyped_moves(&fields)) {
                wrong.push(UciError::UnknownPosition(short(word)));
            }
            Position::of(fen.board)
        }
        _ => return Err(UciError::NoPosition),
    };
    if let Some(word) = words.next_if(|&word| word != "moves") {
        wrong.push(UciError::UnknownPosition(short(word)));
    }
    for text in words.skip_while(|&word| word != "moves").skip(1) {
        let played = parse_move(position.board(), text).and_then(|mv| position.play(mv));
        if let Err(error) = played {
            wrong.push(error.into());
            break;
        }
    }
    Ok(position)
}

/// Returns the fifth field of a FEN if it looks like a mistyped `moves`.
fn mistyped_moves<'a, 'b>(fields: &'b [&'a str]) -> Option<&'b &'a str> {
    fields.get(4).filter(|word| word.starts_with("mov"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the command and the first error message of a line.
    fn read(line: &str) -> (Option<Command>, String) {
        let (command, wrong) = Command::read(line);
        let first = wrong.first().map(UciError::to_string);
        (command, first.unwrap_or_default())
    }

    #[test]
    fn refused_lines_state_the_reason() {
        let refused = [
            ("xyzzy", "unknown command"),
            ("setoption", "unknown option"),
            ("setoption name Hash value 0", "from 1 to"),
            ("setoption name Level value godlike", "easy"),
            ("go perft", "go perft wants a number of plies"),
            ("go perft -1", "go perft wants a number of plies"),
            ("go perft 100000", "from 1 to 128"),
            ("bench 0", "bench wants a number of plies from 1 to 30"),
            ("bench 300", "bench wants a number of plies"),
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
    fn unplayable_positions_yield_no_position() {
        for (line, reason) in [
            ("position", "startpos"),
            ("position startpso moves e2e4", "startpos"),
            ("position fen", "fewer than four fields"),
            ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "legal position"),
        ] {
            let (command, message) = read(line);
            assert!(matches!(command, Some(Command::NoPosition)), "{line}");
            assert!(message.contains(reason), "{line}: {message}");
        }
    }

    #[test]
    fn reports_misplaced_words() {
        const FEN: &str = "4k3/8/8/8/8/8/4P3/4K3 w - -";
        for (line, word) in [
            ("position startpos move e2e4".to_string(), "\"move\""),
            ("position startpos e2e4 moves d2d4".to_string(), "\"e2e4\""),
            (format!("position fen {FEN} 0 1 move e2e4"), "\"move\""),
            (format!("position fen {FEN} move e2e4"), "\"move\""),
        ] {
            let (command, message) = read(&line);
            assert!(matches!(command, Some(Command::Position(_))), "{line}");
            assert!(message.contains(word), "{line}: {message}");
        }
        for line in [
            FEN.to_string(),
            format!("{FEN} bm e4;"),
            format!("{FEN} 0 1 moves e2e4"),
        ] {
            let (_, message) = read(&format!("position fen {line}"));
            assert!(message.is_empty(), "{line}: {message}");
        }
    }

    #[test]
    fn keeps_moves_before_an_illegal_one() {
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
