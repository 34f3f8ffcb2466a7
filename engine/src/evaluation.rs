//! Static evaluation: the network's features and accumulators, its score, and endgame knowledge
//! that the network lacks.

pub(crate) mod accumulators;
pub(crate) mod chances;
pub(crate) mod danger;
pub(crate) mod evaluator;
pub(crate) mod features;
pub(crate) mod mop_up;
pub(crate) mod piece_values;
pub(crate) mod policy;
pub(crate) mod score;
pub(crate) mod what_if;

pub use chances::Chances;
pub use evaluator::{EvaluationKind, Evaluator, embedded_net};
pub use features::{features, model_color, model_piece};
pub use piece_values::{material_values, piece_values};
pub use policy::{PolicyInput, people_moves};
pub use score::Score;
pub use what_if::changed_features;
