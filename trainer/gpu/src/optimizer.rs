//! Kernels of gradient reduction, gradient norm and AdamW.

use cubecl::prelude::*;

/// Units of a cube.
pub(crate) const UNITS: usize = 256;

/// Cubes of `add_squares`.
pub(crate) const SQUARE_CUBES: usize = 128;

/// Bound of parameters without a bound.
pub(crate) const UNBOUNDED: f32 = f32::MAX;

/// Sums segments of `len` floats each into the gradient from `begin` on.
#[cube(launch_unchecked)]
pub(crate) fn join(
    parts: &Array<f32>,
    gradient: &mut Array<f32>,
    segments: u32,
    #[comptime] len: usize,
    #[comptime] begin: usize,
) {
    if ABSOLUTE_POS >= len {
        terminate!();
    }
    let mut sum = 0.0f32;
    for segment in 0..segments as usize {
        sum += parts[segment * len + ABSOLUTE_POS];
    }
    gradient[begin + ABSOLUTE_POS] = sum;
}

/// Returns the sum of `value` over the units of a cube, added in a fixed order, to every unit.
#[cube]
fn add_units(value: f32) -> f32 {
    let mut sums = SharedMemory::<f32>::new(UNITS);
    let unit = UNIT_POS as usize;
    sums[unit] = value;
    sync_cube();
    #[unroll]
    for step in 0..8u32 {
        let half = comptime!(UNITS >> (step + 1));
        if unit < half {
            sums[unit] += sums[unit + half];
        }
        sync_cube();
    }
    sums[0]
}

/// Sums the squares of the gradient, one partial sum a cube.
#[cube(launch_unchecked)]
pub(crate) fn add_squares(gradient: &Array<f32>, parts: &mut Array<f32>, #[comptime] len: usize) {
    let mut at = CUBE_POS_X as usize * UNITS + UNIT_POS as usize;
    let mut sum = 0.0f32;
    while at < len {
        sum += gradient[at] * gradient[at];
        at += comptime!(SQUARE_CUBES * UNITS);
    }
    let sum = add_units(sum);
    if UNIT_POS == 0 {
        parts[CUBE_POS_X as usize] = sum;
    }
}

/// Writes a step's mean loss and gradient norm to the ring.
#[cube(launch_unchecked)]
pub(crate) fn measure(
    losses: &Array<f32>,
    squares: &Array<f32>,
    ring: &mut Array<f32>,
    samples: u32,
    slot: u32,
) {
    let unit = UNIT_POS as usize;
    let mut loss = 0.0f32;
    let mut at = unit;
    while at < samples as usize {
        loss += losses[at];
        at += UNITS;
    }
    let mut square = 0.0f32;
    let mut at = unit;
    while at < SQUARE_CUBES {
        square += squares[at];
        at += UNITS;
    }
    let loss = add_units(loss);
    sync_cube();
    let square = add_units(square);
    if unit == 0 {
        ring[2 * slot as usize] = loss / f32::cast_from(samples);
        ring[2 * slot as usize + 1] = square.sqrt();
    }
}

/// Takes an AdamW step (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019) with
/// the gradient clipped to the norm `clip_norm`, and clamps each parameter to its bound.
/// `correction1` and `correction2` are 1 / (1 - beta^t).
#[cube(launch_unchecked)]
pub(crate) fn adamw(
    gradient: &Array<f32>,
    ring: &Array<f32>,
    bounds: &Array<f32>,
    parameters: &mut Array<f32>,
    moments1: &mut Array<f32>,
    moments2: &mut Array<f32>,
    slot: u32,
    clip_norm: f32,
    rate: f32,
    decay: f32,
    correction1: f32,
    correction2: f32,
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    #[comptime] len: usize,
) {
    if ABSOLUTE_POS >= len {
        terminate!();
    }
    let norm = ring[2 * slot as usize + 1];
    let clip_factor = select(norm > clip_norm, clip_norm / norm, 1.0);
    let gradient = gradient[ABSOLUTE_POS] * clip_factor;
    let moment1 = beta1 * moments1[ABSOLUTE_POS] + (1.0 - beta1) * gradient;
    let moment2 = beta2 * moments2[ABSOLUTE_POS] + (1.0 - beta2) * gradient * gradient;
    moments1[ABSOLUTE_POS] = moment1;
    moments2[ABSOLUTE_POS] = moment2;
    let delta = moment1 * correction1 / ((moment2 * correction2).sqrt() + epsilon);
    let parameter = parameters[ABSOLUTE_POS] * decay - delta * rate;
    let bound = bounds[ABSOLUTE_POS];
    let bounded = min(max(parameter, -bound), bound);
    // An unbounded parameter stays infinite once it is, so that divergence is detected.
    parameters[ABSOLUTE_POS] = select(bound < UNBOUNDED, bounded, parameter);
}
