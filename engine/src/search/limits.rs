//! Search limits and time management.

use std::time::Duration;

use cozy_chess::Move;

/// Task and limits of one search: the first limit reached ends it, subject to
/// [`Limits::least_depth`]. Without limits it runs until stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Depth of the last iteration, in plies.
    pub depth: Option<u64>,
    /// Maximum number of nodes; exact with one thread.
    pub nodes: Option<u64>,
    /// Nodes after which no new iteration starts.
    pub soft_nodes: Option<u64>,
    /// Time to use.
    pub time: Option<TimeBudget>,
    /// Iteration that is finished before `nodes` and `time` count: 1, so that every move is
    /// searched, or 0.
    pub least_depth: i32,
    /// Ends the search once a mate in at most this many moves is found for either side, or
    /// disproved.
    pub mate: Option<u32>,
    /// Root moves to search; all if empty.
    pub moves: Vec<Move>,
    /// Number of lines to find (MultiPV), best first. With as many as there are moves, every move's
    /// score is exact.
    pub lines: usize,
}

/// No limit, a single line, at least the first iteration.
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

/// Time budget of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBudget {
    /// Soft limit: no new iteration starts after it. Scaled down if the best move is stable, up if
    /// not. `None` to use all of `hard`.
    pub soft: Option<Duration>,
    /// Hard limit: aborts the search.
    pub hard: Duration,
}

/// The mover's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockState {
    /// Time left.
    pub remaining: Duration,
    /// Time added after each move.
    pub increment: Duration,
    /// Moves to the next time control; `None` for sudden death.
    pub moves_to_go: Option<u64>,
}

/// Longer clock times are treated as this.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);
/// Time left on the clock as a reserve by [`TimeBudget::share`].
const RESERVE: Duration = Duration::from_millis(250);

impl TimeBudget {
    /// Returns the budget of a fixed time per move, less `overhead`, the communication delay
    /// between GUI and engine.
    pub fn fixed(time: Duration, overhead: Duration) -> TimeBudget {
        TimeBudget {
            soft: None,
            hard: usable(time, overhead),
        }
    }

    /// Returns the move's share of the clock. Keeps up to 250 ms in reserve, since a busy machine
    /// may delay a program that long. Spends less of the increment once the clock falls below
    /// twice the reserve, so that it recovers.
    pub fn share(clock: &ClockState, overhead: Duration) -> TimeBudget {
        // Assumed moves to go without a next time control.
        const MOVES_LEFT: u64 = 25;
        let usable = usable(clock.remaining.min(LONGEST), overhead);
        let moves = clock.moves_to_go.unwrap_or(MOVES_LEFT).clamp(1, MOVES_LEFT) as u32;
        let reserve = RESERVE.min(usable / 2);
        let pool = usable - reserve;
        let plenty = usable.div_duration_f64(2 * RESERVE).min(1.0);
        let increment = clock.increment.min(LONGEST).mul_f64(plenty);
        let share = pool / moves + increment / 4 * 3;
        // The last move before a control may use all but the reserve; other moves at most half.
        let most = if moves == 1 { pool } else { pool / 2 };
        let most = (most + increment / 2).min(pool);
        // Exceeding the share is not wasted: the best move of an aborted iteration counts.
        TimeBudget {
            soft: Some((share / 5 * 4).min(most)),
            hard: (share * 3).min(most),
        }
    }
}

/// Returns the time less the overhead, at least a millisecond.
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
    fn budgets_never_exceed_the_clock() {
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

    /// At 1+0.01 s a tenth of a second stays on the clock, even if every move takes its hard limit.
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
    fn accepts_extreme_clocks() {
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
    fn fixed_time_subtracts_the_overhead() {
        let budget = TimeBudget::fixed(Duration::from_millis(100), Duration::from_millis(20));
        assert_eq!(budget.hard, Duration::from_millis(80));
    }
}
