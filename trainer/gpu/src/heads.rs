//! Kernels of the later layers: values, losses, and backpropagation to the first layer's sums.
//!
//! A network without a second hidden layer has one output a bucket. All others have [`NARROW`]
//! padded neurons there, and 32 units work on a position side by side.

use cubecl::prelude::*;
use models::Activation;

use crate::inputs::tanh;
use crate::layout::{Dense, NARROW};
use crate::optimizer::UNITS;

/// Positions in the work of a cube.
pub(crate) const SAMPLES: usize = UNITS / NARROW;
/// Positions over which a unit sums gradients of the first layer's biases, and of the weights of a
/// layer with one output.
pub(crate) const SHORT_SEGMENT: usize = 128;
/// Positions over which a unit sums gradients of other weights after the first layer.
pub(crate) const LONG_SEGMENT: usize = 512;

/// Layout of the first layer's sums, and the activation applied to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sums {
    pub kind: Kind,
    pub views: usize,
    /// Activations of a view, padded.
    pub activations: usize,
    /// Sums of a row, padded.
    pub width: usize,
    /// Rows of a view.
    pub capacity: usize,
}

/// [`Activation`] as a compile-time argument of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Clipped,
    Squared,
    Pairwise,
}

impl From<Activation> for Kind {
    fn from(activation: Activation) -> Kind {
        match activation {
            Activation::ClippedRelu => Kind::Clipped,
            Activation::SquaredClippedRelu => Kind::Squared,
            Activation::PairwiseClippedRelu => Kind::Pairwise,
        }
    }
}

#[cube]
fn clip(x: f32) -> f32 {
    min(max(x, 0.0), 1.0)
}

/// Returns whether the gradient passes the clipped ReLU.
#[cube]
fn inside(x: f32) -> bool {
    x > 0.0 && x < 1.0
}

/// Returns an input of the second layer, counted over the concatenated views.
#[cube]
fn activation(sums: &Array<f32>, sample: usize, input: usize, #[comptime] of: Sums) -> f32 {
    let view = input / of.activations;
    let column = input % of.activations;
    let at = (view * of.capacity + sample) * of.width + column;
    let x = clip(sums[at]);
    let mut factor = 1.0f32;
    match comptime!(of.kind) {
        Kind::Clipped => {}
        Kind::Squared => {
            factor = x;
        }
        Kind::Pairwise => {
            factor = clip(sums[at + of.activations]);
        }
    }
    x * factor
}

/// Replaces a sum by its gradient, given its activation's gradient. Returns it, and the other
/// factor's gradient where activations are products of two.
#[cube]
fn gate(sums: &mut Array<f32>, at: usize, gradient: f32, #[comptime] of: Sums) -> (f32, f32) {
    let x = sums[at];
    let mut back = select(inside(x), gradient, 0.0);
    let mut other = 0.0f32;
    match comptime!(of.kind) {
        Kind::Clipped => {}
        Kind::Squared => {
            back *= 2.0 * x;
        }
        Kind::Pairwise => {
            let y = sums[at + of.activations];
            back *= clip(y);
            other = select(inside(y), gradient * clip(x), 0.0);
            sums[at + of.activations] = other;
        }
    }
    sums[at] = back;
    (back, other)
}

/// Writes the gradient of a neuron's bias, and that of its other factor where activations are
/// products of two.
#[cube]
fn write_bias(biases: &mut Array<f32>, at: usize, bias: f32, other: f32, #[comptime] of: Sums) {
    biases[at] = bias;
    if comptime!(of.kind == Kind::Pairwise) {
        biases[at + of.activations] = other;
    }
}

/// Returns the sum of `value` over the 32 units of a position, to each of them.
#[cube]
fn add_lanes(shared: &mut SharedMemory<f32>, value: f32) -> f32 {
    let unit = UNIT_POS as usize;
    let lane = unit % NARROW;
    shared[unit] = value;
    sync_cube();
    #[unroll]
    for step in 0..5u32 {
        let half = comptime!(NARROW >> (step + 1));
        if lane < half {
            shared[unit] += shared[unit + half];
        }
        sync_cube();
    }
    let sum = shared[unit - lane];
    sync_cube();
    sum
}

/// Returns the loss of a value in pawns, `|w(value) - target|^exponent`, w being the win chance.
#[cube]
fn loss(value: f32, target: f32, half_k: f32, exponent: f32, #[comptime] first_power: bool) -> f32 {
    let distance = (tanh(value * half_k) - target).abs();
    if comptime!(first_power) {
        distance
    } else {
        distance.powf(exponent)
    }
}

/// Returns the derivative of the loss by the value.
#[cube]
fn slope(
    value: f32,
    target: f32,
    half_k: f32,
    exponent: f32,
    #[comptime] first_power: bool,
) -> f32 {
    let chance = tanh(value * half_k);
    let distance = chance - target;
    let sign = select(distance > 0.0, 1.0, select(distance < 0.0, -1.0, 0.0));
    let steep = if comptime!(first_power) {
        sign
    } else {
        let size = max(distance.abs(), 1e-30);
        sign * exponent * size.powf(exponent - 1.0)
    };
    steep * half_k * (1.0 - chance * chance)
}

/// Computes values, losses and the loss's derivatives by the value (`slopes`), each `[samples]`,
/// for networks with the output right after the first hidden layer. 32 units work on a position.
#[cube(launch_unchecked)]
pub(crate) fn evaluate_one(
    sums: &Array<f32>,
    parameters: &Array<f32>,
    targets: &Array<f32>,
    buckets: &Array<u32>,
    losses: &mut Array<f32>,
    slopes: &mut Array<f32>,
    values: &mut Array<f32>,
    samples: u32,
    half_k: f32,
    exponent: f32,
    #[comptime] first_power: bool,
    #[comptime] of: Sums,
    #[comptime] output: Dense,
) {
    let mut shared = SharedMemory::<f32>::new(UNITS);
    let sample = CUBE_POS_X as usize * SAMPLES + UNIT_POS as usize / NARROW;
    let lane = UNIT_POS as usize % NARROW;
    let in_batch = sample < samples as usize;
    let mut value = 0.0f32;
    let mut bucket = 0usize;
    if in_batch {
        bucket = buckets[sample] as usize * comptime!(output.bucket_len());
        let mut input = lane;
        while input < output.inputs {
            value +=
                activation(sums, sample, input, of) * parameters[output.begin + bucket + input];
            input += NARROW;
        }
    }
    let value = add_lanes(&mut shared, value);
    if in_batch && lane == 0 {
        let value = value + parameters[comptime!(output.bias()) + bucket];
        let target = targets[sample];
        values[sample] = value;
        losses[sample] = loss(value, target, half_k, exponent, first_power);
        slopes[sample] =
            slope(value, target, half_k, exponent, first_power) / f32::cast_from(samples);
    }
}

/// Backpropagates through networks with the output right after the first hidden layer. Replaces the
/// sums by their gradients; writes, by segment, the gradient of the first layer's bias, `[segments,
/// views, width]`, and of the output's weights and bias, `[segments, buckets, inputs + 1]`. A unit
/// works on one column of a segment.
#[cube(launch_unchecked)]
pub(crate) fn back_one(
    sums: &mut Array<f32>,
    parameters: &Array<f32>,
    slopes: &Array<f32>,
    buckets: &Array<u32>,
    biases: &mut Array<f32>,
    weights: &mut Array<f32>,
    samples: u32,
    #[comptime] bucket_count: usize,
    #[comptime] of: Sums,
    #[comptime] output: Dense,
) {
    let mut shared = SharedMemory::<f32>::new(comptime!(bucket_count * UNITS));
    let unit = UNIT_POS as usize;
    #[unroll]
    for bucket in 0..bucket_count {
        shared[bucket * UNITS + unit] = 0.0f32;
    }
    let segment = CUBE_POS_X as usize;
    let input = CUBE_POS_Y as usize * UNITS + unit;
    let begin = segment * SHORT_SEGMENT;
    let end = min(begin + SHORT_SEGMENT, samples as usize);
    if input < output.inputs {
        let view = input / of.activations;
        let column = input % of.activations;
        let mut bias = 0.0f32;
        let mut other_bias = 0.0f32;
        for sample in begin..end {
            let bucket = buckets[sample] as usize;
            let slope = slopes[sample];
            let weight = parameters[output.begin + bucket * comptime!(output.bucket_len()) + input];
            let gradient = slope * weight;
            let at = (view * of.capacity + sample) * of.width + column;
            shared[bucket * UNITS + unit] += slope * activation(sums, sample, input, of);
            let (back, other) = gate(sums, at, gradient, of);
            bias += back;
            other_bias += other;
        }
        let row = segment * of.views + view;
        write_bias(biases, row * of.width + column, bias, other_bias, of);
    }
    if input == output.inputs {
        for sample in begin..end {
            let bucket = buckets[sample] as usize;
            shared[bucket * UNITS + unit] += slopes[sample];
        }
    }
    if input <= output.inputs {
        #[unroll]
        for bucket in 0..bucket_count {
            let at = (segment * bucket_count + bucket) * comptime!(output.inputs + 1) + input;
            weights[at] = shared[bucket * UNITS + unit];
        }
    }
}

/// Computes values, losses and slopes, each `[samples]`, for networks with a second hidden layer,
/// and the activations of the second and third layer and the gradients of their sums, each
/// `[layers, capacity, NARROW]`. A unit works on one neuron of each layer.
#[cube(launch_unchecked)]
pub(crate) fn evaluate_narrow(
    sums: &Array<f32>,
    parameters: &Array<f32>,
    targets: &Array<f32>,
    buckets: &Array<u32>,
    losses: &mut Array<f32>,
    slopes: &mut Array<f32>,
    values: &mut Array<f32>,
    hidden: &mut Array<f32>,
    gradients: &mut Array<f32>,
    samples: u32,
    half_k: f32,
    exponent: f32,
    #[comptime] first_power: bool,
    #[comptime] of: Sums,
    #[comptime] second: Dense,
    #[comptime] third: Option<Dense>,
    #[comptime] output: Dense,
) {
    let mut shared = SharedMemory::<f32>::new(UNITS);
    let unit = UNIT_POS as usize;
    let sample = CUBE_POS_X as usize * SAMPLES + unit / NARROW;
    let lane = unit % NARROW;
    let first_lane = unit - lane;
    let in_batch = sample < samples as usize;
    let mut bucket = 0usize;
    let mut sum = 0.0f32;
    if in_batch {
        bucket = buckets[sample] as usize;
        let begin = bucket * comptime!(second.bucket_len()) + lane;
        sum = parameters[comptime!(second.bias()) + begin];
        for input in 0..second.inputs {
            let weight = parameters[second.begin + begin + input * NARROW];
            sum += activation(sums, sample, input, of) * weight;
        }
    }
    let in_second = clip(sum);
    let at = sample * NARROW + lane;
    let plane = comptime!(of.capacity * NARROW);
    if in_batch {
        hidden[at] = in_second;
    }
    let mut last = in_second;
    if comptime!(third.is_some()) {
        let third = comptime!(third.unwrap());
        let begin = third.begin + bucket * comptime!(third.bucket_len());
        shared[unit] = in_second;
        sync_cube();
        let mut sum = parameters[begin + comptime!(third.inputs * NARROW) + lane];
        for input in 0..NARROW {
            sum += shared[first_lane + input] * parameters[begin + input * NARROW + lane];
        }
        sync_cube();
        last = clip(sum);
        if in_batch {
            hidden[plane + at] = last;
        }
    }
    let begin = output.begin + bucket * comptime!(output.bucket_len());
    let weight = parameters[begin + lane];
    let value = add_lanes(&mut shared, last * weight) + parameters[begin + NARROW];
    let mut steep = 0.0f32;
    if in_batch {
        let target = targets[sample];
        steep = slope(value, target, half_k, exponent, first_power) / f32::cast_from(samples);
        if lane == 0 {
            values[sample] = value;
            losses[sample] = loss(value, target, half_k, exponent, first_power);
            slopes[sample] = steep;
        }
    }
    let mut gradient = select(inside(last), steep * weight, 0.0);
    if comptime!(third.is_some()) {
        let third = comptime!(third.unwrap());
        let begin = third.begin + bucket * comptime!(third.bucket_len());
        shared[unit] = gradient;
        sync_cube();
        if in_batch {
            gradients[plane + at] = gradient;
        }
        let mut sum = 0.0f32;
        for neuron in 0..NARROW {
            sum += shared[first_lane + neuron] * parameters[begin + lane * NARROW + neuron];
        }
        gradient = select(inside(in_second), sum, 0.0);
    }
    if in_batch {
        gradients[at] = gradient;
    }
}

/// Transposes the second hidden layer's weights to `[buckets, NARROW, inputs]`.
#[cube(launch_unchecked)]
pub(crate) fn transpose(
    parameters: &Array<f32>,
    transposed: &mut Array<f32>,
    #[comptime] bucket_count: usize,
    #[comptime] second: Dense,
) {
    let len = comptime!(NARROW * second.inputs);
    if ABSOLUTE_POS >= comptime!(bucket_count * len) {
        terminate!();
    }
    let bucket = ABSOLUTE_POS / len;
    let neuron = ABSOLUTE_POS % len / second.inputs;
    let input = ABSOLUTE_POS % second.inputs;
    let begin = second.begin + bucket * comptime!(second.bucket_len());
    transposed[ABSOLUTE_POS] = parameters[begin + input * NARROW + neuron];
}

/// Backpropagates to the first layer for networks with a second hidden layer. Replaces the sums by
/// their gradients; writes, by segment, the gradient of the first layer's bias, `[segments, views,
/// width]`.
#[cube(launch_unchecked)]
pub(crate) fn back_narrow(
    sums: &mut Array<f32>,
    transposed: &Array<f32>,
    gradients: &Array<f32>,
    buckets: &Array<u32>,
    biases: &mut Array<f32>,
    samples: u32,
    #[comptime] of: Sums,
) {
    let segment = CUBE_POS_X as usize;
    let inputs = comptime!(of.views * of.activations);
    let input = CUBE_POS_Y as usize * UNITS + UNIT_POS as usize;
    let begin = segment * SHORT_SEGMENT;
    let end = min(begin + SHORT_SEGMENT, samples as usize);
    if input < inputs {
        let view = input / of.activations;
        let column = input % of.activations;
        let mut bias = 0.0f32;
        let mut other_bias = 0.0f32;
        for sample in begin..end {
            let weights = buckets[sample] as usize * comptime!(NARROW * inputs) + input;
            let mut gradient = 0.0f32;
            for neuron in 0..NARROW {
                gradient +=
                    gradients[sample * NARROW + neuron] * transposed[weights + neuron * inputs];
            }
            let at = (view * of.capacity + sample) * of.width + column;
            let (back, other) = gate(sums, at, gradient, of);
            bias += back;
            other_bias += other;
        }
        let row = segment * of.views + view;
        write_bias(biases, row * of.width + column, bias, other_bias, of);
    }
}

/// Sums the gradients of a layer's weights and bias by segment, `[segments, buckets, inputs + 1,
/// outputs]`. The layer's inputs are activations of the first layer's sums (`from_sums`) or
/// neurons, `[capacity, NARROW]`; `gradients`, `[capacity, outputs]`, are those of its sums. A unit
/// works on one weight.
#[cube(launch_unchecked)]
pub(crate) fn add_products(
    inputs: &Array<f32>,
    gradients: &Array<f32>,
    buckets: &Array<u32>,
    parts: &mut Array<f32>,
    samples: u32,
    #[comptime] bucket_count: usize,
    #[comptime] from_sums: Option<Sums>,
    #[comptime] inputs_begin: usize,
    #[comptime] gradients_begin: usize,
    #[comptime] layer: Dense,
) {
    let mut shared = SharedMemory::<f32>::new(comptime!(bucket_count * UNITS));
    let unit = UNIT_POS as usize;
    #[unroll]
    for bucket in 0..bucket_count {
        shared[bucket * UNITS + unit] = 0.0f32;
    }
    let segment = CUBE_POS_X as usize;
    let weight = CUBE_POS_Y as usize * UNITS + unit;
    let begin = segment * LONG_SEGMENT;
    let end = min(begin + LONG_SEGMENT, samples as usize);
    if weight < comptime!(layer.bucket_len()) {
        let input = weight / layer.outputs;
        let output = weight % layer.outputs;
        for sample in begin..end {
            let gradient = gradients[gradients_begin + sample * layer.outputs + output];
            let mut active = 1.0f32;
            if input < layer.inputs {
                if comptime!(from_sums.is_some()) {
                    active = activation(inputs, sample, input, comptime!(from_sums.unwrap()));
                } else {
                    active = inputs[inputs_begin + sample * NARROW + input];
                }
            }
            let bucket = buckets[sample] as usize;
            shared[bucket * UNITS + unit] += active * gradient;
        }
        #[unroll]
        for bucket in 0..bucket_count {
            let at = (segment * bucket_count + bucket) * comptime!(layer.bucket_len()) + weight;
            parts[at] = shared[bucket * UNITS + unit];
        }
    }
}
