//! What a position is worth without a search: the network's inputs and
//! accumulators, its value, and the knowledge that it lacks.

pub(crate) mod accumulators;
pub(crate) mod chances;
pub(crate) mod danger;
pub(crate) mod evaluator;
pub(crate) mod features;
pub(crate) mod mop_up;
pub(crate) mod piece_values;
pub(crate) mod score;
pub(crate) mod what_if;

pub use chances::Chances;
pub use evaluator::{EvaluationKind, Evaluator, embedded_net};
pub use features::{features, model_color, model_piece};
pub use piece_values::{material_values, piece_values};
pub use score::Score;
pub use what_if::changed_features;
