//! The backward pass.

use models::INPUTS;
use rayon::prelude::*;

use super::forward::Activations;
use super::lanes::{Lanes, Level, with_lanes};
use super::rows::{LATER, Narrow, SLICE, Wide, add, add_times, where_inside};
use super::samples::{BLOCK, Block, ByInput};
use super::weights::{Gradients, LaterGradients, Weights};

/// The gradient of the weights, from the gradient of the outputs, `[samples]`.
pub(super) fn backward(
    level: Level,
    weights: &Weights,
    blocks: &[Block],
    activations: &Activations,
    output: &[f32],
) -> Gradients {
    let samples = output.len();
    let mut second = vec![Narrow::ZERO; samples];
    let active = (
        activations.second.par_chunks(BLOCK),
        activations.third.par_chunks(BLOCK),
    );
    let (by_input, later): (Vec<ByInput>, Vec<LaterGradients>) = blocks
        .par_iter()
        .zip(active.into_par_iter())
        .zip((output.par_chunks(BLOCK), second.par_chunks_mut(BLOCK)).into_par_iter())
        .map(|((block, active), (output, second))| {
            let later = with_lanes!(level, last_layers(weights, active, output, second));
            (block.by_input(), later)
        })
        .unzip();
    let mut gradients = Gradients::zero(weights.slices());
    // In this order whatever the threads did.
    for later in &later {
        gradients.later.add(later);
    }
    let outs = (
        gradients.first.par_chunks_exact_mut(INPUTS),
        &mut gradients.first_bias,
        gradients.second.par_chunks_exact_mut(SLICE),
    );
    let slices = outs.into_par_iter().enumerate();
    slices.for_each(|(slice, (table, bias, rows))| {
        let active = &activations.first[slice * samples..][..samples];
        let transposed = &weights.second_transposed[slice * LATER..][..LATER];
        let mut sums = vec![Wide::ZERO; BLOCK.min(samples)];
        let parts = active.chunks(BLOCK).zip(second.chunks(BLOCK));
        for (by_input, (active, second)) in by_input.iter().zip(parts) {
            let sums = &mut sums[..active.len()];
            with_lanes!(level, second_layer(active, second, rows));
            with_lanes!(level, into_first_layer(transposed, active, second, sums));
            with_lanes!(level, first_layer(by_input, sums, table, bias));
        }
    });
    gradients
}

/// The third and fourth layer. The gradient of the second hidden layer's sums
/// goes to `second`.
#[inline(always)]
fn last_layers<L: Lanes>(
    lanes: L,
    weights: &Weights,
    (active_second, active_third): (&[Narrow], &[Narrow]),
    output: &[f32],
    second: &mut [Narrow],
) -> LaterGradients {
    let mut gradients = LaterGradients::ZERO;
    let active = active_second.iter().zip(active_third);
    for ((active, &output), second) in active.zip(output).zip(second) {
        let (active_second, active_third) = active;
        gradients.fourth_bias += output;
        gradients.fourth.add_times(lanes, output, active_third);

        let mut sums = [lanes.splat(0.0); LATER / 16];
        add_times(lanes, &mut sums, output, &weights.fourth);
        let mut third = Narrow::ZERO;
        third.store(lanes, where_inside(lanes, sums, active_third));
        gradients.third_bias.add_times(lanes, 1.0, &third);
        for (row, active) in gradients.third.iter_mut().zip(active_second.numbers()) {
            row.add_times(lanes, *active, &third);
        }

        let mut sums = [lanes.splat(0.0); LATER / 16];
        for (row, third) in weights.third_transposed.iter().zip(third.numbers()) {
            add_times(lanes, &mut sums, *third, row);
        }
        second.store(lanes, where_inside(lanes, sums, active_second));
        gradients.second_bias.add_times(lanes, 1.0, second);
    }
    gradients
}

/// Adds a block's part to the gradient of the second layer's weights, `rows`,
/// one a neuron of the slice.
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

/// The same for `ROWS` neurons, whose sums fit the registers.
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

/// The gradient of a slice of the first hidden layer's sums.
#[inline(always)]
fn into_first_layer<L: Lanes>(
    lanes: L,
    transposed: &[Wide],
    active: &[Wide],
    second: &[Narrow],
    out: &mut [Wide],
) {
    let (mut at, samples) = (0, out.len());
    while L::ROWS == 8 && at + 4 <= samples {
        into_first_layer_of::<L, 4>(lanes, transposed, active, second, at, out);
        at += 4;
    }
    while at < samples {
        into_first_layer_of::<L, 1>(lanes, transposed, active, second, at, out);
        at += 1;
    }
}

/// The same for `SAMPLES` samples, whose sums fit the registers.
#[inline(always)]
fn into_first_layer_of<L: Lanes, const SAMPLES: usize>(
    lanes: L,
    transposed: &[Wide],
    active: &[Wide],
    second: &[Narrow],
    at: usize,
    out: &mut [Wide],
) {
    let second: &[Narrow; SAMPLES] = second[at..][..SAMPLES].try_into().expect("of this size");
    let mut sums = [[lanes.splat(0.0); SLICE / 16]; SAMPLES];
    for (neuron, row) in transposed.iter().enumerate() {
        for (sums, second) in sums.iter_mut().zip(second) {
            add_times(lanes, sums, second.numbers()[neuron], row);
        }
    }
    for ((sums, active), out) in sums.into_iter().zip(&active[at..]).zip(&mut out[at..]) {
        out.store(lanes, where_inside(lanes, sums, active));
    }
}

/// Adds a block's part to a slice of the gradient of the first layer: to an
/// input's row, the sums' gradients of the samples where it is on.
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
