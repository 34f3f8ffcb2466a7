//! NEON, which every 64-bit Arm processor has.

use std::arch::aarch64::*;

use super::forward::{self, Arithmetic};
use crate::layers::{First, Second, Sums, Weights2};
use crate::{Accumulated, Accumulator, Feature, MAX_LATER, QuantisedNetwork};

struct Neon;

impl Arithmetic for Neon {
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], second: &Second) {
        let mut totals = load(sums);
        for (&input, weights) in inputs.iter().zip(&second.weight) {
            // Activations have seven bits: they are the same with a sign.
            let input = vreinterpretq_s8_u32(vdupq_n_u32(u32::from_le_bytes(input)));
            let (fours, _) = weights.0.as_chunks::<4>();
            for (total, four) in totals.iter_mut().zip(fours) {
                // SAFETY: four outputs have sixteen weights of a byte.
                let weights = unsafe { vld1q_s8(four.as_ptr().cast()) };
                let low = vmull_s8(vget_low_s8(input), vget_low_s8(weights));
                let high = vmull_high_s8(input, weights);
                // Two products are 2 * 127 * 127 = 32,258 at most.
                *total = vpadalq_s16(*total, vpaddq_s16(low, high));
            }
        }
        store(sums, totals);
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn add_third(
        sums: &mut Sums,
        inputs: &[[i16; 2]; MAX_LATER / 2],
        weights: &[Weights2; MAX_LATER / 2],
    ) {
        let mut totals = load(sums);
        for (&[even, odd], weights) in inputs.iter().zip(weights) {
            let (fours, _) = weights.0.as_chunks::<4>();
            for (total, four) in totals.iter_mut().zip(fours) {
                // SAFETY: four outputs have two weights of 16 bits each.
                let weights = unsafe { vld2_s16(four.as_ptr().cast()) };
                *total = vmlal_n_s16(*total, weights.0, even);
                *total = vmlal_n_s16(*total, weights.1, odd);
            }
        }
        store(sums, totals);
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load(sums: &Sums) -> [int32x4_t; 8] {
    let mut totals = [vdupq_n_s32(0); 8];
    for (total, four) in totals.iter_mut().zip(sums.as_chunks::<4>().0) {
        // SAFETY: `four` is what it loads.
        *total = unsafe { vld1q_s32(four.as_ptr()) };
    }
    totals
}

#[inline]
#[target_feature(enable = "neon")]
fn store(sums: &mut Sums, totals: [int32x4_t; 8]) {
    for (four, total) in sums.as_chunks_mut::<4>().0.iter_mut().zip(totals) {
        // SAFETY: `four` is what it stores.
        unsafe { vst1q_s32(four.as_mut_ptr(), total) };
    }
}

#[target_feature(enable = "neon")]
pub(super) fn update(
    first: &First,
    parent: &Accumulator,
    change: (&[Feature], &[Feature]),
    child: &mut Accumulator,
) {
    forward::update(first, parent, change, child);
}

#[target_feature(enable = "neon")]
pub(super) fn evaluate(network: &QuantisedNetwork, position: &Accumulated) -> i32 {
    // SAFETY: this function has the same feature.
    unsafe { forward::evaluate::<Neon>(network, position) }
}
