//! Policy: the probability that a person of a rating plays each legal move.

use arrayvec::ArrayVec;
use cozy_chess::{BitBoard, Board, Move};
use models::{Feature, MAX_ACTIVE, PolicyMove, QuantisedPolicy, RatingBand};

use crate::board::rules::legal_moves;
use crate::evaluation::features::{model_piece, model_square, with_attacks};

/// Input of a policy for a board.
pub struct PolicyInput {
    /// Active features, from the side to move's point of view.
    pub features: ArrayVec<Feature, MAX_ACTIVE>,
    /// Legal moves.
    pub moves: Vec<Move>,
    /// Each of `moves` as a policy sees it.
    pub policy_moves: Vec<PolicyMove>,
}

impl PolicyInput {
    /// Returns the input of a board.
    pub fn of(board: &Board) -> PolicyInput {
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
        PolicyInput {
            features: position.features().collect(),
            policy_moves: moves.iter().map(policy_move).collect(),
            moves,
        }
    }
}

/// Returns the legal moves of a board with the probability that a person of a rating band plays
/// each.
pub fn people_moves(policy: &QuantisedPolicy, board: &Board, band: RatingBand) -> Vec<(Move, f32)> {
    let input = PolicyInput::of(board);
    let probabilities = policy.probabilities(&input.features, band, &input.policy_moves);
    input.moves.into_iter().zip(probabilities).collect()
}
