//! The network and its arithmetic: the layers as Burn trains them, the kernels
//! that evaluate and derive them on a CPU, and their first on a GPU, the loss, and nets in files.
//! Knows what a batch is, and nothing of runs, figures or files beside the net's.

pub mod clipping;
pub mod cost;
pub mod cpu;
pub mod evaluate;
pub mod finite;
pub mod first_layer;
#[cfg(feature = "kernels")]
pub mod gpu;
pub mod model;
pub mod net;
pub mod precision;
pub mod target;
pub mod tensors;
