//! Any processor: the reference that every other kernel equals.

use super::forward::{self, Products};
use crate::layers::{First, Sums, Weights2, Weights4};
use crate::{Accumulator, Feature, MAX_LATER, QuantisedNetwork};

struct Scalar;

impl Products for Scalar {
    #[inline(always)]
    unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], weights: &[Weights4]) {
        for (input, weights) in inputs.iter().zip(weights) {
            for (sum, weight) in sums.iter_mut().zip(&weights.0) {
                for (&x, &w) in input.iter().zip(weight) {
                    *sum += i32::from(x) * i32::from(w);
                }
            }
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

pub(super) fn evaluate(network: &QuantisedNetwork, accumulator: &Accumulator) -> i32 {
    // SAFETY: it needs no instructions that a processor may lack.
    unsafe { forward::evaluate::<Scalar>(network, accumulator) }
}
