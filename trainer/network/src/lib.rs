//! The network as Burn trains it on a CPU: its layers, the kernels that evaluate and derive
//! them, the loss, the optimizer.
//!
//! A crate of its own, since Burn's generic code takes minutes to compile: what others call
//! here is not generic.

mod clipping;
mod cpu;
mod evaluate;
mod finite;
mod first_layer;
mod lists;
mod model;
pub mod target;
mod tensors;
#[cfg(test)]
mod testing;
mod trainer;

pub use clipping::CLIP_NORM;
pub use cpu::{Evaluator, Samples};
pub use first_layer::worth;
pub use model::{CpuModel, bound};
pub use target::Aim;
pub use trainer::{BETAS, EPSILON, Measured, Settings, Trainer};
