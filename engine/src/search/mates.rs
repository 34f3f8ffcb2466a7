//! Mate search (`go mate`): proof-number search after a normal search.

use std::cmp::Reverse;
use std::sync::atomic::Ordering;

use crate::board::rules::FIFTY_MOVES;
use crate::evaluation::Score;
use crate::search::proof_numbers::ProofNumberSearch;
use crate::search::report::Report;
use crate::search::searcher::{Halted, Searcher};
use crate::search::transposition_table::ScoreBound;

/// Nodes, or share of the node limit, of the normal search that comes first: it finds short mates
/// and tells which side is better.
const NODES_BEFORE: u64 = 20_000;
const SHARE_BEFORE: u64 = 8;
/// Maximum memory of a proof in bytes; up to it, as much as the transposition table.
const MOST_BYTES: usize = 1 << 30;

/// Result of the mate search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// A mate, now the best line.
    Mate,
    /// No mate of the requested length for either side.
    NoMate,
    /// No mate before the fifty-move rule; the requested mate is longer.
    NoneSoon,
}

impl Searcher<'_> {
    /// Returns the length in moves of the longest mate to prove: the requested one, limited by the
    /// fifty-move rule. `None` with a depth limit, chosen root moves or several lines.
    fn mate_to_prove(&self) -> Option<u32> {
        let limits = self.shared.limits;
        let clock = self.thread.tree.board().halfmove_clock();
        let moves = limits
            .mate?
            .min(u32::from(FIFTY_MOVES.saturating_sub(clock)) / 2);
        let plain = limits.depth.is_none() && limits.moves.is_empty() && limits.lines == 1;
        (plain && self.index == 0 && moves > 0).then_some(moves)
    }

    /// Returns the length in moves of the longest mate to prove, once the normal search of `depth`
    /// plies has had its share. Also proves a mate already found if its line is incomplete.
    pub(super) fn mate_left_to_proof(&self, depth: i32) -> Option<u32> {
        let moves = self.mate_to_prove()?;
        let best = &self.thread.root[0];
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

    /// Searches a mate in at most `most` moves by proof-number search, first for the better side.
    pub(super) fn prove_mate(
        &mut self,
        most: u32,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Proof, Halted> {
        let best = &self.thread.root[0];
        let found = best.score.moves_to_mate();
        let moves = found.map_or(most, |found| most.min(found.unsigned_abs()));
        let attacks = best.score >= Score::DRAW;
        let board = self.thread.tree.board().clone();
        let drawn = self.thread.tree.drawn_once_more();
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
            let root = &mut self.thread.root;
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
