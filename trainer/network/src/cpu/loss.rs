//! Training loss as one operation of Burn's graph.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops};
use burn::tensor::{Tensor, TensorData, TensorPrimitive};
use burn_flex::{Flex, FlexTensor};
use features::K;
use rayon::prelude::*;

use super::{floats, in_graph};
use crate::tensors::Cpu;

/// Samples that a thread works on at a time.
const CHUNK: usize = 1024;

/// Returns the mean of `|w(pawns) - target|^exponent`, shape `[1]`.
pub fn loss(pawns: Tensor<Cpu, 1>, targets: &[f32], exponent: f64) -> Tensor<Cpu, 1> {
    let parent = pawns.into_primitive().tensor();
    let numbers = parent.primitive.to_contiguous();
    let (mean, slopes) = mean_and_slopes(floats(&numbers), targets, exponent as f32);
    let mean = FlexTensor::from_data(TensorData::new(vec![mean], [1]));
    let loss = in_graph(Loss, &[parent], slopes, mean);
    Tensor::from_primitive(TensorPrimitive::Float(loss))
}

/// Returns the mean loss and its derivative by each of `pawns`.
fn mean_and_slopes(pawns: &[f32], targets: &[f32], exponent: f32) -> (f32, Vec<f32>) {
    let half_k = (K / 2.0) as f32;
    let count = pawns.len() as f32;
    let pairs = pawns.par_iter().zip(targets).with_min_len(CHUNK);
    let found = pairs.map(|(pawns, target)| {
        let chance = (pawns * half_k).tanh();
        let difference = chance - target;
        let distance = difference.abs();
        let (loss, slope) = match exponent {
            1.0 => (distance, 1.0),
            _ => (
                distance.powf(exponent),
                exponent * distance.powf(exponent - 1.0),
            ),
        };
        // The slope of |x| at zero is defined as zero, as by Burn.
        let sign = if difference == 0.0 {
            0.0
        } else {
            difference.signum()
        };
        (
            loss,
            slope * sign * (1.0 - chance * chance) * half_k / count,
        )
    });
    let (losses, slopes): (Vec<f32>, Vec<f32>) = found.unzip();
    // In order, so that rounding does not depend on the threads.
    let sum: f64 = losses.into_iter().map(f64::from).sum();
    ((sum / f64::from(count)) as f32, slopes)
}

/// The operation in Burn's graph; its state is the derivative by each value.
#[derive(Debug)]
struct Loss;

impl Backward<Flex, 1> for Loss {
    type State = Vec<f32>;

    fn backward(
        self,
        ops: Ops<Vec<f32>, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let of_loss = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let of_loss = floats(&of_loss)[0];
        let [parent] = ops.parents;
        if let Some(parent) = parent {
            let slopes: Vec<f32> = ops.state.iter().map(|slope| slope * of_loss).collect();
            let count = slopes.len();
            let slopes = FlexTensor::from_data(TensorData::new(slopes, [count]));
            gradients.register::<Flex>(parent.id, slopes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Distribution;
    use burn::tensor::backend::Backend;

    use crate::target::win_chance;
    use crate::tensors;
    use crate::testing::turn;

    /// Returns the loss by Burn's own operations.
    fn by_operations<B: Backend>(
        pawns: Tensor<B, 1>,
        targets: Tensor<B, 1>,
        exponent: f64,
    ) -> Tensor<B, 1> {
        let distance = ((pawns * (K / 2.0)).tanh() - targets).abs();
        match exponent {
            1.0 => distance.mean(),
            _ => distance.powf_scalar(exponent).mean(),
        }
    }

    #[test]
    fn is_the_mean_distance() {
        let pawns = Tensor::<Cpu, 1>::from_floats([0.0, 2.0], &Default::default());
        let targets = [win_chance(1.0), -1.0];
        let distances = [win_chance(1.0), win_chance(2.0) + 1.0];
        for exponent in [1.0, 2.0, 2.5] {
            let found = loss(pawns.clone(), &targets, exponent).into_scalar();
            let powers = distances.map(|distance| distance.powf(exponent as f32));
            let expected = (powers[0] + powers[1]) / 2.0;
            assert!((found - expected).abs() < 1e-6, "{exponent}");
        }
    }

    #[test]
    fn matches_burns_own_operations() {
        let _turn = turn();
        let device = Default::default();
        let pawns = Tensor::<Cpu, 1>::random([3000], Distribution::Normal(0.0, 3.0), &device);
        let mut numbers = tensors::floats(pawns.clone());
        // In f32, as the loss computes it, so that a label can be met to the bit.
        let half_k = (K / 2.0) as f32;
        let chances = numbers.iter().rev().map(|&x| (x * half_k).tanh());
        let targets: Vec<f32> = chances.collect();
        // A label that is met exactly.
        numbers[5] = numbers[3000 - 6];
        let pawns = Tensor::<Cpu, 1>::from_floats(&numbers[..], &device).require_grad();
        for exponent in [1.0, 2.0, 2.5] {
            let found = loss(pawns.clone(), &targets, exponent);
            let of_targets = Tensor::from_floats(&targets[..], &device);
            let expected = by_operations(pawns.clone(), of_targets, exponent);
            let slopes = |loss: &Tensor<Cpu, 1>| {
                // Not the graph's end, so that the derivative from behind counts.
                let gradients = (loss.clone() * 3.0).backward();
                tensors::floats(pawns.grad(&gradients).expect("tracked"))
            };
            let (found_slopes, expected_slopes) = (slopes(&found), slopes(&expected));
            let (found, expected) = (found.into_scalar(), expected.into_scalar());
            assert!((found - expected).abs() < 1e-5, "{found}, not {expected}");
            assert_eq!(found_slopes[5], 0.0);
            for (found, expected) in found_slopes.iter().zip(&expected_slopes) {
                assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
            }
        }
    }
}
