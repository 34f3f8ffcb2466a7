//! GPU training in CubeCL kernels. The host sends records of 32 bytes, and reads back losses,
//! gradient norms and parameters on request.
//!
//! One CubeCL source serves CUDA and, through WGSL, Vulkan and Metal. A step is some fifteen
//! launches of fixed shapes without autotuning, so the first step starts as soon as the kernels are
//! compiled. It derives the inputs from the records, sums rows of weights, computes values and
//! losses, backpropagates and sums the gradients, and updates the parameters with AdamW. Sums have
//! a fixed order and use no atomics: the same seed on the same device gives the same bits.
//!
//! In CubeCL's terms, a cube is a thread block and a unit one of its threads.

mod first_layer;
mod heads;
mod inputs;
mod layout;
mod optimizer;
mod trainer;

pub use layout::Parameters;
pub use trainer::{Batch, Config, Derived, Launch, State, StepMetrics, Trainer, memory};

pub use cubecl::Runtime;
#[cfg(feature = "cuda")]
pub use cubecl::cuda;
#[cfg(feature = "wgpu")]
pub use cubecl::wgpu;
