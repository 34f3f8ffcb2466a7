//! The first layer's sums along a line of moves, computed where they are
//! needed.
//!
//! A move is only noted. What an evaluation needs is the accumulator of the
//! side to move, and the other's if the network sees both: it is carried on from the nearest position of the line that
//! has that side's, and kept for all that come from there. No input that is kept depends on
//! where the kings stand, so that only the first position of a line is ever
//! added up from nothing.

use arrayvec::ArrayVec;
use cozy_chess::{Board, Color};
use models::{Accumulator, Feature, QuantisedNetwork, View};

use crate::evaluation::features::{Changes, model_color, without_attacks};

/// One position of the line.
#[derive(Clone)]
struct Entry {
    /// What the move to here has changed, once that was asked for.
    changes: Option<Changes>,
    /// By side, the inputs as that side sees them.
    sides: [Accumulator; Color::NUM],
    /// By side, whether the accumulator is this position's.
    is_computed: [bool; Color::NUM],
}

/// Accumulators of a line of positions, of which the caller keeps the length.
pub(crate) struct Accumulators {
    entries: Vec<Entry>,
}

impl Accumulators {
    /// Room for a line of so many positions.
    pub(crate) fn new(positions: usize) -> Accumulators {
        let entry = Entry {
            changes: None,
            sides: [Accumulator::ZERO; Color::NUM],
            is_computed: [false; Color::NUM],
        };
        Accumulators {
            entries: vec![entry; positions],
        }
    }

    /// Makes a board the first position of the line.
    pub(crate) fn start(&mut self, network: &QuantisedNetwork, board: &Board) {
        let entry = &mut self.entries[0];
        for view in Color::ALL {
            entry.sides[view as usize] = of_board(network, board, view);
        }
        entry.is_computed = [true; Color::NUM];
    }

    /// Notes that another move leads to the position `index` from now on.
    pub(crate) fn play(&mut self, index: usize) {
        let entry = &mut self.entries[index];
        entry.changes = None;
        entry.is_computed = [false; Color::NUM];
    }

    /// The accumulators of the position `index`, by side, if `mover` is to move: those
    /// that the network looks at are this position's. `changes` tells what the move to a
    /// position has changed.
    pub(crate) fn get(
        &mut self,
        network: &QuantisedNetwork,
        index: usize,
        mover: Color,
        changes: impl Fn(usize) -> Changes,
    ) -> &[Accumulator; Color::NUM] {
        self.compute(network, index, mover, &changes);
        if network.view() == View::Both {
            self.compute(network, index, !mover, &changes);
        }
        &self.entries[index].sides
    }

    /// Carries the accumulator of the position `index` on, as `view` sees it.
    fn compute(
        &mut self,
        network: &QuantisedNetwork,
        index: usize,
        view: Color,
        changes: &impl Fn(usize) -> Changes,
    ) {
        let side = view as usize;
        let mut computed = index;
        while !self.entries[computed].is_computed[side] {
            computed -= 1;
        }
        for next in computed + 1..=index {
            let [parent, child] = &mut self.entries[next - 1..=next] else {
                unreachable!("two positions")
            };
            let Changes { added, removed } = child.changes.get_or_insert_with(|| changes(next));
            let (parent, child_side) = (&parent.sides[side], &mut child.sides[side]);
            match view {
                Color::White => network.update(parent, added, removed, child_side),
                Color::Black => network.update(
                    parent,
                    &seen_by_black(added),
                    &seen_by_black(removed),
                    child_side,
                ),
            }
            child.is_computed[side] = true;
        }
    }
}

/// The accumulator of a board from nothing.
pub(crate) fn of_board(network: &QuantisedNetwork, board: &Board, view: Color) -> Accumulator {
    let features = without_attacks(board).accumulated(model_color(view));
    network.accumulator(&features.collect::<Vec<Feature>>())
}

fn seen_by_black<const N: usize>(seen_by_white: &ArrayVec<Feature, N>) -> ArrayVec<Feature, N> {
    seen_by_white
        .iter()
        .map(|input| input.seen_by_other())
        .collect()
}
