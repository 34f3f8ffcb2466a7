//! Scalar kernel for any processor: the reference for all other kernels.

use super::forward::{self, Arithmetic};
use crate::layers::{First, Second, Sums, Weights2};
use crate::{
    Accumulated, Accumulator, Feature, MAX_LATER, PolicyMove, QuantisedNetwork, QuantisedPolicy,
};

struct Scalar;

impl Arithmetic for Scalar {
    #[inline(always)]
    unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], second: &Second) {
        // A lane for each weight of four inputs, which compilers vectorise.
        let mut lanes = [[0; 4]; MAX_LATER];
        for (input, weights) in inputs.iter().zip(&second.weight) {
            let spread = [*input; MAX_LATER];
            let products = spread.as_flattened().iter().zip(weights.0.as_flattened());
            for (lane, (&x, &w)) in lanes.as_flattened_mut().iter_mut().zip(products) {
                *lane += i32::from(i16::from(x) * i16::from(w));
            }
        }
        for (sum, lanes) in sums.iter_mut().zip(lanes) {
            *sum += lanes.iter().sum::<i32>();
        }
    }

    #[inline(always)]
    unsafe fn add_third(
        sums: &mut Sums,
        inputs: &[[i16; 2]; MAX_LATER / 2],
        weights: &[Weights2; MAX_LATER / 2],
    ) {
        for (input, weights) in inputs.iter().zip(weights) {
            for (sum, weight) in sums.iter_mut().zip(&weights.0) {
                for (&x, &w) in input.iter().zip(weight) {
                    *sum += i32::from(x) * i32::from(w);
                }
            }
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

pub(super) fn evaluate(network: &QuantisedNetwork, position: &Accumulated) -> i32 {
    // SAFETY: the scalar kernel needs no special instructions.
    unsafe { forward::evaluate::<Scalar>(network, position) }
}

pub(super) fn policy(
    policy: &QuantisedPolicy,
    accumulator: &Accumulator,
    moves: &[PolicyMove],
    logits: &mut Vec<f32>,
) {
    // SAFETY: the scalar kernel needs no special instructions.
    unsafe { forward::policy::<Scalar>(policy, accumulator, moves, logits) }
}
