//! Kibitz's engine as a library: rules, search, evaluation, and the text of the UCI protocol.
//!
//! The rules come from [`cozy_chess`], re-exported here; castling is therefore "king takes rook"
//! throughout, and Chess960 needs no special case. Scores are centipawns from the side to move's
//! point of view unless a name says otherwise.
//!
//! # A search
//!
//! An [`Engine`] searches a [`Position`] within [`Limits`], reports each iteration to a callback,
//! and stops when a flag is set:
//!
//! ```
//! use std::sync::atomic::{AtomicBool, Ordering};
//! use std::time::Instant;
//! use engine::{Engine, Evaluator, Limits, Position, Signals};
//!
//! let mut engine = Engine::new(Evaluator::embedded()?);
//! let position = Position::from_fen("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1")?;
//!
//! let start = Instant::now();
//! let stop = AtomicBool::new(false);
//! let signals = Signals { stop: &stop, pondering: None, elapsed: &|| start.elapsed() };
//! // No limit: the search runs until the flag is set.
//! let outcome = engine.search(&position, &Limits::default(), &signals, &mut |report| {
//!     println!("depth {}: {} by {:?}", report.depth, report.score, report.pv);
//!     // Any thread may set the flag; this callback is one place to do it.
//!     if report.score.plies_to_mate().is_some() {
//!         stop.store(true, Ordering::Relaxed);
//!     }
//! });
//! assert_eq!(outcome.best.unwrap().to_string(), "e1e8");
//! assert_eq!(outcome.score.to_string(), "mate 1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Static evaluation of a position:
//!
//! ```
//! use engine::{Evaluator, parse_fen};
//!
//! let evaluator = Evaluator::embedded()?;
//! let board = parse_fen("4k3/8/8/8/8/8/3Q4/4K3 w - - 0 1")?;
//! // From the side to move's point of view.
//! assert!(evaluator.evaluate_board(&board).centipawns() > 300);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A game is a [`Position`], which keeps the history that repetitions need. [`parse_move`] and
//! [`write_move`] convert moves from and to UCI notation; [`Position::ending`] returns how the
//! rules ended the game:
//!
//! ```
//! use engine::{Position, parse_move, write_move};
//!
//! let mut game = Position::startpos();
//! for text in ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "g8f6"] {
//!     let mv = parse_move(game.board(), text)?;
//!     game.play(mv)?;
//! }
//! let castles = parse_move(game.board(), "e1g1")?;
//! assert_eq!(castles.to_string(), "e1h1");
//! assert_eq!(write_move(game.board(), castles, false), "e1g1");
//! assert_eq!(game.ending(), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The command `suite` of the program `arena` (`engine/arena`) is a short example of its use.
//!
//! # Time, files, threads and global state
//!
//! The library reads neither clock nor files: the caller supplies the time and the stop flag
//! ([`Signals`]). Engines share no state, except that the feature `tune` makes the search
//! parameters variables of the whole process. A search runs on the calling thread, and on others
//! only after [`Engine::set_threads`]. The library therefore also runs in WebAssembly: build it
//! with `--no-default-features`, which leaves out the program and `syzygy`, the one feature that
//! reads files (endgame tables).

pub use cozy_chess;

mod board;
mod endgame;
mod evaluation;
mod search;
pub mod uci;

pub use board::{
    Ending, Fault, FenError, FenRepair, MoveError, Position, RepairedFen, flipped, has_legal_move,
    insufficient_material, is_castling, is_chess960, is_tactical, legal_en_passant, legal_moves,
    parse_fen, parse_move, perft, pgn, position_key, random_moves, repair_fen, write_fen,
    write_move,
};
#[cfg(feature = "syzygy")]
pub use endgame::{Syzygy, TablesError, from_shakmaty, to_shakmaty};
pub use endgame::{Tablebase, Wdl};
pub use evaluation::{
    Chances, EvaluationKind, Evaluator, PolicyInput, Score, changed_features, embedded_net,
    features, material_values, model_color, model_piece, people_moves, piece_values,
};
pub use search::{
    BENCH_DEPTH, BENCH_POSITIONS, BenchGames, ClockState, DEFAULT_HASH_MIB, Engine, Handicap,
    HashError, Interrupt, Level, Limits, Line, MAX_BENCH_DEPTH, MAX_ELO, MAX_HASH_MIB, MAX_THREADS,
    MIN_ELO, Outcome, People, Person, Priors, Report, RootNoise, ScoreBound, Signals, Strength,
    TUNABLES, TableMemory, TimeBudget, Tree, Tunable, VisitedMove, bench,
};
