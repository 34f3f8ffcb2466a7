//! Table of late-move reductions.

use crate::search::params::{
    QUIET_REDUCTION_BASE, QUIET_REDUCTION_DIVISOR, TACTICAL_REDUCTION_BASE,
    TACTICAL_REDUCTION_DIVISOR, Tunable,
};

/// Size of the tables; greater depths and move numbers use the last entry.
const SIZE: usize = 64;

/// Reductions in plies, by depth and move number.
pub(crate) struct Reductions {
    quiet: [[u8; SIZE]; SIZE],
    tactical: [[u8; SIZE]; SIZE],
}

impl Reductions {
    pub(crate) fn new() -> Reductions {
        let table = |base: &Tunable, divisor: &Tunable| {
            let [base, divisor] = [base, divisor].map(|number| f64::from(number.get()) / 100.0);
            std::array::from_fn(|depth| {
                std::array::from_fn(|number| {
                    let product = (depth.max(1) as f64).ln() * (number.max(1) as f64).ln();
                    (base + product / divisor).max(0.0) as u8
                })
            })
        };
        Reductions {
            quiet: table(&QUIET_REDUCTION_BASE, &QUIET_REDUCTION_DIVISOR),
            tactical: table(&TACTICAL_REDUCTION_BASE, &TACTICAL_REDUCTION_DIVISOR),
        }
    }

    /// Returns the reduction in plies of the `number`-th move of a node, counted from 1.
    pub(super) fn plies(&self, tactical: bool, depth: i32, number: usize) -> i32 {
        let table = if tactical {
            &self.tactical
        } else {
            &self.quiet
        };
        let depth = usize::try_from(depth).unwrap_or(0).min(SIZE - 1);
        table[depth][number.min(SIZE - 1)].into()
    }
}
