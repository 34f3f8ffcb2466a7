//! Search requests: limits, handicaps, helpers, and progress reports.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::cozy_chess::{Board, Color, Move, util};
use engine::{
    ClockState, Engine, Handicap, Limits, Line, People, Report, ScoreBound, Signals, Strength,
    TimeBudget, is_chess960, write_move,
};
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::evaluator::SelectedEvaluator;
use crate::game::Game;
use crate::host::Host;
use crate::score::WhiteScore;
use crate::team::{Helper, MAX_HELPERS, Team};

/// Time reserved for messages between the page and its worker.
const OVERHEAD: Duration = Duration::from_millis(30);

/// Longest time accepted, some thirty years: as good as no limit.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);

/// A search with its limits; without any it runs until the worker is terminated.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SearchRequest {
    #[serde(flatten)]
    game: Game,
    depth: Option<u64>,
    nodes: Option<u64>,
    /// Time for the move in milliseconds.
    movetime: Option<f64>,
    clock: Option<MoverClock>,
    /// Rating to play at; full strength by default.
    elo: Option<u32>,
    /// Rating of the person to play like; takes precedence over `elo`.
    person: Option<u32>,
    /// Number of lines to report, 1 by default.
    lines: Option<usize>,
    /// Random number in `0..1` that picks among the moves which the rating allows.
    chance: Option<f64>,
}

/// A search of another worker, to help with.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HelpRequest {
    #[serde(flatten)]
    game: Game,
    /// Number of the search; helping stops when that search ends.
    search: u32,
    /// Helper number, `0..15`.
    helper: usize,
}

/// The mover's clock, in milliseconds.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct MoverClock {
    remaining: f64,
    increment: f64,
}

/// Progress report of one line after an iteration of the search.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Iteration {
    depth: u32,
    /// Rank of the line, 1 for the best.
    rank: usize,
    score: WhiteScore,
    bound: Bound,
    nodes: u64,
    /// Elapsed milliseconds.
    time: f64,
    /// Line in UCI notation.
    pv: Vec<String>,
    /// Line in SAN.
    san: Vec<String>,
}

/// Bound of a score, from the side to move's view.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
enum Bound {
    Exact,
    Lower,
    Upper,
}

/// Choice of the move in a handicapped search.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Choice {
    /// Number of moves within the margin, the best included.
    near: usize,
    /// Centipawns below the best move that are accepted.
    margin: i32,
    /// Best move in SAN; empty if there is none.
    best: String,
}

/// Result of a search.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SearchResult {
    /// Move to play; `null` without legal moves.
    best: Option<String>,
    score: WhiteScore,
    depth: u32,
    nodes: u64,
    /// Elapsed milliseconds.
    time: f64,
    /// `null` at full strength.
    choice: Option<Choice>,
}

/// Engine that keeps its transposition table and histories between searches.
#[derive(Default)]
pub struct PageEngine {
    engine: Option<(Engine, Option<Team>)>,
}

impl PageEngine {
    fn engine(
        &mut self,
        evaluator: &SelectedEvaluator,
        host: &dyn Host,
    ) -> &mut (Engine, Option<Team>) {
        self.engine.get_or_insert_with(|| {
            let team = host.shared_memory().and_then(Team::new);
            let engine = match &team {
                Some(team) => Engine::sharing(evaluator.evaluator(), Arc::new(team.clone())),
                None => Engine::new(evaluator.evaluator()),
            };
            (engine, team)
        })
    }

    /// Runs a search and reports its iterations to the host.
    pub fn search(
        &mut self,
        evaluator: &SelectedEvaluator,
        people: Option<&People>,
        request: &SearchRequest,
        host: &dyn Host,
    ) -> Result<SearchResult, RequestError> {
        let begun = host.now();
        let position = request.game.replay(|_, _| {})?;
        let board = position.board();
        let handicap = request.handicap();
        let mut limits = request.limits();
        let person = match request.person {
            Some(rating) => Some(people.ok_or(RequestError::NoPolicy)?.person(rating)),
            None => None,
        };
        let strength = Strength::new(person, handicap);
        strength.apply(&mut limits);
        let milliseconds = || (host.now() - begun).max(0.0);
        let elapsed = || Duration::from_secs_f64(milliseconds() / 1000.0);
        let (engine, team) = self.engine(evaluator, host);
        let helped = || team.as_ref().map_or(0, Team::nodes);
        let outcome = engine.search(
            &position,
            &limits,
            &Signals {
                stop: &AtomicBool::new(false),
                pondering: None,
                elapsed: &elapsed,
            },
            &mut |report| {
                if report.rank <= request.lines() {
                    host.report(&iteration(report, helped(), board));
                }
            },
        );
        let chance = request.chance.unwrap_or_default();
        let chosen = strength.choose(board, &outcome.lines, chance);
        let best = chosen.map_or(outcome.best, |line| line.pv.first().copied());
        let score = chosen.map_or(outcome.score, |line| line.score);
        Ok(SearchResult {
            best: best.map(|mv| write_move(board, mv, is_chess960(board))),
            score: WhiteScore::of(score, board.side_to_move()),
            depth: outcome.depth,
            nodes: outcome.nodes + helped(),
            time: milliseconds(),
            choice: handicap.map(|handicap| Choice {
                near: handicap.near(&outcome.lines),
                margin: handicap.margin(),
                best: first_san(outcome.lines.first(), board),
            }),
        })
    }

    /// Searches until the helped search ends; returns the nodes searched, 0 outside a team.
    pub fn help(
        &mut self,
        evaluator: &SelectedEvaluator,
        request: &HelpRequest,
        host: &dyn Host,
    ) -> Result<u64, RequestError> {
        let position = request.game.replay(|_, _| {})?;
        let (engine, Some(team)) = self.engine(evaluator, host) else {
            return Ok(0);
        };
        let helper = Helper {
            team: team.clone(),
            index: request.helper.min(MAX_HELPERS - 1),
            search: request.search.into(),
        };
        let signals = Signals {
            stop: &helper,
            pondering: None,
            elapsed: &|| Duration::ZERO,
        };
        let outcome = engine.search(&position, &Limits::default(), &signals, &mut |_| {});
        Ok(outcome.nodes)
    }
}

impl SearchRequest {
    fn handicap(&self) -> Option<Handicap> {
        self.elo.map(Handicap::of_elo)
    }

    fn lines(&self) -> usize {
        self.lines.unwrap_or(1).max(1)
    }

    fn limits(&self) -> Limits {
        let fixed = |time| TimeBudget::fixed(time, OVERHEAD);
        let share = |clock: &MoverClock| {
            let clock = ClockState {
                remaining: milliseconds(clock.remaining),
                increment: milliseconds(clock.increment),
                moves_to_go: None,
            };
            TimeBudget::share(&clock, OVERHEAD)
        };
        let budgets = [
            self.movetime.map(milliseconds).map(fixed),
            self.clock.as_ref().map(share),
        ];
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            time: budgets
                .into_iter()
                .flatten()
                .min_by_key(|budget| budget.hard),
            lines: self.lines(),
            ..Limits::default()
        }
    }
}

/// Converts milliseconds to a duration of at most [`LONGEST`], so that sums do not overflow.
fn milliseconds(number: f64) -> Duration {
    let time = Duration::try_from_secs_f64(number.max(0.0) / 1000.0);
    time.map_or(LONGEST, |time| time.min(LONGEST))
}

fn iteration(report: &Report, helped: u64, board: &Board) -> String {
    let mover: Color = board.side_to_move();
    let (pv, san) = notation(report.pv, board);
    let iteration = Iteration {
        depth: report.depth,
        rank: report.rank,
        score: WhiteScore::of(report.score, mover),
        bound: match report.bound {
            ScoreBound::Exact => Bound::Exact,
            ScoreBound::Lower => Bound::Lower,
            ScoreBound::Upper => Bound::Upper,
        },
        nodes: report.nodes + helped,
        time: report.time.as_secs_f64() * 1000.0,
        pv,
        san,
    };
    serde_json::to_string(&iteration).expect("numbers and texts can be written")
}

fn first_san(line: Option<&Line>, board: &Board) -> String {
    let first = line.and_then(|line| line.pv.first());
    first.map_or_else(String::new, |&mv| {
        util::display_san_move(board, mv).to_string()
    })
}

/// Returns a line in UCI notation and in SAN.
fn notation(pv: &[Move], board: &Board) -> (Vec<String>, Vec<String>) {
    let mut board = board.clone();
    let chess960 = is_chess960(&board);
    pv.iter()
        .map(|&mv| {
            let texts = (
                write_move(&board, mv, chess960),
                util::display_san_move(&board, mv).to_string(),
            );
            board.play_unchecked(mv);
            texts
        })
        .unzip()
}
