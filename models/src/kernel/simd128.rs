//! WebAssembly's simd128 kernel.

use std::arch::wasm32::*;

use super::forward::{self, Arithmetic};
use crate::accumulator::{ACTIVATION_MAX, BLOCK, Block};
use crate::bits::ones;
use crate::layers::{First, Output, Second, Sums, Weights2};
use crate::{
    Accumulated, Accumulator, Feature, MAX_LATER, PolicyMove, QuantisedNetwork, QuantisedPolicy,
};

struct Simd128;

impl Arithmetic for Simd128 {
    #[inline(always)]
    unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], second: &Second) {
        let mut totals = [i32x4_splat(0); 8];
        let (inputs, _) = inputs.as_flattened().as_chunks::<2>();
        for (inputs, weights) in inputs.chunks(64).zip(second.pairs.chunks(64)) {
            // Most activations are zero, and so are many pairs of them.
            let lanes = |pairs| u64::from(i16x8_bitmask(i16x8_ne(pairs, i16x8_splat(0))));
            for index in ones(not_zero::<_, 8>(inputs, lanes)) {
                let index = index as usize;
                let input = u16x8_extend_low_u8x16(u16x8_splat(u16::from_le_bytes(inputs[index])));
                multiply_add(&mut totals, input, &weights[index]);
            }
        }
        add_to(sums, totals);
    }

    #[inline(always)]
    unsafe fn output(inputs: &[[u8; BLOCK]], output: &Output) -> i32 {
        let mut sums = [i32x4_splat(0); 2];
        let (inputs, _) = inputs.as_flattened().as_chunks::<16>();
        let (weights, _) = output.weight.as_flattened().as_chunks::<16>();
        for (inputs, weights) in inputs.iter().zip(weights) {
            // SAFETY: each load reads the 16 bytes of its chunk, and may be unaligned.
            let (inputs, weights) = unsafe {
                let inputs = v128_load(inputs.as_ptr().cast());
                (inputs, v128_load(weights.as_ptr().cast()))
            };
            let inputs = [
                u16x8_extend_low_u8x16(inputs),
                u16x8_extend_high_u8x16(inputs),
            ];
            let weights = [
                i16x8_extend_low_i8x16(weights),
                i16x8_extend_high_i8x16(weights),
            ];
            for ((sum, inputs), weights) in sums.iter_mut().zip(inputs).zip(weights) {
                *sum = i32x4_add(*sum, i32x4_dot_i16x8(inputs, weights));
            }
        }
        let fours = i32x4_add(sums[0], sums[1]);
        let twos = i32x4_add(fours, i32x4_shuffle::<2, 3, 0, 1>(fours, fours));
        i32x4_extract_lane::<0>(twos) + i32x4_extract_lane::<1>(twos)
    }

    #[inline(always)]
    unsafe fn activate_first(sums: Block, shift: u32) -> [u8; BLOCK] {
        let mut activations = [0; BLOCK];
        let (halves, _) = activations.as_chunks_mut::<16>();
        let (sums, _) = sums.0.as_chunks::<16>();
        for (half, sums) in halves.iter_mut().zip(sums) {
            let sums = sums.as_ptr().cast::<v128>();
            // SAFETY: the chunks hold 16 sums of two bytes and 16 activations of one byte; accesses
            // may be unaligned.
            unsafe {
                let [low, high] = [0, 1].map(|i| i16x8_shr(v128_load(sums.add(i)), shift));
                // Negative sums become zero.
                let bytes = u8x16_narrow_i16x8(low, high);
                let top = u8x16_splat(ACTIVATION_MAX as u8);
                v128_store(half.as_mut_ptr().cast(), u8x16_min(bytes, top));
            }
        }
        activations
    }

    #[inline(always)]
    unsafe fn multiply_first(a: Block, b: Block, shift: u32) -> [u8; BLOCK] {
        let one = i16x8_splat((ACTIVATION_MAX << shift) as i16);
        let clamped = |sums| i16x8_min(i16x8_max(sums, i16x8_splat(0)), one);
        // Upper halves of the products, as in the default method.
        let products = |a, b| {
            let (a, b) = (i16x8_shl(clamped(a), 9 - 2 * shift), clamped(b));
            let low = u32x4_shr(u32x4_extmul_low_u16x8(a, b), 16);
            let high = u32x4_shr(u32x4_extmul_high_u16x8(a, b), 16);
            u16x8_narrow_i32x4(low, high)
        };
        let mut activations = [0; BLOCK];
        let (halves, _) = activations.as_chunks_mut::<16>();
        let (a, _) = a.0.as_chunks::<16>();
        let (b, _) = b.0.as_chunks::<16>();
        for ((half, a), b) in halves.iter_mut().zip(a).zip(b) {
            let (a, b) = (a.as_ptr().cast::<v128>(), b.as_ptr().cast::<v128>());
            // SAFETY: the chunks hold 16 sums of two bytes and 16 activations of one byte; accesses
            // may be unaligned.
            unsafe {
                let [low, high] =
                    [0, 1].map(|i| products(v128_load(a.add(i)), v128_load(b.add(i))));
                v128_store(half.as_mut_ptr().cast(), u8x16_narrow_i16x8(low, high));
            }
        }
        activations
    }

    #[inline(always)]
    unsafe fn activate_second(sums: &Sums, top: i32) -> [[i16; 2]; MAX_LATER / 2] {
        let mut activations = [[0; 2]; MAX_LATER / 2];
        let (eights, _) = sums.as_chunks::<8>();
        let (targets, _) = activations.as_chunks_mut::<4>();
        for (target, eight) in targets.iter_mut().zip(eights) {
            let sums = eight.as_ptr().cast::<v128>();
            // SAFETY: the chunks hold eight sums of four bytes and eight activations of two bytes;
            // accesses may be unaligned.
            unsafe {
                // Narrowing saturates, and saturated sums are clamped alike.
                let sums = i16x8_narrow_i32x4(v128_load(sums), v128_load(sums.add(1)));
                let sums = i16x8_min(i16x8_max(sums, i16x8_splat(0)), i16x8_splat(top as i16));
                v128_store(target.as_mut_ptr().cast(), sums);
            }
        }
        activations
    }

    #[inline(always)]
    unsafe fn add_third(
        sums: &mut Sums,
        inputs: &[[i16; 2]; MAX_LATER / 2],
        weights: &[Weights2; MAX_LATER / 2],
    ) {
        let mut totals = [i32x4_splat(0); 8];
        let lanes = |pairs| u64::from(i32x4_bitmask(i32x4_ne(pairs, i32x4_splat(0))));
        for index in ones(not_zero::<_, 4>(inputs, lanes)) {
            let index = index as usize;
            // SAFETY: an input has two 16-bit numbers.
            let input = unsafe { v128_load32_splat(inputs[index].as_ptr().cast()) };
            multiply_add(&mut totals, input, &weights[index]);
        }
        add_to(sums, totals);
    }
}

/// Returns a mask of the nonzero inputs, at most 64, the first in the lowest bit. A register holds
/// `LANES` inputs; `lanes` returns the mask of one register.
#[inline(always)]
fn not_zero<T, const LANES: usize>(inputs: &[T], lanes: impl Fn(v128) -> u64) -> u64 {
    const { assert!(size_of::<[T; LANES]>() == size_of::<v128>()) };
    let (registers, _) = inputs.as_chunks::<LANES>();
    let mut found = 0;
    for (index, register) in registers.iter().enumerate() {
        // SAFETY: `register` has the 16 bytes that are loaded, possibly unaligned.
        let register = unsafe { v128_load(register.as_ptr().cast()) };
        found |= lanes(register) << (LANES * index);
    }
    found
}

/// Adds the products of a pair of inputs, spread over the register, and the weights of each output.
#[inline(always)]
fn multiply_add(totals: &mut [v128; 8], input: v128, weights: &Weights2) {
    let (fours, _) = weights.0.as_chunks::<4>();
    for (total, four) in totals.iter_mut().zip(fours) {
        // SAFETY: four outputs have eight 16-bit weights.
        let weights = unsafe { v128_load(four.as_ptr().cast()) };
        *total = i32x4_add(*total, i32x4_dot_i16x8(input, weights));
    }
}

#[inline(always)]
fn add_to(sums: &mut Sums, totals: [v128; 8]) {
    for (sums, total) in sums.as_chunks_mut::<4>().0.iter_mut().zip(totals) {
        let sums = sums.as_mut_ptr().cast();
        // SAFETY: the chunk has the four sums that are loaded and stored.
        unsafe { v128_store(sums, i32x4_add(v128_load(sums), total)) };
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

pub(super) fn evaluate(network: &QuantisedNetwork, position: &Accumulated) -> i32 {
    // SAFETY: this module is compiled only for builds with simd128.
    unsafe { forward::evaluate::<Simd128>(network, position) }
}

pub(super) fn policy(
    policy: &QuantisedPolicy,
    accumulator: &Accumulator,
    moves: &[PolicyMove],
    logits: &mut Vec<f32>,
) {
    // SAFETY: this module is compiled only for builds with simd128.
    unsafe { forward::policy::<Simd128>(policy, accumulator, moves, logits) }
}
