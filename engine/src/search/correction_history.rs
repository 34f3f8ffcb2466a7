//! Correction history: corrects the static evaluation by the errors that the search found in
//! similar positions.

use cozy_chess::{BitBoard, Board, Color, Piece};

use crate::evaluation::Score;

/// Entries per table and side to move, a power of two.
const ENTRIES: usize = 1 << 14;
/// Fixed-point scale of corrections: grains per centipawn.
const GRAIN: i32 = 256;
/// Maximum correction of one table, in centipawns.
const LIMIT: i32 = 96;
/// Weight of one error, in grains per centipawn and ply of search depth.
const SHARE: i32 = 2;
const MOST_SHARE: i32 = 24;

/// Accumulated errors (search score less static evaluation), indexed by features of the position.
pub(crate) struct CorrectionHistory {
    /// Tables indexed by the placement of pawns, of White's pieces, and of Black's.
    tables: [Vec<i16>; 3],
}

impl CorrectionHistory {
    pub(crate) fn new() -> CorrectionHistory {
        CorrectionHistory {
            tables: std::array::from_fn(|_| vec![0; Color::NUM * ENTRIES]),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.tables.iter_mut().for_each(|table| table.fill(0));
    }

    /// Returns the static evaluation plus the corrections.
    pub(crate) fn apply(&self, board: &Board, evaluation: Score) -> Score {
        let sum: i32 = self
            .tables
            .iter()
            .zip(slots(board))
            .map(|(table, slot)| i32::from(table[slot]))
            .sum();
        Score::from_centipawns(evaluation.centipawns() + sum / GRAIN)
    }

    /// Records that a search of `depth` plies found the corrected evaluation off by `error`
    /// centipawns.
    pub(crate) fn learn(&mut self, board: &Board, depth: i32, error: i32) {
        let share = (SHARE * depth).clamp(1, MOST_SHARE);
        let step = error.clamp(-LIMIT, LIMIT) * share;
        for (table, slot) in self.tables.iter_mut().zip(slots(board)) {
            let sum = i32::from(table[slot]) + step;
            table[slot] = sum.clamp(-LIMIT * GRAIN, LIMIT * GRAIN) as i16;
        }
    }
}

fn slots(board: &Board) -> [usize; 3] {
    let side = board.side_to_move() as usize * ENTRIES;
    let pawns = board.pieces(Piece::Pawn);
    let (white, black) = (board.colors(Color::White), board.colors(Color::Black));
    // These three sets determine which piece stands where.
    let knights_rooks = board.pieces(Piece::Knight) | board.pieces(Piece::Rook);
    let queens_rooks = board.pieces(Piece::Queen) | board.pieces(Piece::Rook);
    let pieces = |own: BitBoard| hash([own & !pawns, own & knights_rooks, own & queens_rooks]);
    let hashes = [
        hash([white & pawns, black & pawns, BitBoard::EMPTY]),
        pieces(white),
        pieces(black),
    ];
    hashes.map(|hash| side + (hash >> 40) as usize % ENTRIES)
}

/// Returns a hash of three bitboards.
fn hash(sets: [BitBoard; 3]) -> u64 {
    const ODD: [u64; 3] = [1, 0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F];
    let sum = sets.iter().zip(ODD).fold(0u64, |sum, (set, odd)| {
        sum.wrapping_add(set.0.wrapping_mul(odd))
    });
    mix(sum)
}

/// A finalizer like SplitMix64's, without the last xor-shift.
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (word ^ word >> 29).wrapping_mul(0x94D0_49BB_1331_11EB)
}
