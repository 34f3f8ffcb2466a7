//! Aligned rows of floats, and the SIMD operations on them.

use super::lanes::Lanes;

/// Neurons of the first hidden layer in a slice, the work of one task. A slice of its weights,
/// `INPUTS * SLICE * 4` bytes = 173 KB, stays in a core's L2 cache beside as much of the gradient
/// and a block of samples.
pub(super) const SLICE: usize = 48;

/// Neurons of the second and third hidden layers, padded.
pub(super) const LATER: usize = 32;

/// A slice of the first hidden layer.
pub(super) type Wide = Row<{ SLICE / 16 }>;

/// The second or third hidden layer.
pub(super) type Narrow = Row<{ LATER / 16 }>;

/// `16 * GROUPS` numbers, in whole cache lines.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(super) struct Row<const GROUPS: usize>([[f32; 16]; GROUPS]);

impl<const GROUPS: usize> Row<GROUPS> {
    pub(super) const ZERO: Self = Row([[0.0; 16]; GROUPS]);

    /// Returns a row that begins with `numbers`, padded with zeros.
    pub(super) fn padded(numbers: &[f32]) -> Self {
        let mut row = Row::ZERO;
        row.numbers_mut()[..numbers.len()].copy_from_slice(numbers);
        row
    }

    #[inline(always)]
    pub(super) fn numbers(&self) -> &[f32] {
        self.0.as_flattened()
    }

    #[inline(always)]
    pub(super) fn numbers_mut(&mut self) -> &mut [f32] {
        self.0.as_flattened_mut()
    }

    #[inline(always)]
    pub(super) fn load<L: Lanes>(&self, lanes: L) -> [L::Floats; GROUPS] {
        let mut floats = [lanes.splat(0.0); GROUPS];
        for (floats, numbers) in floats.iter_mut().zip(&self.0) {
            *floats = lanes.load(numbers);
        }
        floats
    }

    #[inline(always)]
    pub(super) fn store<L: Lanes>(&mut self, lanes: L, floats: [L::Floats; GROUPS]) {
        for (floats, numbers) in floats.into_iter().zip(&mut self.0) {
            lanes.store(floats, numbers);
        }
    }

    /// Adds `factor * row` to this row.
    #[inline(always)]
    pub(super) fn add_times(&mut self, lanes: impl Lanes, factor: f32, row: &Self) {
        let mut sums = self.load(lanes);
        add_times(lanes, &mut sums, factor, row);
        self.store(lanes, sums);
    }

    /// Adds `row` to this row.
    pub(super) fn add(&mut self, row: &Self) {
        for (sum, x) in self.numbers_mut().iter_mut().zip(row.numbers()) {
            *sum += x;
        }
    }
}

/// Adds a row to sums in registers.
#[inline(always)]
pub(super) fn add<L: Lanes, const GROUPS: usize>(
    lanes: L,
    sums: &mut [L::Floats; GROUPS],
    row: &Row<GROUPS>,
) {
    for (sum, x) in sums.iter_mut().zip(&row.0) {
        *sum = lanes.add(*sum, lanes.load(x));
    }
}

/// Adds `factor * row` to sums in registers.
#[inline(always)]
pub(super) fn add_times<L: Lanes, const GROUPS: usize>(
    lanes: L,
    sums: &mut [L::Floats; GROUPS],
    factor: f32,
    row: &Row<GROUPS>,
) {
    let factor = lanes.splat(factor);
    for (sum, x) in sums.iter_mut().zip(&row.0) {
        *sum = lanes.mul_add(lanes.load(x), factor, *sum);
    }
}

/// Returns the elementwise product of sums in registers and a row.
#[inline(always)]
pub(super) fn times<L: Lanes, const GROUPS: usize>(
    lanes: L,
    mut sums: [L::Floats; GROUPS],
    row: &Row<GROUPS>,
) -> [L::Floats; GROUPS] {
    for (sum, x) in sums.iter_mut().zip(&row.0) {
        *sum = lanes.mul_add(*sum, lanes.load(x), lanes.splat(0.0));
    }
    sums
}

/// Clipped ReLU: returns each sum clamped to 0..=1.
#[inline(always)]
pub(super) fn clip<L: Lanes, const GROUPS: usize>(
    lanes: L,
    mut sums: [L::Floats; GROUPS],
) -> [L::Floats; GROUPS] {
    for sum in &mut sums {
        *sum = lanes.clip(*sum);
    }
    sums
}

/// Gradient through the clipped ReLU: returns `gradient` where the activation `x` is strictly
/// between 0 and 1, zero elsewhere.
#[inline(always)]
pub(super) fn where_inside<L: Lanes, const GROUPS: usize>(
    lanes: L,
    mut gradient: [L::Floats; GROUPS],
    x: &Row<GROUPS>,
) -> [L::Floats; GROUPS] {
    for (gradient, x) in gradient.iter_mut().zip(&x.0) {
        *gradient = lanes.where_inside(*gradient, lanes.load(x));
    }
    gradient
}

/// Returns the scalar product.
pub(super) fn dot(a: &Narrow, b: &Narrow) -> f32 {
    let mut sums = [0.0; 16];
    for (a, b) in a.0.iter().zip(&b.0) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}
