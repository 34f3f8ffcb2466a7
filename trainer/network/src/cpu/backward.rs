//! The CPU's backward pass.

use models::{Activation, INPUTS};
use rayon::prelude::*;

use super::forward::Activations;
use super::lanes::{Lanes, Level, with_lanes};
use super::rows::{LATER, Narrow, SLICE, Wide, add, add_times, times, where_inside};
use super::samples::{Block, ByInput, parts, split};
use super::weights::{Gradients, LaterGradients, Stack, Weights};

/// Returns the gradient of the weights, given the gradient of the outputs, `[samples]`.
pub(super) fn backward(
    level: Level,
    weights: &Weights,
    blocks: &[Block],
    activations: &Activations,
    output: &[f32],
) -> Gradients {
    let samples = output.len();
    let layout = weights.layout;
    let (views, factors) = (layout.views, layout.factors);
    let buckets = layout.architecture.buckets;
    let mut second = vec![Narrow::ZERO; samples];
    let active = parts(blocks, &activations.second).zip(parts(blocks, &activations.third));
    let work = blocks.iter().zip(active).zip(parts(blocks, output));
    let work: Vec<_> = work.zip(split(blocks, &mut second)).collect();
    let (by_input, later): (Vec<Vec<ByInput>>, Vec<LaterGradients>) = work
        .into_par_iter()
        .map(|(((block, active), output), second)| {
            let stack = &weights.stacks[block.bucket];
            let later = with_lanes!(level, last_layers(stack, active, output, second));
            (block.by_input(), later)
        })
        .unzip();
    let mut gradients = Gradients::zero(layout);
    // A fixed order, so that rounding does not depend on the threads.
    for (block, later) in blocks.iter().zip(&later) {
        gradients.later[block.bucket].add(later);
    }
    let outs = (
        gradients.first.par_chunks_exact_mut(factors * INPUTS),
        gradients.first_bias.par_chunks_exact_mut(factors),
        gradients
            .second
            .par_chunks_exact_mut(buckets * views * SLICE),
    );
    let slices = outs.into_par_iter().enumerate();
    slices.for_each(|(slice, (tables, biases, rows))| {
        let largest = blocks.iter().map(Block::len).max().unwrap_or_default();
        let mut sums = vec![Wide::ZERO; factors * largest];
        for view in 0..views {
            let part = slice * views + view;
            let active = parts(blocks, &activations.first[part * samples..][..samples]);
            let work = blocks.iter().zip(&by_input).zip(active);
            for (((block, by_input), active), second) in work.zip(parts(blocks, &second)) {
                let stack = &weights.stacks[block.bucket];
                let rows = &mut rows[(block.bucket * views + view) * SLICE..][..SLICE];
                with_lanes!(level, second_layer(active, second, rows));
                let row = view * layout.slices + slice;
                let transposed = &stack.second_transposed[row * LATER..][..LATER];
                let clipped = |factor: usize| {
                    let factor = part * factors + factor;
                    &activations.clipped[factor * samples + block.begin..][..block.len()]
                };
                let gate = match layout.architecture.activation {
                    Activation::ClippedRelu => Gate::Clipped(active),
                    Activation::SquaredClippedRelu => Gate::Squared(clipped(0)),
                    Activation::PairwiseClippedRelu => Gate::Pairwise(clipped(0), clipped(1)),
                };
                let (left, right) = sums[..factors * block.len()].split_at_mut(block.len());
                let outs = (&mut *left, &mut *right);
                with_lanes!(level, into_first_layer(transposed, gate, second, outs));
                let inputs = &by_input[view];
                for (factor, sums) in sums.chunks_exact(block.len()).take(factors).enumerate() {
                    let table = &mut tables[factor * INPUTS..][..INPUTS];
                    with_lanes!(level, first_layer(inputs, sums, table, &mut biases[factor]));
                }
            }
        }
    });
    gradients
}

/// Derivative of the first layer's activation, by its kind, with the clipped sums.
#[derive(Clone, Copy)]
enum Gate<'a> {
    /// Activations are the clipped sums.
    Clipped(&'a [Wide]),
    /// Activations are squares of the clipped sums.
    Squared(&'a [Wide]),
    /// Activations are products of two clipped sums.
    Pairwise(&'a [Wide], &'a [Wide]),
}

/// Derives the layers after the second. Writes the gradient of the second layer's sums to `second`.
#[inline(always)]
fn last_layers<L: Lanes>(
    lanes: L,
    stack: &Stack,
    (active_second, active_third): (&[Narrow], &[Narrow]),
    output: &[f32],
    second: &mut [Narrow],
) -> LaterGradients {
    let mut gradients = LaterGradients::ZERO;
    let active = active_second.iter().zip(active_third);
    for ((active, &output), second) in active.zip(output).zip(second) {
        let (active_second, active_third) = active;
        let Some((weights, _)) = &stack.output else {
            *second = Narrow::padded(&[output]);
            gradients.second_bias.add_times(lanes, 1.0, second);
            continue;
        };
        gradients.output_bias += output;
        let mut sums = [lanes.splat(0.0); LATER / 16];
        add_times(lanes, &mut sums, output, weights);
        if let Some(stack_third) = &stack.third {
            gradients.output.add_times(lanes, output, active_third);
            let mut third = Narrow::ZERO;
            third.store(lanes, where_inside(lanes, sums, active_third));
            gradients.third_bias.add_times(lanes, 1.0, &third);
            for (row, active) in gradients.third.iter_mut().zip(active_second.numbers()) {
                row.add_times(lanes, *active, &third);
            }

            sums = [lanes.splat(0.0); LATER / 16];
            for (row, third) in stack_third.transposed.iter().zip(third.numbers()) {
                add_times(lanes, &mut sums, *third, row);
            }
        } else {
            gradients.output.add_times(lanes, output, active_second);
        }
        second.store(lanes, where_inside(lanes, sums, active_second));
        gradients.second_bias.add_times(lanes, 1.0, second);
    }
    gradients
}

/// Adds a block's part to the gradient of the second layer's weights: `rows`, one for each neuron
/// of the slice.
#[inline(always)]
fn second_layer<L: Lanes>(lanes: L, active: &[Wide], second: &[Narrow], rows: &mut [Narrow]) {
    let mut at = 0;
    while at < SLICE {
        if L::ROWS == 8 {
            second_layer_of::<L, 8>(lanes, active, second, at, rows);
        } else {
            second_layer_of::<L, 2>(lanes, active, second, at, rows);
        }
        at += L::ROWS;
    }
}

/// [`second_layer`] for `ROWS` neurons, few enough for their sums to fit the registers.
#[inline(always)]
fn second_layer_of<L: Lanes, const ROWS: usize>(
    lanes: L,
    active: &[Wide],
    second: &[Narrow],
    at: usize,
    rows: &mut [Narrow],
) {
    let rows: &mut [Narrow; ROWS] = (&mut rows[at..][..ROWS]).try_into().expect("of this size");
    let mut sums = [[lanes.splat(0.0); LATER / 16]; ROWS];
    for (sums, row) in sums.iter_mut().zip(&*rows) {
        *sums = row.load(lanes);
    }
    for (active, second) in active.iter().zip(second) {
        let active: &[f32; ROWS] = active.numbers()[at..][..ROWS]
            .try_into()
            .expect("of this size");
        for (sums, active) in sums.iter_mut().zip(active) {
            add_times(lanes, sums, *active, second);
        }
    }
    for (sums, row) in sums.into_iter().zip(rows) {
        row.store(lanes, sums);
    }
}

/// Writes the gradient of a slice of the first layer's sums to `outs`; the second part is used only
/// where activations are products of two neurons.
#[inline(always)]
fn into_first_layer<L: Lanes>(
    lanes: L,
    transposed: &[Wide],
    gate: Gate,
    second: &[Narrow],
    outs: (&mut [Wide], &mut [Wide]),
) {
    let (mut at, samples) = (0, second.len());
    while L::ROWS == 8 && at + 4 <= samples {
        into_first_layer_of::<L, 4>(lanes, transposed, gate, second, at, (outs.0, outs.1));
        at += 4;
    }
    while at < samples {
        into_first_layer_of::<L, 1>(lanes, transposed, gate, second, at, (outs.0, outs.1));
        at += 1;
    }
}

/// [`into_first_layer`] for `SAMPLES` samples, few enough for their sums to fit the registers.
#[inline(always)]
fn into_first_layer_of<L: Lanes, const SAMPLES: usize>(
    lanes: L,
    transposed: &[Wide],
    gate: Gate,
    second: &[Narrow],
    at: usize,
    outs: (&mut [Wide], &mut [Wide]),
) {
    let second: &[Narrow; SAMPLES] = second[at..][..SAMPLES].try_into().expect("of this size");
    let mut sums = [[lanes.splat(0.0); SLICE / 16]; SAMPLES];
    for (neuron, row) in transposed.iter().enumerate() {
        for (sums, second) in sums.iter_mut().zip(second) {
            add_times(lanes, sums, second.numbers()[neuron], row);
        }
    }
    for (sample, sums) in (at..).zip(sums) {
        match gate {
            Gate::Clipped(active) => {
                outs.0[sample].store(lanes, where_inside(lanes, sums, &active[sample]));
            }
            Gate::Squared(clipped) => {
                let clipped = &clipped[sample];
                let once = times(lanes, sums, clipped);
                let mut sums = once;
                for (sum, once) in sums.iter_mut().zip(once) {
                    *sum = lanes.add(*sum, once);
                }
                outs.0[sample].store(lanes, where_inside(lanes, sums, clipped));
            }
            Gate::Pairwise(left, right) => {
                let (left, right) = (&left[sample], &right[sample]);
                let to_left = times(lanes, sums, right);
                outs.0[sample].store(lanes, where_inside(lanes, to_left, left));
                let to_right = times(lanes, sums, left);
                outs.1[sample].store(lanes, where_inside(lanes, to_right, right));
            }
        }
    }
}

/// Adds a block's part to a slice of the first layer's gradient: to each input's row, the sums'
/// gradients of the samples with that input on.
#[inline(always)]
fn first_layer<L: Lanes>(
    lanes: L,
    by_input: &ByInput,
    sums: &[Wide],
    table: &mut [Wide],
    bias: &mut Wide,
) {
    let mut total = bias.load(lanes);
    for row in sums {
        add(lanes, &mut total, row);
    }
    bias.store(lanes, total);
    for (samples, row) in by_input.inputs().zip(table) {
        let mut total = row.load(lanes);
        for &sample in samples {
            add(lanes, &mut total, &sums[usize::from(sample)]);
        }
        row.store(lanes, total);
    }
}
