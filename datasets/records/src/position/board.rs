//! Pieces, side to move and en-passant square of a position: the first 25 bytes of every row.

use shakmaty::{Chess, Position};

use crate::position::planes::{Codes, pack, unpack};
use crate::position::row::ROW_BYTES;

/// Size of a stored board in bytes.
pub(crate) const BOARD_BYTES: usize = 25;

/// Index of the byte with the side to move and the en-passant square.
pub(crate) const TURN_EN_PASSANT: usize = 24;
pub(crate) const BLACK_TO_MOVE: u8 = 0x80;
pub(crate) const NO_EN_PASSANT: u8 = 64;

/// Unpacked board of a row.
#[derive(Clone, Copy)]
pub(crate) struct Board {
    pub(crate) occupied: u64,
    pub(crate) codes: Codes,
    pub(crate) black_to_move: bool,
    /// Target square of a legal capture, below 64.
    pub(crate) en_passant: Option<u8>,
}

impl Board {
    /// Returns the board of a position.
    pub(crate) fn of_position(position: &Chess) -> Board {
        let board = position.board();
        let unmoved = position.castles().castling_rights();
        let (knights, bishops) = (board.knights().0, board.bishops().0);
        let (rooks, queens, kings) = (board.rooks().0, board.queens().0, board.kings().0);
        // Pawn 0, knight 1, bishop 2, rook 3, queen 4, king 5, unmoved rook 6.
        let codes = pack(
            board.occupied().0,
            &[
                knights | rooks & !unmoved.0 | kings,
                bishops | rooks,
                queens | kings | unmoved.0,
                board.black().0,
            ],
        );
        Board {
            occupied: board.occupied().0,
            codes,
            black_to_move: position.turn().is_black(),
            en_passant: position.legal_ep_square().map(|square| square as u8),
        }
    }

    /// Reads the board of a row.
    #[inline]
    pub(crate) fn of(bytes: &[u8; ROW_BYTES]) -> Board {
        let word = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("8 bytes"));
        let en_passant = bytes[TURN_EN_PASSANT] & !BLACK_TO_MOVE;
        Board {
            occupied: word(0),
            codes: [word(8), word(16)],
            black_to_move: bytes[TURN_EN_PASSANT] & BLACK_TO_MOVE != 0,
            en_passant: (en_passant != NO_EN_PASSANT).then_some(en_passant),
        }
    }

    /// Returns a row with this board, its other bytes zero.
    #[inline]
    pub(crate) fn to_row(self) -> [u8; ROW_BYTES] {
        let mut bytes = [0; ROW_BYTES];
        bytes[..8].copy_from_slice(&self.occupied.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.codes[0].to_le_bytes());
        bytes[16..24].copy_from_slice(&self.codes[1].to_le_bytes());
        let turn = if self.black_to_move { BLACK_TO_MOVE } else { 0 };
        bytes[TURN_EN_PASSANT] = self.en_passant.unwrap_or(NO_EN_PASSANT) | turn;
        bytes
    }

    /// Returns the position from the side to move's point of view: for Black to move, ranks are
    /// mirrored and colours swapped. Two boards are equal here exactly if they hold the same
    /// position or colour twins.
    pub(crate) fn seen_by_mover(&self) -> [u64; 4] {
        let Board {
            occupied,
            codes,
            black_to_move,
            en_passant,
        } = *self;
        if !black_to_move {
            let en_passant = en_passant.unwrap_or(NO_EN_PASSANT);
            return [occupied, codes[0], codes[1], u64::from(en_passant)];
        }
        let [low, middle, high, black] = unpack(occupied, &codes);
        let flipped = occupied.swap_bytes();
        let planes = [low, middle, high, occupied & !black].map(u64::swap_bytes);
        let codes = pack(flipped, &planes);
        let en_passant = en_passant.map_or(NO_EN_PASSANT, |square| square ^ 56);
        [flipped, codes[0], codes[1], u64::from(en_passant)]
    }
}
