//! What all kernels have in common. Everything here is inlined into functions
//! that are compiled for the instructions of one kernel.

use crate::accumulator::{ACTIVATION_MAX, BLOCK, Block};
use crate::layers::{Aligned, First, Second, Sums, Weights2};
use crate::{Accumulator, Feature, MAX_FIRST, MAX_LATER, QuantisedNetwork};

/// What is done by the instructions of a kernel: the products of the second and third layer, and
/// the activations where the compiler would not find the best.
pub(super) trait Arithmetic {
    /// Adds the products of activations and weights to the sums. There are
    /// as many `inputs` as the layer has weights for.
    ///
    /// # Safety
    /// The processor has the kernel's instructions.
    unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], second: &Second);

    /// The first layer's activations, of a part of its sums: shifted to the right, and
    /// clamped to 0 to [`ACTIVATION_MAX`].
    ///
    /// # Safety
    /// The processor has the kernel's instructions.
    #[inline(always)]
    unsafe fn activate_first(sums: Block, shift: u32, activations: &mut [u8; BLOCK]) {
        for (activation, sum) in activations.iter_mut().zip(sums.0) {
            *activation = (sum >> shift).clamp(0, ACTIVATION_MAX as i16) as u8;
        }
    }

    /// The second layer's activations: its sums, clamped to 0 to `top`, which is no more
    /// than 16 bits hold.
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

    /// As [`Arithmetic::add_second`].
    ///
    /// # Safety
    /// The processor has the kernel's instructions.
    unsafe fn add_third(
        sums: &mut Sums,
        inputs: &[[i16; 2]; MAX_LATER / 2],
        weights: &[Weights2; MAX_LATER / 2],
    );
}

/// Makes `child` what `parent` is with inputs switched on and off. The changes
/// of a move are one pass.
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

/// One pass over `child`, which starts from `parent`, or from what it is.
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
        // Wrapping: on the way a sum may leave the range that every whole
        // position is proved to keep.
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

/// The value in centipawns of an accumulator with the transient inputs.
///
/// # Safety
/// The processor has the instructions of `P`.
#[inline(always)]
pub(super) unsafe fn evaluate<P: Arithmetic>(
    network: &QuantisedNetwork,
    accumulator: &Accumulator,
    transient: &[Feature],
) -> i32 {
    let QuantisedNetwork {
        first,
        second,
        third,
        fourth,
        ..
    } = network;
    let mut inputs = Aligned([0; MAX_FIRST]);
    // SAFETY: the caller's promise, in each of them.
    unsafe {
        match *transient {
            [] => activate::<P, _>(first, accumulator, [], &mut inputs.0),
            [a] => activate::<P, _>(first, accumulator, [a], &mut inputs.0),
            [a, b] => activate::<P, _>(first, accumulator, [a, b], &mut inputs.0),
            [a, b, c] => activate::<P, _>(first, accumulator, [a, b, c], &mut inputs.0),
            [a, b, c, d] => activate::<P, _>(first, accumulator, [a, b, c, d], &mut inputs.0),
            [a, b, c, d, e] => activate::<P, _>(first, accumulator, [a, b, c, d, e], &mut inputs.0),
            [a, b, c, d, e, f] => {
                activate::<P, _>(first, accumulator, [a, b, c, d, e, f], &mut inputs.0)
            }
            [a, b, c, d, e, f, g] => {
                activate::<P, _>(first, accumulator, [a, b, c, d, e, f, g], &mut inputs.0);
            }
            [a, b, c, d, e, f, g, ref rest @ ..] => {
                let mut complete = Accumulator::ZERO;
                update(first, accumulator, (rest, &[]), &mut complete);
                activate::<P, _>(first, &complete, [a, b, c, d, e, f, g], &mut inputs.0);
            }
        }
    }
    let (inputs, _) = inputs.0[..first.blocks * BLOCK].as_chunks();
    let mut sums = second.bias;
    // SAFETY: the caller's promise.
    unsafe { P::add_second(&mut sums, inputs, second) };
    let top = ACTIVATION_MAX << second.shift;
    debug_assert!(top <= i16::MAX.into());
    // SAFETY: the caller's promise.
    let inputs = unsafe { P::activate_second(&sums, top) };
    let mut sums = third.bias;
    // SAFETY: the caller's promise.
    unsafe { P::add_third(&mut sums, &inputs, &third.weight) };
    let sum: i32 = sums
        .iter()
        .zip(&fourth.weight)
        .map(|(sum, &weight)| (sum >> third.shift).clamp(0, top) * i32::from(weight))
        .sum();
    // A pawn is `ACTIVATION_MAX << shift`: a shift and a division by a constant, which
    // compiles to a product. By magnitude, so that halves round away from zero.
    let shift = second.shift + fourth.shift;
    let hundredfold = i64::from(sum + fourth.bias) * 100;
    let half = i64::from(ACTIVATION_MAX) << shift >> 1;
    let rounded = (hundredfold.unsigned_abs() + half as u64) >> shift;
    let centipawns = (rounded / ACTIVATION_MAX as u64) as i32;
    if hundredfold < 0 {
        -centipawns
    } else {
        centipawns
    }
}

/// The first layer's activations.
///
/// # Safety
/// The processor has the instructions of `P`.
#[inline(always)]
unsafe fn activate<P: Arithmetic, const N: usize>(
    first: &First,
    accumulator: &Accumulator,
    transient: [Feature; N],
    activations: &mut [u8; MAX_FIRST],
) {
    let columns = transient.map(|feature| first.column(feature));
    let (blocks, _) = activations.as_chunks_mut::<BLOCK>();
    let sums = &accumulator.0[..first.blocks];
    for (index, (block, &sums)) in blocks.iter_mut().zip(sums).enumerate() {
        let mut sums = sums;
        for column in columns {
            sums = zip(sums, column[index], i16::wrapping_add);
        }
        // SAFETY: the caller's promise.
        unsafe { P::activate_first(sums, first.shift, block) };
    }
}
