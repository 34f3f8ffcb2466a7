//! In how many bits hidden neurons are computed.
//!
//! In half precision the first layer's sums, activations, the products behind them and
//! the gradients of all these are f16; sums over them are formed in f32. Parameters,
//! the output, the loss and the optimizer stay f32 (Micikevicius et al., "Mixed
//! Precision Training", 2018).

use burn::tensor::FloatDType;
use clap::ValueEnum;
use serde::Serialize;

/// What gradients are multiplied by while they are f16, a power of two. A batch's mean
/// gives each sample a gradient of some 1e-5, and f16 loses bits below 6e-5. All
/// gradients of an ordinary step together are shorter than 2
/// ([`CLIP_NORM`](crate::network::clipping::CLIP_NORM)), so that made this much larger
/// they stay far below f16's 65,504. What does not becomes infinite, and the run has
/// diverged.
pub const GRADIENT_SCALE: f32 = 1024.0;

/// In how many bits a GPU computes hidden neurons and their gradients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32.
    #[default]
    Full,
    /// 16; parameters and all sums stay at 32.
    Half,
}

impl Precision {
    /// The type of hidden neurons and their gradients.
    pub fn of_hidden(self) -> FloatDType {
        match self {
            Precision::Full => FloatDType::F32,
            Precision::Half => FloatDType::F16,
        }
    }

    /// Bytes of one.
    pub fn bytes(self) -> usize {
        match self {
            Precision::Full => 4,
            Precision::Half => 2,
        }
    }
}
