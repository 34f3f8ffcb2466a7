//! People: what they would play, by a policy that the page loads on demand.

use engine::People;
use engine::cozy_chess::util;
use engine::{is_chess960, write_move};
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::game::Game;

/// A question what people of a rating play.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PeopleRequest {
    game: Game,
    rating: u32,
}

/// Description of a policy.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PolicyDescription {
    /// Least ratings of the bands that it knows, 100 points wide, in ascending order.
    ratings: Vec<u16>,
    /// Number of training moves; `null` if the file does not have it.
    moves: Option<u64>,
}

/// A legal move and the share of people who play it.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PeopleMove {
    /// Move in UCI notation.
    uci: String,
    san: String,
    /// Probability, `0..=1`.
    share: f64,
}

/// Describes a policy.
pub fn describe(people: &People) -> PolicyDescription {
    PolicyDescription {
        ratings: people.ratings().collect(),
        moves: people.metadata().dataset["moves_train"].as_u64(),
    }
}

/// Returns the legal moves of the last position of a game.
pub fn expect(people: &People, request: &PeopleRequest) -> Result<Vec<PeopleMove>, RequestError> {
    let position = request.game.replay(|_, _| {})?;
    let board = position.board();
    let chess960 = is_chess960(board);
    let moves = people.person(request.rating).moves(board);
    let described = moves.into_iter().map(|(mv, share)| PeopleMove {
        uci: write_move(board, mv, chess960),
        san: util::display_san_move(board, mv).to_string(),
        share: share.into(),
    });
    Ok(described.collect())
}
