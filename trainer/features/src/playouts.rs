//! Positions from random games, to benchmark and test without a dataset.

use records::position::{Label, Origin, Record};
use shakmaty::{Chess, Position};

/// Longest game in plies: random players would shuffle bare kings, and the CPU cost of a position
/// depends on its pieces.
const PLIES: usize = 100;

/// Returns `count` consecutive positions of random games, with labels that alternate between the
/// sides. The same in every run.
pub fn games(count: usize) -> Vec<Record> {
    let mut records = Vec::with_capacity(count);
    let mut position = Chess::new();
    let mut state = 1u64;
    let mut plies = 0;
    while records.len() < count {
        let moves = position.legal_moves();
        if moves.is_empty() || position.is_insufficient_material() || plies == PLIES {
            position = Chess::new();
            plies = 0;
            continue;
        }
        plies += 1;
        // Knuth's MMIX generator; only its high bits are random enough.
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        position.play_unchecked(moves[(state >> 33) as usize % moves.len()]);
        let label = Label::from_centipawns((state >> 40) as i64 % 1200 - 600);
        records.push(Record::new(&position, label, Origin::default()));
    }
    records
}
