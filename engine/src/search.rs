//! Principal variation search with iterative deepening, where several threads share one
//! transposition table (lazy SMP); and Monte Carlo tree search ([`puct`]).

pub(crate) mod bench;
pub(crate) mod correction_history;
pub(crate) mod deepening;
pub(crate) mod engine;
pub(crate) mod exchange;
pub(crate) mod history;
pub(crate) mod late_moves;
pub(crate) mod levels;
pub(crate) mod limits;
pub(crate) mod mates;
pub(crate) mod move_picker;
pub(crate) mod moves;
pub(crate) mod node;
pub(crate) mod params;
pub(crate) mod people;
pub(crate) mod placed;
pub(crate) mod proof_numbers;
pub(crate) mod puct;
pub(crate) mod pv;
pub(crate) mod quiescence;
pub(crate) mod reductions;
pub(crate) mod report;
pub(crate) mod root;
pub(crate) mod searcher;
pub(crate) mod shared;
pub(crate) mod strength;
pub(crate) mod table_memory;
pub(crate) mod thread_data;
pub(crate) mod threads;
pub(crate) mod transposition_table;
pub(crate) mod tree;

pub use bench::{BENCH_DEPTH, BENCH_POSITIONS, BenchGames, MAX_BENCH_DEPTH, bench};
pub use engine::{DEFAULT_HASH_MIB, Engine, MAX_HASH_MIB, MAX_THREADS};
pub use levels::{Handicap, Level, MAX_ELO, MIN_ELO};
pub use limits::{ClockState, Limits, TimeBudget};
pub use params::{TUNABLES, Tunable};
pub use people::{People, Person};
pub use puct::{Priors, RootNoise, VisitedMove};
pub use report::{Interrupt, Line, Outcome, Report, Signals};
pub use strength::Strength;
pub use table_memory::TableMemory;
pub use transposition_table::{HashError, ScoreBound};
pub use tree::Tree;
