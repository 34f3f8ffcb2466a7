//! Conversions of parameter tensors, and operations on them.

use burn::backend::Autodiff;
use burn::module::Param;
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorPrimitive};
use burn_flex::{Flex, FlexTensor};
use rayon::prelude::*;

#[cfg(any(test, feature = "gpu"))]
use burn::tensor::TensorData;
#[cfg(test)]
use {
    models::{Architecture, Feature, INPUTS},
    records::position::Record,
};

/// The CPU backend with gradients.
pub type Cpu = Autodiff<Flex>;

/// Each layer's weights, `[inputs, outputs]`, and biases, `[outputs]`. After the first layer, the
/// outputs of all buckets are concatenated.
pub type Layers<B> = Vec<(Tensor<B, 2>, Tensor<B, 1>)>;

/// Returns a tensor's values, row-major.
pub fn floats<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f32> {
    tensor
        .into_data()
        .convert::<f32>()
        .to_vec()
        .expect("just converted to f32")
}

/// Numbers of a tensor that a thread works on at a time.
pub const CHUNK: usize = 8192;

/// Returns the primitive of a tensor, with the numbers in row-major order as its whole storage.
pub fn contiguous<const D: usize>(tensor: Tensor<Flex, D>) -> FlexTensor {
    tensor.into_primitive().tensor().to_contiguous()
}

/// Returns the tensor with `change` applied to each number.
pub fn map<const D: usize>(
    numbers: Tensor<Flex, D>,
    change: impl Fn(f32) -> f32 + Sync,
) -> Tensor<Flex, D> {
    let mut numbers = contiguous(numbers);
    let chunks = numbers.storage_mut::<f32>().par_chunks_mut(CHUNK);
    chunks.for_each(|chunk| chunk.iter_mut().for_each(|x| *x = change(*x)));
    tensor(numbers)
}

/// Returns the tensor of a primitive.
pub fn tensor<const D: usize>(primitive: FlexTensor) -> Tensor<Flex, D> {
    Tensor::from_primitive(TensorPrimitive::Float(primitive))
}

/// Returns the parameter with its values replaced by `numbers`.
#[cfg(feature = "gpu")]
pub fn filled<B: Backend, const D: usize>(
    parameter: Param<Tensor<B, D>>,
    numbers: &[f32],
) -> Param<Tensor<B, D>> {
    parameter.map(|old| {
        let data = TensorData::new(numbers.to_vec(), old.shape());
        Tensor::from_data(data, &old.device())
    })
}

/// Clamps a parameter to ±`bound`.
pub fn clip_parameter<const D: usize>(
    parameter: Param<Tensor<Cpu, D>>,
    bound: f32,
) -> Param<Tensor<Cpu, D>> {
    // On the inner tensor, so that the clamp is outside the differentiated function.
    parameter.map(|x| {
        let clamped = map(x.inner(), |number| number.clamp(-bound, bound));
        Tensor::from_inner(clamped).require_grad()
    })
}

/// Returns the records' inputs as matrices of zeros and ones, `[records, INPUTS]`, one a view: the
/// reference for the kernels.
#[cfg(test)]
pub fn dense_inputs<B: Backend>(
    architecture: Architecture,
    records: &[Record],
    device: &B::Device,
) -> Vec<Tensor<B, 2>> {
    let mut views = vec![vec![0f32; records.len() * INPUTS]; architecture.views()];
    for (index, record) in records.iter().enumerate() {
        let features: Vec<Feature> = features::active(record).collect();
        for (rows, inputs) in views.iter_mut().zip(architecture.inputs(&features)) {
            let read = |input: &Feature| architecture.features.contains(*input);
            for input in inputs.into_iter().filter(read) {
                rows[index * INPUTS + input.index()] = 1.0;
            }
        }
    }
    let tensor = |rows| Tensor::from_data(TensorData::new(rows, [records.len(), INPUTS]), device);
    views.into_iter().map(tensor).collect()
}
