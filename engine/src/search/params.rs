//! The search's numbers. Margins are centipawns, depths plies. Which feature
//! is worth what is told in `docs/experiments.md`, and how most of them were found.
//!
//! Depths are constants: a ply is too coarse a step to tune by. The rest is the list of
//! [`TUNABLES`], the one place that names them, their bounds and their steps.

#[cfg(feature = "tune")]
use std::sync::atomic::{AtomicI32, Ordering};

/// A number of the search that games can tune.
///
/// Its value is a constant; with the feature `tune` it is one for the whole process, and
/// a UCI option of the same name.
#[derive(Debug)]
pub struct Tunable {
    /// What it is called, as option and as input of SPSA.
    pub name: &'static str,
    /// Its value, and that of the option by default.
    pub value: i32,
    /// The least that makes sense.
    pub min: i32,
    /// The most.
    pub max: i32,
    /// How far from its value a game is expected to feel it: `C_end` of SPSA.
    pub step: i32,
    #[cfg(feature = "tune")]
    now: AtomicI32,
}

impl Tunable {
    const fn new(name: &'static str, value: i32, bounds: (i32, i32), step: i32) -> Tunable {
        let (min, max) = bounds;
        assert!(0 < step && min <= value && value <= max);
        Tunable {
            name,
            value,
            min,
            max,
            step,
            #[cfg(feature = "tune")]
            now: AtomicI32::new(value),
        }
    }

    /// What the search uses.
    #[cfg(not(feature = "tune"))]
    #[inline(always)]
    pub(super) const fn get(&self) -> i32 {
        self.value
    }

    /// What the search uses.
    #[cfg(feature = "tune")]
    #[inline(always)]
    pub(super) fn get(&self) -> i32 {
        self.now.load(Ordering::Relaxed)
    }

    /// Has every search of the process use another value, held within the bounds.
    #[cfg(feature = "tune")]
    pub(super) fn set(&self, value: i32) {
        let value = value.clamp(self.min, self.max);
        self.now.store(value, Ordering::Relaxed);
    }
}

/// They are told apart by their names.
impl PartialEq for Tunable {
    fn eq(&self, other: &Tunable) -> bool {
        self.name == other.name
    }
}

impl Eq for Tunable {}

/// Without `tune` they are constants, which cost what a literal costs.
macro_rules! tunables {
    ($($(#[$about:meta])* $name:ident = $value:literal, $min:literal to $max:literal, step $step:literal;)*) => {
        $(
            $(#[$about])*
            #[cfg(not(feature = "tune"))]
            pub(crate) const $name: Tunable =
                Tunable::new(stringify!($name), $value, ($min, $max), $step);
            $(#[$about])*
            #[cfg(feature = "tune")]
            pub(crate) static $name: Tunable =
                Tunable::new(stringify!($name), $value, ($min, $max), $step);
        )*
        /// All numbers of the search that games can tune.
        pub static TUNABLES: &[&Tunable] = &[$(&$name),*];
    };
}

tunables! {
    /// Half the width of the first window around the last score.
    ASPIRATION_WINDOW = 19, 5 to 100, step 4;
    /// Reverse futility: no move is needed where the evaluation is above the
    /// window by this much a ply.
    REVERSE_FUTILITY_MARGIN = 86, 10 to 250, step 8;
    /// By so much less where the other side's last move has made its evaluation worse.
    OPPONENT_WORSE = 25, 0 to 100, step 8;
    /// Razoring: quiescence decides where the evaluation is below the window by
    /// this much a ply.
    RAZOR_MARGIN = 350, 50 to 800, step 40;
    /// An evaluation above the window by so much is worth a ply of reduction of the
    /// search after a null move.
    NULL_SURPLUS = 153, 40 to 500, step 30;
    /// By how much more than [`SINGULAR_MARGIN`] the others have to stay below, for two plies.
    DOUBLE_MARGIN = 20, 0 to 100, step 5;
    /// Late moves are left out beyond so many hundredths of a move, and so many more
    /// times the depth squared; half as many where the evaluation has not risen.
    LATE_MOVE_BASE = 550, 100 to 1500, step 60;
    LATE_MOVE_FACTOR = 108, 20 to 300, step 15;
    /// Quiet moves are left out that do not raise a hopeless evaluation to the window by
    /// so much, and this much a ply.
    FUTILITY_BASE = 22, 0 to 300, step 15;
    FUTILITY_MARGIN = 67, 10 to 250, step 10;
    /// Moves are left out that lose this much material a ply: quiet ones, quiet checks, others.
    EXCHANGE_QUIET_MARGIN = 65, 0 to 200, step 10;
    EXCHANGE_CHECK_MARGIN = 90, 0 to 300, step 15;
    EXCHANGE_TACTICAL_MARGIN = 125, 0 to 400, step 15;
    /// The reduction of late moves in hundredths of a ply: a base, and the product of
    /// the logarithms of depth and number over a divisor.
    QUIET_REDUCTION_BASE = 75, 0 to 250, step 12;
    QUIET_REDUCTION_DIVISOR = 223, 100 to 500, step 20;
    TACTICAL_REDUCTION_BASE = 0, 0 to 200, step 12;
    TACTICAL_REDUCTION_DIVISOR = 320, 100 to 800, step 30;
    /// History that is worth a ply of reduction.
    REDUCTION_HISTORY = 4820, 500 to 16384, step 600;
    /// What a move that cuts off gains in history for each ply of depth, less a base, and at
    /// most.
    HISTORY_BONUS = 220, 20 to 500, step 20;
    HISTORY_BONUS_BASE = 80, 0 to 300, step 20;
    HISTORY_BONUS_LIMIT = 3300, 500 to 6000, step 200;
    /// What the moves tried before it lose, in hundredths of the bonus.
    HISTORY_MALUS = 150, 20 to 250, step 15;
    /// What a quiet move gains in history for each centipawn that it turned out to have
    /// improved its side's evaluation by, or loses; centipawns at most.
    HISTORY_EVALUATION = 4, 0 to 20, step 1;
    HISTORY_EVALUATION_LIMIT = 80, 10 to 400, step 15;
    /// What a check counts more than other quiet moves, in history, if it loses less than
    /// so much material.
    CHECK_ORDER = 13000, 0 to 32768, step 1600;
    CHECK_ORDER_LOSS = 60, 0 to 400, step 20;
    /// Quiescence: a capture whose victim and this much more do not reach the
    /// window is left out.
    DELTA_MARGIN = 161, 0 to 500, step 25;
}

/// Iterations from this depth on begin with a window around the last score.
pub const ASPIRATION_DEPTH: i32 = 4;

/// How deep the features of the search reach whose margins are above.
pub const REVERSE_FUTILITY_DEPTH: i32 = 6;
pub const RAZOR_DEPTH: i32 = 2;
pub const LATE_MOVE_DEPTH: i32 = 6;
pub const FUTILITY_DEPTH: i32 = 6;
pub const EXCHANGE_DEPTH: i32 = 6;

/// Null move: passing still leaves the score above the window.
pub const NULL_DEPTH: i32 = 3;
/// From this depth on, a search without null moves has to agree: zugzwang.
pub const NULL_VERIFY_DEPTH: i32 = 12;
pub const NULL_REDUCTION: i32 = 4;

/// Nodes without a move from the table are searched a ply less from here on.
pub const INTERNAL_REDUCTION_DEPTH: i32 = 4;

/// Singular extension: a move from the table that alone holds the score.
pub const SINGULAR_DEPTH: i32 = 7;
/// How far below, per ply, the others have to stay.
pub const SINGULAR_MARGIN: i32 = 2;
/// Double extensions on one line.
pub const MOST_DOUBLES: u8 = 6;

/// Late moves are searched less deep from this depth on.
pub const REDUCTION_DEPTH: i32 = 3;

/// Quiescence looks at quiet checks before this ply.
pub const QUIET_CHECKS_TO: u32 = 2;
/// Quiescence looks at recaptures alone from this ply on: an evaluation that
/// calls every quiet position bad for the mover would otherwise have all
/// captures searched in all orders.
pub const RECAPTURES_FROM: u32 = 5;
