//! The first layer's sums along a line of moves, computed where they are
//! needed.
//!
//! A move is only noted. What an evaluation needs is the accumulator of the side to move,
//! and the other's if the network sees both: it is carried on from the nearest position of
//! the line that has that side's, and kept for all that come from there. It is added up
//! from nothing for the first position of a line; and where that side's king has crossed
//! the middle since, if the network sees the board mirrored then.

use arrayvec::ArrayVec;
use cozy_chess::{Board, Color, File, Move};
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
    /// that the network looks at are this position's. `line` tells the board of a position
    /// and the move that led to it, if it was one.
    pub(crate) fn get<'a>(
        &mut self,
        network: &QuantisedNetwork,
        index: usize,
        mover: Color,
        line: impl Fn(usize) -> (&'a Board, Option<Move>),
    ) -> &[Accumulator; Color::NUM] {
        self.compute(network, index, mover, &line);
        if network.architecture().view == View::Both {
            self.compute(network, index, !mover, &line);
        }
        &self.entries[index].sides
    }

    /// Carries the accumulator of the position `index` on, as `view` sees it.
    fn compute<'a>(
        &mut self,
        network: &QuantisedNetwork,
        index: usize,
        view: Color,
        line: &impl Fn(usize) -> (&'a Board, Option<Move>),
    ) {
        let side = view as usize;
        let board = |index| line(index).0;
        let mut computed = index;
        while !self.entries[computed].is_computed[side] {
            computed -= 1;
        }
        let mirrored = is_mirrored(network, board(index), view);
        if network.architecture().mirrored
            && (computed..index).any(|at| is_mirrored(network, board(at), view) != mirrored)
        {
            let entry = &mut self.entries[index];
            entry.sides[side] = of_board(network, board(index), view);
            entry.is_computed[side] = true;
            return;
        }
        for next in computed + 1..=index {
            let [parent, child] = &mut self.entries[next - 1..=next] else {
                unreachable!("two positions")
            };
            let changes = || match line(next).1 {
                Some(mv) => Changes::of(board(next - 1), mv),
                None => Changes::default(),
            };
            let Changes { added, removed } = child.changes.get_or_insert_with(changes);
            let (parent, child_side) = (&parent.sides[side], &mut child.sides[side]);
            match (view, mirrored) {
                (Color::White, false) => network.update(parent, added, removed, child_side),
                (Color::Black, false) => network.update(
                    parent,
                    &map(added, Feature::seen_by_other),
                    &map(removed, Feature::seen_by_other),
                    child_side,
                ),
                (_, true) => {
                    let seen = |input: Feature| match view {
                        Color::White => input.mirrored(),
                        Color::Black => input.seen_by_other().mirrored(),
                    };
                    let (added, removed) = (map(added, seen), map(removed, seen));
                    network.update(parent, &added, &removed, child_side);
                }
            }
            child.is_computed[side] = true;
        }
    }
}

/// The accumulator of a board from nothing.
pub(crate) fn of_board(network: &QuantisedNetwork, board: &Board, view: Color) -> Accumulator {
    let features = without_attacks(board).accumulated(model_color(view));
    let mut features: Vec<Feature> = features.collect();
    network.architecture().orient(&mut features);
    network.accumulator(&features)
}

/// Whether the network sees a board mirrored from one side.
#[inline]
pub(crate) fn is_mirrored(network: &QuantisedNetwork, board: &Board, view: Color) -> bool {
    network.architecture().mirrored && board.king(view).file() >= File::E
}

/// Inputs as another view has them.
fn map<const N: usize>(
    inputs: &ArrayVec<Feature, N>,
    seen: impl Fn(Feature) -> Feature,
) -> ArrayVec<Feature, N> {
    inputs.iter().map(|&input| seen(input)).collect()
}
