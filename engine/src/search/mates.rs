//! The search for a mate that was asked for, behind the usual one.

use std::cmp::Reverse;

use crate::evaluation::Score;
use crate::search::proof_numbers::ProofNumbers;
use crate::search::report::Report;
use crate::search::searcher::{Halted, Searcher};
use crate::search::transposition_table::ScoreBound;

/// The usual search begins with so many nodes, or this part of those that are allowed: it
/// finds short mates, and tells which side is to look for one.
const NODES_BEFORE: u64 = 20_000;
const SHARE_BEFORE: u64 = 8;
/// The longest mate that is looked for, in moves.
const MOST_MOVES: u32 = 100;
/// The halfmove clock of a draw.
const FIFTY_MOVES: u32 = 100;

impl Searcher<'_> {
    /// The moves of the mate to be proved; none where the rules are others: with a depth,
    /// chosen moves or several lines, and where the fifty-move rule may come before.
    fn mate_to_prove(&self) -> Option<u32> {
        let limits = self.shared.limits;
        let moves = limits.mate.filter(|&moves| moves > 0)?.min(MOST_MOVES);
        let clock: u32 = self.worker.tree.board().halfmove_clock().into();
        let plain = limits.depth.is_none() && limits.moves.is_empty() && limits.lines == 1;
        (plain && self.index == 0 && clock + 2 * moves <= FIFTY_MOVES).then_some(moves)
    }

    /// Whether the usual search, `depth` plies deep, has had its share of a search for a mate:
    /// also where it has found one, but not the whole line.
    pub(super) fn leaves_mate_to_proof(&self, depth: i32) -> bool {
        let Some(moves) = self.mate_to_prove() else {
            return false;
        };
        let best = &self.worker.root[0];
        match best.score.plies_to_mate() {
            Some(plies) if plies <= 2 * moves as usize => best.pv.len() < plies,
            _ => {
                let nodes = self.shared.limits.nodes.unwrap_or(u64::MAX);
                self.nodes >= NODES_BEFORE.min(nodes / SHARE_BEFORE) || depth >= 2 * moves as i32
            }
        }
    }

    /// Looks for the mate that was asked for by proof-number search, first for the side that
    /// is better; whether there is one. It becomes the best line.
    pub(super) fn prove_mate(&mut self, report: &mut dyn FnMut(&Report)) -> Result<bool, Halted> {
        let Some(mut moves) = self.mate_to_prove() else {
            return Ok(false);
        };
        let best = &self.worker.root[0];
        if let Some(found) = best.score.moves_to_mate() {
            moves = moves.min(found.unsigned_abs());
        }
        let attacks = best.score >= Score::DRAW;
        let board = self.worker.tree.board().clone();
        let drawn = self.worker.tree.drawn_once_more();
        for attacks in [attacks, !attacks] {
            let mover = board.side_to_move();
            let (attacker, plies) = match attacks {
                true => (mover, 2 * moves - 1),
                false => (!mover, 2 * moves),
            };
            let bytes = self.shared.table.bytes();
            let mut numbers = ProofNumbers::new(attacker, drawn.clone(), bytes);
            let line = numbers.solve(&board, plies as u8, &mut || self.enter_node())?;
            let Some(line) = line else { continue };
            let score = match attacks {
                true => Score::mate_in(line.len()),
                false => Score::mated_in(line.len()),
            };
            self.seldepth = line.len();
            let root = &mut self.worker.root;
            root.sort_by_key(|root| Reverse(root.pv[0] == line[0]));
            root[0].score = score;
            root[0].bound = ScoreBound::Exact;
            root[0].pv = line;
            self.tell(self.depth, 1, None, report);
            return Ok(true);
        }
        Ok(false)
    }
}
