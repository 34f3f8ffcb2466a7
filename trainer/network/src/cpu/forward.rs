//! The CPU's forward pass.

use models::INPUTS;
use rayon::prelude::*;

use super::lanes::{Lanes, Level, with_lanes};
use super::rows::{Narrow, SLICE, Wide, add, add_times, clip, dot, times};
use super::samples::{Block, split};
use super::weights::{Stack, Weights};
use crate::lists::Lists;

/// Activations of a batch, the inputs of the backward pass.
#[derive(Debug)]
pub(super) struct Activations {
    /// The first layer's clipped sums, `[slices * views * factors * samples]`; empty unless
    /// activations are products.
    pub(super) clipped: Vec<Wide>,
    /// The first layer's activations, `[slices * views * samples]`.
    pub(super) first: Vec<Wide>,
    /// The second layer's activations, `[samples]`; if it is the output, the value in the first
    /// lane.
    pub(super) second: Vec<Narrow>,
    /// The third layer's activations, `[samples]`.
    pub(super) third: Vec<Narrow>,
    /// Values in pawns, `[samples]`.
    pub(super) output: Vec<f32>,
}

/// Evaluates a batch.
pub(super) fn forward(level: Level, weights: &Weights, blocks: &[Block]) -> Activations {
    let samples: usize = blocks.iter().map(Block::len).sum();
    let layout = weights.layout;
    let (views, factors) = (layout.views, layout.factors);
    let mut first = vec![Wide::ZERO; layout.slices * views * samples];
    let kept = match layout.multiplies() {
        true => factors * samples,
        false => 0,
    };
    let mut clipped = vec![Wide::ZERO; layout.slices * views * kept];
    let kept_of: Vec<&mut [Wide]> = match kept {
        0 => first
            .chunks_exact(samples)
            .map(|_| Default::default())
            .collect(),
        _ => clipped.chunks_exact_mut(kept).collect(),
    };
    let parts = first.par_chunks_exact_mut(samples).zip(kept_of).enumerate();
    parts.for_each(|(part, (out, clipped))| {
        let (slice, view) = (part / views, part % views);
        let table = |factor: usize| {
            let index = slice * factors + factor;
            let table = &weights.first[index * INPUTS..][..INPUTS];
            (table, &weights.first_bias[index])
        };
        let sums = |factor: usize, out: &mut [Wide]| {
            let (table, bias) = table(factor);
            for (block, out) in blocks.iter().zip(split(blocks, out)) {
                with_lanes!(level, first_layer(table, bias, &block.views[view], out));
            }
        };
        if kept == 0 {
            return sums(0, out);
        }
        for (factor, clipped) in clipped.chunks_exact_mut(samples).enumerate() {
            sums(factor, clipped);
        }
        let (left, right) = (&clipped[..samples], &clipped[(factors - 1) * samples..]);
        with_lanes!(level, products(left, right, out));
    });
    let mut second = vec![Narrow::ZERO; samples];
    let mut third = vec![Narrow::ZERO; samples];
    let mut output = vec![0.0; samples];
    let hidden = split(blocks, &mut second).zip(split(blocks, &mut third));
    let outs: Vec<_> = hidden.zip(split(blocks, &mut output)).collect();
    let work = blocks.par_iter().zip(outs);
    work.for_each(|(block, ((second, third), output))| {
        let stack = &weights.stacks[block.bucket];
        // In the order of the weights' rows: by view, then by slice.
        let of_view = |view| (0..layout.slices).map(move |slice| slice * views + view);
        let parts = (0..views).flat_map(of_view);
        let slices: Vec<&[Wide]> = parts
            .map(|part| &first[part * samples + block.begin..][..output.len()])
            .collect();
        with_lanes!(level, second_layer(stack, &slices, second));
        with_lanes!(level, last_layers(stack, second, third, output));
    });
    Activations {
        clipped,
        first,
        second,
        third,
        output,
    }
}

/// Computes a slice of the first hidden layer: the sums of the active inputs' rows, clipped.
#[inline(always)]
fn first_layer<L: Lanes>(lanes: L, table: &[Wide], bias: &Wide, inputs: &Lists, out: &mut [Wide]) {
    let table: &[Wide; INPUTS] = table.try_into().expect("a row for each input");
    for (inputs, out) in inputs.iter().zip(out) {
        let mut sums = bias.load(lanes);
        for input in inputs {
            add(lanes, &mut sums, &table[input.index()]);
        }
        out.store(lanes, clip(lanes, sums));
    }
}

/// Multiplies clipped sums elementwise to activations.
#[inline(always)]
fn products<L: Lanes>(lanes: L, left: &[Wide], right: &[Wide], out: &mut [Wide]) {
    for ((left, right), out) in left.iter().zip(right).zip(out) {
        out.store(lanes, times(lanes, left.load(lanes), right));
    }
}

#[inline(always)]
fn second_layer<L: Lanes>(lanes: L, stack: &Stack, slices: &[&[Wide]], out: &mut [Narrow]) {
    let (mut at, samples) = (0, out.len());
    while L::ROWS == 8 && at + 8 <= samples {
        second_layer_of::<L, 8>(lanes, stack, slices, at, out);
        at += 8;
    }
    while at + 2 <= samples {
        second_layer_of::<L, 2>(lanes, stack, slices, at, out);
        at += 2;
    }
    if at < samples {
        second_layer_of::<L, 1>(lanes, stack, slices, at, out);
    }
}

/// Computes the second layer of `SAMPLES` samples, few enough for their sums to fit the registers.
#[inline(always)]
fn second_layer_of<L: Lanes, const SAMPLES: usize>(
    lanes: L,
    stack: &Stack,
    slices: &[&[Wide]],
    at: usize,
    out: &mut [Narrow],
) {
    let mut sums = [stack.second_bias.load(lanes); SAMPLES];
    for (rows, slice) in stack.second.chunks_exact(SLICE).zip(slices) {
        let active: &[Wide; SAMPLES] = slice[at..][..SAMPLES].try_into().expect("of this size");
        for (neuron, row) in rows.iter().enumerate() {
            for (sums, active) in sums.iter_mut().zip(active) {
                add_times(lanes, sums, active.numbers()[neuron], row);
            }
        }
    }
    let hidden = stack.output.is_some();
    for (sums, out) in sums.into_iter().zip(&mut out[at..]) {
        out.store(lanes, if hidden { clip(lanes, sums) } else { sums });
    }
}

#[inline(always)]
fn last_layers<L: Lanes>(
    lanes: L,
    stack: &Stack,
    second: &[Narrow],
    third: &mut [Narrow],
    output: &mut [f32],
) {
    for ((second, active_third), output) in second.iter().zip(third).zip(output) {
        let Some((weights, bias)) = &stack.output else {
            *output = second.numbers()[0];
            continue;
        };
        let Some(third) = &stack.third else {
            *output = bias + dot(second, weights);
            continue;
        };
        let mut sums = third.bias.load(lanes);
        for (active, row) in second.numbers().iter().zip(&third.rows) {
            add_times(lanes, &mut sums, *active, row);
        }
        active_third.store(lanes, clip(lanes, sums));
        *output = bias + dot(active_third, weights);
    }
}
