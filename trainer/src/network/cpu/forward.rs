//! The forward pass.

use models::INPUTS;
use rayon::prelude::*;

use super::lanes::{Lanes, Level, with_lanes};
use super::rows::{Narrow, SLICE, Wide, add, add_times, clip, dot};
use super::samples::{BLOCK, Block};
use super::weights::Weights;

/// What the neurons of a batch say; what the backward pass starts from.
#[derive(Debug)]
pub(super) struct Activations {
    /// `[slices * samples]`.
    pub(super) first: Vec<Wide>,
    /// `[samples]`.
    pub(super) second: Vec<Narrow>,
    /// `[samples]`.
    pub(super) third: Vec<Narrow>,
    /// `[samples]`, in pawns.
    pub(super) output: Vec<f32>,
}

/// Evaluates a batch.
pub(super) fn forward(level: Level, weights: &Weights, blocks: &[Block]) -> Activations {
    let samples = blocks.iter().map(Block::len).sum();
    let mut first = vec![Wide::ZERO; weights.slices() * samples];
    let slices = first.par_chunks_exact_mut(samples).enumerate();
    slices.for_each(|(slice, out)| {
        let table = &weights.first[slice * INPUTS..][..INPUTS];
        let bias = &weights.first_bias[slice];
        for (block, out) in blocks.iter().zip(out.chunks_mut(BLOCK)) {
            with_lanes!(level, first_layer(table, bias, block, out));
        }
    });
    let mut second = vec![Narrow::ZERO; samples];
    let mut third = vec![Narrow::ZERO; samples];
    let mut output = vec![0.0; samples];
    let outs = (second.par_chunks_mut(BLOCK), third.par_chunks_mut(BLOCK));
    let outs = outs.into_par_iter().zip(output.par_chunks_mut(BLOCK));
    outs.enumerate()
        .for_each(|(block, ((second, third), output))| {
            let slices: Vec<&[Wide]> = first
                .chunks_exact(samples)
                .map(|slice| &slice[block * BLOCK..][..output.len()])
                .collect();
            with_lanes!(level, second_layer(weights, &slices, second));
            with_lanes!(level, last_layers(weights, second, third, output));
        });
    Activations {
        first,
        second,
        third,
        output,
    }
}

/// A slice of the first hidden layer: sums of the active inputs' rows.
#[inline(always)]
fn first_layer<L: Lanes>(lanes: L, table: &[Wide], bias: &Wide, block: &Block, out: &mut [Wide]) {
    let table: &[Wide; INPUTS] = table.try_into().expect("a row for each input");
    for (inputs, out) in block.samples().zip(out) {
        let mut sums = bias.load(lanes);
        for &input in inputs {
            add(lanes, &mut sums, &table[usize::from(input)]);
        }
        out.store(lanes, clip(lanes, sums));
    }
}

#[inline(always)]
fn second_layer<L: Lanes>(lanes: L, weights: &Weights, slices: &[&[Wide]], out: &mut [Narrow]) {
    let (mut at, samples) = (0, out.len());
    while L::ROWS == 8 && at + 8 <= samples {
        second_layer_of::<L, 8>(lanes, weights, slices, at, out);
        at += 8;
    }
    while at + 2 <= samples {
        second_layer_of::<L, 2>(lanes, weights, slices, at, out);
        at += 2;
    }
    if at < samples {
        second_layer_of::<L, 1>(lanes, weights, slices, at, out);
    }
}

/// The second hidden layer of `SAMPLES` samples, whose sums fit the registers.
#[inline(always)]
fn second_layer_of<L: Lanes, const SAMPLES: usize>(
    lanes: L,
    weights: &Weights,
    slices: &[&[Wide]],
    at: usize,
    out: &mut [Narrow],
) {
    let mut sums = [weights.second_bias.load(lanes); SAMPLES];
    for (rows, slice) in weights.second.chunks_exact(SLICE).zip(slices) {
        let active: &[Wide; SAMPLES] = slice[at..][..SAMPLES].try_into().expect("of this size");
        for (neuron, row) in rows.iter().enumerate() {
            for (sums, active) in sums.iter_mut().zip(active) {
                add_times(lanes, sums, active.numbers()[neuron], row);
            }
        }
    }
    for (sums, out) in sums.into_iter().zip(&mut out[at..]) {
        out.store(lanes, clip(lanes, sums));
    }
}

#[inline(always)]
fn last_layers<L: Lanes>(
    lanes: L,
    weights: &Weights,
    second: &[Narrow],
    third: &mut [Narrow],
    output: &mut [f32],
) {
    for ((second, third), output) in second.iter().zip(third).zip(output) {
        let mut sums = weights.third_bias.load(lanes);
        for (active, row) in second.numbers().iter().zip(&weights.third) {
            add_times(lanes, &mut sums, *active, row);
        }
        third.store(lanes, clip(lanes, sums));
        *output = weights.fourth_bias + dot(third, &weights.fourth);
    }
}
