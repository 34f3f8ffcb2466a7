//! The request protocol, and the session that answers it.

use engine::People;
use models::NetError;
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::evaluator::{EvaluationKind, NetDescription, PositionEvaluation, SelectedEvaluator};
use crate::game::Game;
use crate::host::Host;
use crate::inside::{InsideRequest, NetworkReport};
use crate::people::{self, PeopleMove, PeopleRequest, PolicyDescription};
use crate::pgn::{self, GameText, ReadGame, WrittenGame};
use crate::review::{Review, ReviewRequest, review};
use crate::rules::{
    GameReport, PositionReport, chess960, describe_game, describe_position, parse_text, set_up,
};
use crate::search::{HelpRequest, PageEngine, SearchRequest, SearchResult};
use crate::tree::{Edit, Edited, Tree, edit, play};
use crate::why::{MoveChange, MoveValue, change, weigh};

/// A request of the page.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "op", rename_all = "camelCase")]
pub(crate) enum Request {
    /// Describes every ply of a game.
    Game(Game),
    /// Describes the last position of a game and its legal moves.
    Position(Game),
    /// Converts a typed move to UCI.
    ParseMove {
        #[serde(flatten)]
        game: Game,
        text: String,
    },
    /// Completes and checks a FEN; fields after the placement are optional.
    SetUp { fen: String },
    /// Returns the FEN of a Chess960 start by number, `0..=959`.
    Chess960 { number: u32 },
    /// Converts a game to a tree without variations.
    Grow(Game),
    /// Describes a saved tree.
    Tree { tree: Tree, at: usize },
    /// Adds a move to a tree, or selects the node that already has it.
    Play {
        tree: Tree,
        at: usize,
        #[serde(rename = "move")]
        uci: String,
    },
    /// Edits a tree.
    Edit { tree: Tree, at: usize, change: Edit },
    /// Annotates a game's mistakes and better lines from search results.
    Review(ReviewRequest),
    /// Splits a PGN file into games.
    ListPgn { text: String },
    /// Parses the first game of a PGN text.
    ReadPgn { text: String },
    /// Writes a game as PGN.
    WritePgn(WrittenGame),
    /// Evaluates a position and each piece in it.
    Evaluate(Game),
    /// Describes the network's inference on a position, optionally edited; `null` while
    /// material is in use.
    Inside(InsideRequest),
    /// Evaluates the position after each legal move.
    Weigh(Game),
    /// Describes what the last move changed; `null` if no move was played.
    Change(Game),
    /// Returns the legal moves of a game's last position with the share of people who play each;
    /// needs a policy.
    People(PeopleRequest),
    /// Selects the evaluation, with the last loaded network or the embedded one.
    Use {
        kind: EvaluationKind,
        embedded: bool,
    },
    /// Searches for a move to play, or for lines to show.
    Search(SearchRequest),
    /// Helps another worker's search.
    Help(HelpRequest),
}

/// The reply to the request of the same name. Loading a network replies `use`, loading a policy
/// `policy`.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub(crate) enum Reply {
    Game(GameReport),
    Position(PositionReport),
    ParseMove(String),
    SetUp(String),
    Chess960(String),
    Grow(Edited),
    Tree(Edited),
    Play(Edited),
    Edit(Edited),
    Review(Review),
    ListPgn(Vec<GameText>),
    ReadPgn(ReadGame),
    WritePgn(String),
    Evaluate(PositionEvaluation),
    Inside(Option<NetworkReport>),
    Weigh(Vec<MoveValue>),
    Change(Option<MoveChange>),
    People(Vec<PeopleMove>),
    Use(NetDescription),
    Policy(PolicyDescription),
    Search(SearchResult),
    /// Nodes searched.
    Help(u64),
}

/// The reply to a request, or its error text.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    Ok(Box<Reply>),
    Error(String),
}

/// State of a module instance: the evaluation in use, and the engine with its tables.
pub struct Session {
    evaluator: SelectedEvaluator,
    engine: PageEngine,
    people: Option<People>,
}

impl Session {
    /// Creates a session with the embedded network.
    ///
    /// # Errors
    /// If that network is rejected.
    pub fn new() -> Result<Session, NetError> {
        Ok(Session {
            evaluator: SelectedEvaluator::embedded()?,
            engine: PageEngine::default(),
            people: None,
        })
    }

    /// Answers a JSON request with `{"ok": {"OP": ...}}` or `{"error": "why"}`.
    pub fn answer(&mut self, request: &str, host: &dyn Host) -> String {
        write(self.reply(request, host))
    }

    /// Switches to the network of a `.safetensors` file; replies with its description as JSON.
    pub fn load_net(&mut self, bytes: &[u8]) -> String {
        write(
            SelectedEvaluator::from_bytes(bytes)
                .map_err(RequestError::from)
                .map(|evaluator| {
                    self.evaluator = evaluator;
                    self.engine = PageEngine::default();
                    Reply::Use(self.evaluator.describe())
                }),
        )
    }

    /// Loads the policy of a `.safetensors` file; replies with its description as JSON.
    pub fn load_policy(&mut self, bytes: &[u8]) -> String {
        write(
            People::from_bytes(bytes)
                .map_err(RequestError::from)
                .map(|people| {
                    let description = people::describe(&people);
                    self.people = Some(people);
                    Reply::Policy(description)
                }),
        )
    }

    fn reply(&mut self, request: &str, host: &dyn Host) -> Result<Reply, RequestError> {
        Ok(match serde_json::from_str(request)? {
            Request::Game(game) => Reply::Game(describe_game(&game)?),
            Request::Position(game) => Reply::Position(describe_position(&game)?),
            Request::ParseMove { game, text } => Reply::ParseMove(parse_text(&game, &text)?),
            Request::SetUp { fen } => Reply::SetUp(set_up(&fen)?),
            Request::Chess960 { number } => Reply::Chess960(chess960(number)?),
            Request::Grow(game) => {
                let at = game.moves.len();
                Reply::Grow(Edited::of(Tree::of_game(&game), at)?)
            }
            Request::Tree { tree, at } => Reply::Tree(Edited::of(tree, at)?),
            Request::Play { tree, at, uci } => Reply::Play(play(tree, at, &uci)?),
            Request::Edit { tree, at, change } => Reply::Edit(edit(tree, at, change)?),
            Request::Review(request) => Reply::Review(review(request, self.people.as_ref())?),
            Request::ListPgn { text } => Reply::ListPgn(pgn::list(&text)?),
            Request::ReadPgn { text } => Reply::ReadPgn(pgn::read(&text)?),
            Request::WritePgn(game) => Reply::WritePgn(pgn::write(&game)?),
            Request::Evaluate(game) => Reply::Evaluate(self.evaluator.evaluate(&game)?),
            Request::Inside(request) => Reply::Inside(self.evaluator.inside(request)?),
            Request::Weigh(game) => Reply::Weigh(weigh(&self.evaluator, &game)?),
            Request::Change(game) => Reply::Change(change(&self.evaluator, &game)?),
            Request::People(request) => {
                let people = self.people.as_ref().ok_or(RequestError::NoPolicy)?;
                Reply::People(people::expect(people, &request)?)
            }
            Request::Use { kind, embedded } => {
                if embedded {
                    self.evaluator = SelectedEvaluator::embedded()?;
                }
                self.evaluator.kind = kind;
                self.engine = PageEngine::default();
                Reply::Use(self.evaluator.describe())
            }
            Request::Search(request) => {
                let people = self.people.as_ref();
                Reply::Search(
                    self.engine
                        .search(&self.evaluator, people, &request, host)?,
                )
            }
            Request::Help(request) => {
                Reply::Help(self.engine.help(&self.evaluator, &request, host)?)
            }
        })
    }
}

fn write(reply: Result<Reply, RequestError>) -> String {
    let answer = match reply {
        Ok(reply) => Answer::Ok(Box::new(reply)),
        Err(error) => Answer::Error(error.to_string()),
    };
    serde_json::to_string(&answer).expect("numbers and texts can be written")
}
