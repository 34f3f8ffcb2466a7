//! The search for a mate that was asked for, behind the usual one.

use std::cmp::Reverse;
use std::sync::atomic::Ordering;

use crate::board::rules::FIFTY_MOVES;
use crate::evaluation::Score;
use crate::search::proof_numbers::ProofNumberSearch;
use crate::search::report::Report;
use crate::search::searcher::{Halted, Searcher};
use crate::search::transposition_table::ScoreBound;

/// The usual search begins with so many nodes, or this part of those that are allowed: it
/// finds short mates, and tells which side is to look for one.
const NODES_BEFORE: u64 = 20_000;
const SHARE_BEFORE: u64 = 8;
/// The most bytes that a proof takes, as much as the transposition table up to here.
const MOST_BYTES: usize = 1 << 30;

/// What the search for a mate has proved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// The mate, which is the best line now.
    Mate,
    /// That there is none, for neither side.
    NoMate,
    /// That there is none before the fifty-move rule may come, though one was asked for that
    /// is longer.
    NoneSoon,
}

impl Searcher<'_> {
    /// The moves of the longest mate to be proved: that asked for, or as many as the
    /// fifty-move rule leaves. `None` where no proof is made: with a depth, chosen moves or
    /// several lines.
    fn mate_to_prove(&self) -> Option<u32> {
        let limits = self.shared.limits;
        let clock = self.worker.tree.board().halfmove_clock();
        let moves = limits
            .mate?
            .min(u32::from(FIFTY_MOVES.saturating_sub(clock)) / 2);
        let plain = limits.depth.is_none() && limits.moves.is_empty() && limits.lines == 1;
        (plain && self.index == 0 && moves > 0).then_some(moves)
    }

    /// The moves of the longest mate to be proved, once the usual search, `depth` plies deep,
    /// has had its share: also where it has found a mate, but not the whole line.
    pub(super) fn mate_left_to_proof(&self, depth: i32) -> Option<u32> {
        let moves = self.mate_to_prove()?;
        let best = &self.worker.root[0];
        let is_due = match best.score.plies_to_mate() {
            Some(plies) if plies <= 2 * moves as usize => best.pv.len() < plies,
            _ => {
                let others = self.shared.nodes.load(Ordering::Relaxed) - self.counted;
                let most = self.shared.limits.nodes.unwrap_or(u64::MAX) / SHARE_BEFORE;
                self.nodes + others >= most.min(NODES_BEFORE) || depth >= 2 * moves as i32
            }
        };
        is_due.then_some(moves)
    }

    /// Looks for a mate in at most so many moves by proof-number search, first for the side
    /// that is better.
    pub(super) fn prove_mate(
        &mut self,
        most: u32,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Proof, Halted> {
        let best = &self.worker.root[0];
        let found = best.score.moves_to_mate();
        let moves = found.map_or(most, |found| most.min(found.unsigned_abs()));
        let attacks = best.score >= Score::DRAW;
        let board = self.worker.tree.board().clone();
        let drawn = self.worker.tree.drawn_once_more();
        for attacks in [attacks, !attacks] {
            let mover = board.side_to_move();
            let (attacker, plies) = match attacks {
                true => (mover, 2 * moves - 1),
                false => (!mover, 2 * moves),
            };
            let bytes = self.shared.table.bytes().min(MOST_BYTES);
            let mut search = ProofNumberSearch::new(attacker, drawn.clone(), bytes);
            let mate = search.solve(&board, plies as u8, &mut || self.enter_node())?;
            let Some((plies, line)) = mate else { continue };
            let score = match attacks {
                true => Score::mate_in(plies.into()),
                false => Score::mated_in(plies.into()),
            };
            self.seldepth = plies.into();
            let root = &mut self.worker.root;
            root.sort_by_key(|root| Reverse(root.pv[0] == line[0]));
            root[0].score = score;
            root[0].bound = ScoreBound::Exact;
            root[0].pv = line;
            self.tell(self.depth, 1, None, report);
            return Ok(Proof::Mate);
        }
        Ok(
            match self.shared.limits.mate.is_some_and(|asked| asked > most) {
                true => Proof::NoneSoon,
                false => Proof::NoMate,
            },
        )
    }
}
