//! Rows of numbers, the unit in which the kernel moves them.

use super::lanes::Lanes;

/// Neurons of the first hidden layer that one task works on. A slice of its
/// weights, `INPUTS * SLICE * 4` bytes = 173 KB, stays in a core's L2 cache
/// beside as much of the gradient and a block of samples.
pub(super) const SLICE: usize = 48;

/// The second and third hidden layers' neurons, padded.
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

    /// The first numbers of a row; the rest are zeros.
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
    pub(super) fn load<L: Lanes>(&self) -> [L; GROUPS] {
        let mut lanes = [L::splat(0.0); GROUPS];
        for (lanes, numbers) in lanes.iter_mut().zip(&self.0) {
            *lanes = L::load(numbers);
        }
        lanes
    }

    #[inline(always)]
    pub(super) fn store<L: Lanes>(&mut self, lanes: [L; GROUPS]) {
        for (lanes, numbers) in lanes.into_iter().zip(&mut self.0) {
            lanes.store(numbers);
        }
    }

    /// Adds `factor * row` in memory.
    #[inline(always)]
    pub(super) fn add_times<L: Lanes>(&mut self, factor: f32, row: &Self) {
        let mut sums = self.load::<L>();
        add_times(&mut sums, factor, row);
        self.store(sums);
    }

    /// Adds a row in memory.
    pub(super) fn add(&mut self, row: &Self) {
        for (sum, x) in self.numbers_mut().iter_mut().zip(row.numbers()) {
            *sum += x;
        }
    }
}

/// Adds a row to sums in registers.
#[inline(always)]
pub(super) fn add<L: Lanes, const GROUPS: usize>(sums: &mut [L; GROUPS], row: &Row<GROUPS>) {
    for (sum, x) in sums.iter_mut().zip(&row.0) {
        *sum = sum.add(L::load(x));
    }
}

/// Adds `factor * row` to sums in registers.
#[inline(always)]
pub(super) fn add_times<L: Lanes, const GROUPS: usize>(
    sums: &mut [L; GROUPS],
    factor: f32,
    row: &Row<GROUPS>,
) {
    let factor = L::splat(factor);
    for (sum, x) in sums.iter_mut().zip(&row.0) {
        *sum = L::load(x).mul_add(factor, *sum);
    }
}

/// Each sum moved into 0 to 1: the activation.
#[inline(always)]
pub(super) fn clip<L: Lanes, const GROUPS: usize>(mut sums: [L; GROUPS]) -> [L; GROUPS] {
    for sum in &mut sums {
        *sum = sum.clip();
    }
    sums
}

/// The gradient through the activation: `gradient` where the activation `x`
/// is strictly between 0 and 1, zero elsewhere.
#[inline(always)]
pub(super) fn where_inside<L: Lanes, const GROUPS: usize>(
    mut gradient: [L; GROUPS],
    x: &Row<GROUPS>,
) -> [L; GROUPS] {
    for (gradient, x) in gradient.iter_mut().zip(&x.0) {
        *gradient = gradient.where_inside(L::load(x));
    }
    gradient
}

/// The scalar product.
pub(super) fn dot(a: &Narrow, b: &Narrow) -> f32 {
    let mut sums = [0.0; 16];
    for (a, b) in a.0.iter().zip(&b.0) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}
