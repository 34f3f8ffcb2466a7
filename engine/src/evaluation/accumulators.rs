//! Lazily updated accumulators (first-layer sums) along a line of moves.
//!
//! Playing a move only marks its entry as stale. An evaluation needs the side to move's
//! accumulator, and the other side's if the network has both views. Each is updated incrementally
//! from the nearest computed ancestor, and kept for the descendants. It is refreshed from scratch
//! for the first position of a line, and for a mirrored network after that side's king has crossed
//! the middle.

use arrayvec::ArrayVec;
use cozy_chess::{Board, Color, File, Move};
use models::{Accumulator, Feature, QuantisedNetwork, View};

use crate::evaluation::features::{Changes, model_color, without_attacks};

/// Accumulators of one position of the line.
#[derive(Clone)]
struct Entry {
    /// Features changed by the move that led here, once computed.
    changes: Option<Changes>,
    /// Accumulators by point of view.
    sides: [Accumulator; Color::NUM],
    /// Whether `sides` is up to date, by point of view.
    is_computed: [bool; Color::NUM],
}

/// Stack of accumulators along a line of positions; the caller keeps its length.
pub(crate) struct Accumulators {
    entries: Vec<Entry>,
}

impl Accumulators {
    /// Allocates entries for a line of `positions` positions.
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

    /// Starts a line at `board`: refreshes both views.
    pub(crate) fn start(&mut self, network: &QuantisedNetwork, board: &Board) {
        let entry = &mut self.entries[0];
        for view in Color::ALL {
            entry.sides[view as usize] = of_board(network, board, view);
        }
        entry.is_computed = [true; Color::NUM];
    }

    /// Marks entry `index` as stale after a new move led to it.
    pub(crate) fn play(&mut self, index: usize) {
        let entry = &mut self.entries[index];
        entry.changes = None;
        entry.is_computed = [false; Color::NUM];
    }

    /// Returns the accumulators of position `index` by side. Those that the network needs with
    /// `mover` to move are up to date. `line(i)` is the board of position `i` and the move that led
    /// to it, `None` for a null move.
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

    /// Brings the accumulator of position `index` and point of view `view` up to date.
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

/// Computes the accumulator of a board from scratch.
pub(crate) fn of_board(network: &QuantisedNetwork, board: &Board, view: Color) -> Accumulator {
    let features = without_attacks(board).accumulated(model_color(view));
    let architecture = network.architecture();
    let read = |feature: &Feature| architecture.features.contains(*feature);
    let mut features: Vec<Feature> = features.filter(read).collect();
    architecture.orient(&mut features);
    network.accumulator(&features)
}

/// Returns whether the network mirrors the board from the point of view `view`.
#[inline]
pub(crate) fn is_mirrored(network: &QuantisedNetwork, board: &Board, view: Color) -> bool {
    network.architecture().mirrored && board.king(view).file() >= File::E
}

/// Maps features to another point of view.
fn map<const N: usize>(
    inputs: &ArrayVec<Feature, N>,
    seen: impl Fn(Feature) -> Feature,
) -> ArrayVec<Feature, N> {
    inputs.iter().map(|&input| seen(input)).collect()
}
