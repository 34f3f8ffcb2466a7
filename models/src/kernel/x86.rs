//! x86-64 kernels: AVX2, AVX-VNNI and AVX-512 VNNI.

/// AVX-512 VNNI kernel, 512 bits. `vpdpbusd` adds four products of bytes to a sum, exactly.
pub(super) mod avx512_vnni {
    use std::arch::x86_64::*;

    use crate::accumulator::{ACTIVATION_MAX, BLOCK, Block};
    use crate::kernel::forward::{self, Arithmetic};
    use crate::layers::{First, Output, Second, Sums, Weights2};
    use crate::{
        Accumulated, Accumulator, Feature, MAX_LATER, PolicyMove, QuantisedNetwork, QuantisedPolicy,
    };

    struct Avx512Vnni;

    impl Arithmetic for Avx512Vnni {
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
        unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], second: &Second) {
            // Four independent chains of sums hide latency.
            let mut chains = [[_mm512_setzero_si512(); 2]; 4];
            chains[0] = load(sums);
            let (inputs, _) = inputs.as_chunks::<4>();
            let (weights, _) = second.weight.as_chunks::<4>();
            for (inputs, weights) in inputs.iter().zip(weights) {
                for ((chain, &input), weights) in chains.iter_mut().zip(inputs).zip(weights) {
                    let input = _mm512_set1_epi32(i32::from_le_bytes(input));
                    let weights = load(&weights.0);
                    chain[0] = _mm512_dpbusd_epi32(chain[0], input, weights[0]);
                    chain[1] = _mm512_dpbusd_epi32(chain[1], input, weights[1]);
                }
            }
            let [a, b, c, d] = chains;
            store(sums, add(add(a, b), add(c, d)));
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
        unsafe fn output(inputs: &[[u8; BLOCK]], output: &Output) -> i32 {
            let mut sums = [_mm512_setzero_si512(); 2];
            let (inputs, last) = inputs.as_chunks::<2>();
            let (weights, last_weights) = output.weight.as_chunks::<2>();
            for (index, (inputs, weights)) in inputs.iter().zip(weights).enumerate() {
                // SAFETY: both point to 64 bytes, and may be unaligned.
                let (inputs, weights) = unsafe {
                    let inputs = _mm512_loadu_si512(inputs.as_ptr().cast());
                    (inputs, _mm512_loadu_si512(weights.as_ptr().cast()))
                };
                let sum = &mut sums[index % 2];
                *sum = _mm512_dpbusd_epi32(*sum, inputs, weights);
            }
            for (inputs, weights) in last.iter().zip(last_weights) {
                // SAFETY: both point to 32 bytes, and may be unaligned.
                let (inputs, weights) = unsafe {
                    let inputs = _mm256_loadu_si256(inputs.as_ptr().cast());
                    (inputs, _mm256_loadu_si256(weights.as_ptr().cast()))
                };
                let [inputs, weights] = [inputs, weights].map(|half| _mm512_zextsi256_si512(half));
                sums[0] = _mm512_dpbusd_epi32(sums[0], inputs, weights);
            }
            _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1]))
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
        unsafe fn multiply_first(a: Block, b: Block, shift: u32) -> [u8; BLOCK] {
            let zero = _mm512_setzero_si512();
            let one = _mm512_set1_epi16((ACTIVATION_MAX << shift) as i16);
            // SAFETY: both point to 64 bytes, and may be unaligned.
            let (a, b) = unsafe {
                let a = _mm512_loadu_si512(a.0.as_ptr().cast());
                (a, _mm512_loadu_si512(b.0.as_ptr().cast()))
            };
            let a = _mm512_min_epi16(_mm512_max_epi16(a, zero), one);
            let b = _mm512_min_epi16(_mm512_max_epi16(b, zero), one);
            let a = _mm512_sll_epi16(a, _mm_cvtsi32_si128(9 - 2 * shift as i32));
            let products = _mm512_cvtepi16_epi8(_mm512_mulhi_epu16(a, b));
            let mut activations = [0; BLOCK];
            // SAFETY: `activations` has 32 bytes; the store may be unaligned.
            unsafe { _mm256_storeu_si256(activations.as_mut_ptr().cast(), products) };
            activations
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
        unsafe fn activate_second(sums: &Sums, top: i32) -> [[i16; 2]; MAX_LATER / 2] {
            let top = _mm512_set1_epi32(top);
            let [low, high] = load(sums).map(|sums| {
                let sums = _mm512_max_epi32(sums, _mm512_setzero_si512());
                _mm512_cvtepi32_epi16(_mm512_min_epi32(sums, top))
            });
            let mut activations = [[0; 2]; MAX_LATER / 2];
            let to = activations.as_mut_ptr().cast::<__m256i>();
            // SAFETY: `to` points to 64 bytes, and may be unaligned.
            unsafe {
                _mm256_storeu_si256(to, low);
                _mm256_storeu_si256(to.add(1), high);
            }
            activations
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
        unsafe fn add_third(
            sums: &mut Sums,
            inputs: &[[i16; 2]; MAX_LATER / 2],
            weights: &[Weights2; MAX_LATER / 2],
        ) {
            let mut chains = [[_mm512_setzero_si512(); 2]; 4];
            chains[0] = load(sums);
            let (inputs, _) = inputs.as_chunks::<4>();
            let (weights, _) = weights.as_chunks::<4>();
            for (inputs, weights) in inputs.iter().zip(weights) {
                for ((chain, &input), weights) in chains.iter_mut().zip(inputs).zip(weights) {
                    let input = _mm512_set1_epi32(super::both(input));
                    let weights = load(&weights.0);
                    chain[0] = _mm512_dpwssd_epi32(chain[0], input, weights[0]);
                    chain[1] = _mm512_dpwssd_epi32(chain[1], input, weights[1]);
                }
            }
            let [a, b, c, d] = chains;
            store(sums, add(add(a, b), add(c, d)));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn add(a: [__m512i; 2], b: [__m512i; 2]) -> [__m512i; 2] {
        [_mm512_add_epi32(a[0], b[0]), _mm512_add_epi32(a[1], b[1])]
    }

    /// Loads 32 numbers of 4 bytes, of any lane type.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load<T>(from: &[T; MAX_LATER]) -> [__m512i; 2] {
        const { assert!(size_of::<T>() == 4) };
        let from = from.as_ptr().cast::<__m512i>();
        // SAFETY: `from` points to 128 bytes, and may be unaligned.
        unsafe { [_mm512_loadu_si512(from), _mm512_loadu_si512(from.add(1))] }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(to: &mut Sums, sums: [__m512i; 2]) {
        let to = to.as_mut_ptr().cast::<__m512i>();
        // SAFETY: `to` points to 128 bytes, and may be unaligned.
        unsafe {
            _mm512_storeu_si512(to, sums[0]);
            _mm512_storeu_si512(to.add(1), sums[1]);
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub fn update(
        first: &First,
        parent: &Accumulator,
        change: (&[Feature], &[Feature]),
        child: &mut Accumulator,
    ) {
        forward::update(first, parent, change, child);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub fn evaluate(network: &QuantisedNetwork, position: &Accumulated) -> i32 {
        // SAFETY: this function enables the same features.
        unsafe { forward::evaluate::<Avx512Vnni>(network, position) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub fn policy(
        policy: &QuantisedPolicy,
        accumulator: &Accumulator,
        moves: &[PolicyMove],
        logits: &mut Vec<f32>,
    ) {
        // SAFETY: this function enables the same features.
        unsafe { forward::policy::<Avx512Vnni>(policy, accumulator, moves, logits) }
    }
}

/// AVX2 kernel, 256 bits. `vpmaddubsw` adds two products of bytes in 16 bits: at most 2 * 127 * 127
/// = 32,258, which fits.
pub(super) mod avx2 {
    use std::arch::x86_64::*;

    use crate::accumulator::{ACTIVATION_MAX, BLOCK, Block};
    use crate::kernel::forward::{self, Arithmetic};
    use crate::layers::{First, Output, Second, Sums, Weights2};
    use crate::{
        Accumulated, Accumulator, Feature, MAX_LATER, PolicyMove, QuantisedNetwork, QuantisedPolicy,
    };

    struct Avx2;

    impl Arithmetic for Avx2 {
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], second: &Second) {
            let ones = _mm256_set1_epi16(1);
            let mut totals = load(sums);
            for (&input, weights) in inputs.iter().zip(&second.weight) {
                let input = _mm256_set1_epi32(i32::from_le_bytes(input));
                for (total, weights) in totals.iter_mut().zip(load(&weights.0)) {
                    let pairs = _mm256_maddubs_epi16(input, weights);
                    *total = _mm256_add_epi32(*total, _mm256_madd_epi16(pairs, ones));
                }
            }
            store(sums, totals);
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn output(inputs: &[[u8; BLOCK]], output: &Output) -> i32 {
            let ones = _mm256_set1_epi16(1);
            let mut sums = [_mm256_setzero_si256(); 2];
            for (index, (inputs, weights)) in inputs.iter().zip(&output.weight).enumerate() {
                let pairs = _mm256_maddubs_epi16(load_block(inputs), load_block(weights));
                let sum = &mut sums[index % 2];
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
            }
            total(_mm256_add_epi32(sums[0], sums[1]))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn multiply_first(a: Block, b: Block, shift: u32) -> [u8; BLOCK] {
            multiply(&a, &b, shift)
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn add_third(
            sums: &mut Sums,
            inputs: &[[i16; 2]; MAX_LATER / 2],
            weights: &[Weights2; MAX_LATER / 2],
        ) {
            let mut totals = load(sums);
            for (&input, weights) in inputs.iter().zip(weights) {
                let input = _mm256_set1_epi32(super::both(input));
                for (total, weights) in totals.iter_mut().zip(load(&weights.0)) {
                    *total = _mm256_add_epi32(*total, _mm256_madd_epi16(input, weights));
                }
            }
            store(sums, totals);
        }
    }

    /// Loads 32 signed or unsigned bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn load_block<T>(from: &[T; BLOCK]) -> __m256i {
        const { assert!(size_of::<T>() == 1) };
        // SAFETY: `from` points to 32 bytes, and may be unaligned.
        unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
    }

    /// Implements [`Arithmetic::multiply_first`].
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn multiply(a: &Block, b: &Block, shift: u32) -> [u8; BLOCK] {
        let zero = _mm256_setzero_si256();
        let one = _mm256_set1_epi16((ACTIVATION_MAX << shift) as i16);
        let left = _mm_cvtsi32_si128(9 - 2 * shift as i32);
        let half = |half: usize| {
            // SAFETY: both point to 64 bytes, the halves to 32, and may be unaligned.
            let (a, b) = unsafe {
                let a = _mm256_loadu_si256(a.0.as_ptr().cast::<__m256i>().add(half));
                (
                    a,
                    _mm256_loadu_si256(b.0.as_ptr().cast::<__m256i>().add(half)),
                )
            };
            let a = _mm256_min_epi16(_mm256_max_epi16(a, zero), one);
            let b = _mm256_min_epi16(_mm256_max_epi16(b, zero), one);
            _mm256_mulhi_epu16(_mm256_sll_epi16(a, left), b)
        };
        // `packus` works within each half of a register.
        let packed = _mm256_packus_epi16(half(0), half(1));
        let products = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
        let mut activations = [0; BLOCK];
        // SAFETY: `activations` has 32 bytes; the store may be unaligned.
        unsafe { _mm256_storeu_si256(activations.as_mut_ptr().cast(), products) };
        activations
    }

    /// Returns the sum of eight numbers.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn total(sums: __m256i) -> i32 {
        let fours = _mm_add_epi32(
            _mm256_castsi256_si128(sums),
            _mm256_extracti128_si256::<1>(sums),
        );
        let twos = _mm_add_epi32(fours, _mm_shuffle_epi32::<0b00_00_11_10>(fours));
        let one = _mm_add_epi32(twos, _mm_shuffle_epi32::<0b00_00_00_01>(twos));
        _mm_cvtsi128_si32(one)
    }

    /// Loads 32 numbers of 4 bytes, of any lane type.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn load<T>(from: &[T; MAX_LATER]) -> [__m256i; 4] {
        const { assert!(size_of::<T>() == 4) };
        let from = from.as_ptr().cast::<__m256i>();
        // SAFETY: `from` points to 128 bytes, and may be unaligned.
        [0, 1, 2, 3].map(|i| unsafe { _mm256_loadu_si256(from.add(i)) })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn store(to: &mut Sums, sums: [__m256i; 4]) {
        let to = to.as_mut_ptr().cast::<__m256i>();
        for (i, sum) in sums.into_iter().enumerate() {
            // SAFETY: `to` points to 128 bytes, and may be unaligned.
            unsafe { _mm256_storeu_si256(to.add(i), sum) };
        }
    }

    #[target_feature(enable = "avx2")]
    pub fn update(
        first: &First,
        parent: &Accumulator,
        change: (&[Feature], &[Feature]),
        child: &mut Accumulator,
    ) {
        forward::update(first, parent, change, child);
    }

    #[target_feature(enable = "avx2")]
    pub fn evaluate(network: &QuantisedNetwork, position: &Accumulated) -> i32 {
        // SAFETY: this function enables the same features.
        unsafe { forward::evaluate::<Avx2>(network, position) }
    }

    #[target_feature(enable = "avx2")]
    pub fn policy(
        policy: &QuantisedPolicy,
        accumulator: &Accumulator,
        moves: &[PolicyMove],
        logits: &mut Vec<f32>,
    ) {
        // SAFETY: this function enables the same features.
        unsafe { forward::policy::<Avx2>(policy, accumulator, moves, logits) }
    }
}

/// AVX-VNNI kernel, 256 bits, with `vpdpbusd`. Updates use the AVX2 kernel.
pub(super) mod avx_vnni {
    use std::arch::x86_64::*;

    use super::avx2::{load, load_block, multiply, store, total};
    use crate::accumulator::{BLOCK, Block};
    use crate::kernel::forward::{self, Arithmetic};
    use crate::layers::{Output, Second, Sums, Weights2};
    use crate::{
        Accumulated, Accumulator, MAX_LATER, PolicyMove, QuantisedNetwork, QuantisedPolicy,
    };

    struct AvxVnni;

    impl Arithmetic for AvxVnni {
        #[inline]
        #[target_feature(enable = "avx2,avxvnni")]
        unsafe fn add_second(sums: &mut Sums, inputs: &[[u8; 4]], second: &Second) {
            let mut even = load(sums);
            let mut odd = [_mm256_setzero_si256(); 4];
            let (inputs, _) = inputs.as_chunks::<2>();
            let (weights, _) = second.weight.as_chunks::<2>();
            for (inputs, weights) in inputs.iter().zip(weights) {
                for (totals, i) in [(&mut even, 0), (&mut odd, 1)] {
                    let input = _mm256_set1_epi32(i32::from_le_bytes(inputs[i]));
                    for (total, weights) in totals.iter_mut().zip(load(&weights[i].0)) {
                        *total = _mm256_dpbusd_avx_epi32(*total, input, weights);
                    }
                }
            }
            for (total, odd) in even.iter_mut().zip(odd) {
                *total = _mm256_add_epi32(*total, odd);
            }
            store(sums, even);
        }

        #[inline]
        #[target_feature(enable = "avx2,avxvnni")]
        unsafe fn output(inputs: &[[u8; BLOCK]], output: &Output) -> i32 {
            let mut sums = [_mm256_setzero_si256(); 2];
            for (index, (inputs, weights)) in inputs.iter().zip(&output.weight).enumerate() {
                let (inputs, weights) = (load_block(inputs), load_block(weights));
                let sum = &mut sums[index % 2];
                *sum = _mm256_dpbusd_avx_epi32(*sum, inputs, weights);
            }
            total(_mm256_add_epi32(sums[0], sums[1]))
        }

        #[inline]
        #[target_feature(enable = "avx2,avxvnni")]
        unsafe fn multiply_first(a: Block, b: Block, shift: u32) -> [u8; BLOCK] {
            multiply(&a, &b, shift)
        }

        #[inline]
        #[target_feature(enable = "avx2,avxvnni")]
        unsafe fn add_third(
            sums: &mut Sums,
            inputs: &[[i16; 2]; MAX_LATER / 2],
            weights: &[Weights2; MAX_LATER / 2],
        ) {
            let mut totals = load(sums);
            for (&input, weights) in inputs.iter().zip(weights) {
                let input = _mm256_set1_epi32(super::both(input));
                for (total, weights) in totals.iter_mut().zip(load(&weights.0)) {
                    *total = _mm256_dpwssd_avx_epi32(*total, input, weights);
                }
            }
            store(sums, totals);
        }
    }

    #[target_feature(enable = "avx2,avxvnni")]
    pub fn evaluate(network: &QuantisedNetwork, position: &Accumulated) -> i32 {
        // SAFETY: this function enables the same features.
        unsafe { forward::evaluate::<AvxVnni>(network, position) }
    }

    #[target_feature(enable = "avx2,avxvnni")]
    pub fn policy(
        policy: &QuantisedPolicy,
        accumulator: &Accumulator,
        moves: &[PolicyMove],
        logits: &mut Vec<f32>,
    ) {
        // SAFETY: this function enables the same features.
        unsafe { forward::policy::<AvxVnni>(policy, accumulator, moves, logits) }
    }
}

/// Returns two 16-bit numbers in one of 32 bits.
#[inline(always)]
fn both([low, high]: [i16; 2]) -> i32 {
    i32::from(low as u16) | i32::from(high) << 16
}
