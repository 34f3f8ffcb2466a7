//! Kernels: implementations of inference for different instruction sets, with equal results.
//!
//! Updates, and some activations, are plain Rust that the compiler vectorises for each kernel.
//! Intrinsics are used where it does badly: products of the later layers, products of activations,
//! and the activations of simd128 and (second layer) AVX-512.

use std::fmt;

use crate::layers::First;
use crate::{Accumulated, Accumulator, Feature, PolicyMove, QuantisedNetwork, QuantisedPolicy};

mod forward;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

/// Instruction set of inference. All give the same values.
///
/// A `Kernel` exists only for instructions that the processor has: it comes from [`Kernel::best`]
/// or [`Kernel::available`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Instructions);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instructions {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    Neon,
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
}

/// The scalar kernel is compiled in. Beside simd128 it is compiled for tests only, which keeps the
/// web page smaller.
const HAS_SCALAR: bool = cfg!(any(
    test,
    not(all(target_arch = "wasm32", target_feature = "simd128"))
));

impl Kernel {
    /// Returns the fastest kernel.
    pub fn best() -> Kernel {
        Kernel::fastest_first()
            .next()
            .unwrap_or(Kernel(Instructions::Scalar))
    }

    /// Returns the kernels that this processor runs, fastest first.
    pub fn available() -> Vec<Kernel> {
        Kernel::fastest_first().collect()
    }

    fn fastest_first() -> impl Iterator<Item = Kernel> {
        [
            #[cfg(target_arch = "x86_64")]
            (
                Instructions::Avx512Vnni,
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vnni"),
            ),
            #[cfg(target_arch = "x86_64")]
            (
                Instructions::AvxVnni,
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("avxvnni"),
            ),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx2, is_x86_feature_detected!("avx2")),
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            (Instructions::Neon, true),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            (Instructions::Simd128, true),
            (Instructions::Scalar, HAS_SCALAR),
        ]
        .into_iter()
        .filter_map(|(instructions, has)| has.then_some(Kernel(instructions)))
    }

    /// Sets `child` to `parent` with inputs added and removed.
    #[inline]
    pub(crate) fn update(
        self,
        first: &First,
        parent: &Accumulator,
        (added, removed): (&[Feature], &[Feature]),
        child: &mut Accumulator,
    ) {
        let change = (added, removed);
        match self.0 {
            Instructions::Scalar if HAS_SCALAR => scalar::update(first, parent, change, child),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kernel exists only on processors with AVX2.
            Instructions::Avx2 | Instructions::AvxVnni => unsafe {
                x86::avx2::update(first, parent, change, child)
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kernel exists only on processors with AVX-512 F, BW and VNNI.
            Instructions::Avx512Vnni => unsafe {
                x86::avx512_vnni::update(first, parent, change, child)
            },
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            // SAFETY: this build requires NEON.
            Instructions::Neon => unsafe { neon::update(first, parent, change, child) },
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Instructions::Simd128 => simd128::update(first, parent, change, child),
            Instructions::Scalar => unreachable!("the scalar kernel is not compiled in"),
        }
    }

    /// Implements [`QuantisedNetwork::evaluate`].
    #[inline]
    pub(crate) fn evaluate(self, network: &QuantisedNetwork, position: &Accumulated) -> i32 {
        match self.0 {
            Instructions::Scalar if HAS_SCALAR => scalar::evaluate(network, position),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kernel exists only on processors with AVX2.
            Instructions::Avx2 => unsafe { x86::avx2::evaluate(network, position) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kernel exists only on processors with AVX2 and AVX-VNNI.
            Instructions::AvxVnni => unsafe { x86::avx_vnni::evaluate(network, position) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kernel exists only on processors with AVX-512 F, BW and VNNI.
            Instructions::Avx512Vnni => unsafe { x86::avx512_vnni::evaluate(network, position) },
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            // SAFETY: this build requires NEON.
            Instructions::Neon => unsafe { neon::evaluate(network, position) },
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Instructions::Simd128 => simd128::evaluate(network, position),
            Instructions::Scalar => unreachable!("the scalar kernel is not compiled in"),
        }
    }

    /// Appends to `logits` the policy's logits of moves, from the accumulator of all features.
    #[inline]
    pub(crate) fn policy(
        self,
        policy: &QuantisedPolicy,
        accumulator: &Accumulator,
        moves: &[PolicyMove],
        logits: &mut Vec<f32>,
    ) {
        match self.0 {
            Instructions::Scalar if HAS_SCALAR => {
                scalar::policy(policy, accumulator, moves, logits)
            }
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kernel exists only on processors with AVX2.
            Instructions::Avx2 => unsafe { x86::avx2::policy(policy, accumulator, moves, logits) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kernel exists only on processors with AVX2 and AVX-VNNI.
            Instructions::AvxVnni => unsafe {
                x86::avx_vnni::policy(policy, accumulator, moves, logits)
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this kernel exists only on processors with AVX-512 F, BW and VNNI.
            Instructions::Avx512Vnni => unsafe {
                x86::avx512_vnni::policy(policy, accumulator, moves, logits)
            },
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            // SAFETY: this build requires NEON.
            Instructions::Neon => unsafe { neon::policy(policy, accumulator, moves, logits) },
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Instructions::Simd128 => simd128::policy(policy, accumulator, moves, logits),
            Instructions::Scalar => unreachable!("the scalar kernel is not compiled in"),
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self.0 {
            Instructions::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::AvxVnni => "avx-vnni",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512Vnni => "avx512-vnni",
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Instructions::Neon => "neon",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Instructions::Simd128 => "simd128",
        })
    }
}
