//! The network and its arithmetic: the layers as Burn trains them, the kernels
//! that evaluate and derive them on a CPU, the loss, and nets in files.
//! Knows what a batch is, and nothing of runs, figures or files beside the net's.

pub mod clipping;
pub mod cpu;
pub mod evaluate;
pub mod finite;
pub mod first_layer;
pub mod model;
pub mod net;
pub mod target;
pub mod tensors;
