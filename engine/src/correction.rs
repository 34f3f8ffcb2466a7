//! Correction history: how far the search has found the static evaluation to
//! be off in positions that resemble the present one.

use cozy_chess::{BitBoard, Board, Color, Piece};

use crate::Score;

/// Entries a table and side, a power of two.
const ENTRIES: usize = 1 << 14;
/// Corrections are kept in this fraction of a centipawn.
const GRAIN: i32 = 256;
/// The greatest correction of one table, in centipawns.
const LIMIT: i32 = 96;
/// How much of an error is corrected at once, in grains a centipawn, for each
/// ply of the search's depth.
const SHARE: i32 = 2;
const MOST_SHARE: i32 = 24;

/// Sums that follow the search's score less the static evaluation, by what
/// the positions have in common.
pub(crate) struct Corrections {
    /// By the placement of pawns, and of either side's other pieces.
    tables: [Vec<i16>; 3],
}

impl Corrections {
    pub(crate) fn new() -> Corrections {
        Corrections {
            tables: std::array::from_fn(|_| vec![0; Color::NUM * ENTRIES]),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.tables.iter_mut().for_each(|table| table.fill(0));
    }

    /// The evaluation as the search expects it to turn out.
    pub(crate) fn apply(&self, board: &Board, evaluation: Score) -> Score {
        let sum: i32 = self
            .tables
            .iter()
            .zip(slots(board))
            .map(|(table, slot)| i32::from(table[slot]))
            .sum();
        Score::from_centipawns(evaluation.centipawns() + sum / GRAIN)
    }

    /// A search `depth` plies deep found the evaluation to be off by
    /// `error` centipawns, corrections included.
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
    let pieces = |color| board.colors(color) & !pawns;
    // Which piece stands where is told by the sets of two kinds together.
    let by_kind = |set: BitBoard| {
        let minor = board.pieces(Piece::Knight) | board.pieces(Piece::Rook);
        let heavy = board.pieces(Piece::Queen) | board.pieces(Piece::Rook);
        mix(set.0) ^ mix((set & minor).0).rotate_left(21) ^ mix((set & heavy).0).rotate_left(42)
    };
    let hashes = [
        mix((pawns & board.colors(Color::White)).0)
            ^ mix((pawns & board.colors(Color::Black)).0).rotate_left(32),
        by_kind(pieces(Color::White)),
        by_kind(pieces(Color::Black)),
    ];
    hashes.map(|hash| side + (hash >> 40) as usize % ENTRIES)
}

/// The finishing step of SplitMix64, less one round.
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (word ^ word >> 29).wrapping_mul(0x94D0_49BB_1331_11EB)
}
