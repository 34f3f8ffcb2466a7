use thiserror::Error;

use crate::Bound;

/// Why a network was refused.
#[derive(Debug, Error, PartialEq)]
pub enum NetError {
    /// The bytes are not a safetensors file.
    #[error("not a safetensors file: {0}")]
    NotSafetensors(String),
    /// The file has no `kibitz` metadata, so nobody knows what its inputs mean.
    #[error("no `kibitz` entry in its metadata: it was not written by Kibitz's trainer")]
    NoMetadata,
    /// The metadata is there but cannot be read.
    #[error("unreadable `kibitz` metadata: {0}")]
    BadMetadata(String),
    /// The net was trained on another input layout.
    #[error("its input layout is {found:?}, this build knows only {known:?} and {before:?}",
        known = crate::LAYOUT, before = crate::LAYOUT_V1)]
    UnknownLayout {
        /// The layout the file names.
        found: String,
    },
    /// The net was trained with another activation function.
    #[error("its activation is {found:?}, this build knows only {known:?}", known = crate::ACTIVATION)]
    UnknownActivation {
        /// The activation the file names.
        found: String,
    },
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
    #[error("tensor {name:?} is {found}, expected F32 or F16")]
    WrongType {
        /// The tensor's name.
        name: String,
        /// The type in the file.
        found: String,
    },
    /// A weight is NaN or infinite.
    #[error("tensor {0:?} holds a value that is not finite")]
    NotFinite(String),
    /// The network is larger than the integer inference is compiled for.
    #[error(
        "hidden sizes {found:?} exceed {first}-{later}-{later}, the most this build plays with",
        first = crate::MAX_FIRST, later = crate::MAX_LATER
    )]
    TooLarge {
        /// The hidden sizes in the file.
        found: Vec<usize>,
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
