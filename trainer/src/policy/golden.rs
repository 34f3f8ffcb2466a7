//! Golden vectors of a policy: its probabilities in a few positions, as a reference for other
//! implementations.

use datasets::{Dataset, MoveRecord, Split};
use features::PlayedMove;
use models::{LAYOUT_POLICY, MOVE_ROWS, PolicyNetwork};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::TrainerError;
use crate::training::golden::POSITIONS;

#[derive(Serialize)]
struct Vector {
    /// First four fields of the position's FEN.
    epd: String,
    /// Rating of the mover.
    rating: Option<u16>,
    /// Active inputs.
    inputs: Vec<usize>,
    /// Legal moves in UCI, castling as the king's move to its rook's square.
    moves: Vec<String>,
    /// Output rows of each move.
    outputs: Vec<[usize; MOVE_ROWS]>,
    /// Probability of each move.
    probabilities: Vec<f32>,
}

/// Returns moves from the held-out games, the same in every run; from the training games without
/// any.
///
/// # Errors
/// [`TrainerError::Data`].
pub fn moves(dataset: &Dataset<MoveRecord>) -> Result<Vec<MoveRecord>, TrainerError> {
    let split = match dataset.len(Split::Validation) {
        0 => Split::Train,
        _ => Split::Validation,
    };
    let first = dataset.blocks(split)?.next().transpose()?;
    let mut moves = first.unwrap_or_default();
    moves.truncate(POSITIONS);
    Ok(moves)
}

/// Returns the golden vectors of a policy, as JSON.
pub fn vectors(network: &PolicyNetwork, records: &[MoveRecord]) -> Value {
    let vectors = records.iter().filter_map(|record| {
        let played = PlayedMove::new(record)?;
        let moves: Vec<_> = played.moves().collect();
        Some(Vector {
            epd: record.position().epd(),
            rating: record.rating(),
            inputs: played.inputs().collect(),
            moves: played.uci().collect(),
            outputs: moves.iter().map(|index| index.rows()).collect(),
            probabilities: network.probabilities(played.inputs(), &moves),
        })
    });
    json!({
        "layout": LAYOUT_POLICY,
        "positions": vectors.collect::<Vec<_>>(),
    })
}
