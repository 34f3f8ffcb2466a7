//! The network: its 902 inputs, float form, safetensors file and quantised inference.
//!
//! A network passes through named stages, each a type: [`Network`] holds float weights, as trained;
//! [`QuantisedNetwork`] holds integers, as the engine plays with them. Both read the same
//! [`Feature`]s. The crate depends on no rules library: callers fill an [`InputPosition`], which
//! lists its inputs.
//!
//! ```
//! use models::{Architecture, Color, Feature, Network, Piece, Square};
//!
//! let network = Network::random(Architecture::ARTICLE, 1);
//! let king = Feature::piece(Color::White, Color::White, Piece::King, Square::new(4).unwrap());
//! let pawns = network.evaluate(&[king]);
//! assert!(pawns.is_finite());
//! ```

mod accumulator;
mod architecture;
mod bits;
pub mod bullet;
mod error;
mod feature;
mod file;
mod forward_pass;
mod kernel;
mod layers;
pub mod material;
mod network;
mod policy;
mod position;
mod quantised;
mod quantised_policy;
mod random;
mod scales;
pub mod source;
mod tensors;
#[cfg(test)]
mod testing;
mod threats;

pub use accumulator::{Accumulator, MAX_FIRST, MAX_LATER};
pub use architecture::{Activation, Architecture, Features, View};
pub use error::NetError;
pub use feature::{
    CastlingSide, Color, Feature, INPUTS, LAYOUT, LAYOUT_PIECES, LAYOUT_V1, MAX_ACTIVE,
    MAX_TRANSIENT, Meaning, Piece, Square,
};
pub use file::{MAX_FILE_BYTES, Metadata};
pub use forward_pass::ForwardPass;
pub use kernel::Kernel;
pub use network::{Layer, Network};
pub use packed;
pub use policy::{
    ARRIVALS, LAYOUT_POLICY, MAX_POLICY_NEURONS, MOVE_ROWS, MoveIndex, MoveKind, POLICY_INPUTS,
    POLICY_MOVES, POLICY_ROWS, PolicyMetadata, PolicyMove, PolicyNetwork, RATING_BANDS, RatingBand,
    arrival, softmax,
};
pub use position::{InputPosition, Side};
pub use quantised::{Accumulated, QuantisedNetwork};
pub use quantised_policy::QuantisedPolicy;
pub use random::Random;
pub use scales::Bound;
pub use threats::Threats;
