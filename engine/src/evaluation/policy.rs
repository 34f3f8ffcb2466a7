//! Policy: the probability that a person of a rating plays each legal move.

use arrayvec::ArrayVec;
use cozy_chess::{BitBoard, Board, Move};
use models::{Feature, MAX_ACTIVE, PolicyMove, QuantisedPolicy, RatingBand};

use crate::board::rules::legal_moves;
use crate::evaluation::features::{model_piece, model_square, with_attacks};

/// Returns the legal moves of a board with the probability that a person of a rating band plays
/// each.
pub fn people_moves(policy: &QuantisedPolicy, board: &Board, band: RatingBand) -> Vec<(Move, f32)> {
    let moves = legal_moves(board);
    let position = with_attacks(board, BitBoard::EMPTY);
    let policy_move = |mv: &Move| {
        let piece = board
            .piece_on(mv.from)
            .expect("a legal move begins on a piece");
        let squares = (model_square(mv.from), model_square(mv.to));
        PolicyMove::new(
            &position,
            model_piece(piece),
            squares,
            mv.promotion.map(model_piece),
        )
    };
    let rows: Vec<PolicyMove> = moves.iter().map(policy_move).collect();
    let features: ArrayVec<Feature, MAX_ACTIVE> = position.features().collect();
    let probabilities = policy.probabilities(&features, band, &rows);
    moves.into_iter().zip(probabilities).collect()
}
