//! When a search has to end.

use std::time::Duration;

use cozy_chess::Move;

/// What one search is to do and when it ends: the first limit reached ends it,
/// but for [`Limits::least_depth`]. Without any it runs until it is stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Plies of the last iteration.
    pub depth: Option<u64>,
    /// Nodes; one thread keeps to them exactly.
    pub nodes: Option<u64>,
    /// Nodes after which no new iteration starts.
    pub soft_nodes: Option<u64>,
    /// Time.
    pub time: Option<TimeBudget>,
    /// The iteration that is finished before `nodes` and `time` count: the
    /// first, so that every move was looked at, or 0.
    pub least_depth: i32,
    /// Ends once a mate in so many moves is found, for either side, or it is proved that there
    /// is none.
    pub mate: Option<u32>,
    /// Moves of the root to look at; all of them where it is empty.
    pub moves: Vec<Move>,
    /// Lines to find, the best first. With as many as there are moves, every
    /// move's score is a true one.
    pub lines: usize,
}

/// One line, no limit, and the first iteration at least.
impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: None,
            nodes: None,
            soft_nodes: None,
            time: None,
            least_depth: 1,
            mate: None,
            moves: Vec::new(),
            lines: 1,
        }
    }
}

/// How long a search may think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBudget {
    /// After this no new iteration starts where the best move is neither clear
    /// nor in doubt; clear moves are played sooner, doubtful ones later. `None`
    /// to use all of `hard`.
    pub soft: Option<Duration>,
    /// The search is broken off at this.
    pub hard: Duration,
}

/// The mover's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockState {
    /// Time left.
    pub remaining: Duration,
    /// Time added after each move.
    pub increment: Duration,
    /// Moves to the next time control, `None` for the rest of the game.
    pub moves_to_go: Option<u64>,
}

/// Times on a clock beyond this are taken for it.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);
/// What [`TimeBudget::share`] does not touch.
const RESERVE: Duration = Duration::from_millis(250);

impl TimeBudget {
    /// Uses a fixed time for the move, less `overhead`, the time that passes
    /// between the two programs unseen.
    pub fn fixed(time: Duration, overhead: Duration) -> TimeBudget {
        TimeBudget {
            soft: None,
            hard: usable(time, overhead),
        }
    }

    /// Shares out the time on a clock. Of the time left some is kept in
    /// reserve, at most a quarter of a second: on a busy machine a program may
    /// have to wait for the processor that long. Of the increment the less is
    /// used, the less is left below twice that, so that the clock recovers.
    pub fn share(clock: &ClockState, overhead: Duration) -> TimeBudget {
        // Without a next control: as if always this many moves were left.
        const MOVES_LEFT: u64 = 25;
        let usable = usable(clock.remaining.min(LONGEST), overhead);
        let moves = clock.moves_to_go.unwrap_or(MOVES_LEFT).clamp(1, MOVES_LEFT) as u32;
        let reserve = RESERVE.min(usable / 2);
        let pool = usable - reserve;
        let plenty = usable.div_duration_f64(2 * RESERVE).min(1.0);
        let increment = clock.increment.min(LONGEST).mul_f64(plenty);
        let share = pool / moves + increment / 4 * 3;
        // The last move before a control may use all but the reserve; else
        // half is kept back, so that no single move can ruin the rest.
        let most = if moves == 1 { pool } else { pool / 2 };
        let most = (most + increment / 2).min(pool);
        // An iteration that does not end within the share was not in vain: the best of what it
        // has found counts.
        TimeBudget {
            soft: Some((share / 5 * 4).min(most)),
            hard: (share * 3).min(most),
        }
    }
}

fn usable(time: Duration, overhead: Duration) -> Duration {
    time.saturating_sub(overhead).max(Duration::from_millis(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(remaining: u64, increment: u64, moves_to_go: Option<u64>) -> ClockState {
        let millis = Duration::from_millis;
        ClockState {
            remaining: millis(remaining),
            increment: millis(increment),
            moves_to_go,
        }
    }

    #[test]
    fn never_more_than_the_clock_has() {
        let overhead = Duration::from_millis(20);
        for remaining in [0, 1, 10, 21, 50, 1_000, 60_000, 10_000_000] {
            for increment in [0, 10, 1_000, 60_000] {
                for moves_to_go in [None, Some(0), Some(1), Some(2), Some(40), Some(u64::MAX)] {
                    let clock = clock(remaining, increment, moves_to_go);
                    let budget = TimeBudget::share(&clock, overhead);
                    let most = remaining.saturating_sub(20).max(1);
                    assert!(
                        budget.hard <= Duration::from_millis(most),
                        "{clock:?} {budget:?}"
                    );
                    assert!(budget.soft <= Some(budget.hard), "{clock:?} {budget:?}");
                }
            }
        }
    }

    /// A tenth of a second stays whatever the moves take, of 1+0.01.
    #[test]
    fn a_clock_with_increment_does_not_run_down() {
        let increment = Duration::from_millis(10);
        let mut clock = clock(1_000, 10, None);
        for _ in 0..1_000 {
            let budget = TimeBudget::share(&clock, Duration::from_millis(20));
            clock.remaining = clock.remaining - budget.hard + increment;
            assert!(clock.remaining >= Duration::from_millis(100), "{clock:?}");
        }
    }

    #[test]
    fn no_clock_is_too_long() {
        for remaining in [Duration::ZERO, Duration::MAX] {
            for moves_to_go in [None, Some(1)] {
                let clock = ClockState {
                    remaining,
                    increment: Duration::MAX,
                    moves_to_go,
                };
                let budget = TimeBudget::share(&clock, Duration::ZERO);
                assert!(budget.hard <= remaining.max(Duration::from_millis(1)));
                assert!(budget.soft <= Some(budget.hard));
            }
        }
    }

    #[test]
    fn a_fixed_time_keeps_the_overhead_back() {
        let budget = TimeBudget::fixed(Duration::from_millis(100), Duration::from_millis(20));
        assert_eq!(budget.hard, Duration::from_millis(80));
    }
}
