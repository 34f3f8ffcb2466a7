//! Stockfish's binpack: chunks of chains of positions, each a move after the one before (crate
//! `sfbinpack` 0.6.5; the format is Stockfish's `nnue_data_binpack_format.h`).
//!
//! A chain is a position (the stem) with its move, score, ply and result, the number of following
//! positions, and for each of those its move and score, packed in bits. Scores and results are from
//! the mover's point of view.

use std::num::NonZeroU32;

use shakmaty::uci::UciMove;
use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, Move, Piece, Position, Role, Setup, Square,
    attacks,
};

use super::label_by_plies;
use crate::games::{Collector, Ending};
use crate::position::{GameResult, Origin};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts, Tags};

const MAGIC: &[u8; 4] = b"BINP";
const HEADER_BYTES: usize = 8;
/// Largest accepted chunk; writers close one at about a megabyte.
const MAX_CHUNK_BYTES: usize = 16 << 20;

const STEM_BYTES: usize = 32;
const POSITION_BYTES: usize = 24;

/// Stockfish's farthest mate, in plies. Tablebase wins score below it.
const MAX_PLY: u16 = 246;

pub(super) fn detect(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Returns the length of the first chunk; `None` if it is incomplete.
///
/// # Errors
/// If no chunk begins here.
pub(super) fn unit(bytes: &[u8]) -> Result<Option<usize>, &'static str> {
    if !MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]) {
        return Err("expected a binpack chunk, which begins with BINP");
    }
    let Some(size) = bytes.get(MAGIC.len()..HEADER_BYTES) else {
        return Ok(None);
    };
    let size = u32::from_le_bytes([size[0], size[1], size[2], size[3]]) as usize;
    if size > MAX_CHUNK_BYTES {
        return Err("a binpack chunk above 16 MiB");
    }
    Ok((bytes.len() >= HEADER_BYTES + size).then_some(HEADER_BYTES + size))
}

/// Reads whole chunks. Each chain counts as a game.
pub(super) fn read<C: Collector>(
    mut bytes: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    mut each: impl FnMut(GameId, &[C::Row]),
) {
    while let Ok(Some(length)) = unit(bytes) {
        let (chunk, rest) = bytes.split_at(length);
        bytes = rest;
        let mut chains = &chunk[HEADER_BYTES..];
        while !chains.is_empty() {
            tally.games += 1;
            tally.games_annotated += 1;
            match read_chain::<C>(chains, filters, tally, &mut each) {
                Ok(length) => chains = &chains[length..],
                // The next chain can only be found from the end of this one.
                Err(reason) => {
                    tally.skip(reason);
                    break;
                }
            }
        }
    }
}

/// Reads the first chain. Returns its length in bytes.
///
/// # Errors
/// The reason that it cannot be followed to its end; positions before that are kept.
fn read_chain<C: Collector>(
    bytes: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    each: impl FnOnce(GameId, &[C::Row]),
) -> Result<usize, SkipReason> {
    let malformed = SkipReason::MalformedGame;
    let (stem, rest) = bytes.split_first_chunk::<STEM_BYTES>().ok_or(malformed)?;
    let (count, text) = rest.split_first_chunk().ok_or(malformed)?;
    let followers = u16::from_be_bytes(*count);
    let number = |at: usize| u16::from_be_bytes([stem[at], stem[at + 1]]);
    let ply_result = number(28);
    let mut position = position(stem, ply_result & 0x3FFF).ok_or(SkipReason::BadFen)?;
    let origin = Origin {
        result: result(ply_result >> 14, position.turn()),
        ..Origin::default()
    };
    let tags = Tags::default();
    let rejected = filters.reject_game(&tags);
    let mut rows = C::default();
    let mut identity = stem[..POSITION_BYTES].to_vec();
    let mut bits = Bits { text, at: 0 };
    let mut score = signed(number(26));
    let mut m = stem_move(&position, number(POSITION_BYTES));
    let mut outcome = Ok(());
    for left in (0..=followers).rev() {
        if rejected.is_none() {
            let score = label_by_plies(score, MAX_PLY);
            let score = score.map(|label| label.seen_by(position.turn()));
            rows.score(&position, score, origin, filters, tally);
        }
        let Some(played) = m else {
            // The last position may have no move.
            if left > 0 || number(POSITION_BYTES) != 0 {
                outcome = Err(SkipReason::IllegalMove);
            }
            break;
        };
        if rejected.is_none() {
            rows.play(&position, played, &tags, filters, tally);
        }
        position.play_unchecked(played);
        identity.extend_from_slice(&[
            played.from().map_or(0, u8::from),
            played.to() as u8,
            played.promotion().map_or(0, |role| role as u8),
        ]);
        if left > 0 {
            match bits.step(&position, score.wrapping_neg()) {
                Some((next, next_score)) => (m, score) = (Some(next), next_score),
                None => {
                    outcome = Err(SkipReason::IllegalMove);
                    break;
                }
            }
        }
    }
    let ending = Ending {
        // The format does not say whether the game ends with its chain.
        result: None,
        tags: &tags,
    };
    let id = || GameId::of_bytes(&identity);
    rows.finish(&position, id, ending, filters, tally, each);
    if let Some(reason) = rejected {
        tally.skip(reason);
    }
    outcome.map(|()| STEM_BYTES + count.len() + bits.bytes())
}

/// Decodes the mover's result (1, 0 or -1 in two bits) to a result of the game.
fn result(code: u16, turn: Color) -> Option<GameResult> {
    match (code, turn) {
        (0, _) => Some(GameResult::Draw),
        (2, Color::White) | (1, Color::Black) => Some(GameResult::WhiteWins),
        (2, Color::Black) | (1, Color::White) => Some(GameResult::BlackWins),
        _ => None,
    }
}

/// Decodes a score with its sign in the lowest bit: `1` is -1, `2` is 1.
fn signed(code: u16) -> i16 {
    let rotated = code.rotate_right(1);
    let flipped = match rotated & 0x8000 {
        0 => rotated,
        _ => rotated ^ 0x7FFF,
    };
    flipped as i16
}

/// Decodes the stem: a bit a square, big-endian, and a nibble a piece, odd for Black.
fn position(stem: &[u8; STEM_BYTES], ply: u16) -> Option<Chess> {
    let occupied = Bitboard(u64::from_be_bytes(*stem.first_chunk()?));
    let mut setup = Setup::empty();
    let mut board = Board::empty();
    if occupied.count() > 32 {
        return None;
    }
    for (i, square) in occupied.into_iter().enumerate() {
        let code = stem[8 + i / 2] >> (4 * (i % 2)) & 15;
        let (role, color) = match code {
            0..12 => (
                Role::ALL[usize::from(code / 2)],
                Color::from_white(code.is_multiple_of(2)),
            ),
            // A pawn that may be captured en passant.
            12 => {
                let color = Color::from_white(square < Square::A5);
                setup.ep_square = square.offset(color.fold_wb(-8, 8));
                (Role::Pawn, color)
            }
            // A rook that may castle.
            13 | 14 => {
                setup.castling_rights.add(square);
                (Role::Rook, Color::from_white(code == 13))
            }
            _ => {
                setup.turn = Color::Black;
                (Role::King, Color::Black)
            }
        };
        board.set_piece_at(square, Piece { color, role });
    }
    setup.board = board;
    setup.halfmoves = u16::from_be_bytes([stem[30], stem[31]]).into();
    setup.fullmoves = NonZeroU32::MIN.saturating_add(u32::from(ply / 2));
    super::from_setup(setup, CastlingMode::Standard)
}

/// Decodes a move: kind, from, to, promotion, from the highest bits down. Castling targets the
/// rook. `None` if it is illegal.
fn stem_move(position: &Chess, code: u16) -> Option<Move> {
    let square = |shift: u16| Square::new(u32::from(code >> shift & 63));
    let promotion = (code >> 14 == 1).then(|| promotion(code & 3));
    let uci = UciMove::Normal {
        from: square(8),
        to: square(2),
        promotion,
    };
    uci.to_move(position).ok()
}

fn promotion(code: u16) -> Role {
    [Role::Knight, Role::Bishop, Role::Rook, Role::Queen][usize::from(code & 3)]
}

/// Bit reader, highest bit of a byte first.
struct Bits<'a> {
    text: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// Returns the number of bytes read, partly read ones included.
    fn bytes(&self) -> usize {
        self.at.div_ceil(8)
    }

    fn take(&mut self, count: u32) -> Option<u16> {
        let mut bits = 0;
        for _ in 0..count {
            let byte = self.text.get(self.at / 8)?;
            bits = bits << 1 | u16::from(byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        Some(bits)
    }

    /// Reads an index below `count`, in as many bits as the largest needs.
    fn one_of(&mut self, count: usize) -> Option<usize> {
        let largest = count.checked_sub(1)?;
        let index = usize::from(self.take(usize::BITS - largest.leading_zeros())?);
        (index < count).then_some(index)
    }

    fn square(&mut self, squares: Bitboard) -> Option<Square> {
        let index = self.one_of(squares.count())?;
        squares.into_iter().nth(index)
    }

    /// Reads a score difference: four bits at a time, the lowest first, each preceded by a
    /// continuation bit.
    fn score_change(&mut self) -> Option<i16> {
        let mut code = 0u16;
        for shift in (0..16).step_by(4) {
            let block = self.take(5)?;
            code |= (block & 15) << shift;
            if block >> 4 == 0 {
                return Some(signed(code));
            }
        }
        None
    }

    /// Reads the next move and its score, stored as a difference from `before`. `None` if the bits
    /// end or the move is illegal.
    fn step(&mut self, position: &Chess, before: i16) -> Option<(Move, i16)> {
        let uci = self.uci(position)?;
        let m = uci.to_move(position).ok()?;
        let score = before.wrapping_add(self.score_change()?);
        Some((m, score))
    }

    fn uci(&mut self, position: &Chess) -> Option<UciMove> {
        let from = self.square(position.us())?;
        let role = position.board().role_at(from)?;
        let normal = |to| UciMove::Normal {
            from,
            to,
            promotion: None,
        };
        match role {
            Role::Pawn => self.pawn_move(position, from),
            Role::King => {
                let steps = attacks::king_attacks(from) & !position.us();
                let rooks = position.castles().castling_rights() & position.us();
                let index = self.one_of(steps.count() + rooks.count())?;
                let steps = steps.into_iter();
                // Queenside castling comes first.
                steps.chain(rooks).nth(index).map(normal)
            }
            _ => {
                let piece = role.of(position.turn());
                let reach = attacks::attacks(from, piece, position.board().occupied());
                self.square(reach & !position.us()).map(normal)
            }
        }
    }

    fn pawn_move(&mut self, position: &Chess, from: Square) -> Option<UciMove> {
        let turn = position.turn();
        let empty = |square: &Square| !position.board().occupied().contains(*square);
        let mut targets = position.them();
        targets.extend(position.legal_ep_square());
        let mut squares = attacks::pawn_attacks(turn, from) & targets;
        let forward = turn.fold_wb(8, -8);
        if let Some(one) = from.offset(forward).filter(empty) {
            squares.add(one);
            let start =
                from.rank() == turn.fold_wb(shakmaty::Rank::Second, shakmaty::Rank::Seventh);
            squares.extend(one.offset(forward).filter(|two| start && empty(two)));
        }
        let last = from.rank() == turn.fold_wb(shakmaty::Rank::Seventh, shakmaty::Rank::Second);
        let (to, promotion) = match last {
            false => (self.square(squares)?, None),
            true => {
                let index = self.one_of(4 * squares.count())?;
                let to = squares.into_iter().nth(index / 4)?;
                (to, Some(promotion((index % 4) as u16)))
            }
        };
        Some(UciMove::Normal {
            from,
            to,
            promotion,
        })
    }
}
