//! CPU training of the network with Burn: its layers, fused forward and backward kernels, the loss,
//! the optimizer.
//!
//! A crate with a non-generic interface, since Burn's generic code takes minutes to compile.

mod adamw;
mod clipping;
mod cpu;
mod evaluate;
mod factorised;
mod finite;
mod first_layer;
mod lists;
mod model;
mod policy;
pub mod target;
mod tensors;
#[cfg(test)]
mod testing;
mod trainer;

pub use adamw::{BETAS, EPSILON};
pub use clipping::CLIP_NORM;
pub use cpu::{Evaluator, PolicyEvaluator, PolicySamples, Samples};
pub use first_layer::worth;
pub use model::{CpuModel, bound};
pub use policy::PolicyTrainer;
pub use target::Aim;
pub use trainer::{Settings, StepMetrics, Trainer};
