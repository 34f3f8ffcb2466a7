//! What a training step costs, counted: arithmetic, and bytes of the device's
//! memory. Beside what a device can do, they say how far a
//! measured speed is from the limit.
//!
//! Bytes are counted as if every kernel read its operands once and wrote its
//! result once, elementwise operations that follow each other were one kernel,
//! and nothing stayed in a cache. What is done once a step (the optimizer, the
//! sum of the first layer's parts) is shared out among the batch.

use models::{Architecture, INPUTS};

use crate::network::first_layer::{Inputs, SHARED};
use crate::network::precision::Precision;

/// Bytes of a parameter, of a sum over samples, and of a word on the device.
const FLOAT: usize = 4;

/// Kernels pass over a hidden layer's neurons so often: the product is written
/// (1); the bias is added and the sum clipped (1 read, 1 written); the next product
/// reads it (1). On the way back its gradient is written (1), masked where it was
/// clipped (1 read, 1 written), and read for the gradients of the bias, the weights
/// and the layer before (3); the next layer's weights read the neurons again (1).
const NEURON_PASSES: usize = 11;

/// And so often over what is kept of them to mask the gradient by (1 written, 1 read): a
/// word each, in any precision.
const MASK_PASSES: usize = 2;

/// Passes over a parameter a step: gradient written; gradient, value and two
/// moments read and value and moments written by the optimizer; clipped (1 read,
/// 1 written); read by the products forward and back (2).
const PARAMETER_PASSES: usize = 12;

/// Samples of a segment, over which a GPU adds up the gradient of the first layer's
/// weights before it joins the segments.
pub const SEGMENT_SAMPLES: usize = 1024;

/// What training one sample costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Floating-point operations, a multiplication and an addition counted as
    /// two, of layers and their gradients; the rest is small beside them.
    pub flop: f64,
    /// Bytes of the device's memory that are read or written.
    pub bytes: f64,
    /// Bytes that are made ready for the device, and sent to a GPU.
    pub sent: f64,
}

impl Cost {
    /// By a GPU, in batches of this size, where a sample has so many `active` inputs.
    /// Behind the first layer these are Burn's matrix products: forward, for the
    /// gradients of the weights, and for those of the neurons before.
    pub fn of_operations(
        architecture: Architecture,
        inputs: Inputs,
        precision: Precision,
        batch: usize,
        active: f64,
    ) -> Cost {
        let views = architecture.views();
        let later = later_weights(architecture, architecture.buckets);
        let neurons = neurons(architecture, architecture.buckets);
        let (added, first) = match inputs {
            Inputs::Sparse => (active, sparse_bytes(architecture, batch, active)),
            // The matrix is written, and read by the product forward and for the
            // gradient of the weights.
            Inputs::Dense => (INPUTS as f64, (3 * precision.bytes() * INPUTS) as f64),
        };
        let neuron = precision.bytes() * NEURON_PASSES + FLOAT * MASK_PASSES;
        // Of the dense product a multiplication and an addition, of a list an addition.
        let flop = match inputs {
            Inputs::Sparse => 1.0,
            Inputs::Dense => 2.0,
        };
        Cost {
            flop: views as f64 * 2.0 * flop * added * architecture.first as f64
                + (6 * later) as f64
                + step_flop(architecture) / batch as f64,
            bytes: views as f64 * first
                + (neuron * neurons) as f64
                + step_bytes(architecture) / batch as f64,
            sent: sent(views, active),
        }
    }

    /// By the CPU's own operation, where a sample has so many `active` inputs:
    /// the first layer adds their rows, and adds to them on the way back. They are
    /// indices of two bytes, beside a label and where they begin. What
    /// is in a cache is no memory: of a batch, the first hidden layer is
    /// written, and read for the second layer and twice on the way back; of the
    /// others, one number is written and two are read.
    pub fn of_kernel(architecture: Architecture, batch: usize, active: f64) -> Cost {
        let later = later_weights(architecture, 1);
        let views = architecture.views();
        let first = views * architecture.first;
        let neurons = 4 * first + 3 * (neurons(architecture, 1) - first);
        Cost {
            flop: views as f64 * 2.0 * active * architecture.first as f64
                + (6 * later) as f64
                + step_flop(architecture) / batch as f64,
            bytes: sent(views, active)
                + (FLOAT * neurons) as f64
                + step_bytes(architecture) / batch as f64,
            sent: sent(views, active),
        }
    }
}

/// Weights behind the first layer that a sample is multiplied by, in so many of the
/// buckets: on a GPU, those of others are worked out and dropped.
fn later_weights(architecture: Architecture, buckets: usize) -> usize {
    let architecture = Architecture {
        buckets,
        ..architecture
    };
    let layers = architecture.layers();
    layers[1..]
        .iter()
        .map(|(outputs, inputs)| outputs * inputs)
        .sum()
}

/// Hidden neurons of a sample, in so many of the buckets.
fn neurons(architecture: Architecture, buckets: usize) -> usize {
    let later = [architecture.second, architecture.third];
    let later: usize = later.into_iter().flatten().sum();
    architecture.views() * architecture.first + buckets * later
}

/// Bytes of a sample's lists, one a view: indices of two bytes, and where they begin; and
/// its target.
fn sent(views: usize, active: f64) -> f64 {
    views as f64 * (2.0 * active + FLOAT as f64) + FLOAT as f64
}

/// Bytes of a sparse first layer on a GPU, beside those of its neurons. The lists are
/// read forward and back, and turned round into a bit for each input, which is written
/// and read. Rows of weights and of gradients are read once and then from the cache.
/// The gradient of the weights is written and read for each segment of a batch.
fn sparse_bytes(architecture: Architecture, batch: usize, active: f64) -> f64 {
    let bits = INPUTS as f64 / 8.0;
    let parts = 2 * FLOAT * INPUTS * architecture.first * batch.div_ceil(SEGMENT_SAMPLES);
    2.0 * sent(1, active) + 2.0 * bits + parts as f64 / batch as f64
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
        let cost = |inputs, precision, batch| {
            Cost::of_operations(Architecture::ARTICLE, inputs, precision, batch, 25.0)
        };
        let dense = |batch| cost(Inputs::Dense, Precision::Full, batch);
        let whole = dense(usize::MAX);
        assert_eq!(whole.flop.round(), 1_720_136.0);
        // 2 * 2 * 902 * 186 * 451 more in a step.
        let spread = dense(1).flop - whole.flop;
        assert_eq!(spread.round(), 302_660_688.0);
        assert_eq!(whole.bytes.round(), f64::from(4 * (3 * 902 + 13 * 515)));
        // 25 rows of 451 added forward and back, and 6 * 15,488. A list is 58 bytes,
        // 902 inputs are 112.75; in 1,024 samples the gradient is written and read once.
        let sparse = cost(Inputs::Sparse, Precision::Full, 1 << 40);
        assert_eq!(sparse.flop.round(), 115_478.0);
        let first: f64 = 2.0 * 58.0 + 2.0 * 112.75 + 8.0 * 902.0 * 451.0 / 1024.0;
        assert_eq!(sparse.bytes.round(), (first + 4.0 * 13.0 * 515.0).round());
        assert_eq!(sparse.sent, 58.0);
        // Half as much for 11 of 13 passes.
        let half = cost(Inputs::Sparse, Precision::Half, 1 << 40);
        assert_eq!(
            half.bytes.round(),
            (first + (2.0 * 11.0 + 4.0 * 2.0) * 515.0).round()
        );
        assert_eq!(half.flop, sparse.flop);
        // 25 rows of 451 added forward and back, and 6 * 15,488.
        let kernel = Cost::of_kernel(Architecture::ARTICLE, usize::MAX, 25.0);
        assert_eq!(kernel.flop.round(), 115_478.0);
        assert_eq!(
            kernel.bytes.round(),
            2.0 * 25.0 + 8.0 + 4.0 * (1804.0 + 192.0)
        );
    }
}
