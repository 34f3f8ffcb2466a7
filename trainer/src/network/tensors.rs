//! Tensors of parameters: how layers hold them, and how their numbers come back.

use burn::module::Param;
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};

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

/// A parameter moved into ±`bound`.
pub fn clip_parameter<B: AutodiffBackend, const D: usize>(
    parameter: Param<Tensor<B, D>>,
    bound: f32,
) -> Param<Tensor<B, D>> {
    // On the inner tensor: clipping is no part of the function to derive.
    parameter.map(|x| Tensor::from_inner(x.inner().clamp(-bound, bound)).require_grad())
}
