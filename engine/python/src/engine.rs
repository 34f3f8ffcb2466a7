//! Evaluation and search with a net.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cozy_chess::Board;
use engine::{
    Evaluator, Limits, Position, Score, Signals, TimeBudget, features, is_chess960, parse_fen,
    parse_move, write_move,
};
use models::{MAX_FILE_BYTES, Network, QuantisedNetwork};
use numpy::PyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::{os_error, value_error};

/// Interval at which a search checks for signals.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Score of a mate, less its moves, as in a dataset.
const MATE: i32 = 32_000;

/// A net, and the state that its searches share.
///
/// Boxed, since Python aligns its objects less than the SIMD fields need.
#[pyclass(frozen, module = "kibitz")]
pub struct Engine {
    float: Network,
    evaluator: Box<Evaluator>,
    engine: Mutex<Box<engine::Engine>>,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (net = None, *, hash = engine::DEFAULT_HASH_MIB, threads = 1))]
    fn new(net: Option<PathBuf>, hash: usize, threads: usize) -> PyResult<Engine> {
        let file = net.as_ref().map(|path| host::read(path, MAX_FILE_BYTES));
        let file = file.transpose().map_err(os_error)?;
        let (float, _) = Network::from_bytes(file.as_deref().unwrap_or(engine::embedded_net()))
            .map_err(value_error)?;
        let quantised = QuantisedNetwork::new(&float).map_err(value_error)?;
        let evaluator = Evaluator::new(quantised);
        let mut engine = engine::Engine::new(evaluator.clone());
        engine.set_hash(hash).map_err(value_error)?;
        engine.set_threads(threads);
        Ok(Engine {
            float,
            evaluator: Box::new(evaluator),
            engine: Mutex::new(Box::new(engine)),
        })
    }

    /// Evaluates positions with integers, as the engine does: centipawns from the side to move's
    /// point of view, `int32`.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        fens: Vec<String>,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let value = |board: &Board| self.evaluator.evaluate_board(board).centipawns();
        let values = py.detach(|| each(&fens, value))?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Evaluates positions with floats, as training does: centipawns from the side to move's point
    /// of view, `float32`.
    fn evaluate_float<'py>(
        &self,
        py: Python<'py>,
        fens: Vec<String>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let value = |board: &Board| self.float.evaluate(&features(board)) * 100.0;
        let values = py.detach(|| each(&fens, value))?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Searches a position until the first limit: `depth` in plies, `nodes`, `time` in seconds.
    /// `moves` are played from `fen`. `lines` is the number of principal variations (MultiPV).
    #[pyo3(signature = (fen, moves = Vec::new(), *, depth = None, nodes = None, time = None, lines = 1))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn search(
        &self,
        py: Python<'_>,
        fen: &str,
        moves: Vec<String>,
        depth: Option<u64>,
        nodes: Option<u64>,
        time: Option<f64>,
        lines: usize,
    ) -> PyResult<Outcome> {
        if depth.is_none() && nodes.is_none() && time.is_none() {
            return Err(value_error("a search needs depth, nodes or time"));
        }
        let mut position = Position::from_fen(fen).map_err(value_error)?;
        for text in &moves {
            let mv = parse_move(position.board(), text).map_err(value_error)?;
            position.play(mv).map_err(value_error)?;
        }
        let time = time.map(Duration::try_from_secs_f64).transpose();
        let limits = Limits {
            depth,
            nodes,
            time: time
                .map_err(value_error)?
                .map(|time| TimeBudget::fixed(time, Duration::ZERO)),
            lines: lines.max(1),
            ..Limits::default()
        };
        let outcome = py.detach(|| self.interruptible(&position, &limits))?;
        Ok(Outcome::new(position.board(), &outcome))
    }

    /// Clears the transposition table and all other state of earlier searches.
    fn clear(&self, py: Python<'_>) {
        py.detach(|| self.lock().clear());
    }
}

impl Engine {
    fn lock(&self) -> MutexGuard<'_, Box<engine::Engine>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Searches on another thread, while this one checks Python's signals.
    fn interruptible(&self, position: &Position, limits: &Limits) -> PyResult<engine::Outcome> {
        let (start, stop) = (Instant::now(), &AtomicBool::new(false));
        let mut lock = self.lock();
        let engine: &mut engine::Engine = &mut lock;
        let (found, outcome) = sync_channel(1);
        thread::scope(|scope| {
            let search = move || {
                let signals = Signals {
                    stop,
                    pondering: None,
                    elapsed: &|| start.elapsed(),
                };
                found.send(engine.search(position, limits, &signals, &mut |_| ()))
            };
            thread::Builder::new()
                .spawn_scoped(scope, search)
                .map_err(os_error)?;
            loop {
                match outcome.recv_timeout(POLL_INTERVAL) {
                    Ok(outcome) => return Ok(outcome),
                    Err(RecvTimeoutError::Timeout) => {
                        let interrupted = Python::attach(|py| py.check_signals());
                        interrupted.inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                    }
                    Err(RecvTimeoutError::Disconnected) => panic!("the search panicked"),
                }
            }
        })
    }
}

fn each<T: Send>(fens: &[String], value: impl Fn(&Board) -> T + Sync) -> PyResult<Vec<T>> {
    let value = |fen: &String| parse_fen(fen).map(|board| value(&board));
    let values: Result<_, _> = fens.par_iter().map(value).collect();
    values.map_err(value_error)
}

/// Principal variation of a search.
#[pyclass(frozen, get_all, module = "kibitz")]
#[derive(Clone)]
pub struct Line {
    /// Centipawns from the side to move's point of view; mate in n moves is 32,000 - n, being mated
    /// n - 32,000.
    score: i32,
    /// Moves to mate, negative if the side to move is mated; `None` for centipawns.
    mate: Option<i32>,
    /// Moves in UCI notation.
    pv: Vec<String>,
}

#[pymethods]
impl Line {
    fn __repr__(&self) -> String {
        let pv = self.pv.join(" ");
        format!("<kibitz.Line: {}, {pv}>", self.score)
    }
}

/// Result of a search.
#[pyclass(frozen, get_all, module = "kibitz")]
pub struct Outcome {
    /// Best move in UCI notation; `None` if the side to move has no legal move.
    #[pyo3(name = "move")]
    best: Option<String>,
    /// Score of the best line.
    score: i32,
    /// Moves to mate in the best line, negative if the side to move is mated; `None` for
    /// centipawns.
    mate: Option<i32>,
    /// Moves of the best line in UCI notation.
    pv: Vec<String>,
    /// Depth of the last finished iteration, in plies.
    depth: u32,
    /// Nodes searched.
    nodes: u64,
    /// All requested lines, best first.
    lines: Vec<Line>,
}

impl Outcome {
    fn new(board: &Board, outcome: &engine::Outcome) -> Outcome {
        let (score, mate) = score(outcome.score);
        let lines = outcome.lines.iter().map(|line| {
            let (score, mate) = self::score(line.score);
            let pv = written(board, &line.pv);
            Line { score, mate, pv }
        });
        let lines: Vec<Line> = lines.collect();
        let best = outcome.best.map(|best| written(board, &[best]).remove(0));
        Outcome {
            pv: lines.first().map_or_else(Vec::new, |line| line.pv.clone()),
            best,
            score,
            mate,
            depth: outcome.depth,
            nodes: outcome.nodes,
            lines,
        }
    }
}

#[pymethods]
impl Outcome {
    fn __repr__(&self) -> String {
        let best = self.best.as_deref().unwrap_or("no move");
        let (score, depth) = (self.score, self.depth);
        format!("<kibitz.Outcome: {best}, {score}, depth {depth}>")
    }
}

/// Returns a score as stored in a dataset, and the moves to mate.
fn score(score: Score) -> (i32, Option<i32>) {
    let mate = score.moves_to_mate();
    let value = mate.map(|moves| score.centipawns().signum() * (MATE - moves.abs()));
    (value.unwrap_or(score.centipawns()), mate)
}

/// Returns the moves of a line in UCI notation.
fn written(board: &Board, line: &[cozy_chess::Move]) -> Vec<String> {
    let (chess960, mut board) = (is_chess960(board), board.clone());
    let write = |&mv: &cozy_chess::Move| {
        let text = write_move(&board, mv, chess960);
        board.play_unchecked(mv);
        text
    };
    line.iter().map(write).collect()
}
