//! What a training step costs, counted: arithmetic of the matrix products, and
//! bytes of the device's memory. Beside what a device can do, they say how far a
//! measured speed is from the limit.
//!
//! Bytes are counted as if every kernel read its operands once and wrote its
//! result once, elementwise operations that follow each other were one kernel,
//! and nothing stayed in a cache. What is done once a step (the optimizer, the
//! sum of the first layer's parts) is shared out among the batch.

use models::{INPUTS, Shape};

use crate::expand;
use crate::first_layer::SHARED;

/// Bytes of a number on the device.
const FLOAT: usize = 4;

/// Kernels pass over a hidden layer's neurons so often: the product is written
/// (1); the bias is added and the sum kept for the way back, and clipped (1
/// read, 2 written); the next product reads it (1). On the way back its gradient
/// is written (1), masked where it was clipped (2 read, 1 written), and read for
/// the gradients of the bias, the weights and the layer before (3); the next
/// layer's weights read the neurons again (1).
const NEURON_PASSES: usize = 13;

/// Passes over a parameter a step: gradient written; gradient, value and two
/// moments read and value and moments written by the optimizer; clipped (1 read,
/// 1 written); read by the products forward and back (2).
const PARAMETER_PASSES: usize = 12;

/// Floating-point operations of the matrix products for one sample, a
/// multiplication and an addition counted as two: forward, the gradients of the
/// weights, and the gradients of all layers' inputs but the first's.
pub fn flop(shape: Shape, batch: usize) -> f64 {
    let layers = shape.layers().map(|(outputs, inputs)| outputs * inputs);
    let all: usize = layers.iter().sum();
    let later = all - layers[0];
    // The first layer's shared parts are spread by a product, forward and back.
    let spread = 2 * INPUTS * SHARED * shape.first;
    (2 * (2 * all + later)) as f64 + (2 * spread) as f64 / batch as f64
}

/// Bytes of the device's memory that are read or written for one sample.
pub fn bytes(shape: Shape, batch: usize) -> f64 {
    let neurons = shape.first + shape.second + shape.third;
    // The products forward and for the weights' gradients read the inputs.
    let inputs = 2 * INPUTS;
    let parameters = shape.parameters() + SHARED * shape.first;
    let sample = FLOAT * (inputs + NEURON_PASSES * neurons) + expand::BYTES;
    sample as f64 + (FLOAT * PARAMETER_PASSES * parameters) as f64 / batch as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_network_by_hand() {
        // 902 * 451 + 451 * 32 + 32 * 32 + 32 = 422,290 weights, 15,488 of them
        // behind the first layer; 2 * (2 * 422,290 + 15,488) operations.
        assert_eq!(flop(Shape::DEFAULT, usize::MAX).round(), 1_720_136.0);
        // 2 * 2 * 902 * 156 * 451 more in a step.
        let spread = flop(Shape::DEFAULT, 1) - flop(Shape::DEFAULT, usize::MAX);
        assert_eq!(spread.round(), 253_844_448.0);
        let whole = bytes(Shape::DEFAULT, usize::MAX).round();
        assert_eq!(whole, (4 * (1804 + 13 * 515) + expand::BYTES) as f64);
    }
}
