//! Tensors of parameters: how layers hold them, and how their numbers come back.

use burn::module::Param;
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};
#[cfg(test)]
use {
    burn::tensor::TensorData,
    inputs as position,
    models::{Architecture, Feature, INPUTS},
    records::position::Record,
};

/// The weights, `[inputs, outputs]`, and biases, `[outputs]`, of the layers; behind the
/// first, the outputs of all buckets follow each other.
pub type Layers<B> = Vec<(Tensor<B, 2>, Tensor<B, 1>)>;

/// A tensor's numbers, row-major.
pub fn floats<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f32> {
    tensor
        .into_data()
        .convert::<f32>()
        .to_vec()
        .expect("just converted to f32")
}

/// The matrix product. Where one of its sides is 1 long, by other operations: in Burn
/// 0.21, GPUs that fuse the product of a matrix and a vector with what follows may give
/// wrong numbers (https://github.com/tracel-ai/burn/issues/5122).
pub fn product<B: Backend>(x: Tensor<B, 2>, y: Tensor<B, 2>) -> Tensor<B, 2> {
    match y.dims() {
        [_, 1] => (x * y.transpose()).sum_dim(1),
        [1, _] => x * y,
        _ => x.matmul(y),
    }
}

/// A parameter moved into ±`bound`.
pub fn clip_parameter<B: AutodiffBackend, const D: usize>(
    parameter: Param<Tensor<B, D>>,
    bound: f32,
) -> Param<Tensor<B, D>> {
    // On the inner tensor: clipping is no part of the function to derive.
    parameter.map(|x| Tensor::from_inner(x.inner().clamp(-bound, bound)).require_grad())
}

/// The inputs of records as matrices of zeros and ones, `[records, INPUTS]`, one for each
/// view: what the kernels are compared with.
#[cfg(test)]
pub fn dense_inputs<B: Backend>(
    architecture: Architecture,
    records: &[Record],
    device: &B::Device,
) -> Vec<Tensor<B, 2>> {
    let mut views = vec![vec![0f32; records.len() * INPUTS]; architecture.views()];
    for (index, record) in records.iter().enumerate() {
        let features: Vec<Feature> = position::features(record).collect();
        for (rows, inputs) in views.iter_mut().zip(architecture.inputs(&features)) {
            for input in inputs {
                rows[index * INPUTS + input.index()] = 1.0;
            }
        }
    }
    let tensor = |rows| Tensor::from_data(TensorData::new(rows, [records.len(), INPUTS]), device);
    views.into_iter().map(tensor).collect()
}
