//! Code common to all kernels, inlined into functions that are compiled for the instructions of one
//! kernel.

use std::mem::MaybeUninit;

use crate::accumulator::{ACTIVATION_MAX, BLOCK, Block};
use crate::layers::{Aligned, First, Hidden, Output, Second, Stack, Sums, Weights2};
use crate::{
    Accumulated, Accumulator, Activation, Feature, MAX_FIRST, MAX_LATER, MAX_TRANSIENT, PolicyMove,
    QuantisedNetwork, QuantisedPolicy,
};

/// Kernel-specific arithmetic: products of the second and third layer, and activations for which
/// the compiler would not find the best instructions. A method without a default needs bodies in
/// `scalar.rs`, `x86.rs` (three), `neon.rs` and `simd128.rs`; the last two compile only for their
/// targets.
pub(super) trait Arithmetic {
    /// Adds the products of activations and weights to the sums. `inputs` must match the number of
    /// weights.
    ///
    /// # Safety
    /// The processor has the kernel's instructions.
    unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], second: &Second);

    /// Returns the sum of the products of activations and output weights, equal in number.
    ///
    /// # Safety
    /// The processor has the kernel's instructions.
    #[inline(always)]
    unsafe fn output(inputs: &[[u8; BLOCK]], output: &Output) -> i32 {
        let pairs = inputs
            .as_flattened()
            .iter()
            .zip(output.weight.as_flattened());
        pairs.map(|(&x, &w)| i32::from(x) * i32::from(w)).sum()
    }

    /// Returns first-layer activations of one block of sums: shifted right and clamped to
    /// 0..=[`ACTIVATION_MAX`].
    ///
    /// # Safety
    /// The processor has the kernel's instructions.
    #[inline(always)]
    unsafe fn activate_first(sums: Block, shift: u32) -> [u8; BLOCK] {
        let mut activations = [0; BLOCK];
        for (activation, sum) in activations.iter_mut().zip(sums.0) {
            *activation = (sum >> shift).clamp(0, ACTIVATION_MAX as i16) as u8;
        }
        activations
    }

    /// Returns the products of two blocks of first-layer sums, each clamped to 0 to one,
    /// `a * b >> (7 + 2 * shift)`: one times one is 126, `ACTIVATION_MAX * ACTIVATION_MAX / 128`.
    /// `shift` is at most 4.
    ///
    /// # Safety
    /// The processor has the kernel's instructions.
    #[inline(always)]
    unsafe fn multiply_first(a: Block, b: Block, shift: u32) -> [u8; BLOCK] {
        let one = (ACTIVATION_MAX << shift) as i16;
        let mut activations = [0; BLOCK];
        // Iterate by reference: for arrays by value, compilers use vectors of half a block at most.
        let pairs = a.0.iter().zip(&b.0);
        for (activation, (&a, &b)) in activations.iter_mut().zip(pairs) {
            let (a, b) = (a.clamp(0, one) as u16, b.clamp(0, one) as u16);
            // The left shift leaves the result in the upper half of 32 bits, for which there are
            // instructions.
            *activation = ((u32::from(a << (9 - 2 * shift)) * u32::from(b)) >> 16) as u8;
        }
        activations
    }

    /// Returns second-layer activations: sums clamped to `0..=top`, where `top` fits 16 bits.
    ///
    /// # Safety
    /// The processor has the kernel's instructions.
    #[inline(always)]
    unsafe fn activate_second(sums: &Sums, top: i32) -> [[i16; 2]; MAX_LATER / 2] {
        let mut activations = [[0; 2]; MAX_LATER / 2];
        for (activation, sum) in activations.as_flattened_mut().iter_mut().zip(sums) {
            *activation = (*sum).clamp(0, top) as i16;
        }
        activations
    }

    /// Adds the products of the third layer, like [`Arithmetic::add_second`].
    ///
    /// # Safety
    /// The processor has the kernel's instructions.
    unsafe fn add_third(
        sums: &mut Sums,
        inputs: &[[i16; 2]; MAX_LATER / 2],
        weights: &[Weights2; MAX_LATER / 2],
    );
}

/// Sets `child` to `parent` with inputs added and removed. The usual changes of a move take one
/// pass.
#[inline(always)]
pub(super) fn update(
    first: &First,
    parent: &Accumulator,
    (added, removed): (&[Feature], &[Feature]),
    child: &mut Accumulator,
) {
    let from = Some(parent);
    match (added, removed) {
        (&[a], &[b]) => pass(first, from, [a], [b], child),
        (&[a], &[b, c]) => pass(first, from, [a], [b, c], child),
        (&[a, b], &[c, d]) => pass(first, from, [a, b], [c, d], child),
        _ => {
            child.0[..first.blocks].copy_from_slice(&parent.0[..first.blocks]);
            let (fours, rest) = added.as_chunks();
            for &four in fours {
                pass::<4, 0>(first, None, four, [], child);
            }
            for &feature in rest {
                pass(first, None, [feature], [], child);
            }
            for &feature in removed {
                pass(first, None, [], [feature], child);
            }
        }
    }
}

/// Makes one pass over `child`, starting from `parent`, or from `child` itself without one.
#[inline(always)]
fn pass<const A: usize, const R: usize>(
    first: &First,
    parent: Option<&Accumulator>,
    added: [Feature; A],
    removed: [Feature; R],
    child: &mut Accumulator,
) {
    let added = added.map(|feature| first.column(feature));
    let removed = removed.map(|feature| first.column(feature));
    for (index, target) in child.0[..first.blocks].iter_mut().enumerate() {
        let mut sum = parent.map_or(*target, |parent| parent.0[index]);
        // Wrapping: intermediate sums may leave the range proved for whole positions.
        for column in added {
            sum = zip(sum, column[index], i16::wrapping_add);
        }
        for column in removed {
            sum = zip(sum, column[index], i16::wrapping_sub);
        }
        *target = sum;
    }
}

#[inline(always)]
fn zip(mut a: Block, b: Block, f: impl Fn(i16, i16) -> i16) -> Block {
    for (x, y) in a.0.iter_mut().zip(b.0) {
        *x = f(*x, y);
    }
    a
}

/// Returns the value of a position in centipawns, from the side to move's point of view.
///
/// # Safety
/// The processor has the instructions of `P`.
#[inline(always)]
pub(super) unsafe fn evaluate<P: Arithmetic>(
    network: &QuantisedNetwork,
    position: &Accumulated,
) -> i32 {
    let first = &network.first;
    // Uninitialised: most networks use a small part of it.
    let mut inputs = Aligned([const { MaybeUninit::uninit() }; 2 * MAX_FIRST / BLOCK]);
    let blocks = network.views * network.activations;
    for begin in (0..blocks).step_by(network.activations) {
        let seen;
        let (accumulator, transient) = match begin {
            0 => (position.own, position.transient),
            _ => {
                let Some(other) = position.other else {
                    panic!("a network of both views needs both accumulators")
                };
                seen = seen_by_other(position.transient);
                (other, &seen[..position.transient.len()])
            }
        };
        let activations = &mut inputs.0[begin..][..network.activations];
        // SAFETY: guaranteed by the caller.
        unsafe { first_activations::<P>(first, accumulator, transient, activations) };
    }
    // SAFETY: the blocks of all views have been written.
    let inputs = unsafe { inputs.0[..blocks].assume_init_ref() };
    let stack = network.stack(position.pieces);
    // SAFETY: guaranteed by the caller.
    let (sum, shift) = unsafe {
        match stack {
            Stack::Output(output) => (P::output(inputs, output) + output.bias, output.shift),
            Stack::Hidden(layers) => behind_first::<P>(inputs, layers),
        }
    };
    // A pawn is `ACTIVATION_MAX << shift`: a shift, then a division by a constant, which compiles
    // to a product. Computed on magnitudes, so that halves round away from zero.
    let hundredfold = i64::from(sum) * 100;
    let half = i64::from(ACTIVATION_MAX) << shift >> 1;
    let rounded = (hundredfold.unsigned_abs() + half as u64) >> shift;
    let centipawns = (rounded / ACTIVATION_MAX as u64) as i32;
    if hundredfold < 0 {
        -centipawns
    } else {
        centipawns
    }
}

/// Appends the logits of moves, from the accumulator of all features.
///
/// # Safety
/// The processor has the instructions of `P`.
#[inline(always)]
pub(super) unsafe fn policy<P: Arithmetic>(
    policy: &QuantisedPolicy,
    accumulator: &Accumulator,
    moves: &[PolicyMove],
    logits: &mut Vec<f32>,
) {
    let mut hidden = Aligned([[0; BLOCK]; MAX_FIRST / BLOCK]);
    let hidden = &mut hidden.0[..policy.blocks()];
    for (block, &sums) in hidden.iter_mut().zip(&accumulator.0) {
        // SAFETY: guaranteed by the caller.
        *block = unsafe { P::multiply_first(sums, sums, policy.first.shift) };
    }
    logits.extend(moves.iter().map(|mv| {
        let of_rows = mv.rows().map(|row| {
            let row = policy.row(row);
            // SAFETY: guaranteed by the caller.
            row.unscaled(unsafe { P::output(hidden, row) })
        });
        of_rows.iter().sum::<f32>()
    }));
}

/// Returns transient inputs from the other side's point of view, then padding.
#[inline(always)]
fn seen_by_other(transient: &[Feature]) -> [Feature; MAX_TRANSIENT] {
    let mut seen = [Feature::IN_CHECK; MAX_TRANSIENT];
    for (seen, feature) in seen.iter_mut().zip(transient) {
        *seen = feature.seen_by_other();
    }
    seen
}

/// Returns the sum of the output, and log2 of its scale over [`ACTIVATION_MAX`], for a network with
/// hidden layers behind the first.
///
/// # Safety
/// The processor has the instructions of `P`.
#[inline(always)]
unsafe fn behind_first<P: Arithmetic>(inputs: &[[u8; BLOCK]], layers: &Hidden) -> (i32, u32) {
    let Hidden {
        second,
        third,
        fourth,
    } = layers;
    let (inputs, _) = inputs.as_flattened().as_chunks();
    let mut sums = second.bias;
    // SAFETY: guaranteed by the caller.
    unsafe { P::add_second(&mut sums, inputs, second) };
    let top = ACTIVATION_MAX << second.shift;
    debug_assert!(top <= i16::MAX.into());
    let mut shift = 0;
    if let Some(third) = third {
        // SAFETY: guaranteed by the caller.
        let inputs = unsafe { P::activate_second(&sums, top) };
        sums = third.bias;
        // SAFETY: guaranteed by the caller.
        unsafe { P::add_third(&mut sums, &inputs, &third.weight) };
        shift = third.shift;
    }
    let mut sum = fourth.bias;
    for (hidden, &weight) in sums.iter().zip(&fourth.weight) {
        sum += (hidden >> shift).clamp(0, top) * i32::from(weight);
    }
    (sum, second.shift + fourth.shift)
}

/// Writes the first-layer activations of one view.
///
/// # Safety
/// The processor has the instructions of `P`.
#[inline(always)]
unsafe fn first_activations<P: Arithmetic>(
    first: &First,
    accumulator: &Accumulator,
    transient: &[Feature],
    activations: &mut [MaybeUninit<[u8; BLOCK]>],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match *transient {
            [] => activate::<P, _>(first, accumulator, [], activations),
            [a] => activate::<P, _>(first, accumulator, [a], activations),
            [a, b] => activate::<P, _>(first, accumulator, [a, b], activations),
            [a, b, c] => activate::<P, _>(first, accumulator, [a, b, c], activations),
            [a, b, c, d] => activate::<P, _>(first, accumulator, [a, b, c, d], activations),
            [a, b, c, d, e] => activate::<P, _>(first, accumulator, [a, b, c, d, e], activations),
            [a, b, c, d, e, f] => {
                activate::<P, _>(first, accumulator, [a, b, c, d, e, f], activations);
            }
            [a, b, c, d, e, f, g] => {
                activate::<P, _>(first, accumulator, [a, b, c, d, e, f, g], activations);
            }
            [a, b, c, d, e, f, g, ref rest @ ..] => {
                let mut complete = Accumulator::ZERO;
                update(first, accumulator, (rest, &[]), &mut complete);
                activate::<P, _>(first, &complete, [a, b, c, d, e, f, g], activations);
            }
        }
    }
}

/// Adds `N` transient inputs to the sums of an accumulator, and writes their activations.
///
/// # Safety
/// The processor has the instructions of `P`.
#[inline(always)]
unsafe fn activate<P: Arithmetic, const N: usize>(
    first: &First,
    accumulator: &Accumulator,
    transient: [Feature; N],
    activations: &mut [MaybeUninit<[u8; BLOCK]>],
) {
    let columns = transient.map(|feature| first.column(feature));
    let (sums, shift) = (&accumulator.0[..first.blocks], first.shift);
    let blocks = activations.iter_mut().enumerate();
    // SAFETY: guaranteed by the caller.
    unsafe {
        match first.activation {
            Activation::ClippedRelu => {
                for (index, block) in blocks {
                    block.write(P::activate_first(complete(sums, columns, index), shift));
                }
            }
            Activation::SquaredClippedRelu => {
                for (index, block) in blocks {
                    let sums = complete(sums, columns, index);
                    block.write(P::multiply_first(sums, sums, shift));
                }
            }
            Activation::PairwiseClippedRelu => {
                let half = blocks.len();
                for (index, block) in blocks {
                    let (a, b) = (
                        complete(sums, columns, index),
                        complete(sums, columns, half + index),
                    );
                    block.write(P::multiply_first(a, b, shift));
                }
            }
        }
    }
}

/// Returns a block of sums with transient inputs added.
#[inline(always)]
fn complete<const N: usize>(sums: &[Block], columns: [&[Block]; N], index: usize) -> Block {
    let mut sums = sums[index];
    for column in columns {
        sums = zip(sums, column[index], i16::wrapping_add);
    }
    sums
}
