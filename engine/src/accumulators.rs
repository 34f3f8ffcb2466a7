//! The first layer's sums for both sides, carried along from move to move.

use cozy_chess::{Board, Color};
use models::{Accumulator, QuantisedNetwork};

use crate::features::for_each_new;

/// One accumulator a side: pieces and castling rights as that side sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulators {
    sides: [Accumulator; Color::NUM],
}

impl Accumulators {
    /// Those of a board, from nothing.
    pub fn of(network: &QuantisedNetwork, board: &Board) -> Accumulators {
        let mut fresh = Accumulators {
            sides: [network.bias(), network.bias()],
        };
        for_each_new(board, None, |input| {
            for (view, side) in Color::ALL.into_iter().zip(&mut fresh.sides) {
                network.add(side, input.seen_by(view));
            }
        });
        fresh
    }

    /// Makes these the accumulators of `board`, given those of the board one
    /// move earlier.
    pub fn update(
        &mut self,
        network: &QuantisedNetwork,
        earlier: (&Board, &Accumulators),
        board: &Board,
    ) {
        let (earlier_board, earlier_accumulators) = earlier;
        for (view, side) in Color::ALL.into_iter().zip(&mut self.sides) {
            side.clone_from(&earlier_accumulators.sides[view as usize]);
            for_each_new(earlier_board, Some(board), |input| {
                network.remove(side, input.seen_by(view));
            });
            for_each_new(board, Some(earlier_board), |input| {
                network.add(side, input.seen_by(view));
            });
        }
    }

    /// The one of the given side.
    pub fn of_side(&self, view: Color) -> &Accumulator {
        &self.sides[view as usize]
    }
}
