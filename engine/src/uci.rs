//! UCI as text: commands in, `info` lines out. Nothing here reads or prints.

use std::path::PathBuf;
use std::str::{FromStr, SplitAsciiWhitespace};
use std::time::Duration;

use cozy_chess::{Board, Color};
use thiserror::Error;

use crate::{
    ClockState, EvaluationKind, FenError, Limits, MAX_HASH_MIB, MoveError, Position, Report,
    TimeBudget, parse_move, write_move,
};

/// How `EvalFile` names the network compiled into the engine.
pub const EMBEDDED: &str = "<embedded>";
/// The longest `Move Overhead`, in milliseconds.
pub const MAX_OVERHEAD_MS: u64 = 5000;
/// The `Move Overhead` of a new engine.
pub const DEFAULT_OVERHEAD: Duration = Duration::from_millis(20);

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
    /// `stop`
    Stop,
    /// `quit`
    Quit,
}

/// An option and its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetOption {
    /// Size of the transposition table in MiB.
    Hash(usize),
    /// Forget earlier searches.
    ClearHash,
    /// The network's file; `None` for the embedded one.
    EvalFile(Option<PathBuf>),
    /// Network or material.
    Evaluation(EvaluationKind),
    /// Castling is written as king takes rook.
    Chess960(bool),
    /// Time that passes unseen between GUI and engine, a move.
    MoveOverhead(Duration),
}

/// The parameters of `go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// Search until `stop`.
    pub infinite: bool,
    depth: Option<u64>,
    nodes: Option<u64>,
    movetime: Option<Duration>,
    /// By color; `None` where the GUI gave no time.
    remaining: [Option<Duration>; Color::NUM],
    increment: [Duration; Color::NUM],
    moves_to_go: Option<u64>,
}

impl Go {
    /// Whether the search ends by itself.
    pub fn is_bounded(&self) -> bool {
        let timed = self.movetime.is_some() || self.remaining.iter().any(Option::is_some);
        !self.infinite && (timed || self.depth.is_some() || self.nodes.is_some())
    }

    /// The limits for the side to move.
    pub fn limits(&self, mover: Color, overhead: Duration) -> Limits {
        let fixed = self.movetime.map(|time| TimeBudget::fixed(time, overhead));
        let shared = self.remaining[mover as usize].map(|remaining| {
            let increment = self.increment[mover as usize];
            let clock = ClockState {
                remaining,
                increment,
                moves_to_go: self.moves_to_go,
            };
            TimeBudget::share(&clock, overhead)
        });
        let time = fixed.or(shared).filter(|_| !self.infinite);
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            time,
            ..Limits::default()
        }
    }

    fn parse(mut words: SplitAsciiWhitespace) -> Result<Go, UciError> {
        let mut go = Go::default();
        let (white, black) = (Color::White as usize, Color::Black as usize);
        while let Some(word) = words.next() {
            let words = &mut words;
            match word {
                "infinite" => go.infinite = true,
                "depth" => go.depth = Some(number("depth", words)?),
                "nodes" => go.nodes = Some(number("nodes", words)?),
                "movestogo" => go.moves_to_go = Some(number("movestogo", words)?),
                "movetime" => go.movetime = Some(millis("movetime", words)?),
                "wtime" => go.remaining[white] = Some(millis("wtime", words)?),
                "btime" => go.remaining[black] = Some(millis("btime", words)?),
                "winc" => go.increment[white] = millis("winc", words)?,
                "binc" => go.increment[black] = millis("binc", words)?,
                // The protocol asks to skip what one does not know.
                _ => {}
            }
        }
        Ok(go)
    }
}

/// A number that a GUI may overdraw either way: negative is 0, too large is
/// the largest.
fn number(name: &'static str, words: &mut SplitAsciiWhitespace) -> Result<u64, UciError> {
    let value: i128 = words
        .next()
        .and_then(|word| word.parse().ok())
        .ok_or(UciError::BadGo(name))?;
    Ok(u64::try_from(value.max(0)).unwrap_or(u64::MAX))
}

fn millis(name: &'static str, words: &mut SplitAsciiWhitespace) -> Result<Duration, UciError> {
    number(name, words).map(Duration::from_millis)
}

impl Command {
    /// Reads a line; `None` for an empty one.
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
            "stop" => Command::Stop,
            "quit" => Command::Quit,
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

impl SetOption {
    /// The lines that answer `uci` with what can be set.
    pub fn describe() -> String {
        format!(
            "option name Hash type spin default {hash} min 1 max {MAX_HASH_MIB}\n\
             option name Clear Hash type button\n\
             option name EvalFile type string default {EMBEDDED}\n\
             option name Evaluation type combo default network var network var material\n\
             option name UCI_Chess960 type check default false\n\
             option name Move Overhead type spin default {overhead} min 0 max {MAX_OVERHEAD_MS}",
            hash = crate::DEFAULT_HASH_MIB,
            overhead = DEFAULT_OVERHEAD.as_millis(),
        )
    }

    /// Reads `setoption name NAME value VALUE`; names know no case.
    fn parse(line: &str) -> Result<SetOption, UciError> {
        let text = line
            .trim()
            .strip_prefix("setoption")
            .unwrap_or(line)
            .trim_start();
        let text = text.strip_prefix("name").unwrap_or(text).trim();
        let (name, value) = text.split_once(" value").unwrap_or((text, ""));
        let value = value.trim();
        Ok(match name.trim().to_ascii_lowercase().as_str() {
            "hash" => SetOption::Hash(spin("Hash", value, 1, MAX_HASH_MIB as u64)? as usize),
            "clear hash" => SetOption::ClearHash,
            "evalfile" => {
                SetOption::EvalFile((value != EMBEDDED && !value.is_empty()).then(|| value.into()))
            }
            "evaluation" => {
                SetOption::Evaluation(chosen("Evaluation", value, "network or material")?)
            }
            "uci_chess960" => SetOption::Chess960(chosen("UCI_Chess960", value, "true or false")?),
            "move overhead" => {
                let millis = spin("Move Overhead", value, 0, MAX_OVERHEAD_MS)?;
                SetOption::MoveOverhead(Duration::from_millis(millis))
            }
            _ => return Err(UciError::UnknownOption(name.chars().take(40).collect())),
        })
    }
}

fn spin(name: &'static str, value: &str, min: u64, max: u64) -> Result<u64, UciError> {
    let wanted = || format!("a number from {min} to {max}");
    value
        .parse()
        .ok()
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| UciError::BadValue {
            name,
            wanted: wanted(),
        })
}

fn chosen<T: FromStr>(name: &'static str, value: &str, wanted: &str) -> Result<T, UciError> {
    value.parse().map_err(|_| UciError::BadValue {
        name,
        wanted: wanted.to_string(),
    })
}

/// An `info` line for a search of `board`.
pub fn info_line(report: &Report, board: &Board, chess960: bool) -> String {
    let seconds = report.time.as_secs_f64();
    let nps = if seconds > 0.0 {
        report.nodes as f64 / seconds
    } else {
        0.0
    };
    let mut line = format!(
        "info depth {} seldepth {} score {} nodes {} nps {nps:.0} time {} hashfull {} pv",
        report.depth,
        report.seldepth,
        report.score,
        report.nodes,
        report.time.as_millis(),
        report.hashfull,
    );
    let mut board = board.clone();
    for &mv in report.pv {
        line.push(' ');
        line.push_str(&write_move(&board, mv, chess960));
        board.play_unchecked(mv);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(line: &str) -> Go {
        match Command::parse(line) {
            Ok(Some(Command::Go(go))) => go,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn go_gives_the_limits_of_the_side_to_move() {
        let request = go("go wtime 60000 btime -5 winc 1000 binc 0 movestogo 10");
        assert!(request.is_bounded());
        let white = request.limits(Color::White, DEFAULT_OVERHEAD).time.unwrap();
        let black = request.limits(Color::Black, DEFAULT_OVERHEAD).time.unwrap();
        assert!(white.hard > Duration::from_secs(5) && black.hard <= Duration::from_millis(1));
        let request = go("go depth 7 nodes 99999999999999999999 movetime 50");
        let limits = request.limits(Color::White, Duration::ZERO);
        assert_eq!((limits.depth, limits.nodes), (Some(7), Some(u64::MAX)));
        assert_eq!(limits.time.unwrap().hard, Duration::from_millis(50));
        assert!(!go("go").is_bounded() && !go("go depth 3 infinite").is_bounded());
    }

    #[test]
    fn options_with_spaces_and_paths() {
        let set = |line: &str| match Command::parse(line) {
            Ok(Some(Command::SetOption(option))) => option,
            other => panic!("{other:?}"),
        };
        assert_eq!(set("setoption name Clear Hash"), SetOption::ClearHash);
        assert_eq!(set("setoption name hash value 64"), SetOption::Hash(64));
        let path = PathBuf::from("/a b/value c.safetensors");
        assert_eq!(
            set("setoption name EvalFile value /a b/value c.safetensors"),
            SetOption::EvalFile(Some(path))
        );
        assert_eq!(
            set("setoption name EvalFile value <embedded>"),
            SetOption::EvalFile(None)
        );
        assert_eq!(
            set("setoption name UCI_Chess960 value true"),
            SetOption::Chess960(true)
        );
    }

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
            (
                "setoption name Evaluation value taste",
                "network or material",
            ),
        ];
        for (line, reason) in refused {
            let message = Command::parse(line).unwrap_err().to_string();
            assert!(message.contains(reason), "{line}: {message}");
        }
    }
}
