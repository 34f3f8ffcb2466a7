//! What a training step costs, counted: arithmetic, and bytes of the device's
//! memory. Beside what a device can do, they say how far a
//! measured speed is from the limit.
//!
//! Bytes are counted as if every kernel read its operands once and wrote its
//! result once, elementwise operations that follow each other were one kernel,
//! and nothing stayed in a cache. What is done once a step (the optimizer, the
//! sum of the first layer's parts) is shared out among the batch.

use models::{Architecture, INPUTS};

use crate::input::expand;
use crate::network::first_layer::SHARED;

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

/// What training one sample costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Floating-point operations, a multiplication and an addition counted as
    /// two, of layers and their gradients; the rest is small beside them.
    pub flop: f64,
    /// Bytes of the device's memory that are read or written.
    pub bytes: f64,
}

impl Cost {
    /// By Burn's operations on whole batches of this size: matrix products
    /// forward, for the gradients of the weights, and for the gradients of all
    /// layers' inputs but the first's.
    pub fn of_operations(architecture: Architecture, batch: usize) -> Cost {
        let buckets = architecture.buckets;
        let views = architecture.views();
        let (first, later) = weights(architecture, buckets);
        let all = first + later;
        // The products forward and for the weights' gradients read the inputs.
        let inputs = 2 * views * INPUTS;
        let sample =
            FLOAT * (inputs + NEURON_PASSES * neurons(architecture, buckets)) + expand::BYTES;
        Cost {
            flop: (2 * (2 * all + later)) as f64 + step_flop(architecture) / batch as f64,
            bytes: sample as f64 + step_bytes(architecture) / batch as f64,
        }
    }

    /// By the CPU's own operation, where a sample has so many `active` inputs:
    /// the first layer adds their rows, and adds to them on the way back. They are
    /// indices of two bytes, beside a label and where they begin. What
    /// is in a cache is no memory: of a batch, the first hidden layer is
    /// written, and read for the second layer and twice on the way back; of the
    /// others, one number is written and two are read.
    pub fn of_kernel(architecture: Architecture, batch: usize, active: f64) -> Cost {
        let (_, later) = weights(architecture, 1);
        let views = architecture.views();
        let first = views * architecture.first;
        let neurons = 4 * first + 3 * (neurons(architecture, 1) - first);
        let active = views as f64 * active;
        Cost {
            flop: 2.0 * active * architecture.first as f64
                + (6 * later) as f64
                + step_flop(architecture) / batch as f64,
            bytes: 2.0 * active
                + (2 * FLOAT + FLOAT * neurons) as f64
                + step_bytes(architecture) / batch as f64,
        }
    }
}

/// Weights that a sample is multiplied by: in the first layer, dense, and behind it, in so
/// many of the buckets.
fn weights(architecture: Architecture, buckets: usize) -> (usize, usize) {
    let architecture = Architecture {
        buckets,
        ..architecture
    };
    let layers = architecture.layers().into_iter();
    let weights: Vec<usize> = layers.map(|(outputs, inputs)| outputs * inputs).collect();
    let later = weights[1..].iter().sum();
    (architecture.views() * weights[0], later)
}

/// Hidden neurons of a sample, in so many of the buckets.
fn neurons(architecture: Architecture, buckets: usize) -> usize {
    let later = [architecture.second, architecture.third];
    let later: usize = later.into_iter().flatten().sum();
    architecture.views() * architecture.first + buckets * later
}

/// Operations of a step: the first layer's shared parts are spread by a product,
/// forward and back.
fn step_flop(architecture: Architecture) -> f64 {
    (2 * 2 * INPUTS * SHARED * architecture.first) as f64
}

/// Bytes of parameters that are read and written in a step.
fn step_bytes(architecture: Architecture) -> f64 {
    let parameters = architecture.parameters() + SHARED * architecture.first;
    (FLOAT * PARAMETER_PASSES * parameters) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_network_by_hand() {
        // 902 * 451 + 451 * 32 + 32 * 32 + 32 = 422,290 weights, 15,488 of them
        // behind the first layer; 2 * (2 * 422,290 + 15,488) operations.
        let whole = Cost::of_operations(Architecture::ARTICLE, usize::MAX);
        assert_eq!(whole.flop.round(), 1_720_136.0);
        // 2 * 2 * 902 * 186 * 451 more in a step.
        let spread = Cost::of_operations(Architecture::ARTICLE, 1).flop - whole.flop;
        assert_eq!(spread.round(), 302_660_688.0);
        let bytes = (4 * (1804 + 13 * 515) + expand::BYTES) as f64;
        assert_eq!(whole.bytes.round(), bytes);
        // 25 rows of 451 added forward and back, and 6 * 15,488.
        let kernel = Cost::of_kernel(Architecture::ARTICLE, usize::MAX, 25.0);
        assert_eq!(kernel.flop.round(), 115_478.0);
        assert_eq!(
            kernel.bytes.round(),
            2.0 * 25.0 + 8.0 + 4.0 * (1804.0 + 192.0)
        );
    }
}
