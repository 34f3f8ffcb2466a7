//! A self-play game. It depends on the rules and its number alone, not on earlier games or the
//! thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use cozy_chess::{Board, Color, Move};
use engine::{
    Limits, Outcome, Position, RootNoise, Score, Tablebase, VisitedMove, is_tactical, legal_moves,
    random_moves,
};
use sha2::{Digest, Sha256};

use crate::games::adjudication::{Adjudicator, Draw, Resign, probe};
use crate::games::ending::Ending;
use crate::selfplay::exploration::{Exploration, noise};
use uci_client::Library;

/// Plies after which a game is drawn.
pub const MAX_PLIES: usize = 400;

/// Maximum openings drawn for a game.
const MAX_OPENINGS: u32 = 1000;
/// Number of Chess960 starting positions.
const CHESS960_STARTS: u32 = 960;

/// Rules of all games.
pub struct Rules {
    /// Seed of the openings, combined with a game's number.
    pub seed: u64,
    /// Random plies of even-numbered games; odd-numbered games have one more.
    pub random_plies: usize,
    /// Centipawns, for either side, above which the first search rejects an opening as decided.
    pub opening_limit: u16,
    /// Whether games start from Chess960 positions.
    pub chess960: bool,
    /// Soft node limit: no new iteration begins after it.
    pub soft_nodes: u64,
    /// Hard node limit of a search.
    pub hard_nodes: u64,
    /// Exploration by games of a policy; `None` for alpha-beta.
    pub exploration: Option<Exploration>,
    pub resign: Option<Resign>,
    pub draw: Option<Draw>,
    /// Endgame tables for adjudication, if any.
    pub tables: Option<Arc<dyn Tablebase>>,
}

/// A searched position, and the move played.
pub struct Searched {
    /// Move played: the best one, or one drawn by visits.
    pub mv: Move,
    /// Score of the position, from the mover's view.
    pub score: Score,
    /// Moves of a search by PUCT with their visits, the most visited first; empty for alpha-beta.
    pub visits: Vec<(Move, u32)>,
    /// Depth of the last finished iteration, in plies.
    pub depth: u32,
    /// Number of pieces on the board.
    pub pieces: u32,
    /// Whether the mover was in check.
    pub in_check: bool,
    /// Whether the move captures or promotes.
    pub tactical: bool,
}

/// A finished game.
pub struct Game {
    /// Starting position, before the random moves.
    pub start: Board,
    pub random: Vec<Move>,
    /// Positions and moves after the random ones.
    pub searched: Vec<Searched>,
    /// Winner; `None` for a draw.
    pub winner: Option<Color>,
    pub ending: Ending,
    /// Openings rejected as decided.
    pub rejected: u64,
    /// Nodes of all searches, those of rejected openings included.
    pub nodes: u64,
    /// Time of all searches.
    pub searching: Duration,
}

impl Game {
    /// Returns the number of plies, random ones included.
    pub fn plies(&self) -> usize {
        self.random.len() + self.searched.len()
    }

    /// Returns the position after the random moves.
    pub fn opening(&self) -> Board {
        let mut board = self.start.clone();
        self.random.iter().for_each(|&mv| board.play_unchecked(mv));
        board
    }
}

/// Searches of one game, with their total cost.
struct Searches<'a> {
    library: &'a mut Library,
    limits: Limits,
    exploration: Option<Exploration>,
    rng: fastrand::Rng,
    stop: &'a AtomicBool,
    nodes: u64,
    time: Duration,
}

impl Searches<'_> {
    /// Searches a position; `None` if `stop` was set.
    fn search(&mut self, position: &Position) -> Option<Outcome> {
        let start = Instant::now();
        let sample = self.exploration.map(|exploration| {
            let moves = legal_moves(position.board()).len();
            (exploration.noise, noise(moves, &mut self.rng))
        });
        let noise = sample.as_ref().map(|(share, probabilities)| RootNoise {
            share: *share,
            probabilities,
        });
        let outcome =
            self.library
                .search_with_noise(position, &self.limits, noise, self.stop, &mut |_| {});
        self.time += start.elapsed();
        self.nodes += outcome.nodes;
        (!self.stop.load(Ordering::Relaxed)).then_some(outcome)
    }

    /// Returns the move to play `plies` into the game, and the visits of all. `best` is the search's.
    fn choose(&mut self, best: Move, plies: usize) -> (Move, Vec<(Move, u32)>) {
        let Some(exploration) = self.exploration else {
            return (best, Vec::new());
        };
        let visits = targets(best, &self.library.visited_moves());
        let all: u32 = visits.iter().map(|(_, visits)| visits).sum();
        if plies >= exploration.drawn_plies.into() || all == 0 {
            return (best, visits);
        }
        let mut rest = self.rng.u32(..all);
        let drawn = visits.iter().find_map(|&(mv, visits)| {
            let Some(left) = rest.checked_sub(visits) else {
                return Some(mv);
            };
            rest = left;
            None
        });
        (drawn.unwrap_or(best), visits)
    }
}

/// Returns the visits that a policy learns from. A proven win takes them all, and a proven loss has
/// none, unless every move loses.
fn targets(best: Move, visited: &[VisitedMove]) -> Vec<(Move, u32)> {
    let is_proven = |visited: &VisitedMove, is: fn(Score) -> bool| visited.proof.is_some_and(is);
    let is_best = |visited: &&VisitedMove| visited.mv == best;
    if let Some(best) = visited.iter().find(is_best)
        && (is_proven(best, Score::is_win) || is_proven(best, Score::is_loss))
    {
        return vec![(best.mv, best.visits.max(1))];
    }
    let open = visited
        .iter()
        .filter(|visited| visited.visits > 0 && !is_proven(visited, Score::is_loss));
    open.map(|visited| (visited.mv, visited.visits)).collect()
}

impl Rules {
    /// Plays the game of this number; `None` if `stop` was set before its end.
    ///
    /// # Errors
    /// If all drawn openings are rejected.
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
            exploration: self.exploration,
            rng: game_rng(self.seed, number),
            stop,
            nodes: 0,
            time: Duration::ZERO,
        };
        let plies = self.random_plies + (number % 2) as usize;
        for rejected in 0..MAX_OPENINGS {
            let rng = &mut searches.rng;
            let start = match self.chess960 {
                true => Board::chess960_startpos(rng.u32(..CHESS960_STARTS)),
                false => Board::startpos(),
            };
            let Some(random) = random_moves(&start, plies, &mut |sides| rng.usize(..sides)) else {
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

    /// Plays `game` from its opening to its end; `first` is the search of the opening.
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
            let Some(best) = outcome.best else {
                bail!("a search found no move in a game that goes on: a defect");
            };
            let (mv, visits) = searches.choose(best, game.plies());
            game.searched.push(Searched {
                mv,
                score: outcome.score,
                visits,
                depth: outcome.depth,
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

    /// Returns the result, or `None` while the game goes on. Checks the rules first, then endgame
    /// tables, scores, and length.
    fn verdict(
        &self,
        position: &Position,
        adjudicator: &Adjudicator,
        plies: usize,
    ) -> Option<(Option<Color>, Ending)> {
        let board = position.board();
        let by_the_rules = |ending: engine::Ending| (ending.winner(), ending.into());
        (position.ending().map(by_the_rules))
            .or_else(|| Some((probe(self.tables.as_deref()?, board)?, Ending::Tablebase)))
            .or_else(|| adjudicator.verdict(board))
            .or_else(|| (plies >= MAX_PLIES).then_some((None, Ending::TooLong)))
    }
}

/// Returns the random number generator of a game.
fn game_rng(seed: u64, number: u64) -> fastrand::Rng {
    let digest = Sha256::new()
        .chain_update(seed.to_le_bytes())
        .chain_update(number.to_le_bytes())
        .finalize();
    let first = digest.first_chunk().expect("32 bytes");
    fastrand::Rng::with_seed(u64::from_le_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use uci_client::EvaluatorChoice;

    use crate::players::player::library;
    use crate::players::spec::Net;

    #[test]
    fn each_game_has_its_own_random_numbers() {
        let roll = |seed, number| game_rng(seed, number).u64(..);
        assert_eq!(roll(1, 2), roll(1, 2));
        let rolls = [roll(1, 2), roll(2, 1), roll(1, 3), roll(2, 2), roll(0, 0)];
        let distinct: std::collections::HashSet<u64> = rolls.into();
        assert_eq!(distinct.len(), rolls.len());
    }

    #[test]
    fn targets_leave_out_proven_losses_and_are_a_proven_win() {
        let moves = ["e2e4", "d2d4", "c2c4"].map(|mv| mv.parse::<Move>().unwrap());
        let visited = |visits: [u32; 3], proofs: [Option<Score>; 3]| {
            [0, 1, 2].map(|index| VisitedMove {
                mv: moves[index],
                visits: visits[index],
                prior: 0.1,
                value: 0.0,
                proof: proofs[index],
            })
        };
        let (win, loss) = (Score::mate_in(2), Score::mated_in(2));
        for (best, visits, proofs, expected) in [
            (0, [9, 4, 0], [None; 3], vec![(0, 9), (1, 4)]),
            (0, [9, 4, 1], [None, Some(loss), None], vec![(0, 9), (2, 1)]),
            (1, [9, 4, 1], [None, Some(win), None], vec![(1, 4)]),
            (0, [9, 4, 1], [Some(loss); 3], vec![(0, 9)]),
            (
                0,
                [9, 4, 1],
                [Some(Score::DRAW); 3],
                vec![(0, 9), (1, 4), (2, 1)],
            ),
        ] {
            let found = targets(moves[best], &visited(visits, proofs));
            let expected: Vec<_> = expected.into_iter().map(|(i, n)| (moves[i], n)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn an_unreachable_opening_limit_is_an_error() {
        let rules = Rules {
            seed: 1,
            random_plies: 1,
            opening_limit: 0,
            chess960: false,
            soft_nodes: 1,
            hard_nodes: 1,
            exploration: None,
            resign: None,
            draw: None,
            tables: None,
        };
        let mut library = library(&Net {
            // A net that gives no position after one ply a score of exactly 0.
            evaluation: EvaluatorChoice::named(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../models/games1191.safetensors"
            )),
            policy: None,
            hash: Some(1),
            threads: 1,
        })
        .unwrap();
        let played = rules.play(&mut library, 0, &AtomicBool::new(false));
        let error = played.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("--opening-limit"), "{error}");
    }
}
