//! Time controls and search limits of an engine, and the clocks of a game.

use std::fmt;
use std::num::NonZero;
use std::time::Duration;

use cozy_chess::Color;
use engine::uci::DEFAULT_OVERHEAD;
use engine::{ClockState, Limits, TimeBudget};
use host::thousands;

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
    /// Base time for the game or for each period of moves, with an increment per move.
    Clock {
        /// Moves of a period; `None` if the base time is for the whole game.
        moves: Option<NonZero<u16>>,
        /// Time at the start, and added at the end of each period.
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

    /// Parses `[MOVES/]BASE[+INCREMENT]` as cutechess-cli and fastchess do, such as `10+0.1` or
    /// `40/60+1`. Times are in seconds; the base may be `MINUTES:SECONDS`.
    ///
    /// # Errors
    /// If the text has another form, the base is below 1 ms, or a time is above `MAX_TIME`.
    pub fn clock(text: &str) -> Result<Pace, String> {
        let seconds = |text: &str| {
            let seconds = text.parse().ok();
            seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        };
        let (moves, times) = match text.split_once('/') {
            Some((moves, times)) => (Some(moves.parse()), times),
            None => (None, text),
        };
        let moves = moves.transpose().map_err(|_| {
            "a period has from 1 to 65535 moves: give MOVES/SECONDS, such as 40/60+1".to_string()
        })?;
        let (base, increment) = times.split_once('+').unwrap_or((times, "0"));
        let base = match base.split_once(':') {
            Some((minutes, rest)) => {
                let minutes = minutes.parse::<u32>().ok();
                let minutes = minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
                (minutes.zip(seconds(rest))).and_then(|(minutes, rest)| minutes.checked_add(rest))
            }
            None => seconds(base),
        };
        match (base, seconds(increment)) {
            (Some(base), _) if base < MIN_BASE => {
                Err("the game needs a thousandth of a second at least, such as 10+0.1".to_string())
            }
            (Some(base), Some(increment)) if base.max(increment) > MAX_TIME => {
                Err(format!("{} s are the most", MAX_TIME.as_secs()))
            }
            (Some(base), Some(increment)) => Ok(Pace::Clock {
                moves,
                base,
                increment,
            }),
            _ => Err("give seconds and increment, such as 10+0.1 or 40/60+1".to_string()),
        }
    }

    /// Returns a description for people, such as `2 s a game and 0.02 s a move`.
    pub fn describe(&self) -> String {
        match self {
            Pace::Depth(plies) => format!("{plies} plies a move"),
            Pace::Nodes(nodes) => format!("{} nodes a move", thousands(*nodes)),
            Pace::MoveTime(time) => format!("{} s a move", time.as_secs_f64()),
            Pace::Clock {
                moves,
                base,
                increment,
            } => {
                let (base, increment) = (base.as_secs_f64(), increment.as_secs_f64());
                let whole = match moves {
                    Some(moves) => format!("for {moves} moves"),
                    None => "a game".to_string(),
                };
                format!("{base} s {whole} and {increment} s a move")
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

/// Formats as PGN's `TimeControl` tag: a clock as `10+0.1` or `40/60+1`, a time per move as `1/0.1`,
/// a limit without time as `-`.
impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Depth(_) | Pace::Nodes(_) => f.write_str("-"),
            Pace::MoveTime(time) => write!(f, "1/{}", time.as_secs_f64()),
            Pace::Clock {
                moves,
                base,
                increment,
            } => {
                if let Some(moves) = moves {
                    write!(f, "{moves}/")?;
                }
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
    /// Moves to the end of the mover's period; `None` if its time is for the whole game.
    moves_to_go: Option<u16>,
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
                let to_go = self.moves_to_go.map(|moves| format!(" movestogo {moves}"));
                let to_go = to_go.unwrap_or_default();
                format!("go wtime {white} btime {black} winc {winc} binc {binc}{to_go}")
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
                    moves_to_go: self.moves_to_go.map(u64::from),
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
    /// Moves to the end of the period; `None` without periods.
    moves_to_go: [Option<u16>; 2],
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
            moves_to_go: paces.map(period),
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
            moves_to_go: self.moves_to_go[mover as usize],
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

    /// Deducts `time` from the mover's clock, adds the increment and, at the end of a period, the
    /// base time of the next. Returns whether the move was in time. Lateness within the margin is
    /// forgiven.
    pub fn press(&mut self, mover: Color, time: Duration) -> bool {
        let increment = self.increment(mover);
        let allowed = self.allowed(mover);
        let clock = &mut self.remaining[mover as usize];
        *clock = clock.saturating_sub(time) + increment;
        let to_go = &mut self.moves_to_go[mover as usize];
        *to_go = to_go.map(|moves| moves - 1);
        if *to_go == Some(0)
            && let pace @ Pace::Clock { base, .. } = self.paces[mover as usize]
        {
            *clock += base;
            *to_go = period(pace);
        }
        allowed.is_none_or(|allowed| time <= allowed + self.margin)
    }
}

/// Returns the moves of a period.
fn period(pace: Pace) -> Option<u16> {
    match pace {
        Pace::Clock { moves, .. } => moves.map(NonZero::get),
        _ => None,
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
    fn a_period_of_moves_repeats() {
        let ms = Duration::from_millis;
        let paces = [pace("tc", "2/1+0.1"), pace("tc", "5")];
        let mut clocks = Clocks::new(paces, ms(0));
        let go = |clocks: &Clocks, mover| clocks.allowance(mover).go_command();
        assert_eq!(
            go(&clocks, Color::White),
            "go wtime 1000 btime 5000 winc 100 binc 0 movestogo 2"
        );
        assert!(clocks.press(Color::White, ms(400)));
        assert_eq!(
            go(&clocks, Color::Black),
            "go wtime 700 btime 5000 winc 100 binc 0"
        );
        assert!(clocks.press(Color::Black, ms(1000)));
        assert!(go(&clocks, Color::White).ends_with("binc 0 movestogo 1"));
        let limits = clocks.allowance(Color::White).limits();
        let last = ClockState {
            remaining: ms(700),
            increment: ms(100),
            moves_to_go: Some(1),
        };
        assert_eq!(
            limits.time,
            Some(TimeBudget::share(&last, DEFAULT_OVERHEAD))
        );
        assert!(clocks.press(Color::White, ms(500)));
        // Unused time carries over to the next period.
        assert_eq!(
            go(&clocks, Color::White),
            "go wtime 1300 btime 4000 winc 100 binc 0 movestogo 2"
        );
        assert!(clocks.press(Color::White, ms(1200)));
        assert!(
            !clocks.press(Color::White, ms(201)),
            "the period's time is up"
        );
    }

    #[test]
    fn writes_paces_as_pgn_tags_and_arguments() {
        assert_eq!(pace("tc", "10+0.1").to_string(), "10+0.1");
        assert_eq!(pace("tc", "40/60+1").to_string(), "40/60+1");
        assert_eq!(pace("tc", "40/1:30"), pace("tc", "40/90+0"));
        assert_eq!(
            pace("tc", "40/60+1").describe(),
            "60 s for 40 moves and 1 s a move"
        );
        assert_eq!(pace("movetime", "100").to_string(), "1/0.1");
        assert_eq!(pace("nodes", "5000").to_string(), "-");
        for argument in [
            "depth=9",
            "nodes=5000",
            "movetime=100",
            "tc=10+0.1",
            "tc=40/60+1",
        ] {
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
            ("tc", "0/60"),
            ("tc", "/60"),
            ("tc", "40/"),
            ("tc", "40/0"),
            ("tc", "40/60/60"),
            ("tc", "65536/60"),
            ("tc", "-1:70"),
            ("tc", "1:"),
            ("tc", "4294967295:0"),
            ("tc", "NaN"),
        ] {
            assert!(Pace::parse(name, value).unwrap().is_err(), "{name}={value}");
        }
        assert!(Pace::parse("name", "x").is_none());
    }
}
