//! Sixteen floats at a time, by the widest instructions the processor has.

use std::sync::LazyLock;

/// Sixteen floats in registers.
///
/// The methods are inlined into functions that [`with_lanes!`] compiles for
/// the instructions they use.
pub(super) trait Lanes: Copy {
    /// How many rows of 32 sums the registers hold beside what is added.
    const ROWS: usize;

    fn splat(x: f32) -> Self;
    fn load(from: &[f32; 16]) -> Self;
    fn store(self, to: &mut [f32; 16]);
    fn add(self, other: Self) -> Self;
    /// `self * factor + summand`.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// Moved into 0 to 1.
    fn clip(self) -> Self;
    /// `self` where `x` is strictly between 0 and 1, zero elsewhere.
    fn where_inside(self, x: Self) -> Self;
}

/// Any processor.
#[derive(Clone, Copy)]
pub(super) struct Portable([f32; 16]);

impl Lanes for Portable {
    const ROWS: usize = 2;

    #[inline(always)]
    fn splat(x: f32) -> Self {
        Portable([x; 16])
    }

    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        Portable(*from)
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        *to = self.0;
    }

    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for (x, y) in self.0.iter_mut().zip(other.0) {
            *x += y;
        }
        self
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, mut summand: Self) -> Self {
        for ((sum, x), y) in summand.0.iter_mut().zip(self.0).zip(factor.0) {
            *sum += x * y;
        }
        summand
    }

    #[inline(always)]
    fn clip(mut self) -> Self {
        for x in &mut self.0 {
            *x = x.clamp(0.0, 1.0);
        }
        self
    }

    #[inline(always)]
    fn where_inside(mut self, x: Self) -> Self {
        for (gradient, x) in self.0.iter_mut().zip(x.0) {
            if !(x > 0.0 && x < 1.0) {
                *gradient = 0.0;
            }
        }
        self
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "one argument holds for all: the types are named only by `with_lanes!`, in functions \
              that run where the processor has AVX-512F, or AVX2 and FMA; every load and store is \
              of an array of the width it moves"
)]
mod x86 {
    use std::arch::x86_64::*;

    use super::Lanes;

    /// AVX-512F.
    #[derive(Clone, Copy)]
    pub struct Avx512(__m512);

    impl Lanes for Avx512 {
        const ROWS: usize = 8;

        #[inline(always)]
        fn splat(x: f32) -> Self {
            Avx512(unsafe { _mm512_set1_ps(x) })
        }

        #[inline(always)]
        fn load(from: &[f32; 16]) -> Self {
            Avx512(unsafe { _mm512_loadu_ps(from.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; 16]) {
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Avx512(unsafe { _mm512_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn mul_add(self, factor: Self, summand: Self) -> Self {
            Avx512(unsafe { _mm512_fmadd_ps(self.0, factor.0, summand.0) })
        }

        // A NaN is kept, as by `f32::clamp`: the second operand is returned
        // where one of the two is not a number.
        #[inline(always)]
        fn clip(self) -> Self {
            unsafe {
                let above = _mm512_max_ps(_mm512_setzero_ps(), self.0);
                Avx512(_mm512_min_ps(_mm512_set1_ps(1.0), above))
            }
        }

        #[inline(always)]
        fn where_inside(self, x: Self) -> Self {
            unsafe {
                let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x.0, _mm512_setzero_ps());
                let one = _mm512_set1_ps(1.0);
                let inside = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(above, x.0, one);
                Avx512(_mm512_maskz_mov_ps(inside, self.0))
            }
        }
    }

    /// AVX2 and FMA.
    #[derive(Clone, Copy)]
    pub struct Avx2(__m256, __m256);

    impl Lanes for Avx2 {
        const ROWS: usize = 2;

        #[inline(always)]
        fn splat(x: f32) -> Self {
            let x = unsafe { _mm256_set1_ps(x) };
            Avx2(x, x)
        }

        #[inline(always)]
        fn load(from: &[f32; 16]) -> Self {
            unsafe {
                let low = _mm256_loadu_ps(from.as_ptr());
                Avx2(low, _mm256_loadu_ps(from.as_ptr().add(8)))
            }
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; 16]) {
            unsafe {
                _mm256_storeu_ps(to.as_mut_ptr(), self.0);
                _mm256_storeu_ps(to.as_mut_ptr().add(8), self.1);
            }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            unsafe {
                Avx2(
                    _mm256_add_ps(self.0, other.0),
                    _mm256_add_ps(self.1, other.1),
                )
            }
        }

        #[inline(always)]
        fn mul_add(self, factor: Self, summand: Self) -> Self {
            unsafe {
                Avx2(
                    _mm256_fmadd_ps(self.0, factor.0, summand.0),
                    _mm256_fmadd_ps(self.1, factor.1, summand.1),
                )
            }
        }

        #[inline(always)]
        fn clip(self) -> Self {
            unsafe { Avx2(clip(self.0), clip(self.1)) }
        }

        #[inline(always)]
        fn where_inside(self, x: Self) -> Self {
            unsafe { Avx2(where_inside(self.0, x.0), where_inside(self.1, x.1)) }
        }
    }

    #[inline(always)]
    unsafe fn clip(x: __m256) -> __m256 {
        unsafe {
            let above = _mm256_max_ps(_mm256_setzero_ps(), x);
            _mm256_min_ps(_mm256_set1_ps(1.0), above)
        }
    }

    #[inline(always)]
    unsafe fn where_inside(gradient: __m256, x: __m256) -> __m256 {
        unsafe {
            let above = _mm256_cmp_ps::<_CMP_GT_OQ>(x, _mm256_setzero_ps());
            let below = _mm256_cmp_ps::<_CMP_LT_OQ>(x, _mm256_set1_ps(1.0));
            _mm256_and_ps(gradient, _mm256_and_ps(above, below))
        }
    }
}

/// The instructions a function is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// Every level this processor has, the fastest last.
    pub(super) fn all() -> Vec<Level> {
        let mut levels = vec![Level::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                levels.push(Level::Avx2);
            }
            if is_x86_feature_detected!("avx512f") {
                levels.push(Level::Avx512);
            }
        }
        levels
    }

    /// The fastest that this processor has.
    pub(super) fn best() -> Level {
        static BEST: LazyLock<Level> = LazyLock::new(|| *Level::all().last().expect("Portable"));
        *BEST
    }
}

/// Calls a function that is generic over [`Lanes`], compiled for a [`Level`].
macro_rules! with_lanes {
    ($level:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $level {
            $crate::cpu::lanes::Level::Portable => {
                $function::<$crate::cpu::lanes::Portable>($($argument),*)
            }
            // SAFETY: a level is made only by `Level::all`, of what the
            // processor has.
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::lanes::Level::Avx2 => unsafe {
                $crate::cpu::lanes::avx2(
                    #[inline(always)]
                    || $function::<$crate::cpu::lanes::Avx2>($($argument),*),
                )
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::lanes::Level::Avx512 => unsafe {
                $crate::cpu::lanes::avx512(
                    #[inline(always)]
                    || $function::<$crate::cpu::lanes::Avx512>($($argument),*),
                )
            },
        }
    };
}
pub(super) use with_lanes;

/// Calls a closure that is inlined here, and so compiled for AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn avx2<R>(function: impl FnOnce() -> R) -> R {
    function()
}

/// Calls a closure that is inlined here, and so compiled for AVX-512F.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
pub(super) fn avx512<R>(function: impl FnOnce() -> R) -> R {
    function()
}
