//! Parameters of the search. Margins are centipawns, depths plies. `docs/experiments.md` lists the
//! value of each feature, and how most numbers were found.
//!
//! Depths are constants: a ply is too coarse a step to tune by. All others are [`TUNABLES`], the
//! one list of names, bounds and steps.

#[cfg(feature = "tune")]
use std::sync::atomic::{AtomicI32, Ordering};

/// A search parameter that games can tune.
///
/// A constant; with the feature `tune`, a variable of the whole process and a UCI option of the
/// same name.
#[derive(Debug)]
pub struct Tunable {
    /// Name of the UCI option and of the SPSA input.
    pub name: &'static str,
    /// Value in use, and the option's default.
    pub value: i32,
    /// Lower bound.
    pub min: i32,
    /// Upper bound.
    pub max: i32,
    /// Change of the value that games are expected to notice: `C_end` of SPSA.
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

    /// Returns the value in use.
    #[cfg(not(feature = "tune"))]
    #[inline(always)]
    pub(super) const fn get(&self) -> i32 {
        self.value
    }

    /// Returns the value in use.
    #[cfg(feature = "tune")]
    #[inline(always)]
    pub(super) fn get(&self) -> i32 {
        self.now.load(Ordering::Relaxed)
    }

    /// Sets the value for every search of the process, clamped to the bounds.
    #[cfg(feature = "tune")]
    pub(super) fn set(&self, value: i32) {
        let value = value.clamp(self.min, self.max);
        self.now.store(value, Ordering::Relaxed);
    }
}

/// Names identify tunables.
impl PartialEq for Tunable {
    fn eq(&self, other: &Tunable) -> bool {
        self.name == other.name
    }
}

impl Eq for Tunable {}

/// Defines the parameters and [`TUNABLES`]. Without `tune` they are constants, as cheap as
/// literals.
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
        /// All search parameters that games can tune.
        pub static TUNABLES: &[&Tunable] = &[$(&$name),*];
    };
}

tunables! {
    /// Aspiration window: half the width of the first window around the last score.
    ASPIRATION_WINDOW = 19, 5 to 100, step 4;
    /// Reverse futility pruning: a node fails high if its evaluation exceeds beta by this much per
    /// ply.
    REVERSE_FUTILITY_MARGIN = 86, 10 to 250, step 8;
    /// Reverse futility pruning: reduction of the margin if the opponent's last move worsened its
    /// evaluation.
    OPPONENT_WORSE = 25, 0 to 100, step 8;
    /// Razoring: quiescence decides a node if its evaluation is below alpha by this much per ply.
    RAZOR_MARGIN = 350, 50 to 800, step 40;
    /// Null-move pruning: surplus of the evaluation over beta that adds a ply of reduction.
    NULL_SURPLUS = 153, 40 to 500, step 30;
    /// Double extension: how far below the singular bound the other moves must stay.
    DOUBLE_MARGIN = 20, 0 to 100, step 5;
    /// Late-move pruning: move count limit in hundredths, a base and a factor of the squared depth;
    /// halved if the evaluation is not improving.
    LATE_MOVE_BASE = 550, 100 to 1500, step 60;
    LATE_MOVE_FACTOR = 108, 20 to 300, step 15;
    /// Futility pruning of quiet moves: margin below alpha, a base and a part per ply.
    FUTILITY_BASE = 22, 0 to 300, step 15;
    FUTILITY_MARGIN = 67, 10 to 250, step 10;
    /// SEE pruning: maximum loss of material per ply of quiet moves, quiet checks, others.
    EXCHANGE_QUIET_MARGIN = 65, 0 to 200, step 10;
    EXCHANGE_CHECK_MARGIN = 90, 0 to 300, step 15;
    EXCHANGE_TACTICAL_MARGIN = 125, 0 to 400, step 15;
    /// Late-move reductions in hundredths of a ply: a base, plus the product of the logarithms of
    /// depth and move number over a divisor.
    QUIET_REDUCTION_BASE = 75, 0 to 250, step 12;
    QUIET_REDUCTION_DIVISOR = 223, 100 to 500, step 20;
    TACTICAL_REDUCTION_BASE = 0, 0 to 200, step 12;
    TACTICAL_REDUCTION_DIVISOR = 320, 100 to 800, step 30;
    /// Late-move reductions: history score worth a ply.
    REDUCTION_HISTORY = 4820, 500 to 16384, step 600;
    /// History bonus of a cutoff: per ply of depth, less a base, up to a limit.
    HISTORY_BONUS = 220, 20 to 500, step 20;
    HISTORY_BONUS_BASE = 80, 0 to 300, step 20;
    HISTORY_BONUS_LIMIT = 3300, 500 to 6000, step 200;
    /// History malus of the moves tried before a cutoff, in percent of the bonus.
    HISTORY_MALUS = 150, 20 to 250, step 15;
    /// Butterfly bonus of a quiet move per centipawn by which it changed its side's evaluation, and
    /// the limit of that change in centipawns.
    HISTORY_EVALUATION = 4, 0 to 20, step 1;
    HISTORY_EVALUATION_LIMIT = 80, 10 to 400, step 15;
    /// Move ordering: bonus of a quiet check in history units, and the maximum loss of material
    /// with which it still applies.
    CHECK_ORDER = 13000, 0 to 32768, step 1600;
    CHECK_ORDER_LOSS = 60, 0 to 400, step 20;
    /// Delta pruning in quiescence: captures whose victim plus this margin does not reach alpha are
    /// skipped.
    DELTA_MARGIN = 161, 0 to 500, step 25;
    /// PUCT: exploration constant of a node without visits, in hundredths, and how much it grows
    /// while the visits grow from [`PUCT_BASE`] to `e` times that.
    PUCT_EXPLORATION = 160, 20 to 600, step 20;
    PUCT_EXPLORATION_GROWTH = 200, 0 to 800, step 40;
    /// PUCT: value of a move without visits, in hundredths below that of its node, where the
    /// visited moves have all the probability.
    PUCT_URGENCY_LOSS = 40, 0 to 200, step 8;
    /// PUCT: temperature of the priors, in hundredths; above 100 they are more alike.
    PUCT_TEMPERATURE = 150, 30 to 300, step 10;
}

/// Visits from which on the exploration constant grows.
pub const PUCT_BASE: f64 = 20_000.0;

/// First iteration that starts with an aspiration window.
pub const ASPIRATION_DEPTH: i32 = 4;

/// Maximum depths of the pruning methods above.
pub const REVERSE_FUTILITY_DEPTH: i32 = 6;
pub const RAZOR_DEPTH: i32 = 2;
pub const LATE_MOVE_DEPTH: i32 = 6;
pub const FUTILITY_DEPTH: i32 = 6;
pub const EXCHANGE_DEPTH: i32 = 6;

/// Minimum depth of null-move pruning.
pub const NULL_DEPTH: i32 = 3;
/// Depth from which a null-move cutoff is verified by a search without null moves (zugzwang).
pub const NULL_VERIFY_DEPTH: i32 = 12;
pub const NULL_REDUCTION: i32 = 4;

/// Internal iterative reduction: minimum depth at which a node without a table move loses a ply.
pub const INTERNAL_REDUCTION_DEPTH: i32 = 4;

/// Minimum depth of singular extensions.
pub const SINGULAR_DEPTH: i32 = 7;
/// Singular extension: distance in centipawns per ply below the table score that the other moves
/// must stay.
pub const SINGULAR_MARGIN: i32 = 2;
/// Maximum number of double extensions on one line.
pub const MOST_DOUBLES: u8 = 6;

/// Minimum depth of late-move reductions.
pub const REDUCTION_DEPTH: i32 = 3;

/// Quiescence ply before which quiet checks are searched.
pub const QUIET_CHECKS_TO: u32 = 2;
/// Quiescence ply from which only recaptures are searched: with an evaluation that is bad for the
/// mover in every quiet position, all captures would otherwise be searched in all orders.
pub const RECAPTURES_FROM: u32 = 5;
