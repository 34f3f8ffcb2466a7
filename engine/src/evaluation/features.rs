//! Conversion of boards and moves to network features: the one place where cozy-chess's pieces and
//! squares become the network's.

use arrayvec::ArrayVec;
use cozy_chess::{
    BitBoard, Board, Color, File, Move, Piece, Rank, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_rook_moves,
};
use models::{CastlingSide, Feature, InputPosition, Side};

use crate::board::legal_en_passant;
use crate::board::rules::{BACK_RANKS, pawn_attacks};

/// Features added and removed by a move, from White's point of view. At most two are added
/// (castling: king and rook) and five removed (a king captures a rook in the corner, which loses
/// both sides' castling rights; castling removes king, rook and two rights).
#[derive(Clone, Default)]
pub(crate) struct Changes {
    pub(crate) added: ArrayVec<Feature, 2>,
    pub(crate) removed: ArrayVec<Feature, 5>,
}

impl Changes {
    /// Returns the changes by a legal move; `board` is the board before it.
    pub(crate) fn of(board: &Board, mv: Move) -> Changes {
        let mut changes = Changes::default();
        let mover = board.side_to_move();
        let Some(piece) = board.piece_on(mv.from) else {
            unreachable!("a legal move begins on a piece")
        };
        changes.removed.push(seen_by_white(mover, piece, mv.from));
        if board.colors(mover).has(mv.to) {
            changes.castle(mover, mv);
        } else {
            let landing = mv.promotion.unwrap_or(piece);
            changes.added.push(seen_by_white(mover, landing, mv.to));
            changes.capture(board, piece, mv);
        }
        // Castling rights change only with moves from or to the back ranks.
        if (mv.from.bitboard() | mv.to.bitboard()).is_disjoint(BACK_RANKS) {
            return changes;
        }
        for color in Color::ALL {
            for side in [CastlingSide::King, CastlingSide::Queen] {
                if loses_right(board, color, side, mv) {
                    let view = models::Color::White;
                    let right = Feature::castling(view, model_color(color), side);
                    changes.removed.push(right);
                }
            }
        }
        changes
    }

    /// Removes the rook and adds king and rook where they land; the caller has removed the king.
    fn castle(&mut self, mover: Color, mv: Move) {
        let (king, rook) = if mv.from.file() < mv.to.file() {
            (File::G, File::F)
        } else {
            (File::C, File::D)
        };
        let rank = mv.from.rank();
        let landing = [(Piece::King, king), (Piece::Rook, rook)];
        self.removed.push(seen_by_white(mover, Piece::Rook, mv.to));
        for (piece, file) in landing {
            let square = Square::new(file, rank);
            self.added.push(seen_by_white(mover, piece, square));
        }
    }

    /// Removes the piece captured by a move that does not castle.
    fn capture(&mut self, board: &Board, piece: Piece, mv: Move) {
        let victim = board.piece_on(mv.to).map(|victim| (victim, mv.to));
        // A pawn that leaves its file to an empty square captures en passant.
        let leaves_file = piece == Piece::Pawn && mv.from.file() != mv.to.file();
        let passed = (Piece::Pawn, Square::new(mv.to.file(), mv.from.rank()));
        if let Some((victim, square)) = victim.or(leaves_file.then_some(passed)) {
            let owner = !board.side_to_move();
            self.removed.push(seen_by_white(owner, victim, square));
        }
    }
}

fn seen_by_white(color: Color, piece: Piece, square: Square) -> Feature {
    let (view, color) = (models::Color::White, model_color(color));
    Feature::piece(view, color, model_piece(piece), model_square(square))
}

/// Returns whether a legal move loses a castling right: the king moves, or the rook leaves its
/// square or is captured on it.
fn loses_right(board: &Board, color: Color, side: CastlingSide, mv: Move) -> bool {
    castling_rook(board, color, side).is_some_and(|file| {
        let rook = Square::new(file, Rank::First.relative_to(color));
        mv.from == rook || mv.to == rook || mv.from == board.king(color)
    })
}

/// Returns the network's input for a board without the pieces on the squares `gone`.
#[inline(always)]
pub(crate) fn with_attacks(board: &Board, gone: BitBoard) -> InputPosition {
    described(board, |color| side(board, gone, color))
}

/// Returns the network's input without attacks, and so without threats.
#[inline(always)]
pub(crate) fn without_attacks(board: &Board) -> InputPosition {
    described(board, |color| Side {
        pieces: Piece::ALL.map(|piece| board.colored_pieces(color, piece).0),
        attacks: [0; 6],
    })
}

#[inline(always)]
fn described(board: &Board, side: impl Fn(Color) -> Side) -> InputPosition {
    let rights = |color| {
        [CastlingSide::King, CastlingSide::Queen]
            .map(|side| castling_rook(board, color, side).is_some())
    };
    InputPosition {
        turn: model_color(board.side_to_move()),
        sides: [side(Color::White), side(Color::Black)],
        castling: [rights(Color::White), rights(Color::Black)],
        en_passant: legal_en_passant(board).map(model_square),
        in_check: !board.checkers().is_empty(),
    }
}

/// Returns a side's pieces and attacks, without the pieces on the squares `gone`.
#[inline]
pub(crate) fn side(board: &Board, gone: BitBoard, color: Color) -> Side {
    let pieces = Piece::ALL.map(|piece| board.colored_pieces(color, piece) - gone);
    side_of(pieces, board.occupied() - gone, color)
}

/// Returns a side with the given pieces by kind, and their attacks with `occupied` as blockers.
#[inline]
pub(crate) fn side_of(pieces: [BitBoard; 6], occupied: BitBoard, color: Color) -> Side {
    let [pawns, knights, bishops, rooks, queens, kings] = pieces;
    let diagonally = |square| get_bishop_moves(square, occupied);
    let straight = |square| get_rook_moves(square, occupied);
    let attacks = [
        pawn_attacks(pawns, color),
        attacked(knights, get_knight_moves),
        attacked(bishops, diagonally),
        attacked(rooks, straight),
        attacked(queens, |square| diagonally(square) | straight(square)),
        attacked(kings, get_king_moves),
    ];
    Side {
        pieces: pieces.map(|set| set.0),
        attacks: attacks.map(|set| set.0),
    }
}

/// Returns the union of the pieces' attacks.
#[inline]
fn attacked(pieces: BitBoard, from: impl Fn(Square) -> BitBoard) -> BitBoard {
    pieces
        .iter()
        .fold(BitBoard::EMPTY, |all, square| all | from(square))
}

/// Returns all active features from the side to move's point of view.
pub fn features(board: &Board) -> Vec<Feature> {
    with_attacks(board, BitBoard::EMPTY).features().collect()
}

/// Returns the file of the rook that has the castling right; `None` without the right.
fn castling_rook(board: &Board, color: Color, side: CastlingSide) -> Option<File> {
    let rights = board.castle_rights(color);
    match side {
        CastlingSide::King => rights.short,
        CastlingSide::Queen => rights.long,
    }
}

/// Converts a colour to the network's type.
pub fn model_color(color: Color) -> models::Color {
    match color {
        Color::White => models::Color::White,
        Color::Black => models::Color::Black,
    }
}

/// Converts a piece to the network's type.
pub fn model_piece(piece: Piece) -> models::Piece {
    match piece {
        Piece::Pawn => models::Piece::Pawn,
        Piece::Knight => models::Piece::Knight,
        Piece::Bishop => models::Piece::Bishop,
        Piece::Rook => models::Piece::Rook,
        Piece::Queen => models::Piece::Queen,
        Piece::King => models::Piece::King,
    }
}

pub(crate) fn model_square(square: Square) -> models::Square {
    models::Square::new(square as u8).expect("both crates count a1 = 0 to h8 = 63")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::parse_fen;
    use models::Threats;

    /// Counts the threat features by kind of piece: own, theirs.
    fn counts(fen: &str, gone: BitBoard) -> [[usize; 5]; 2] {
        let mut counts = [[0; 5]; 2];
        let position = with_attacks(&parse_fen(fen).unwrap(), gone);
        for feature in position.threats().features() {
            let index = feature.index() - Threats::FIRST_INPUT;
            counts[index / 15][index % 15 / 3] += 1;
        }
        counts
    }

    #[test]
    fn threats_are_pieces_en_prise() {
        const NONE: [usize; 5] = [0; 5];
        let knight = [0, 1, 0, 0, 0];
        for (rule, fen, own, theirs) in [
            (
                "nothing",
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                NONE,
                NONE,
            ),
            (
                "a pawn takes on its own file's neighbours",
                "4k3/8/8/n6n/P6P/8/8/4K3 w - - 0 1",
                NONE,
                NONE,
            ),
            (
                "an a-pawn takes on b5",
                "4k3/8/p7/1n6/P6P/8/8/4K3 w - - 0 1",
                NONE,
                knight,
            ),
            (
                "an h-pawn takes on g4",
                "4k3/8/8/p6p/6N1/5P2/8/4K3 w - - 0 1",
                knight,
                NONE,
            ),
            (
                "a rook does not threaten a knight defended by a pawn",
                "4k3/8/2p5/3n4/8/8/8/3RK3 b - - 0 1",
                NONE,
                NONE,
            ),
            (
                "a rook threatens an undefended knight",
                "4k3/8/8/3n4/8/8/8/3RK3 b - - 0 1",
                knight,
                NONE,
            ),
            (
                "a king defends",
                "8/8/4k3/3n4/8/8/8/3RK3 b - - 0 1",
                NONE,
                NONE,
            ),
            (
                "a king attacks",
                "4k3/8/8/8/8/8/4n3/4K3 w - - 0 1",
                NONE,
                knight,
            ),
            (
                "no attack through another piece",
                "4k3/8/8/3n4/8/3P4/8/3RK3 w - - 0 1",
                NONE,
                NONE,
            ),
            (
                "a pinned piece attacks",
                "4k3/8/8/4n3/2B5/8/8/4RK2 w - - 0 1",
                [0, 0, 1, 0, 0],
                knight,
            ),
            (
                "a rook by a bishop, though defended",
                "4k3/2p5/3r4/8/8/B7/8/4K3 w - - 0 1",
                NONE,
                [0, 0, 0, 1, 0],
            ),
            (
                "a queen by a rook, not a rook by a queen",
                "3rk3/8/8/3q4/8/8/8/3RK3 w - - 0 1",
                NONE,
                [0, 0, 0, 0, 1],
            ),
            (
                "no more than three of a kind",
                "4k3/8/8/8/pppp4/8/8/QQQQK3 w - - 0 1",
                NONE,
                [3, 0, 0, 0, 0],
            ),
        ] {
            assert_eq!(counts(fen, BitBoard::EMPTY), [own, theirs], "{rule}");
        }
        // Without the pawn between, the rook attacks the knight.
        let fen = "4k3/8/8/3n4/8/3P4/8/3RK3 w - - 0 1";
        assert_eq!(counts(fen, Square::D3.bitboard()), [NONE, knight]);
    }
}
