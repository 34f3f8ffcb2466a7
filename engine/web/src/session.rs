//! Requests and their answers.

use engine::{FenError, MoveError};
use models::NetError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::brain::{Brain, Kind};
use crate::game::{Game, describe_game, describe_position, parse_text};
use crate::pgn::{self, GameText};
use crate::thinking::{Thinker, Wish};

/// What a session needs from around it.
pub trait Host: Sync {
    /// Milliseconds since some moment.
    fn now(&self) -> f64;
    /// Told of every iteration of a search, as JSON.
    fn report(&self, json: &str);
}

/// What can be asked.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
enum Request {
    /// Every ply of a game.
    Game(Game),
    /// The position that a game has led to, and what can be played.
    Position(Game),
    /// The move that a person has written, as UCI has it.
    ParseMove {
        #[serde(flatten)]
        game: Game,
        text: String,
    },
    /// The games of a PGN file.
    ReadPgn { text: String },
    /// A game as PGN.
    WritePgn(GameText),
    /// What the brain in use makes of the position.
    Evaluate(Game),
    /// Which evaluation to use from now on, of the net that was loaded last or
    /// of the embedded one.
    Use { kind: Kind, embedded: bool },
    /// A move to play, or lines to look at.
    Search(Wish),
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum RequestError {
    /// No such request.
    #[error("unreadable request: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The start is no position.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// A move cannot be played.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// The net was refused.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A text without a game.
    #[error("no game in this text")]
    NoGame,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer<T> {
    Ok(T),
    Error(String),
}

/// The state behind a module: the brain, and what searches remember.
pub struct Session {
    brain: Brain,
    thinker: Thinker,
}

impl Session {
    /// A session with the embedded net.
    ///
    /// # Errors
    /// Where that net is refused.
    pub fn new() -> Result<Session, NetError> {
        Ok(Session {
            brain: Brain::embedded()?,
            thinker: Thinker::default(),
        })
    }

    /// Answers `{"ok": ...}` or `{"error": "why"}`.
    pub fn answer(&mut self, request: &str, host: &dyn Host) -> String {
        write(self.try_answer(request, host))
    }

    /// Uses the net of a `.safetensors` file from now on, and describes it.
    pub fn load_net(&mut self, bytes: &[u8]) -> String {
        write(
            Brain::from_bytes(bytes)
                .map_err(RequestError::from)
                .and_then(|brain| {
                    self.brain = brain;
                    self.thinker = Thinker::default();
                    value(self.brain.describe())
                }),
        )
    }

    fn try_answer(
        &mut self,
        request: &str,
        host: &dyn Host,
    ) -> Result<serde_json::Value, RequestError> {
        match serde_json::from_str(request)? {
            Request::Game(game) => value(describe_game(&game)?),
            Request::Position(game) => value(describe_position(&game)?),
            Request::ParseMove { game, text } => value(parse_text(&game, &text)?),
            Request::ReadPgn { text } => value(pgn::read(&text)?),
            Request::WritePgn(game) => value(pgn::write(&game)?),
            Request::Evaluate(game) => value(self.brain.evaluate(&game)?),
            Request::Use { kind, embedded } => {
                if embedded {
                    self.brain = Brain::embedded()?;
                }
                self.brain.kind = kind;
                self.thinker = Thinker::default();
                value(self.brain.describe())
            }
            Request::Search(wish) => value(self.thinker.search(&self.brain, &wish, host)?),
        }
    }
}

fn value(answer: impl Serialize) -> Result<serde_json::Value, RequestError> {
    Ok(serde_json::to_value(answer)?)
}

fn write(answer: Result<serde_json::Value, RequestError>) -> String {
    let answer = match answer {
        Ok(value) => Answer::Ok(value),
        Err(error) => Answer::Error(error.to_string()),
    };
    serde_json::to_string(&answer).expect("JSON values can be written")
}
