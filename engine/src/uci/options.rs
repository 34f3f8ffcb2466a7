//! UCI options.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::evaluation::EvaluationKind;
use crate::search::{DEFAULT_HASH_MIB, Level, MAX_ELO, MAX_HASH_MIB, MAX_THREADS, MIN_ELO};
#[cfg(feature = "tune")]
use crate::search::{TUNABLES, Tunable};
use crate::uci::error::{UciError, short};

/// Value of `EvalFile` for the embedded network.
const EMBEDDED: &str = "<embedded>";
/// Value of `UCI_EngineAbout`.
const ABOUT: &str = "Kibitz, an engine made out of Lichess games, GPL-3.0-or-later";
/// Maximum `SyzygyProbeDepth`, in plies.
const MAX_PROBE_DEPTH: usize = 100;
/// UCI notation of an empty string.
const EMPTY: &str = "<empty>";
/// Maximum `Move Overhead`, in milliseconds.
const MAX_OVERHEAD_MS: u64 = 5000;
/// Default `Move Overhead`.
pub const DEFAULT_OVERHEAD: Duration = Duration::from_millis(10);
/// Maximum `MultiPV`; no position has more than 218 moves.
pub const MAX_LINES: usize = 256;

/// Style of play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// The best move, or one near it by level.
    #[default]
    Engine,
    /// A move of people rated [`SetOption::Elo`], by the policy.
    Human,
}

impl FromStr for Style {
    type Err = ();

    fn from_str(text: &str) -> Result<Style, ()> {
        match text {
            "engine" => Ok(Style::Engine),
            "human" => Ok(Style::Human),
            _ => Err(()),
        }
    }
}

/// Kind of search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchKind {
    /// Principal variation search.
    #[default]
    AlphaBeta,
    /// Monte Carlo tree search with the policy's moves as priors.
    Puct,
}

impl FromStr for SearchKind {
    type Err = ();

    fn from_str(text: &str) -> Result<SearchKind, ()> {
        match text {
            "alphabeta" => Ok(SearchKind::AlphaBeta),
            "puct" => Ok(SearchKind::Puct),
            _ => Err(()),
        }
    }
}

/// An option and its new value.
// Places of a new option that no match shows: its line in `describe` and its arm in `parse`;
// `docs/engine.md`; the lists in `engine/tests/uci/protocol.rs` and `compliance.rs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetOption {
    /// Number of search threads.
    Threads(usize),
    /// Transposition table size in MiB.
    Hash(usize),
    /// Button that clears the engine's tables.
    ClearHash,
    /// Whether the GUI may send `go ponder`; has no effect.
    Ponder(bool),
    /// Number of lines to report.
    MultiPv(usize),
    /// Communication delay between GUI and engine, per move.
    MoveOverhead(Duration),
    /// Whether castling is written as king takes rook.
    Chess960(bool),
    /// Whether to limit the strength to `Elo`.
    LimitStrength(bool),
    /// Strength under `LimitStrength`.
    Elo(u32),
    /// Level of play; takes precedence over `LimitStrength`. `None` for full strength.
    Level(Option<Level>),
    /// Whether to play book moves.
    OwnBook(bool),
    /// File of the book.
    BookFile(Option<PathBuf>),
    /// Folders of endgame tables, separated as the system separates paths.
    SyzygyPath(Option<String>),
    /// Minimum depth in plies for probing the tables with the most pieces.
    SyzygyProbeDepth(i32),
    /// Whether cursed wins count as draws.
    Syzygy50MoveRule(bool),
    /// Whether scores include `wdl`.
    ShowWdl(bool),
    /// Description of the engine; read-only.
    EngineAbout,
    /// File of the network; `None` for the embedded one.
    EvalFile(Option<PathBuf>),
    /// Source of the evaluation: network or material.
    Evaluation(EvaluationKind),
    /// File of the policy; `None` for none.
    PolicyFile(Option<PathBuf>),
    /// Style of play; takes precedence over `Level` and `LimitStrength`.
    Style(Style),
    /// Kind of search at full strength.
    Search(SearchKind),
    /// A search parameter and its value, within bounds.
    #[cfg(feature = "tune")]
    Tune(&'static Tunable, i32),
}

impl SetOption {
    /// Returns the option lines of the answer to `uci`.
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
             option name Evaluation type combo default network var network var material\n\
             option name PolicyFile type string default {EMPTY}\n\
             option name Style type combo default engine var engine var human\n\
             option name Search type combo default alphabeta var alphabeta var puct",
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

    /// Parses `setoption name NAME value VALUE`; names are case-insensitive.
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
            "policyfile" => SetOption::PolicyFile(string(value, EMPTY)),
            "search" => SetOption::Search(chosen("Search", value, "alphabeta or puct")?),
            "style" => SetOption::Style(chosen("Style", value, "engine or human")?),
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

/// Returns a string value; `None` if it is empty or the default.
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
    fn parses_names_and_values_with_spaces() {
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

    /// Every announced option accepts its own default.
    #[test]
    fn defaults_are_accepted() {
        let description = SetOption::describe();
        let numbers = if cfg!(feature = "tune") {
            crate::TUNABLES.len()
        } else {
            0
        };
        assert_eq!(description.lines().count(), 22 + numbers);
        for line in description.lines() {
            let (name, rest) = line["option name ".len()..].split_once(" type ").unwrap();
            let value = rest.split(" default ").nth(1).unwrap_or_default();
            let value = value.split(' ').next().unwrap();
            set(&format!("setoption name {name} value {value}"));
        }
    }
}
