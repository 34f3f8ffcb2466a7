//! Kibitz's engine as a library: rules, search, evaluation and the parts of
//! UCI that are only text.
//!
//! The rules come from [`cozy_chess`]; castling is therefore "king takes
//! rook" everywhere inside, and Chess960 needs no special case. Scores are
//! centipawns from the view of the side to move unless a name says otherwise.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use std::time::Duration;
//! use engine::{Engine, Evaluator, EvaluationKind, Limits, Position, Signals};
//!
//! let mut evaluator = Evaluator::embedded()?;
//! evaluator.set_kind(EvaluationKind::Material);
//! let mut engine = Engine::new(evaluator);
//! let position = Position::from_fen("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1")?;
//! let stop = AtomicBool::new(false);
//! let signals = Signals { stop: &stop, pondering: None, elapsed: &|| Duration::ZERO };
//! let limits = Limits { depth: Some(2), ..Limits::default() };
//! let outcome = engine.search(&position, &limits, &signals, &mut |_| {});
//! assert_eq!(outcome.best.unwrap().to_string(), "e1e8");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here reads a clock, a file or a thread: the caller passes what the
//! search needs ([`Signals`]), so the library also runs in WebAssembly. Only
//! the feature `syzygy` reads files, those of endgame tables.

mod accumulators;
mod bench;
mod checks;
mod correction;
mod engine;
mod evaluator;
mod exchange;
mod features;
mod fen;
mod history;
mod levels;
mod limits;
mod perft;
mod position;
mod pv;
mod rules;
mod score;
mod search;
#[cfg(feature = "syzygy")]
mod syzygy;
mod table;
mod tablebase;
#[cfg(feature = "syzygy")]
mod to_shakmaty;
mod tree;
pub mod uci;
mod worker;
mod worth;

pub use bench::{BENCH_POSITIONS, BenchGames, bench};
pub use engine::{DEFAULT_HASH_MIB, Engine, MAX_HASH_MIB, MAX_THREADS};
pub use evaluator::{EMBEDDED_NET, EvaluationKind, Evaluator};
pub use features::features;
pub use fen::{FenError, parse_fen, write_fen};
pub use levels::{Handicap, Level, MAX_ELO, MIN_ELO};
pub use limits::{ClockState, Limits, TimeBudget};
pub use perft::{divide, perft};
pub use position::{MoveError, Position, parse_move, write_move};
pub use rules::{
    has_legal_move, insufficient_material, is_chess960, legal_en_passant, position_key,
};
pub use score::Score;
pub use search::{Line, Outcome, Report, Signals};
#[cfg(feature = "syzygy")]
pub use syzygy::{Syzygy, TablesError};
pub use table::{HashError, ScoreBound};
pub use tablebase::{Tablebase, Wdl};
#[cfg(feature = "syzygy")]
pub use to_shakmaty::{from_shakmaty, to_shakmaty};
pub use tree::Tree;
pub use worth::piece_values;
