//! Records for tests.

use datasets::{Label, Origin, Record};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position};

fn position(fen: &str) -> Chess {
    let fen: Fen = fen.parse().expect("a FEN");
    fen.into_position(CastlingMode::Standard)
        .expect("a legal position")
}

/// A position with a label in centipawns, White's view.
pub fn record(fen: &str, centipawns: i64) -> Record {
    Record::new(
        &position(fen),
        Label::from_centipawns(centipawns),
        Origin::default(),
    )
}

/// A position with a mate as its label, White's view.
pub fn mated(fen: &str, moves: i64) -> Record {
    let label = Label::from_mate(moves).expect("not mate in 0");
    Record::new(&position(fen), label, Origin::default())
}

/// So many different positions, of random games, with labels that alternate
/// between the sides.
pub fn games(count: usize) -> Vec<Record> {
    let mut records = Vec::with_capacity(count);
    let mut position = Chess::new();
    let mut state = 1u64;
    while records.len() < count {
        let moves = position.legal_moves();
        if moves.is_empty() || position.is_insufficient_material() {
            position = Chess::new();
            continue;
        }
        // Knuth's MMIX generator; its high bits are the random ones.
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        position.play_unchecked(moves[(state >> 33) as usize % moves.len()]);
        let label = Label::from_centipawns((state >> 40) as i64 % 1200 - 600);
        records.push(Record::new(&position, label, Origin::default()));
    }
    records
}
