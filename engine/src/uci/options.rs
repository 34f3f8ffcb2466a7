//! The options.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::evaluation::EvaluationKind;
use crate::search::{DEFAULT_HASH_MIB, Level, MAX_ELO, MAX_HASH_MIB, MAX_THREADS, MIN_ELO};
#[cfg(feature = "tune")]
use crate::search::{TUNABLES, Tunable};
use crate::uci::error::{UciError, short};

/// How `EvalFile` names the network compiled into the engine.
const EMBEDDED: &str = "<embedded>";
/// What GUIs show of the engine.
const ABOUT: &str = "Kibitz, an engine made out of Lichess games, GPL-3.0-or-later";
/// The greatest `SyzygyProbeDepth`, in plies.
const MAX_PROBE_DEPTH: usize = 100;
/// How UCI writes an empty string.
const EMPTY: &str = "<empty>";
/// The longest `Move Overhead`, in milliseconds.
const MAX_OVERHEAD_MS: u64 = 5000;
/// The `Move Overhead` of a new engine.
pub const DEFAULT_OVERHEAD: Duration = Duration::from_millis(10);
/// The greatest `MultiPV`; no position has more than 218 moves.
pub const MAX_LINES: usize = 256;

/// An option and its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetOption {
    /// Threads that search.
    Threads(usize),
    /// Size of the transposition table in MiB.
    Hash(usize),
    /// Forget earlier searches.
    ClearHash,
    /// Whether the GUI will send `go ponder`; nothing follows from it.
    Ponder(bool),
    /// Lines to report.
    MultiPv(usize),
    /// Time that passes unseen between GUI and engine, a move.
    MoveOverhead(Duration),
    /// Castling is written as king takes rook.
    Chess960(bool),
    /// Play as weakly as `Elo` says.
    LimitStrength(bool),
    /// How weakly.
    Elo(u32),
    /// Play as weakly as this; before `LimitStrength`.
    Level(Option<Level>),
    /// Play from the book while it lasts.
    OwnBook(bool),
    /// The book's file.
    BookFile(Option<PathBuf>),
    /// Folders of endgame tables, separated as the system separates paths.
    SyzygyPath(Option<String>),
    /// The least depth at which searches ask the tables of most pieces, in plies.
    SyzygyProbeDepth(i32),
    /// Whether to the tables a win that takes too long is a draw.
    Syzygy50MoveRule(bool),
    /// Chances beside scores.
    ShowWdl(bool),
    /// Who the engine is; it cannot be set.
    EngineAbout,
    /// The network's file; `None` for the embedded one.
    EvalFile(Option<PathBuf>),
    /// Network or material.
    Evaluation(EvaluationKind),
    /// A number of the search, within its bounds.
    #[cfg(feature = "tune")]
    Tune(&'static Tunable, i32),
}

impl SetOption {
    /// The lines that answer `uci` with what can be set.
    pub fn describe() -> String {
        let description = format!(
            "option name Threads type spin default 1 min 1 max {MAX_THREADS}\n\
             option name Hash type spin default {DEFAULT_HASH_MIB} min 1 max {MAX_HASH_MIB}\n\
             option name Clear Hash type button\n\
             option name Ponder type check default false\n\
             option name MultiPV type spin default 1 min 1 max {MAX_LINES}\n\
             option name Move Overhead type spin default {overhead} min 0 max {MAX_OVERHEAD_MS}\n\
             option name UCI_Chess960 type check default false\n\
             option name UCI_ShowWDL type check default false\n\
             option name UCI_EngineAbout type string default {ABOUT}\n\
             option name UCI_LimitStrength type check default false\n\
             option name UCI_Elo type spin default {MAX_ELO} min {MIN_ELO} max {MAX_ELO}\n\
             option name Level type combo default off var off var easy var medium var hard\n\
             option name OwnBook type check default false\n\
             option name BookFile type string default {EMPTY}\n\
             option name SyzygyPath type string default {EMPTY}\n\
             option name SyzygyProbeDepth type spin default 1 min 1 max {MAX_PROBE_DEPTH}\n\
             option name Syzygy50MoveRule type check default true\n\
             option name EvalFile type string default {EMBEDDED}\n\
             option name Evaluation type combo default network var network var material",
            overhead = DEFAULT_OVERHEAD.as_millis(),
        );
        #[cfg(feature = "tune")]
        let description = TUNABLES.iter().fold(description, |text, tunable| {
            let Tunable {
                name,
                value,
                min,
                max,
                ..
            } = tunable;
            text + &format!("\noption name {name} type spin default {value} min {min} max {max}")
        });
        description
    }

    /// Reads `setoption name NAME value VALUE`; names know no case.
    pub(super) fn parse(line: &str) -> Result<SetOption, UciError> {
        let text = line
            .trim()
            .strip_prefix("setoption")
            .unwrap_or(line)
            .trim_start();
        let text = text.strip_prefix("name").unwrap_or(text).trim();
        let (name, value) = text.split_once(" value").unwrap_or((text, ""));
        let value = value.trim();
        let millis = |number| Duration::from_millis(number as u64);
        Ok(match name.trim().to_ascii_lowercase().as_str() {
            "threads" => SetOption::Threads(spin("Threads", value, 1, MAX_THREADS)?),
            "hash" => SetOption::Hash(spin("Hash", value, 1, MAX_HASH_MIB)?),
            "clear hash" => SetOption::ClearHash,
            "ponder" => SetOption::Ponder(check("Ponder", value)?),
            "multipv" => SetOption::MultiPv(spin("MultiPV", value, 1, MAX_LINES)?),
            "move overhead" => SetOption::MoveOverhead(millis(spin(
                "Move Overhead",
                value,
                0,
                MAX_OVERHEAD_MS as usize,
            )?)),
            "uci_chess960" => SetOption::Chess960(check("UCI_Chess960", value)?),
            "uci_limitstrength" => SetOption::LimitStrength(check("UCI_LimitStrength", value)?),
            "uci_elo" => {
                let elo = spin("UCI_Elo", value, MIN_ELO as usize, MAX_ELO as usize)?;
                SetOption::Elo(elo as u32)
            }
            "level" if value == "off" => SetOption::Level(None),
            "level" => SetOption::Level(Some(chosen("Level", value, "off, easy, medium or hard")?)),
            "ownbook" => SetOption::OwnBook(check("OwnBook", value)?),
            "bookfile" => SetOption::BookFile(string(value, EMPTY)),
            "uci_showwdl" => SetOption::ShowWdl(check("UCI_ShowWDL", value)?),
            "uci_engineabout" => SetOption::EngineAbout,
            "syzygyprobedepth" => {
                let plies = spin("SyzygyProbeDepth", value, 1, MAX_PROBE_DEPTH)?;
                SetOption::SyzygyProbeDepth(plies as i32)
            }
            "syzygy50moverule" => SetOption::Syzygy50MoveRule(check("Syzygy50MoveRule", value)?),
            "syzygypath" => SetOption::SyzygyPath(string(value, EMPTY)),
            "evalfile" => SetOption::EvalFile(string(value, EMBEDDED)),
            "evaluation" => {
                SetOption::Evaluation(chosen("Evaluation", value, "network or material")?)
            }
            #[cfg(feature = "tune")]
            name if let Some(tunable) = tunable(name) => {
                let fits = |value: &i32| (tunable.min..=tunable.max).contains(value);
                let value = value.parse().ok().filter(fits);
                let value = value.ok_or_else(|| UciError::BadValue {
                    name: tunable.name,
                    wanted: format!("a number from {} to {}", tunable.min, tunable.max),
                })?;
                SetOption::Tune(tunable, value)
            }
            _ => return Err(UciError::UnknownOption(short(name))),
        })
    }
}

fn spin(name: &'static str, value: &str, min: usize, max: usize) -> Result<usize, UciError> {
    value
        .parse()
        .ok()
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| UciError::BadValue {
            name,
            wanted: format!("a number from {min} to {max}"),
        })
}

#[cfg(feature = "tune")]
fn tunable(name: &str) -> Option<&'static Tunable> {
    let mut tunables = TUNABLES.iter();
    (tunables.find(|tunable| tunable.name.eq_ignore_ascii_case(name))).copied()
}

fn check(name: &'static str, value: &str) -> Result<bool, UciError> {
    chosen(name, value, "true or false")
}

fn chosen<T: FromStr>(name: &'static str, value: &str, wanted: &str) -> Result<T, UciError> {
    value.parse().map_err(|_| UciError::BadValue {
        name,
        wanted: wanted.to_string(),
    })
}

/// A string; `None` where it is empty or the default.
fn string<T: for<'a> From<&'a str>>(value: &str, default: &str) -> Option<T> {
    (!value.is_empty() && value != default && value != EMPTY).then(|| value.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uci::Command;

    fn set(line: &str) -> SetOption {
        match Command::read(line) {
            (Some(Command::SetOption(option)), _) => option,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_with_spaces_and_paths() {
        assert_eq!(set("setoption name Clear Hash"), SetOption::ClearHash);
        assert_eq!(set("setoption name hash value 64"), SetOption::Hash(64));
        let path = PathBuf::from("/a b/value c.safetensors");
        assert_eq!(
            set("setoption name EvalFile value /a b/value c.safetensors"),
            SetOption::EvalFile(Some(path))
        );
        for none in ["<embedded>", "<empty>", ""] {
            let line = format!("setoption name EvalFile value {none}");
            assert_eq!(set(&line), SetOption::EvalFile(None));
        }
        assert_eq!(
            set("setoption name Level value easy"),
            SetOption::Level(Some(Level::Easy))
        );
        assert_eq!(
            set("setoption name Level value off"),
            SetOption::Level(None)
        );
    }

    /// Every option that is announced takes its own default.
    #[test]
    fn defaults_are_accepted() {
        let description = SetOption::describe();
        let numbers = if cfg!(feature = "tune") {
            crate::TUNABLES.len()
        } else {
            0
        };
        assert_eq!(description.lines().count(), 19 + numbers);
        for line in description.lines() {
            let (name, rest) = line["option name ".len()..].split_once(" type ").unwrap();
            let value = rest.split(" default ").nth(1).unwrap_or_default();
            let value = value.split(' ').next().unwrap();
            set(&format!("setoption name {name} value {value}"));
        }
    }
}
