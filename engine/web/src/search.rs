//! The search.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::cozy_chess::{Board, Color, Move, util};
use engine::{
    ClockState, Engine, Handicap, Level, Limits, Line, Report, ScoreBound, Signals, TimeBudget,
    is_chess960, write_move,
};
use serde::{Deserialize, Serialize};

use crate::brain::Brain;
use crate::game::Game;
use crate::score::WhiteScore;
use crate::session::{Host, RequestError};

/// What passes between the page and its worker unseen.
const OVERHEAD: Duration = Duration::from_millis(30);

/// Some thirty years: as good as no limit.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);

/// What a search is to do; without any limit it runs until the worker is ended.
#[derive(Deserialize)]
pub struct Wish {
    #[serde(flatten)]
    game: Game,
    depth: Option<u64>,
    nodes: Option<u64>,
    /// Milliseconds for the move.
    movetime: Option<f64>,
    clock: Option<Clock>,
    level: Option<String>,
    /// Lines to report.
    #[serde(default = "one")]
    lines: usize,
    /// From 0 to below 1: which of the moves that a level lets pass is played.
    #[serde(default)]
    chance: f64,
}

fn one() -> usize {
    1
}

/// The mover's clock, in milliseconds.
#[derive(Deserialize)]
struct Clock {
    remaining: f64,
    increment: f64,
}

/// An iteration of a line.
#[derive(Serialize)]
struct Iteration {
    depth: u32,
    seldepth: usize,
    rank: usize,
    score: WhiteScore,
    bound: &'static str,
    nodes: u64,
    /// Milliseconds.
    time: f64,
    pv: Vec<String>,
    san: Vec<String>,
}

/// What a search has found.
#[derive(Serialize)]
pub struct Found {
    /// The move to play, `None` where there is none.
    best: Option<String>,
    score: WhiteScore,
    depth: u32,
    nodes: u64,
    /// Milliseconds.
    time: f64,
}

/// Searches, and remembers from one search to the next.
#[derive(Default)]
pub struct Thinker {
    engine: Option<Engine>,
}

impl Thinker {
    /// Searches as wished, and reports to the host.
    pub fn search(
        &mut self,
        brain: &Brain,
        wish: &Wish,
        host: &dyn Host,
    ) -> Result<Found, RequestError> {
        let begun = host.now();
        let position = wish.game.replay(|_, _| {})?;
        let board = position.board();
        let handicap = wish.handicap();
        let mut limits = wish.limits();
        if let Some(handicap) = handicap {
            handicap.apply(&mut limits);
        }
        let milliseconds = || (host.now() - begun).max(0.0);
        let elapsed = || Duration::from_secs_f64(milliseconds() / 1000.0);
        let engine = (self.engine).get_or_insert_with(|| Engine::new(brain.evaluator()));
        let outcome = engine.search(
            &position,
            &limits,
            &Signals {
                stop: &AtomicBool::new(false),
                pondering: None,
                elapsed: &elapsed,
            },
            &mut |report| {
                if report.rank <= wish.lines {
                    host.report(&iteration(report, board));
                }
            },
        );
        let pick = |number: usize| ((wish.chance * number as f64) as usize).min(number - 1);
        let chosen: Option<&Line> = match handicap {
            Some(handicap) => handicap.choose(&outcome.lines, pick),
            None => outcome.lines.first(),
        };
        let best = chosen.map_or(outcome.best, |line| line.pv.first().copied());
        let score = chosen.map_or(outcome.score, |line| line.score);
        Ok(Found {
            best: best.map(|mv| write_move(board, mv, is_chess960(board))),
            score: WhiteScore::of(score, board.side_to_move()),
            depth: outcome.depth,
            nodes: outcome.nodes,
            time: milliseconds(),
        })
    }
}

impl Wish {
    fn handicap(&self) -> Option<Handicap> {
        let level: Level = self.level.as_deref()?.parse().ok()?;
        Some(Handicap::from(level))
    }

    fn limits(&self) -> Limits {
        let fixed = |time| TimeBudget::fixed(time, OVERHEAD);
        let share = |clock: &Clock| {
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
            lines: self.lines.max(1),
            ..Limits::default()
        }
    }
}

/// At most [`LONGEST`], so that times can be added up.
fn milliseconds(number: f64) -> Duration {
    let time = Duration::try_from_secs_f64(number.max(0.0) / 1000.0);
    time.map_or(LONGEST, |time| time.min(LONGEST))
}

fn iteration(report: &Report, board: &Board) -> String {
    let mover: Color = board.side_to_move();
    let (pv, san) = notation(report.pv, board);
    let iteration = Iteration {
        depth: report.depth,
        seldepth: report.seldepth,
        rank: report.rank,
        score: WhiteScore::of(report.score, mover),
        bound: match report.bound {
            ScoreBound::Exact => "exact",
            ScoreBound::Lower => "lower",
            ScoreBound::Upper => "upper",
        },
        nodes: report.nodes,
        time: report.time.as_secs_f64() * 1000.0,
        pv,
        san,
    };
    serde_json::to_string(&iteration).expect("numbers and texts can be written")
}

/// A line as UCI and as people write it.
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
