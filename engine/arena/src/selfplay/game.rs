//! One game of a net against itself. It depends on the rules and its number
//! alone: on nothing that was played before, by whichever thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use cozy_chess::{Board, Color, Move, Piece};
use engine::{Limits, Outcome, Position, Score, Tablebase, position_key, random_moves};
use sha2::{Digest, Sha256};

use crate::games::adjudication::{Adjudicator, Draw, Resign, known};
use crate::games::ending::Ending;
use uci_client::Library;

/// Games that reach this many plies are drawn.
pub const MAX_PLIES: usize = 400;

/// Openings that are drawn for a game, at most.
const TRIES: u32 = 1000;
/// Positions of Chess960.
const STARTS: u32 = 960;

/// What all games are played under.
pub struct Rules {
    /// What decides the openings, together with a game's number.
    pub seed: u64,
    /// Random plies of games of even number; those of odd number have one more.
    pub random_plies: usize,
    /// An opening is decided, and not played, where its first search says more
    /// than so many centipawns for either side.
    pub opening_limit: u16,
    /// Whether games begin from the positions of Chess960.
    pub chess960: bool,
    /// Nodes after which a search begins no new iteration.
    pub soft_nodes: u64,
    /// Nodes that a search has at most.
    pub hard_nodes: u64,
    /// When the loser resigns, if ever.
    pub resign: Option<Resign>,
    /// When games are called a draw, if ever.
    pub draw: Option<Draw>,
    /// What ends games early, if it is there.
    pub tables: Option<Arc<dyn Tablebase>>,
}

/// A position that was searched, and the move that was found and played.
pub struct Searched {
    /// The best move.
    pub mv: Move,
    /// Its score, from the mover's view.
    pub score: Score,
    /// Plies of the last iteration that came to its end.
    pub depth: u32,
    /// Equal for positions that the repetition rule holds equal.
    pub key: u64,
    /// Pieces on the board.
    pub pieces: u32,
    /// Whether the mover was in check.
    pub in_check: bool,
    /// Whether the move captures or promotes.
    pub tactical: bool,
}

/// A finished game.
pub struct Game {
    /// The position before the random moves.
    pub start: Board,
    /// The random moves.
    pub random: Vec<Move>,
    /// What followed them.
    pub searched: Vec<Searched>,
    /// Who won, `None` for a draw.
    pub winner: Option<Color>,
    /// Why it ended.
    pub ending: Ending,
    /// Openings that were decided, and not played.
    pub rejected: u64,
    /// Nodes of all searches, those of rejected openings included.
    pub nodes: u64,
    /// Time of all searches.
    pub searching: Duration,
}

impl Game {
    /// All of its plies.
    pub fn plies(&self) -> usize {
        self.random.len() + self.searched.len()
    }

    /// The position after the random moves.
    pub fn opening(&self) -> Board {
        let mut board = self.start.clone();
        self.random.iter().for_each(|&mv| board.play_unchecked(mv));
        board
    }
}

/// Searches, and counts what they cost.
struct Searches<'a> {
    library: &'a mut Library,
    limits: Limits,
    stop: &'a AtomicBool,
    nodes: u64,
    time: Duration,
}

impl Searches<'_> {
    /// `None` where `stop` was set.
    fn search(&mut self, position: &Position) -> Option<Outcome> {
        let start = Instant::now();
        let outcome = self
            .library
            .search(position, &self.limits, self.stop, &mut |_| {});
        self.time += start.elapsed();
        self.nodes += outcome.nodes;
        (!self.stop.load(Ordering::Relaxed)).then_some(outcome)
    }
}

impl Rules {
    /// Plays the game of this number; `None` where `stop` was set before its end.
    ///
    /// # Errors
    /// Where every opening that was drawn is decided.
    pub fn play(
        &self,
        library: &mut Library,
        number: u64,
        stop: &AtomicBool,
    ) -> Result<Option<Game>> {
        let mut searches = Searches {
            library,
            limits: Limits {
                nodes: Some(self.hard_nodes),
                soft_nodes: Some(self.soft_nodes),
                ..Limits::default()
            },
            stop,
            nodes: 0,
            time: Duration::ZERO,
        };
        let plies = self.random_plies + (number % 2) as usize;
        let mut dice = dice(self.seed, number);
        for rejected in 0..TRIES {
            let start = match self.chess960 {
                true => Board::chess960_startpos(dice.u32(..STARTS)),
                false => Board::startpos(),
            };
            let Some(random) = random_moves(&start, plies, &mut |sides| dice.usize(..sides)) else {
                break;
            };
            let mut position = Position::of(start.clone());
            for &mv in &random {
                position.play(mv)?;
            }
            searches.library.new_game();
            let Some(first) = searches.search(&position) else {
                return Ok(None);
            };
            if first.score.centipawns().unsigned_abs() > self.opening_limit.into() {
                continue;
            }
            let game = Game {
                start,
                random,
                searched: Vec::new(),
                winner: None,
                ending: Ending::TooLong,
                rejected: rejected.into(),
                nodes: 0,
                searching: Duration::ZERO,
            };
            return self.play_on(position, first, game, &mut searches);
        }
        bail!(
            "game {}: {plies} random plies led to no opening within {} centipawns; \
             give a larger --opening-limit or fewer --random-plies",
            number + 1,
            self.opening_limit
        )
    }

    /// Plays `game` from its opening, whose first search is done, to its end.
    fn play_on(
        &self,
        mut position: Position,
        first: Outcome,
        mut game: Game,
        searches: &mut Searches,
    ) -> Result<Option<Game>> {
        let mut adjudicator = Adjudicator::new(self.resign, self.draw);
        let mut outcome = first;
        loop {
            let board = position.board();
            let mover = board.side_to_move();
            let Some(mv) = outcome.best else {
                bail!("a search found no move in a game that goes on: a defect");
            };
            game.searched.push(Searched {
                mv,
                score: outcome.score,
                depth: outcome.depth,
                key: position_key(board),
                pieces: board.occupied().len(),
                in_check: !board.checkers().is_empty(),
                tactical: is_tactical(board, mv),
            });
            position.play(mv)?;
            adjudicator.hear(mover, Some(outcome.score.into()), position.board());
            if let Some((winner, ending)) = self.verdict(&position, &adjudicator, game.plies()) {
                (game.winner, game.ending) = (winner, ending);
                (game.nodes, game.searching) = (searches.nodes, searches.time);
                return Ok(Some(game));
            }
            outcome = match searches.search(&position) {
                Some(outcome) => outcome,
                None => return Ok(None),
            };
        }
    }

    /// How the game stands, `None` while it goes on: by the rules, by tables, by
    /// what the searches say, by its length.
    fn verdict(
        &self,
        position: &Position,
        adjudicator: &Adjudicator,
        plies: usize,
    ) -> Option<(Option<Color>, Ending)> {
        let board = position.board();
        let by_the_rules = |ending: engine::Ending| (ending.winner(), ending.into());
        (position.ending().map(by_the_rules))
            .or_else(|| Some((known(self.tables.as_deref()?, board)?, Ending::Tablebase)))
            .or_else(|| adjudicator.verdict(board))
            .or_else(|| (plies >= MAX_PLIES).then_some((None, Ending::TooLong)))
    }
}

/// The dice of a game.
fn dice(seed: u64, number: u64) -> fastrand::Rng {
    let digest = Sha256::new()
        .chain_update(seed.to_le_bytes())
        .chain_update(number.to_le_bytes())
        .finalize();
    let first = digest.first_chunk().expect("32 bytes");
    fastrand::Rng::with_seed(u64::from_le_bytes(*first))
}

/// Whether a legal move captures or promotes.
fn is_tactical(board: &Board, mv: Move) -> bool {
    let captures = board.color_on(mv.to) == Some(!board.side_to_move());
    // A pawn leaves its file by captures alone, en passant among them.
    let leaves_file =
        board.piece_on(mv.from) == Some(Piece::Pawn) && mv.from.file() != mv.to.file();
    captures || leaves_file || mv.promotion.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{parse_fen, parse_move};
    use uci_client::EvaluatorChoice;

    use crate::players::player::library;
    use crate::players::spec::Net;

    #[test]
    fn captures_and_promotions_are_tactical() {
        let is = |fen: &str, mv: &str| {
            let board = parse_fen(fen).unwrap();
            is_tactical(&board, parse_move(&board, mv).unwrap())
        };
        assert!(is("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "d4e3"));
        assert!(!is("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "d4d3"));
        assert!(is("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q"));
        assert!(is("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1", "e1e2"));
        // Its own rook is where the king is said to go.
        assert!(!is("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1"));
    }

    #[test]
    fn each_game_has_dice_of_its_own() {
        let roll = |seed, number| dice(seed, number).u64(..);
        assert_eq!(roll(1, 2), roll(1, 2));
        let rolls = [roll(1, 2), roll(2, 1), roll(1, 3), roll(2, 2), roll(0, 0)];
        let distinct: std::collections::HashSet<u64> = rolls.into();
        assert_eq!(distinct.len(), rolls.len());
    }

    #[test]
    fn a_limit_that_no_opening_keeps_is_an_error() {
        let rules = Rules {
            seed: 1,
            random_plies: 1,
            opening_limit: 0,
            chess960: false,
            soft_nodes: 1,
            hard_nodes: 1,
            resign: None,
            draw: None,
            tables: None,
        };
        let mut library = library(&Net {
            // By its first move, nothing is exactly even to it.
            evaluation: EvaluatorChoice::named(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../models/games1191.safetensors"
            )),
            hash: Some(1),
            threads: 1,
        })
        .unwrap();
        let played = rules.play(&mut library, 0, &AtomicBool::new(false));
        let error = played.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("--opening-limit"), "{error}");
    }
}
