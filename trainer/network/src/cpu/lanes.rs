//! SIMD abstraction: operations on 16 floats with the widest instructions of the processor.

use std::sync::LazyLock;

/// SIMD instructions on 16 floats. A value of an implementing type proves that the processor has
/// the instructions: only [`Level::all`] constructs them.
///
/// The methods are inlined into functions that [`with_lanes!`] compiles for the instructions they
/// use.
pub(super) trait Lanes: Copy {
    /// Sixteen floats in registers.
    type Floats: Copy;
    /// Number of rows of 32 sums that fit the registers beside the operands.
    const ROWS: usize;

    fn splat(self, x: f32) -> Self::Floats;
    fn load(self, from: &[f32; 16]) -> Self::Floats;
    fn store(self, x: Self::Floats, to: &mut [f32; 16]);
    fn add(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    /// Returns `x * y + summand`.
    fn mul_add(self, x: Self::Floats, y: Self::Floats, summand: Self::Floats) -> Self::Floats;
    /// Returns `x` clamped to 0..=1; NaN stays NaN.
    fn clip(self, x: Self::Floats) -> Self::Floats;
    /// Returns `gradient` where `x` is strictly between 0 and 1, zero elsewhere.
    fn where_inside(self, gradient: Self::Floats, x: Self::Floats) -> Self::Floats;
}

/// Plain Rust for any processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Portable;

impl Lanes for Portable {
    type Floats = [f32; 16];
    const ROWS: usize = 2;

    #[inline(always)]
    fn splat(self, x: f32) -> [f32; 16] {
        [x; 16]
    }

    #[inline(always)]
    fn load(self, from: &[f32; 16]) -> [f32; 16] {
        *from
    }

    #[inline(always)]
    fn store(self, x: [f32; 16], to: &mut [f32; 16]) {
        *to = x;
    }

    #[inline(always)]
    fn add(self, mut x: [f32; 16], y: [f32; 16]) -> [f32; 16] {
        for (x, y) in x.iter_mut().zip(y) {
            *x += y;
        }
        x
    }

    #[inline(always)]
    fn mul_add(self, x: [f32; 16], y: [f32; 16], mut summand: [f32; 16]) -> [f32; 16] {
        for ((sum, x), y) in summand.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
        summand
    }

    #[inline(always)]
    fn clip(self, mut x: [f32; 16]) -> [f32; 16] {
        for x in &mut x {
            *x = x.clamp(0.0, 1.0);
        }
        x
    }

    #[inline(always)]
    fn where_inside(self, mut gradient: [f32; 16], x: [f32; 16]) -> [f32; 16] {
        for (gradient, x) in gradient.iter_mut().zip(x) {
            if !(x > 0.0 && x < 1.0) {
                *gradient = 0.0;
            }
        }
        gradient
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Lanes;

    /// AVX-512F.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Avx512(());

    impl Avx512 {
        /// Returns `None` if the processor lacks the instructions.
        pub fn new() -> Option<Avx512> {
            is_x86_feature_detected!("avx512f").then_some(Avx512(()))
        }

        /// Calls `function`, which is inlined here and so compiled for the instructions of `self`.
        #[inline(always)]
        pub fn run<R>(self, function: impl FnOnce() -> R) -> R {
            #[target_feature(enable = "avx512f")]
            fn run<R>(function: impl FnOnce() -> R) -> R {
                function()
            }
            // SAFETY: the Avx512 value proves that the processor has AVX-512F.
            unsafe { run(function) }
        }
    }

    impl Lanes for Avx512 {
        type Floats = __m512;
        const ROWS: usize = 8;

        #[inline(always)]
        fn splat(self, x: f32) -> __m512 {
            // SAFETY: the Avx512 value proves that the processor has AVX-512F.
            unsafe { _mm512_set1_ps(x) }
        }

        #[inline(always)]
        fn load(self, from: &[f32; 16]) -> __m512 {
            // SAFETY: as above; the array is 64 bytes, and may be unaligned.
            unsafe { _mm512_loadu_ps(from.as_ptr()) }
        }

        #[inline(always)]
        fn store(self, x: __m512, to: &mut [f32; 16]) {
            // SAFETY: as above.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), x) }
        }

        #[inline(always)]
        fn add(self, x: __m512, y: __m512) -> __m512 {
            // SAFETY: the Avx512 value proves that the processor has AVX-512F.
            unsafe { _mm512_add_ps(x, y) }
        }

        #[inline(always)]
        fn mul_add(self, x: __m512, y: __m512, summand: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe { _mm512_fmadd_ps(x, y, summand) }
        }

        // NaN stays NaN, as in `f32::clamp`: min and max return the second operand if either is
        // NaN.
        #[inline(always)]
        fn clip(self, x: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe {
                let above = _mm512_max_ps(_mm512_setzero_ps(), x);
                _mm512_min_ps(_mm512_set1_ps(1.0), above)
            }
        }

        #[inline(always)]
        fn where_inside(self, gradient: __m512, x: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe {
                let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, _mm512_setzero_ps());
                let one = _mm512_set1_ps(1.0);
                let inside = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(above, x, one);
                _mm512_maskz_mov_ps(inside, gradient)
            }
        }
    }

    /// AVX2 and FMA.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Avx2(());

    impl Avx2 {
        /// Returns `None` if the processor lacks the instructions.
        pub fn new() -> Option<Avx2> {
            let has = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            has.then_some(Avx2(()))
        }

        /// Calls `function`, which is inlined here and so compiled for the instructions of `self`.
        #[inline(always)]
        pub fn run<R>(self, function: impl FnOnce() -> R) -> R {
            #[target_feature(enable = "avx2,fma")]
            fn run<R>(function: impl FnOnce() -> R) -> R {
                function()
            }
            // SAFETY: the Avx2 value proves that the processor has AVX2 and FMA.
            unsafe { run(function) }
        }
    }

    impl Lanes for Avx2 {
        type Floats = [__m256; 2];
        const ROWS: usize = 2;

        #[inline(always)]
        fn splat(self, x: f32) -> [__m256; 2] {
            // SAFETY: the Avx2 value proves that the processor has AVX2 and FMA.
            [unsafe { _mm256_set1_ps(x) }; 2]
        }

        #[inline(always)]
        fn load(self, from: &[f32; 16]) -> [__m256; 2] {
            let from = from.as_ptr();
            // SAFETY: as above; the array is 64 bytes, and may be unaligned.
            unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] }
        }

        #[inline(always)]
        fn store(self, x: [__m256; 2], to: &mut [f32; 16]) {
            let to = to.as_mut_ptr();
            // SAFETY: as above.
            unsafe {
                _mm256_storeu_ps(to, x[0]);
                _mm256_storeu_ps(to.add(8), x[1]);
            }
        }

        #[inline(always)]
        fn add(self, x: [__m256; 2], y: [__m256; 2]) -> [__m256; 2] {
            // SAFETY: the Avx2 value proves that the processor has AVX2 and FMA.
            unsafe { [_mm256_add_ps(x[0], y[0]), _mm256_add_ps(x[1], y[1])] }
        }

        #[inline(always)]
        fn mul_add(self, x: [__m256; 2], y: [__m256; 2], summand: [__m256; 2]) -> [__m256; 2] {
            // SAFETY: as above.
            unsafe {
                [
                    _mm256_fmadd_ps(x[0], y[0], summand[0]),
                    _mm256_fmadd_ps(x[1], y[1], summand[1]),
                ]
            }
        }

        // NaN stays NaN, as for AVX-512.
        #[inline(always)]
        fn clip(self, [mut low, mut high]: [__m256; 2]) -> [__m256; 2] {
            for x in [&mut low, &mut high] {
                // SAFETY: as above.
                *x = unsafe {
                    let above = _mm256_max_ps(_mm256_setzero_ps(), *x);
                    _mm256_min_ps(_mm256_set1_ps(1.0), above)
                };
            }
            [low, high]
        }

        #[inline(always)]
        fn where_inside(self, gradient: [__m256; 2], x: [__m256; 2]) -> [__m256; 2] {
            let [mut low, mut high] = gradient;
            for (gradient, x) in [(&mut low, x[0]), (&mut high, x[1])] {
                // SAFETY: as above.
                *gradient = unsafe {
                    let above = _mm256_cmp_ps::<_CMP_GT_OQ>(x, _mm256_setzero_ps());
                    let below = _mm256_cmp_ps::<_CMP_LT_OQ>(x, _mm256_set1_ps(1.0));
                    _mm256_and_ps(*gradient, _mm256_and_ps(above, below))
                };
            }
            [low, high]
        }
    }
}

/// Instruction set that a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Level {
    /// Returns every level that this processor supports, the fastest last.
    pub(super) fn all() -> Vec<Level> {
        let levels = [
            Some(Level::Portable(Portable)),
            #[cfg(target_arch = "x86_64")]
            Avx2::new().map(Level::Avx2),
            #[cfg(target_arch = "x86_64")]
            Avx512::new().map(Level::Avx512),
        ];
        levels.into_iter().flatten().collect()
    }

    /// Returns the fastest level that this processor supports.
    pub(super) fn best() -> Level {
        static BEST: LazyLock<Level> = LazyLock::new(|| *Level::all().last().expect("Portable"));
        *BEST
    }
}

/// Calls a function whose first argument is a [`Lanes`], compiled for a [`Level`].
macro_rules! with_lanes {
    ($level:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $level {
            $crate::cpu::lanes::Level::Portable(lanes) => $function(lanes, $($argument),*),
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::lanes::Level::Avx2(lanes) => lanes.run(
                #[inline(always)]
                || $function(lanes, $($argument),*),
            ),
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::lanes::Level::Avx512(lanes) => lanes.run(
                #[inline(always)]
                || $function(lanes, $($argument),*),
            ),
        }
    };
}
pub(super) use with_lanes;

#[cfg(test)]
mod tests {
    use super::*;

    /// Special and ordinary floats; rotating a copy pairs each with each.
    fn numbers() -> [f32; 16] {
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.0 + f32::EPSILON,
            1.0 - f32::EPSILON,
            f32::MIN_POSITIVE,
            f32::MIN_POSITIVE / 4.0,
            f32::MAX,
            f32::MIN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            3.75,
            -1e-20,
        ]
    }

    /// Applies every method to three arrays; returns the stored results.
    #[inline(always)]
    fn all<L: Lanes>(lanes: L, arrays: [&[f32; 16]; 3]) -> [[f32; 16]; 6] {
        let [a, b, c] = arrays.map(|array| lanes.load(array));
        let results = [
            a,
            lanes.splat(arrays[0][4]),
            lanes.add(a, b),
            lanes.mul_add(a, b, c),
            lanes.clip(a),
            lanes.where_inside(a, b),
        ];
        results.map(|result| {
            let mut stored = [7.0; 16];
            lanes.store(result, &mut stored);
            stored
        })
    }

    #[test]
    fn simd_levels_match_the_portable_one() {
        let a = numbers();
        for turn in 0..16 {
            let (mut b, mut c) = (a, a);
            b.rotate_left(turn);
            c.rotate_left(7 * turn % 16);
            let expected = all(Portable, [&a, &b, &c]);
            for level in Level::all() {
                let found = with_lanes!(level, all([&a, &b, &c]));
                for (method, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    for (i, (&x, &y)) in found.iter().zip(expected).enumerate() {
                        let same = |y: f32| x == y || x.is_nan() && y.is_nan();
                        // A multiply-add may round once or twice.
                        let once = method == 3 && same(a[i].mul_add(b[i], c[i]));
                        assert!(same(y) || once, "{level:?}, {method}: {x:e}, not {y:e}");
                    }
                }
            }
        }
    }

    /// Loads and stores stay within the array: arrays at the very end and the very beginning of
    /// accessible memory.
    #[test]
    #[cfg(all(unix, not(miri)))]
    fn loads_and_stores_stay_within_the_array() {
        let pages = guarded::Pages::new();
        let (first, last) = pages.ends();
        for level in Level::all() {
            for array in [&mut *first, &mut *last] {
                *array = numbers();
                let arrays = [&*array, &*array, &*array];
                let found = with_lanes!(level, all(arrays));
                assert_eq!(found[0].map(f32::to_bits), numbers().map(f32::to_bits));
                with_lanes!(level, fill(array));
                assert_eq!(*array, [2.0; 16], "{level:?}");
            }
        }
    }

    #[cfg(all(unix, not(miri)))]
    #[inline(always)]
    fn fill<L: Lanes>(lanes: L, array: &mut [f32; 16]) {
        let two = lanes.splat(2.0);
        lanes.store(two, array);
    }

    #[cfg(all(unix, not(miri)))]
    mod guarded {
        use std::ptr;

        /// A page of memory between two inaccessible ones.
        pub struct Pages {
            begin: *mut u8,
            page: usize,
        }

        impl Pages {
            pub fn new() -> Pages {
                // SAFETY: `sysconf` has no preconditions.
                let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                // SAFETY: an anonymous mapping at an address of the system's choice.
                let begin =
                    unsafe { libc::mmap(ptr::null_mut(), 3 * page, libc::PROT_NONE, flags, -1, 0) };
                assert_ne!(begin, libc::MAP_FAILED);
                let begin = begin.cast::<u8>();
                let access = libc::PROT_READ | libc::PROT_WRITE;
                // SAFETY: the range is the second of the three pages mapped above.
                let opened = unsafe { libc::mprotect(begin.add(page).cast(), page, access) };
                assert_eq!(opened, 0);
                Pages { begin, page }
            }

            /// Returns the first and the last array of the accessible page.
            #[allow(
                clippy::mut_from_ref,
                reason = "two arrays that do not overlap, lent once"
            )]
            pub fn ends(&self) -> (&mut [f32; 16], &mut [f32; 16]) {
                let bytes = size_of::<[f32; 16]>();
                // SAFETY: both arrays lie in the accessible page, a page is larger than both, and
                // zeros are valid floats.
                unsafe {
                    let first = self.begin.add(self.page);
                    let last = self.begin.add(2 * self.page - bytes);
                    (&mut *first.cast(), &mut *last.cast())
                }
            }
        }

        impl Drop for Pages {
            fn drop(&mut self) {
                // SAFETY: `new` mapped these pages, and no borrow outlives `self`.
                unsafe { libc::munmap(self.begin.cast(), 3 * self.page) };
            }
        }
    }
}
