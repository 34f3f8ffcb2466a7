//! Check detection for moves that have not been played.

use cozy_chess::{
    BitBoard, Board, Move, Piece, Square, get_between_rays, get_bishop_moves, get_bishop_rays,
    get_knight_moves, get_line_rays, get_pawn_attacks, get_rook_moves, get_rook_rays,
};

/// Squares from which each kind of piece checks the opponent's king, and own discovered-check
/// pieces.
pub(crate) struct Checks {
    king: Square,
    pawns: BitBoard,
    knights: BitBoard,
    diagonal: BitBoard,
    straight: BitBoard,
    /// Own pieces that alone stand between an own slider and the opponent's king.
    screens: BitBoard,
}

impl Checks {
    #[inline(always)]
    pub(crate) fn of(board: &Board) -> Checks {
        let us = board.side_to_move();
        let king = board.king(!us);
        let occupied = board.occupied();
        let own = |piece| board.colored_pieces(us, piece);
        let queens = own(Piece::Queen);
        let sliders = get_bishop_rays(king) & (own(Piece::Bishop) | queens)
            | get_rook_rays(king) & (own(Piece::Rook) | queens);
        let mut screens = BitBoard::EMPTY;
        for slider in sliders {
            let between = get_between_rays(king, slider) & occupied;
            if between.len() == 1 {
                screens |= between & board.colors(us);
            }
        }
        Checks {
            king,
            pawns: get_pawn_attacks(king, !us),
            knights: get_knight_moves(king),
            diagonal: get_bishop_moves(king, occupied),
            straight: get_rook_moves(king, occupied),
            screens,
        }
    }

    /// Returns the squares from which `piece`, moving from `from`, gives direct or discovered
    /// check. Misses checks by a castled rook and those uncovered by an en-passant capture.
    pub(crate) fn targets(&self, piece: Piece, from: Square) -> BitBoard {
        let direct = match piece {
            Piece::Pawn => self.pawns,
            Piece::Knight => self.knights,
            Piece::Bishop => self.diagonal,
            Piece::Rook => self.straight,
            Piece::Queen => self.diagonal | self.straight,
            Piece::King => BitBoard::EMPTY,
        };
        match self.screens.has(from) {
            true => direct | !get_line_rays(self.king, from),
            false => direct,
        }
    }

    /// Returns whether a legal move of `piece` gives check. Besides the gaps of
    /// [`Checks::targets`], misses checks by a promoted piece through the square that the pawn
    /// left.
    pub(crate) fn gives_check(&self, piece: Piece, mv: Move) -> bool {
        let lands_as = mv.promotion.unwrap_or(piece);
        self.targets(lands_as, mv.from).has(mv.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::legal_moves;

    #[test]
    fn agrees_with_playing_the_move() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut checks = 0;
        for _ in 0..300 {
            let mut board = Board::startpos();
            for _ in 0..120 {
                let moves = legal_moves(&board);
                let Some(&played) = random.choice(&moves) else {
                    break;
                };
                let checks_before = Checks::of(&board);
                for mv in moves {
                    let mut after = board.clone();
                    after.play_unchecked(mv);
                    let check = !after.checkers().is_empty();
                    let own = board.colors(board.side_to_move());
                    let castles = own.has(mv.to);
                    let en_passant = board.pieces(Piece::Pawn).has(mv.from)
                        && mv.from.file() != mv.to.file()
                        && board.piece_on(mv.to).is_none();
                    let unseen = castles || en_passant || mv.promotion.is_some();
                    let gives = checks_before.gives_check(board.piece_on(mv.from).unwrap(), mv);
                    assert!(gives == check || check && unseen, "{board} {mv}");
                    checks += usize::from(check);
                }
                board.play(played);
            }
        }
        assert!(checks > 1_000);
    }
}
