//! UCI options.

use std::fmt;
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
const MAX_OVERHEAD_MS: usize = 5000;
const OVERHEAD_MS: usize = DEFAULT_OVERHEAD.as_millis() as usize;
/// Least and greatest `UCI_Elo`.
const ELO: [usize; 2] = [MIN_ELO as usize, MAX_ELO as usize];
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

/// Kind of search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchKind {
    /// Principal variation search.
    #[default]
    AlphaBeta,
    /// Monte Carlo tree search with the policy's moves as priors.
    Puct,
}

/// An option and its new value.
// Places of a new option that no match shows: its line in `OPTIONS`; `docs/engine.md`; the lists in
// `engine/tests/uci/protocol.rs` and `compliance.rs`.
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

/// A UCI option: its name and kind.
struct UciOption(&'static str, Kind);

/// Kind of an option, with its default, its values and what they set.
enum Kind {
    Button(fn() -> SetOption),
    Check(bool, Set<bool>),
    /// The default, the least and the greatest number.
    Spin(usize, [usize; 2], Set<usize>),
    /// The choices, the default first; one is set by its index.
    Combo(&'static [&'static str], Set<usize>),
    /// The default; `None` is set for it and for an empty string.
    Text(&'static str, Set<Option<String>>),
}

/// All options, in the order in which they are announced.
static OPTIONS: [UciOption; 22] = [
    spin("Threads", 1, [1, MAX_THREADS], SetOption::Threads),
    spin("Hash", DEFAULT_HASH_MIB, [1, MAX_HASH_MIB], SetOption::Hash),
    UciOption("Clear Hash", Kind::Button(|| SetOption::ClearHash)),
    check("Ponder", false, SetOption::Ponder),
    spin("MultiPV", 1, [1, MAX_LINES], SetOption::MultiPv),
    spin(
        "Move Overhead",
        OVERHEAD_MS,
        [0, MAX_OVERHEAD_MS],
        |millis| SetOption::MoveOverhead(Duration::from_millis(millis as u64)),
    ),
    check("UCI_Chess960", false, SetOption::Chess960),
    check("UCI_ShowWDL", false, SetOption::ShowWdl),
    text("UCI_EngineAbout", ABOUT, |_| SetOption::EngineAbout),
    check("UCI_LimitStrength", false, SetOption::LimitStrength),
    spin("UCI_Elo", ELO[1], ELO, |elo| SetOption::Elo(elo as u32)),
    combo("Level", &["off", "easy", "medium", "hard"], |index| {
        let levels = [Level::Easy, Level::Medium, Level::Hard];
        SetOption::Level(index.checked_sub(1).map(|index| levels[index]))
    }),
    check("OwnBook", false, SetOption::OwnBook),
    text("BookFile", EMPTY, |file| SetOption::BookFile(path(file))),
    text("SyzygyPath", EMPTY, SetOption::SyzygyPath),
    spin("SyzygyProbeDepth", 1, [1, MAX_PROBE_DEPTH], |plies| {
        SetOption::SyzygyProbeDepth(plies as i32)
    }),
    check("Syzygy50MoveRule", true, SetOption::Syzygy50MoveRule),
    text("EvalFile", EMBEDDED, |file| SetOption::EvalFile(path(file))),
    combo("Evaluation", &["network", "material"], |index| {
        let kinds = [EvaluationKind::Network, EvaluationKind::Material];
        SetOption::Evaluation(kinds[index])
    }),
    text("PolicyFile", EMPTY, |file| {
        SetOption::PolicyFile(path(file))
    }),
    combo("Style", &["engine", "human"], |index| {
        SetOption::Style([Style::Engine, Style::Human][index])
    }),
    combo("Search", &["alphabeta", "puct"], |index| {
        SetOption::Search([SearchKind::AlphaBeta, SearchKind::Puct][index])
    }),
];

type Set<T> = fn(T) -> SetOption;

const fn check(name: &'static str, default: bool, set: Set<bool>) -> UciOption {
    UciOption(name, Kind::Check(default, set))
}

const fn spin(name: &'static str, default: usize, ends: [usize; 2], set: Set<usize>) -> UciOption {
    UciOption(name, Kind::Spin(default, ends, set))
}

const fn combo(name: &'static str, choices: &'static [&'static str], set: Set<usize>) -> UciOption {
    UciOption(name, Kind::Combo(choices, set))
}

const fn text(name: &'static str, default: &'static str, set: Set<Option<String>>) -> UciOption {
    UciOption(name, Kind::Text(default, set))
}

fn path(file: Option<String>) -> Option<PathBuf> {
    file.map(PathBuf::from)
}

impl UciOption {
    /// Parses a value of the option.
    fn set(&self, value: &str) -> Result<SetOption, UciError> {
        match self.1 {
            Kind::Button(set) => Ok(set()),
            Kind::Check(_, set) => {
                let value = value.parse().map_err(|_| self.bad_value("true or false"));
                value.map(set)
            }
            Kind::Spin(_, ends, set) => number(self.0, value, ends).map(set),
            Kind::Combo(choices, set) => {
                let index = choices.iter().position(|choice| *choice == value);
                index
                    .ok_or_else(|| self.bad_value(&any_of(choices)))
                    .map(set)
            }
            Kind::Text(default, set) => {
                let given = !["", EMPTY, default].contains(&value);
                Ok(set(given.then(|| value.to_string())))
            }
        }
    }

    fn bad_value(&self, wanted: &str) -> UciError {
        UciError::BadValue {
            name: self.0,
            wanted: wanted.to_string(),
        }
    }
}

impl fmt::Display for UciOption {
    /// Writes the line that announces the option.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "option name {} type ", self.0)?;
        match self.1 {
            Kind::Button(_) => write!(f, "button"),
            Kind::Check(default, _) => write!(f, "check default {default}"),
            Kind::Spin(default, [min, max], _) => {
                write!(f, "spin default {default} min {min} max {max}")
            }
            Kind::Combo(choices, _) => {
                write!(f, "combo default {}", choices[0])?;
                choices
                    .iter()
                    .try_for_each(|choice| write!(f, " var {choice}"))
            }
            Kind::Text(default, _) => write!(f, "string default {default}"),
        }
    }
}

/// Parses a number within bounds.
fn number<T: FromStr + PartialOrd + fmt::Display>(
    name: &'static str,
    value: &str,
    [min, max]: [T; 2],
) -> Result<T, UciError> {
    let number = value.parse().ok();
    let number = number.filter(|number| (&min..=&max).contains(&number));
    number.ok_or_else(|| UciError::BadValue {
        name,
        wanted: format!("a number from {min} to {max}"),
    })
}

/// Returns `a, b or c`.
fn any_of(choices: &[&str]) -> String {
    let (others, last) = choices.split_at(choices.len() - 1);
    format!("{} or {}", others.join(", "), last[0])
}

impl SetOption {
    /// Returns the option lines of the answer to `uci`.
    pub fn describe() -> String {
        let lines = OPTIONS.iter().map(UciOption::to_string);
        #[cfg(feature = "tune")]
        let lines = lines.chain(TUNABLES.iter().map(|tunable| {
            let Tunable {
                name,
                value,
                min,
                max,
                ..
            } = tunable;
            format!("option name {name} type spin default {value} min {min} max {max}")
        }));
        lines.collect::<Vec<_>>().join("\n")
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
        let (name, value) = (name.trim(), value.trim());
        let mut options = OPTIONS.iter();
        if let Some(option) = options.find(|option| option.0.eq_ignore_ascii_case(name)) {
            return option.set(value);
        }
        #[cfg(feature = "tune")]
        if let Some(tunable) = tunable(name) {
            let value = number(tunable.name, value, [tunable.min, tunable.max])?;
            return Ok(SetOption::Tune(tunable, value));
        }
        Err(UciError::UnknownOption(short(&name.to_ascii_lowercase())))
    }
}

#[cfg(feature = "tune")]
fn tunable(name: &str) -> Option<&'static Tunable> {
    let mut tunables = TUNABLES.iter();
    (tunables.find(|tunable| tunable.name.eq_ignore_ascii_case(name))).copied()
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
