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
use models::Architecture;

use crate::input::batch::Batch;
use crate::network::cost::Cost;
use crate::network::cpu;
use crate::network::first_layer::Inputs;
#[cfg(feature = "kernels")]
use crate::network::gpu;
use crate::network::model::Model;
use crate::network::precision::Precision;
use crate::network::target::{self, Aim};
use crate::network::tensors::floats;

/// A backend that evaluates the network.
pub trait Evaluate: Backend {
    /// Positions made ready, still on the host.
    type Prepared: Send + 'static;

    /// Positions as it takes them: indices of active inputs, and the win chances that
    /// training aims at. A clone is cheap.
    type Samples: Clone;

    /// Makes records ready for networks of these parts. Any thread can do it.
    fn prepare(architecture: Architecture, records: &[Record], aim: Aim) -> Self::Prepared;

    /// Sends what was made ready to a device.
    fn send(prepared: Self::Prepared, device: &Self::Device) -> Self::Samples;

    /// Both at once.
    fn samples(
        architecture: Architecture,
        records: &[Record],
        aim: Aim,
        device: &Self::Device,
    ) -> Self::Samples {
        Self::send(Self::prepare(architecture, records, aim), device)
    }

    /// Whether a device can compute hidden neurons so.
    fn computes_in(precision: Precision, device: &Self::Device) -> bool;

    /// The number of positions.
    fn count(samples: &Self::Samples) -> usize;

    /// The win chances that training aims at, `[samples]`.
    fn targets(samples: &Self::Samples, device: &Self::Device) -> Tensor<Self, 1>;

    /// The values in pawns, from the mover's view, `[samples]`.
    fn values(model: &Model<Self>, samples: &Self::Samples) -> Tensor<Self, 1>;

    /// What was found of each sample, in the order of the records it was made of.
    fn in_order(samples: &Self::Samples, found: Vec<f32>) -> Vec<f32>;

    /// What training on a batch of such positions costs, a sample.
    fn cost(
        architecture: Architecture,
        inputs: Inputs,
        precision: Precision,
        samples: &Self::Samples,
    ) -> Cost;
}

/// A backend that trains the network.
pub trait Train: Evaluate + AutodiffBackend<InnerBackend: Evaluate> {}

impl<B: Evaluate + AutodiffBackend<InnerBackend: Evaluate>> Train for B {}

/// The CPU: sparse inputs, and an operation of its own.
macro_rules! by_kernel {
    ($backend:ty, $values:path) => {
        impl Evaluate for $backend {
            type Prepared = cpu::Samples;
            type Samples = Arc<cpu::Samples>;

            fn prepare(architecture: Architecture, records: &[Record], aim: Aim) -> Self::Prepared {
                cpu::Samples::new(architecture, records, aim)
            }

            fn send(prepared: Self::Prepared, _device: &Self::Device) -> Self::Samples {
                Arc::new(prepared)
            }

            fn computes_in(precision: Precision, _device: &Self::Device) -> bool {
                precision == Precision::Full
            }

            fn count(samples: &Self::Samples) -> usize {
                samples.len()
            }

            fn targets(samples: &Self::Samples, device: &Self::Device) -> Tensor<Self, 1> {
                cpu::targets(samples, device)
            }

            fn values(model: &Model<Self>, samples: &Self::Samples) -> Tensor<Self, 1> {
                $values(model.architecture(), model.layers(), samples)
            }

            fn in_order(samples: &Self::Samples, found: Vec<f32>) -> Vec<f32> {
                samples.in_order(&found)
            }

            fn cost(
                architecture: Architecture,
                _inputs: Inputs,
                _precision: Precision,
                samples: &Self::Samples,
            ) -> Cost {
                cpu::cost(architecture, samples)
            }
        }
    };
}

by_kernel!(Flex, cpu::values);
by_kernel!(Autodiff<Flex>, cpu::tracked_values);

/// A GPU: a kernel for the first layer, and Burn's own operations.
#[cfg(feature = "kernels")]
macro_rules! by_operations {
    ($backend:ty, $sums:path, $cast:path) => {
        impl Evaluate for $backend {
            type Prepared = gpu::Prepared;
            type Samples = gpu::Samples<Self>;

            fn prepare(architecture: Architecture, records: &[Record], aim: Aim) -> Self::Prepared {
                gpu::Prepared::new(architecture, records, aim)
            }

            fn send(prepared: Self::Prepared, device: &Self::Device) -> Self::Samples {
                gpu::Samples::new(prepared, device)
            }

            fn computes_in(precision: Precision, device: &Self::Device) -> bool {
                Self::supports_dtype(device, precision.of_hidden().into())
            }

            fn count(samples: &Self::Samples) -> usize {
                samples.len()
            }

            fn targets(samples: &Self::Samples, _device: &Self::Device) -> Tensor<Self, 1> {
                samples.targets.clone()
            }

            fn values(model: &Model<Self>, samples: &Self::Samples) -> Tensor<Self, 1> {
                let sums = |view: usize, weight, bias| {
                    let views = &samples.views;
                    $sums(
                        model.inputs(),
                        model.precision(),
                        &views[view],
                        weight,
                        bias,
                    )
                };
                model.values_by_operations(sums, $cast, samples.buckets.as_ref())
            }

            fn in_order(samples: &Self::Samples, mut found: Vec<f32>) -> Vec<f32> {
                found.truncate(samples.len());
                found
            }

            fn cost(
                architecture: Architecture,
                inputs: Inputs,
                precision: Precision,
                samples: &Self::Samples,
            ) -> Cost {
                let active = samples.views[0].active();
                Cost::of_operations(architecture, inputs, precision, samples.len(), active)
            }
        }
    };
}

#[cfg(feature = "cuda")]
by_operations!(Cuda, gpu::sums, gpu::cast);
#[cfg(feature = "cuda")]
by_operations!(Autodiff<Cuda>, gpu::tracked_sums, gpu::tracked_cast);
#[cfg(feature = "wgpu")]
by_operations!(Wgpu, gpu::sums, gpu::cast);
#[cfg(feature = "wgpu")]
by_operations!(Autodiff<Wgpu>, gpu::tracked_sums, gpu::tracked_cast);

/// A batch made ready on the host, cut into one part a device, in order. If there are
/// fewer records than devices, the last devices have none.
pub struct Parts<B: Evaluate> {
    parts: Vec<B::Prepared>,
    /// The number of positions.
    pub positions: usize,
}

impl<B: Evaluate> Parts<B> {
    /// Makes a batch ready for so many devices. Any thread can do it.
    pub fn new(architecture: Architecture, batch: &Batch, aim: Aim, devices: usize) -> Parts<B> {
        let parts = batch.parts(devices);
        Parts {
            parts: parts
                .map(|records| B::prepare(architecture, records, aim))
                .collect(),
            positions: batch.records.len(),
        }
    }

    /// Sends each part to its device.
    pub fn send(self, devices: &[B::Device]) -> Vec<B::Samples> {
        let parts = self.parts.into_iter().zip(devices);
        parts.map(|(part, device)| B::send(part, device)).collect()
    }
}

impl<B: Evaluate> Model<B> {
    /// The loss of positions, shape `[1]`: how far their values are from their
    /// targets, to the power `exponent` ([`target::loss`]).
    pub fn loss(&self, samples: &B::Samples, exponent: f64) -> Tensor<B, 1> {
        let pawns = B::values(self, samples);
        let targets = B::targets(samples, &pawns.device());
        target::loss(pawns, targets, exponent)
    }

    /// The values in pawns of records, from the mover's view.
    pub fn values(&self, records: &[Record], device: &B::Device) -> Vec<f32> {
        let samples = B::samples(self.architecture(), records, Aim::LABEL, device);
        B::in_order(&samples, floats(B::values(self, &samples)))
    }
}
