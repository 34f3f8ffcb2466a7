use thiserror::Error;

use crate::{Architecture, Bound};

/// Returns the beginning of a text from a file, at most 100 characters.
fn short(text: &str) -> String {
    text.chars().take(100).collect()
}

/// Reason that a network was refused.
#[derive(Debug, Error, PartialEq)]
pub enum NetError {
    /// Not a safetensors file.
    #[error("not a safetensors file: {}", short(.0))]
    NotSafetensors(String),
    /// No `kibitz` metadata, without which the meaning of the inputs is unknown.
    #[error("no `kibitz` entry in its metadata: it was not written by Kibitz's trainer")]
    NoMetadata,
    /// Unreadable `kibitz` metadata.
    #[error("unreadable `kibitz` metadata: {}", short(.0))]
    BadMetadata(String),
    /// Input layout unknown to this build.
    #[error("its input layout is {found:?}, this build reads only {:?}, {:?} and {:?}",
        crate::LAYOUT, crate::LAYOUT_V1, crate::LAYOUT_PIECES, found = short(found))]
    UnknownLayout {
        /// Layout named in the file.
        found: String,
    },
    /// A net of another layout where a policy is expected.
    #[error("its input layout is {found:?}, a policy's is {:?}; `trainer fit --policy` makes one",
        crate::LAYOUT_POLICY, found = short(found))]
    NotPolicy {
        /// Layout named in the file.
        found: String,
    },
    /// Architecture unknown to this build.
    #[error("its architecture is unknown to this build: {}", short(.0))]
    UnknownArchitecture(String),
    /// Invalid architecture.
    #[error("its hidden sizes are {found}, but {why}")]
    Impossible {
        /// The architecture in the file.
        found: Architecture,
        /// The violated requirement.
        why: &'static str,
    },
    /// A tensor that the network does not have.
    #[error("unexpected tensor {:?}", short(.0))]
    UnknownTensor(String),
    /// A tensor that the network needs but the file lacks.
    #[error("tensor {0:?} is missing")]
    MissingTensor(String),
    /// A tensor with a shape other than the metadata specifies.
    #[error("tensor {name:?} has shape {found:?}, expected {expected:?}")]
    WrongShape {
        /// Name of the tensor.
        name: String,
        /// Shape in the file.
        found: Vec<usize>,
        /// Shape that the metadata specifies.
        expected: Vec<usize>,
    },
    /// A tensor of a type other than F32 and F16.
    #[error("tensor {name:?} is {found:?}, expected F32 or F16", found = short(found))]
    WrongType {
        /// Name of the tensor.
        name: String,
        /// Type in the file.
        found: String,
    },
    /// A tensor with too few or too many bytes for its shape and type.
    #[error("tensor {0:?} has too few or too many bytes for its shape")]
    WrongLength(String),
    /// A weight that is NaN or infinite or, in a file, beyond the range of F16.
    #[error("tensor {0:?} holds NaN or a value beyond 65,504, the range of F16")]
    NotFinite(String),
    /// Larger than integer inference is compiled for.
    #[error(
        "its hidden sizes are {found}, but this build supports {first}-{later}-{later} at most",
        first = crate::MAX_FIRST, later = crate::MAX_LATER
    )]
    TooLarge {
        /// The architecture in the file.
        found: Architecture,
    },
    /// Weights so large that integers could overflow.
    #[error(
        "the weights of layer {layer} are too large for integers: {bound} can reach {reach:.1}, \
         the most is {most:.1}"
    )]
    Unquantisable {
        /// Layer, counted from 0.
        layer: usize,
        /// Bound that is exceeded.
        bound: Bound,
        /// Largest reachable value, in units of the floats.
        reach: f64,
        /// Largest value that integers represent at the coarsest scale.
        most: f64,
    },
}
