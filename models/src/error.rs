use thiserror::Error;

use crate::{Architecture, Bound};

/// What a file says, cut to a length that fits a message.
fn short(text: &str) -> String {
    text.chars().take(100).collect()
}

/// Why a network was refused.
#[derive(Debug, Error, PartialEq)]
pub enum NetError {
    /// The bytes are not a safetensors file.
    #[error("not a safetensors file: {}", short(.0))]
    NotSafetensors(String),
    /// The file has no `kibitz` metadata, so nobody knows what its inputs mean.
    #[error("no `kibitz` entry in its metadata: it was not written by Kibitz's trainer")]
    NoMetadata,
    /// The metadata is there but cannot be read.
    #[error("unreadable `kibitz` metadata: {}", short(.0))]
    BadMetadata(String),
    /// The net was trained on another input layout.
    #[error("its input layout is {found:?}, this build knows only {known:?} and {before:?}",
        found = short(found), known = crate::LAYOUT, before = crate::LAYOUT_V1)]
    UnknownLayout {
        /// The layout the file names.
        found: String,
    },
    /// The net is put together from parts that this build does not know.
    #[error("its architecture is not known to this build: {}", short(.0))]
    UnknownArchitecture(String),
    /// The net's parts do not fit each other.
    #[error("its hidden sizes are {found}, and {why}")]
    Impossible {
        /// The parts in the file.
        found: Architecture,
        /// What does not fit.
        why: &'static str,
    },
    /// The file holds a tensor that a network has not.
    #[error("tensor {:?} belongs to no net of Kibitz", short(.0))]
    UnknownTensor(String),
    /// A tensor that the network needs is not in the file.
    #[error("tensor {0:?} is missing")]
    MissingTensor(String),
    /// A tensor has another shape than the metadata says.
    #[error("tensor {name:?} has shape {found:?}, expected {expected:?}")]
    WrongShape {
        /// The tensor's name.
        name: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// The shape the metadata calls for.
        expected: Vec<usize>,
    },
    /// A tensor holds another type than F32 or F16.
    #[error("tensor {name:?} is {found:?}, expected F32 or F16", found = short(found))]
    WrongType {
        /// The tensor's name.
        name: String,
        /// The type in the file.
        found: String,
    },
    /// A tensor has more or fewer bytes than its shape and type call for.
    #[error("tensor {0:?} has more or fewer bytes than its shape calls for")]
    WrongLength(String),
    /// A weight is NaN or infinite, or, in a file, beyond the range of F16.
    #[error("tensor {0:?} holds a value that is no number or beyond 65,504, the most of F16")]
    NotFinite(String),
    /// The network is larger than the integer inference is compiled for.
    #[error(
        "its hidden sizes are {found}, and this build plays with {first}-{later}-{later} at most",
        first = crate::MAX_FIRST, later = crate::MAX_LATER
    )]
    TooLarge {
        /// The parts in the file.
        found: Architecture,
    },
    /// The weights are so large that integers could overflow.
    #[error(
        "the weights of layer {layer} are too large for integers: {bound} can reach {reach:.1}, \
         the most is {most:.1}"
    )]
    Unquantisable {
        /// The layer, counted from 0.
        layer: usize,
        /// What does not fit.
        bound: Bound,
        /// How far it can reach, in the units of the floats.
        reach: f64,
        /// How far integers go at the coarsest scale.
        most: f64,
    },
}
