//! Move ordering: captures by victim and attacker, killers, history.

use cozy_chess::{Board, Color, Move, Piece, Square};

use crate::score::MAX_PLY;

/// A move and its place in the order, higher first.
#[derive(Clone, Copy)]
pub(crate) struct ScoredMove {
    pub(crate) mv: Move,
    pub(crate) order: i32,
}

const FIRST: i32 = i32::MAX;
const TACTICAL: i32 = 1 << 24;
const KILLER: i32 = 1 << 20;
/// History stays within plus and minus this, below every killer.
const HISTORY_LIMIT: i32 = 1 << 14;

/// What earlier cutoffs of this search teach about quiet moves.
pub(crate) struct Heuristics {
    killers: Vec<[Option<Move>; 2]>,
    history: Vec<[[i32; Square::NUM]; Square::NUM]>,
}

impl Heuristics {
    pub(crate) fn new() -> Heuristics {
        Heuristics {
            killers: vec![[None; 2]; MAX_PLY + 1],
            history: vec![[[0; Square::NUM]; Square::NUM]; Color::NUM],
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Heuristics::new();
    }

    /// The order of a move at `ply`; `first` is tried before all others.
    pub(crate) fn order(&self, board: &Board, mv: Move, ply: usize, first: Option<Move>) -> i32 {
        if first == Some(mv) {
            return FIRST;
        }
        if is_tactical(board, mv) {
            return tactical_order(board, mv);
        }
        match self.killers[ply] {
            [Some(killer), _] if killer == mv => KILLER + 1,
            [_, Some(killer)] if killer == mv => KILLER,
            _ => self.history[board.side_to_move() as usize][mv.from as usize][mv.to as usize],
        }
    }

    /// A quiet move refuted the opponent's last one, after those in `tried` did not.
    pub(crate) fn reward(
        &mut self,
        board: &Board,
        cutoff: Move,
        tried: &[ScoredMove],
        ply: usize,
        depth: u32,
    ) {
        let killers = &mut self.killers[ply];
        if killers[0] != Some(cutoff) {
            *killers = [Some(cutoff), killers[0]];
        }
        let bonus = (depth * depth).min(400) as i32;
        self.adjust(board, cutoff, bonus);
        for scored in tried.iter().filter(|scored| !is_tactical(board, scored.mv)) {
            self.adjust(board, scored.mv, -bonus);
        }
    }

    fn adjust(&mut self, board: &Board, mv: Move, bonus: i32) {
        let entry =
            &mut self.history[board.side_to_move() as usize][mv.from as usize][mv.to as usize];
        // The nearer to the limit, the less a further bonus adds.
        *entry += bonus - *entry * bonus.abs() / HISTORY_LIMIT;
    }
}

/// Captures, en passant included, and promotions.
pub(crate) fn is_tactical(board: &Board, mv: Move) -> bool {
    mv.promotion.is_some() || victim(board, mv).is_some()
}

/// What a move captures, en passant included.
pub(crate) fn victim(board: &Board, mv: Move) -> Option<Piece> {
    let theirs = board.colors(!board.side_to_move());
    if theirs.has(mv.to) {
        return board.piece_on(mv.to);
    }
    // A pawn that changes its file without a victim there takes en passant.
    let is_pawn = board.pieces(Piece::Pawn).has(mv.from);
    (is_pawn && mv.from.file() != mv.to.file()).then_some(Piece::Pawn)
}

/// Most valuable victim first, then least valuable attacker. Promotions to a
/// queen count as winning a queen, others come last of the tactical moves.
pub(crate) fn tactical_order(board: &Board, mv: Move) -> i32 {
    let gain = |piece: Piece| 8 * (piece as i32 + 1);
    let captured = victim(board, mv).map_or(0, gain);
    let promoted = match mv.promotion {
        Some(Piece::Queen) => gain(Piece::Queen),
        Some(_) => -gain(Piece::King),
        None => 0,
    };
    let attacker = board.piece_on(mv.from).map_or(0, |piece| piece as i32);
    TACTICAL + captured + promoted - attacker
}
