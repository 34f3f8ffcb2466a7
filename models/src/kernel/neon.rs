//! NEON kernel; every 64-bit Arm processor has it.

use std::arch::aarch64::*;

use super::forward::{self, Arithmetic};
use crate::accumulator::{ACTIVATION_MAX, BLOCK, Block};
use crate::layers::{First, Output, Second, Sums, Weights2};
use crate::{
    Accumulated, Accumulator, Feature, MAX_LATER, PolicyMove, QuantisedNetwork, QuantisedPolicy,
};

struct Neon;

impl Arithmetic for Neon {
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], second: &Second) {
        let mut totals = load(sums);
        for (&input, weights) in inputs.iter().zip(&second.weight) {
            // Seven-bit activations are the same as signed bytes.
            let input = vreinterpretq_s8_u32(vdupq_n_u32(u32::from_le_bytes(input)));
            let (fours, _) = weights.0.as_chunks::<4>();
            for (total, four) in totals.iter_mut().zip(fours) {
                // SAFETY: four outputs have sixteen one-byte weights.
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
    unsafe fn output(inputs: &[[u8; BLOCK]], output: &Output) -> i32 {
        let mut sums = [vdupq_n_s32(0); 2];
        let (inputs, _) = inputs.as_flattened().as_chunks::<16>();
        let (weights, _) = output.weight.as_flattened().as_chunks::<16>();
        for (index, (inputs, weights)) in inputs.iter().zip(weights).enumerate() {
            // Seven-bit activations are the same as signed bytes.
            // SAFETY: each load reads the 16 bytes of its chunk.
            let (inputs, weights) =
                unsafe { (vld1q_s8(inputs.as_ptr().cast()), vld1q_s8(weights.as_ptr())) };
            let low = vmull_s8(vget_low_s8(inputs), vget_low_s8(weights));
            // Two products are 2 * 127 * 127 = 32,258 at most.
            let products = vmlal_high_s8(low, inputs, weights);
            let sum = &mut sums[index % 2];
            *sum = vpadalq_s16(*sum, products);
        }
        vaddvq_s32(vaddq_s32(sums[0], sums[1]))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn multiply_first(a: Block, b: Block, shift: u32) -> [u8; BLOCK] {
        let (zero, one) = (
            vdupq_n_s16(0),
            vdupq_n_s16((ACTIVATION_MAX << shift) as i16),
        );
        let left = vdupq_n_s16(9 - 2 * shift as i16);
        // SAFETY: a block has 32 sums, and each load reads 8 of them.
        let clamped = |sums: &Block, at: usize| unsafe {
            let sums = vld1q_s16(sums.0.as_ptr().add(at));
            vreinterpretq_u16_s16(vminq_s16(vmaxq_s16(sums, zero), one))
        };
        // Upper halves of the products, as in the default method.
        let products = |at: usize| {
            let (a, b) = (vshlq_u16(clamped(&a, at), left), clamped(&b, at));
            let low = vmull_u16(vget_low_u16(a), vget_low_u16(b));
            vshrn_high_n_u32::<16>(vshrn_n_u32::<16>(low), vmull_high_u16(a, b))
        };
        let mut activations = [0; BLOCK];
        for (half, at) in activations.as_chunks_mut::<16>().0.iter_mut().zip([0, 16]) {
            let bytes = vmovn_high_u16(vmovn_u16(products(at)), products(at + 8));
            // SAFETY: `half` has the 16 bytes that are stored.
            unsafe { vst1q_u8(half.as_mut_ptr(), bytes) };
        }
        activations
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
                // SAFETY: four outputs have two 16-bit weights each.
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
        // SAFETY: `four` has the four numbers that are loaded.
        *total = unsafe { vld1q_s32(four.as_ptr()) };
    }
    totals
}

#[inline]
#[target_feature(enable = "neon")]
fn store(sums: &mut Sums, totals: [int32x4_t; 8]) {
    for (four, total) in sums.as_chunks_mut::<4>().0.iter_mut().zip(totals) {
        // SAFETY: `four` has room for the four numbers.
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
    // SAFETY: this function enables the same feature.
    unsafe { forward::evaluate::<Neon>(network, position) }
}

#[target_feature(enable = "neon")]
pub(super) fn policy(
    policy: &QuantisedPolicy,
    accumulator: &Accumulator,
    moves: &[PolicyMove],
    logits: &mut Vec<f32>,
) {
    // SAFETY: this function enables the same feature.
    unsafe { forward::policy::<Neon>(policy, accumulator, moves, logits) }
}
