//! Time controls and search limits of an engine, and the clocks of a game.

use std::fmt;
use std::time::Duration;

use charts::thousands;
use cozy_chess::Color;
use engine::uci::DEFAULT_OVERHEAD;
use engine::{ClockState, Limits, TimeBudget};

/// Time after which an engine without a clock counts as hung.
pub const HANG_TIMEOUT: Duration = Duration::from_secs(60);
/// Upper limit of a time setting.
const MAX_TIME: Duration = Duration::from_secs(1_000_000);
/// Least base time of a clock: UCI counts in milliseconds.
const MIN_BASE: Duration = Duration::from_millis(1);

/// Time control or search limit of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Depth per move, in plies.
    Depth(u64),
    /// Nodes per move.
    Nodes(u64),
    /// Time per move.
    MoveTime(Duration),
    /// Base time for the game, with an increment per move.
    Clock {
        /// Time at the start.
        base: Duration,
        /// Time added after every move.
        increment: Duration,
    },
}

impl Pace {
    /// Parses the value of `depth`, `nodes`, `movetime` (milliseconds) or `tc`; `None` for another
    /// name.
    ///
    /// # Errors
    /// A message that says what the value should be.
    pub fn parse(name: &str, value: &str) -> Option<Result<Pace, String>> {
        let number = || {
            let number = value.parse().ok().filter(|&number: &u64| number > 0);
            number.ok_or_else(|| format!("{name} must be a whole number above 0, not {value:?}"))
        };
        Some(match name {
            "depth" => number().map(Pace::Depth),
            "nodes" => number().map(Pace::Nodes),
            "movetime" => number().and_then(Pace::move_time),
            "tc" => Pace::clock(value),
            _ => return None,
        })
    }

    fn move_time(milliseconds: u64) -> Result<Pace, String> {
        let time = Duration::from_millis(milliseconds);
        if time > MAX_TIME {
            return Err(format!("a move has {} s at most", MAX_TIME.as_secs()));
        }
        Ok(Pace::MoveTime(time))
    }

    /// Parses `BASE+INCREMENT` in seconds, such as `10+0.1`; the increment is optional.
    ///
    /// # Errors
    /// If the text has another form, the base is below 1 ms, or a time is above `MAX_TIME`.
    pub fn clock(text: &str) -> Result<Pace, String> {
        let seconds = |text: &str| {
            let seconds = text.parse().ok();
            seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        };
        let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
        match (seconds(base), seconds(increment)) {
            (Some(base), _) if base < MIN_BASE => {
                Err("the game needs a thousandth of a second at least, such as 10+0.1".to_string())
            }
            (Some(base), Some(increment)) if base.max(increment) > MAX_TIME => {
                Err(format!("{} s are the most", MAX_TIME.as_secs()))
            }
            (Some(base), Some(increment)) => Ok(Pace::Clock { base, increment }),
            _ => Err("give seconds and increment, such as 10+0.1".to_string()),
        }
    }

    /// Returns a description for people, such as `2 s a game and 0.02 s a move`.
    pub fn describe(&self) -> String {
        match self {
            Pace::Depth(plies) => format!("{plies} plies a move"),
            Pace::Nodes(nodes) => format!("{} nodes a move", thousands(*nodes)),
            Pace::MoveTime(time) => format!("{} s a move", time.as_secs_f64()),
            Pace::Clock { base, increment } => {
                let (base, increment) = (base.as_secs_f64(), increment.as_secs_f64());
                format!("{base} s a game and {increment} s a move")
            }
        }
    }

    /// Returns the argument that [`Pace::parse`] reads, such as `depth=9`.
    pub fn argument(&self) -> String {
        match self {
            Pace::Depth(depth) => format!("depth={depth}"),
            Pace::Nodes(nodes) => format!("nodes={nodes}"),
            Pace::MoveTime(time) => format!("movetime={}", time.as_millis()),
            Pace::Clock { .. } => format!("tc={self}"),
        }
    }
}

/// Formats as PGN's `TimeControl` tag: a clock as `10+0.1`, a time per move as `1/0.1`, a limit
/// without time as `-`.
impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Depth(_) | Pace::Nodes(_) => f.write_str("-"),
            Pace::MoveTime(time) => write!(f, "1/{}", time.as_secs_f64()),
            Pace::Clock { base, increment } => {
                write!(f, "{}+{}", base.as_secs_f64(), increment.as_secs_f64())
            }
        }
    }
}

/// Limits of one move: the `go` command, and the timeout of its answer.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    pace: Pace,
    mover: Color,
    /// Remaining time by color; if only one side has a clock, both entries show it.
    remaining: [Duration; 2],
    increment: [Duration; 2],
    /// Time to wait for the answer, the time margin included.
    pub timeout: Duration,
}

impl Allowance {
    /// Returns the UCI `go` command.
    pub fn go_command(&self) -> String {
        match self.pace {
            Pace::Depth(depth) => format!("go depth {depth}"),
            Pace::Nodes(nodes) => format!("go nodes {nodes}"),
            Pace::MoveTime(time) => format!("go movetime {}", time.as_millis()),
            Pace::Clock { .. } => {
                let [white, black] = self.remaining.map(|time| time.as_millis());
                let [winc, binc] = self.increment.map(|time| time.as_millis());
                format!("go wtime {white} btime {black} winc {winc} binc {binc}")
            }
        }
    }

    /// Returns the limits of an in-process search, with the default move overhead of the UCI
    /// engine.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits {
            // Used if no clock runs.
            time: Some(TimeBudget {
                soft: None,
                hard: self.timeout,
            }),
            ..Limits::default()
        };
        match self.pace {
            Pace::Depth(depth) => limits.depth = Some(depth),
            Pace::Nodes(nodes) => limits.nodes = Some(nodes),
            Pace::MoveTime(time) => {
                limits.time = Some(TimeBudget::fixed(time, DEFAULT_OVERHEAD));
            }
            Pace::Clock { .. } => {
                let clock = ClockState {
                    remaining: self.remaining[self.mover as usize],
                    increment: self.increment[self.mover as usize],
                    moves_to_go: None,
                };
                limits.time = Some(TimeBudget::share(&clock, DEFAULT_OVERHEAD));
            }
        }
        limits
    }
}

/// The clocks of a game.
pub struct Clocks {
    /// Time controls by color.
    paces: [Pace; 2],
    /// Time margin: lateness that is forgiven.
    margin: Duration,
    remaining: [Duration; 2],
}

impl Clocks {
    /// Returns the clocks before the first move; `paces` has White's first.
    pub fn new(paces: [Pace; 2], margin: Duration) -> Clocks {
        Clocks {
            paces,
            margin,
            remaining: paces.map(|pace| match pace {
                Pace::Clock { base, .. } => base,
                _ => Duration::ZERO,
            }),
        }
    }

    /// Returns the limits of the mover's next move.
    pub fn allowance(&self, mover: Color) -> Allowance {
        let shown = Color::ALL.map(|color| match self.paces[color as usize] {
            Pace::Clock { .. } => color,
            _ => mover,
        });
        Allowance {
            pace: self.paces[mover as usize],
            mover,
            remaining: shown.map(|color| self.remaining[color as usize]),
            increment: shown.map(|color| self.increment(color)),
            timeout: self
                .allowed(mover)
                .map_or(HANG_TIMEOUT, |time| time + self.margin),
        }
    }

    fn increment(&self, color: Color) -> Duration {
        match self.paces[color as usize] {
            Pace::Clock { increment, .. } => increment,
            _ => Duration::ZERO,
        }
    }

    /// Returns the time for this move; `None` without a clock or a time per move.
    pub fn allowed(&self, mover: Color) -> Option<Duration> {
        match self.paces[mover as usize] {
            Pace::Depth(_) | Pace::Nodes(_) => None,
            Pace::MoveTime(time) => Some(time),
            Pace::Clock { .. } => Some(self.remaining[mover as usize]),
        }
    }

    /// Deducts `time` from the mover's clock, adds the increment, and returns whether the move was
    /// in time. Lateness within the margin is forgiven.
    pub fn press(&mut self, mover: Color, time: Duration) -> bool {
        let increment = self.increment(mover);
        let allowed = self.allowed(mover);
        let clock = &mut self.remaining[mover as usize];
        *clock = clock.saturating_sub(time) + increment;
        allowed.is_none_or(|allowed| time <= allowed + self.margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(name: &str, value: &str) -> Pace {
        Pace::parse(name, value).unwrap().unwrap()
    }

    #[test]
    fn a_clock_runs_down_and_gains_its_increment() {
        let ms = Duration::from_millis;
        let clock = pace("tc", "1+0.1");
        let mut clocks = Clocks::new([clock, pace("depth", "3")], ms(20));
        assert!(clocks.press(Color::White, ms(400)));
        let allowance = clocks.allowance(Color::White);
        assert_eq!(
            allowance.go_command(),
            "go wtime 700 btime 700 winc 100 binc 100"
        );
        assert_eq!(allowance.timeout, ms(720));
        assert!(clocks.press(Color::White, ms(715)), "within the margin");
        assert!(!clocks.press(Color::White, ms(121)), "0.1 s were left");
        assert!(clocks.press(Color::Black, HANG_TIMEOUT), "no clock runs");
        assert_eq!(clocks.allowance(Color::Black).go_command(), "go depth 3");
    }

    #[test]
    fn writes_paces_as_pgn_tags_and_arguments() {
        assert_eq!(pace("tc", "10+0.1").to_string(), "10+0.1");
        assert_eq!(pace("movetime", "100").to_string(), "1/0.1");
        assert_eq!(pace("nodes", "5000").to_string(), "-");
        for argument in ["depth=9", "nodes=5000", "movetime=100", "tc=10+0.1"] {
            let (name, value) = argument.split_once('=').unwrap();
            assert_eq!(pace(name, value).argument(), argument);
        }
        for (name, value) in [
            ("depth", "0"),
            ("nodes", "x"),
            ("movetime", "0"),
            ("movetime", "18446744073709551615"),
            ("tc", "-1"),
            ("tc", "1+x"),
            ("tc", "0"),
            ("tc", "0+0"),
            ("tc", "0+1"),
            ("tc", "0.0001+1"),
            ("tc", "1e19+1e19"),
            ("tc", "1+1e19"),
            ("tc", "inf"),
            ("tc", "NaN"),
        ] {
            assert!(Pace::parse(name, value).unwrap().is_err(), "{name}={value}");
        }
        assert!(Pace::parse("name", "x").is_none());
    }
}
