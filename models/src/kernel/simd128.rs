//! WebAssembly's simd128.

use std::arch::wasm32::*;

use super::forward::{self, Products};
use crate::layers::{First, Sums, Weights2, Weights4};
use crate::{Accumulator, Feature, MAX_LATER, QuantisedNetwork};

struct Simd128;

impl Products for Simd128 {
    #[inline(always)]
    unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], weights: &[Weights4]) {
        // Sixteen outputs at a time, for each the sums of even and of odd
        // pairs of inputs: eight registers of four sums.
        for half in 0..2 {
            let mut totals = [i32x4_splat(0); 8];
            for (&input, weights) in inputs.iter().zip(weights) {
                let input = u16x8_extend_low_u8x16(u32x4_splat(u32::from_le_bytes(input)));
                let (pairs, _) = weights.0[16 * half..][..16].as_chunks::<2>();
                for (total, pair) in totals.iter_mut().zip(pairs) {
                    // SAFETY: a pair of outputs has eight weights of a byte.
                    let weights = unsafe { i16x8_load_extend_i8x8(pair.as_ptr().cast()) };
                    *total = i32x4_add(*total, i32x4_dot_i16x8(input, weights));
                }
            }
            for (sums, total) in sums[16 * half..].chunks_exact_mut(2).zip(totals) {
                sums[0] += i32x4_extract_lane::<0>(total) + i32x4_extract_lane::<1>(total);
                sums[1] += i32x4_extract_lane::<2>(total) + i32x4_extract_lane::<3>(total);
            }
        }
    }

    #[inline(always)]
    unsafe fn add_third(
        sums: &mut Sums,
        inputs: &[[i16; 2]; MAX_LATER / 2],
        weights: &[Weights2; MAX_LATER / 2],
    ) {
        let mut totals = [i32x4_splat(0); 8];
        for (input, weights) in inputs.iter().zip(weights) {
            // SAFETY: an input has two numbers of 16 bits.
            let input = unsafe { v128_load32_splat(input.as_ptr().cast()) };
            let (fours, _) = weights.0.as_chunks::<4>();
            for (total, four) in totals.iter_mut().zip(fours) {
                // SAFETY: four outputs have eight weights of 16 bits.
                let weights = unsafe { v128_load(four.as_ptr().cast()) };
                *total = i32x4_add(*total, i32x4_dot_i16x8(input, weights));
            }
        }
        for (sums, total) in sums.chunks_exact_mut(4).zip(totals) {
            sums[0] += i32x4_extract_lane::<0>(total);
            sums[1] += i32x4_extract_lane::<1>(total);
            sums[2] += i32x4_extract_lane::<2>(total);
            sums[3] += i32x4_extract_lane::<3>(total);
        }
    }
}

pub(super) fn update(
    first: &First,
    parent: &Accumulator,
    change: (&[Feature], &[Feature]),
    child: &mut Accumulator,
) {
    forward::update(first, parent, change, child);
}

pub(super) fn evaluate(network: &QuantisedNetwork, accumulator: &Accumulator) -> i32 {
    // SAFETY: this module is compiled only for builds with simd128.
    unsafe { forward::evaluate::<Simd128>(network, accumulator) }
}
