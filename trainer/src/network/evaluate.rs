//! How each backend takes positions, and evaluates the network on them.

use std::sync::Arc;

use burn::backend::Autodiff;
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};
#[cfg(feature = "cuda")]
use burn_cuda::Cuda;
use burn_flex::Flex;
#[cfg(feature = "wgpu")]
use burn_wgpu::Wgpu;
use datasets::Record;
use models::Shape;

use crate::input::batch::Batch;
use crate::network::cost::Cost;
use crate::network::cpu;
use crate::network::first_layer::Inputs;
#[cfg(feature = "kernels")]
use crate::network::gpu;
use crate::network::model::Model;
use crate::network::target;
use crate::network::tensors::floats;

/// A backend that evaluates the network.
pub trait Evaluate: Backend {
    /// Positions as it takes them: indices of active inputs, and labels. A clone is
    /// cheap.
    type Samples: Clone;

    /// Makes records ready for a device.
    fn samples(records: &[Record], device: &Self::Device) -> Self::Samples;

    /// The number of positions.
    fn count(samples: &Self::Samples) -> usize;

    /// The labels in pawns, from the mover's view, `[samples]`; a mate is 310 to 320.
    fn labels(samples: &Self::Samples, device: &Self::Device) -> Tensor<Self, 1>;

    /// The values in pawns, from the mover's view, `[samples]`.
    fn values(model: &Model<Self>, samples: &Self::Samples) -> Tensor<Self, 1>;

    /// What training on a batch of such positions costs, a sample.
    fn cost(shape: Shape, inputs: Inputs, samples: &Self::Samples) -> Cost;
}

/// A backend that trains the network.
pub trait Train: Evaluate + AutodiffBackend<InnerBackend: Evaluate> {}

impl<B: Evaluate + AutodiffBackend<InnerBackend: Evaluate>> Train for B {}

/// The CPU: sparse inputs, and an operation of its own.
macro_rules! by_kernel {
    ($backend:ty, $values:path) => {
        impl Evaluate for $backend {
            type Samples = Arc<cpu::Samples>;

            fn samples(records: &[Record], _device: &Self::Device) -> Self::Samples {
                Arc::new(cpu::Samples::new(records))
            }

            fn count(samples: &Self::Samples) -> usize {
                samples.len()
            }

            fn labels(samples: &Self::Samples, device: &Self::Device) -> Tensor<Self, 1> {
                cpu::labels(samples, device)
            }

            fn values(model: &Model<Self>, samples: &Self::Samples) -> Tensor<Self, 1> {
                $values(model.layers(), samples)
            }

            fn cost(shape: Shape, _inputs: Inputs, samples: &Self::Samples) -> Cost {
                cpu::cost(shape, samples)
            }
        }
    };
}

by_kernel!(Flex, cpu::values);
by_kernel!(Autodiff<Flex>, cpu::tracked_values);

/// A GPU: a kernel for the first layer, and Burn's own operations.
#[cfg(feature = "kernels")]
macro_rules! by_operations {
    ($backend:ty, $sums:path) => {
        impl Evaluate for $backend {
            type Samples = gpu::Samples<Self>;

            fn samples(records: &[Record], device: &Self::Device) -> Self::Samples {
                gpu::Samples::new(records, device)
            }

            fn count(samples: &Self::Samples) -> usize {
                samples.lists.len()
            }

            fn labels(samples: &Self::Samples, _device: &Self::Device) -> Tensor<Self, 1> {
                samples.labels.clone()
            }

            fn values(model: &Model<Self>, samples: &Self::Samples) -> Tensor<Self, 1> {
                let sums = |weight, bias| $sums(model.inputs(), &samples.lists, weight, bias);
                model.values_by_operations(sums)
            }

            fn cost(shape: Shape, inputs: Inputs, samples: &Self::Samples) -> Cost {
                Cost::of_operations(shape, inputs, samples.lists.len(), samples.lists.active())
            }
        }
    };
}

#[cfg(feature = "cuda")]
by_operations!(Cuda, gpu::sums);
#[cfg(feature = "cuda")]
by_operations!(Autodiff<Cuda>, gpu::tracked_sums);
#[cfg(feature = "wgpu")]
by_operations!(Wgpu, gpu::sums);
#[cfg(feature = "wgpu")]
by_operations!(Autodiff<Wgpu>, gpu::tracked_sums);

/// A batch cut into one part a device, in order, each made ready for its device.
/// If there are fewer records than devices, the last devices have none.
pub fn parts<B: Evaluate>(batch: &Batch, devices: &[B::Device]) -> Vec<B::Samples> {
    let parts = batch.parts(devices.len()).zip(devices);
    parts
        .map(|(records, device)| B::samples(records, device))
        .collect()
}

impl<B: Evaluate> Model<B> {
    /// The loss of positions, shape `[1]`: how far their values are from their
    /// labels, in the space of [`target`].
    pub fn loss(&self, samples: &B::Samples) -> Tensor<B, 1> {
        let pawns = B::values(self, samples);
        let labels = B::labels(samples, &pawns.device());
        target::loss(pawns, labels)
    }

    /// The values in pawns of records, from the mover's view.
    pub fn values(&self, records: &[Record], device: &B::Device) -> Vec<f32> {
        floats(B::values(self, &B::samples(records, device)))
    }
}
