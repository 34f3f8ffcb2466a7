//! Requests and their answers.

use models::NetError;
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::evaluator::{EvaluationKind, NetDescription, PositionEvaluation, SelectedEvaluator};
use crate::game::Game;
use crate::host::Host;
use crate::inside::{InsideRequest, NetworkReport};
use crate::pgn::{self, GameText, ReadGame, WrittenGame};
use crate::review::{Review, ReviewRequest, review};
use crate::rules::{
    GameReport, PositionReport, chess960, describe_game, describe_position, parse_text, set_up,
};
use crate::search::{HelpRequest, SearchRequest, SearchResult, Searcher};
use crate::tree::{Edit, Edited, Tree, edit, play};
use crate::why::{MoveChange, MoveValue, change, weigh};

/// What can be asked.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "op", rename_all = "camelCase")]
pub(crate) enum Request {
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
    /// A FEN, whole; of the one that is given all but the placement may be missing.
    SetUp { fen: String },
    /// The FEN of a start of Chess960 by its number, 0 to 959.
    Chess960 { number: u32 },
    /// A game as a tree without variations.
    Grow(Game),
    /// Every move of a tree that was kept.
    Tree { tree: Tree, at: usize },
    /// A tree with one move more, or the node of a move that was played before.
    Play {
        tree: Tree,
        at: usize,
        #[serde(rename = "move")]
        uci: String,
    },
    /// A tree that is changed otherwise.
    Edit { tree: Tree, at: usize, change: Edit },
    /// A game with its mistakes and what was better, by what searches have found in it.
    Review(ReviewRequest),
    /// The games of a PGN file.
    ListPgn { text: String },
    /// The first game of a PGN text.
    ReadPgn { text: String },
    /// A game as PGN.
    WritePgn(WrittenGame),
    /// What the evaluation in use makes of the position.
    Evaluate(Game),
    /// What the net does with the position, which may be changed by hand; `null` where
    /// material alone is in use.
    Inside(InsideRequest),
    /// Every legal move with the value behind it.
    Weigh(Game),
    /// What the last move has changed; `null` where there is none.
    Change(Game),
    /// Which evaluation to use from now on, of the net that was loaded last or
    /// of the embedded one.
    Use {
        kind: EvaluationKind,
        embedded: bool,
    },
    /// A move to play, or lines to look at.
    Search(SearchRequest),
    /// To help the worker of a team that searches.
    Help(HelpRequest),
}

/// What the request of the same name brings; a net that is loaded is described
/// as one that is used.
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
    Use(NetDescription),
    Search(SearchResult),
    /// Nodes.
    Help(u64),
}

/// What a request brings, or why it brings nothing.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    Ok(Box<Reply>),
    Error(String),
}

/// The state behind a module: the evaluation in use, and what searches remember.
pub struct Session {
    evaluator: SelectedEvaluator,
    searcher: Searcher,
}

impl Session {
    /// A session with the embedded net.
    ///
    /// # Errors
    /// Where that net is refused.
    pub fn new() -> Result<Session, NetError> {
        Ok(Session {
            evaluator: SelectedEvaluator::embedded()?,
            searcher: Searcher::default(),
        })
    }

    /// Answers `{"ok": {"OP": ...}}` or `{"error": "why"}`.
    pub fn answer(&mut self, request: &str, host: &dyn Host) -> String {
        write(self.reply(request, host))
    }

    /// Uses the net of a `.safetensors` file from now on, and describes it.
    pub fn load_net(&mut self, bytes: &[u8]) -> String {
        write(
            SelectedEvaluator::from_bytes(bytes)
                .map_err(RequestError::from)
                .map(|evaluator| {
                    self.evaluator = evaluator;
                    self.searcher = Searcher::default();
                    Reply::Use(self.evaluator.describe())
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
            Request::Review(request) => Reply::Review(review(request)?),
            Request::ListPgn { text } => Reply::ListPgn(pgn::list(&text)?),
            Request::ReadPgn { text } => Reply::ReadPgn(pgn::read(&text)?),
            Request::WritePgn(game) => Reply::WritePgn(pgn::write(&game)?),
            Request::Evaluate(game) => Reply::Evaluate(self.evaluator.evaluate(&game)?),
            Request::Inside(request) => Reply::Inside(self.evaluator.inside(request)?),
            Request::Weigh(game) => Reply::Weigh(weigh(&self.evaluator, &game)?),
            Request::Change(game) => Reply::Change(change(&self.evaluator, &game)?),
            Request::Use { kind, embedded } => {
                if embedded {
                    self.evaluator = SelectedEvaluator::embedded()?;
                }
                self.evaluator.kind = kind;
                self.searcher = Searcher::default();
                Reply::Use(self.evaluator.describe())
            }
            Request::Search(request) => {
                Reply::Search(self.searcher.search(&self.evaluator, &request, host)?)
            }
            Request::Help(request) => {
                Reply::Help(self.searcher.help(&self.evaluator, &request, host)?)
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
