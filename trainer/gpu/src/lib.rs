//! Kernels for a training step on a GPU. The host sends records of 32 bytes, and reads back losses,
//! gradient norms and parameters when asked for them.
//!
//! One source in CubeCL serves CUDA, and by WGSL Vulkan and Metal. A step is some fifteen launches
//! of fixed shapes, so that nothing is tried out and the first comes as soon as the kernels are
//! compiled: inputs are derived from records, rows of weights are summed, values and losses
//! evaluated, gradients led back and added up, and AdamW moves the parameters. Sums have a fixed
//! order and there are no atomics: the same seed on the same device gives the same bits.

mod features;
mod first_layer;
mod heads;
mod layout;
mod optimizer;
mod trainer;

pub use layout::Parameters;
pub use trainer::{Batch, Config, Derived, Launch, Measured, State, Trainer, memory};

pub use cubecl::Runtime;
#[cfg(feature = "cuda")]
pub use cubecl::cuda;
#[cfg(feature = "wgpu")]
pub use cubecl::wgpu;
