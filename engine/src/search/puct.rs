//! Monte Carlo tree search by PUCT: a policy proposes moves, quiescence search values the leaves.
//!
//! A playout descends from the root, at each node to the move with the greatest
//!
//! ```text
//! Q + c(N) · P · sqrt(N) / (1 + n)
//! ```
//!
//! (Silver et al., "A general reinforcement learning algorithm ...", Science 362, 2018), where `P`
//! is the policy's probability of the move, `n` its visits, `N` those of the node, and `Q` the mean
//! of its results, from -1 (loss) to 1 (win). The leaf's value is backed up along the path. Wins and
//! losses that the rules prove are backed up exactly (Winands, Björnsson and Saito, "Monte-Carlo
//! Tree Search Solver", 2008). The subtree of the position played is kept for the next search.

mod node;
mod noise;
mod playout;
mod search;
mod selection;
mod values;

use cozy_chess::Board;

use crate::board::Position;
use crate::evaluation::Score;
use crate::evaluation::chances::WinModel;
use node::Node;
use values::Values;

pub use noise::{Priors, RootNoise};
pub use search::VisitedMove;
pub(crate) use search::search;

/// The tree kept between searches.
#[derive(Default)]
pub(crate) struct PuctTree {
    kept: Option<Kept>,
}

/// Tree of a search.
struct Kept {
    position: Position,
    root: Box<Node>,
    values: Values,
}

/// Plies from the last root to the new one at which the tree is kept: the engine's move and the
/// answer.
const KEPT_PLIES: usize = 2;

impl PuctTree {
    /// Forgets the tree.
    pub(crate) fn clear(&mut self) {
        self.kept = None;
    }

    /// Returns the root for a search of `position`, with a score by quiescence search, and the
    /// scale of its values. It has the subtree of the last search if that has the same scale.
    fn root(&mut self, position: &Position, score: Score) -> (Box<Node>, Values) {
        let model = WinModel::of(position.board());
        let kept = self.kept.take().and_then(
            |Kept {
                 position: from,
                 root,
                 values,
             }| {
                let same_side = from.board().side_to_move() == position.board().side_to_move();
                let shift = if same_side {
                    values.shift()
                } else {
                    -values.shift()
                };
                Some((descend(&from, root, position, KEPT_PLIES)?, shift))
            },
        );
        let shift = kept.as_ref().map(|(_, shift)| *shift);
        let values = Values::of_root(score, model, shift);
        let kept = kept.filter(|(_, shift)| *shift == values.shift());
        let mut root = kept.map_or_else(Box::default, |(root, _)| root);
        root.forget_draws();
        (root, values)
    }
}

/// Returns the node of `wanted` in the tree of `position`, at most `plies` below it.
fn descend(
    position: &Position,
    mut node: Box<Node>,
    wanted: &Position,
    plies: usize,
) -> Option<Box<Node>> {
    if is_same(position, wanted) {
        return Some(node);
    }
    if plies == 0 {
        return None;
    }
    for (mv, child) in node.take_children() {
        let mut next = position.clone();
        if next.play(mv).is_ok()
            && let Some(found) = descend(&next, child, wanted, plies - 1)
        {
            return Some(found);
        }
    }
    None
}

/// Returns whether two positions have the same board and history.
fn is_same(one: &Position, other: &Position) -> bool {
    let same_board = |a: &Board, b: &Board| a == b && a.halfmove_clock() == b.halfmove_clock();
    same_board(one.board(), other.board()) && one.earlier_keys() == other.earlier_keys()
}
