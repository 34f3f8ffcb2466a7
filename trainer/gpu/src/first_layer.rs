//! Kernels of the first layer: sums of active inputs' rows, and the gradient of the rows.
//!
//! `row` counts positions by view: `view * capacity + sample`. A slice is [`SLICE`] columns, eight
//! vectors of four. Cubes are ordered by slice, so that the slice of weights that they all read
//! stays in the L1 cache: 902 rows of 128 bytes are 115 KB.

use cubecl::prelude::*;
use features::{PIECES, SHARED};
use models::INPUTS;

use crate::inputs::{ENTRIES, NO_INPUT, UNROLL};
use crate::layout::SLICE;
use crate::optimizer::UNITS;

/// Vector of columns, a unit's access width.
pub(crate) type Four = Vector<f32, Const<4>>;

/// Vectors in a slice.
pub(crate) const SLICE_VECTORS: usize = SLICE / 4;
/// Rows in a group, one for each bit of a word.
pub(crate) const GROUP: usize = u32::BITS as usize;
/// Groups in the work of a cube of `find_rows`.
pub(crate) const GROUPS: usize = 4;
/// Words with a bit for each input.
const INPUT_WORDS: usize = INPUTS.div_ceil(GROUP);
/// First shared row of piece and distance from the edge files; those of piece and rank begin at
/// [`PIECES`].
const OF_EDGES: usize = PIECES * 9;
const OF_THREATS: usize = PIECES * 13;
const FIRST_THREAT: usize = models::Threats::FIRST_INPUT;
const THREATS: usize = models::Threats::INPUTS;

/// Returns an effective weight of the first layer before the clamp: own plus shared weights.
#[cube]
fn unbounded(
    parameters: &Array<f32>,
    input: usize,
    column: usize,
    own_scale: f32,
    #[comptime] width: usize,
) -> f32 {
    let shared = comptime!(INPUTS * width);
    let mut weight = parameters[input * width + column] * own_scale;
    if input < comptime!(PIECES * 64) {
        let piece = input / 64;
        let file = input % 8;
        let rank = PIECES + piece * 8 + input % 64 / 8;
        let edge = OF_EDGES + piece * 4 + min(file, 7 - file);
        weight += parameters[shared + piece * width + column]
            + parameters[shared + rank * width + column]
            + parameters[shared + edge * width + column];
    } else {
        // Wraps for inputs before the first threat, and so lies beyond all threats.
        let threat = input - FIRST_THREAT;
        if threat < THREATS {
            weight += parameters[shared + (OF_THREATS + threat) * width + column];
        }
    }
    weight
}

/// Writes the effective weights, `[INPUTS + 1, width]`: own plus shared, clamped to ±`bound`, and a
/// row of zeros at the end.
#[cube(launch_unchecked)]
pub(crate) fn compose(
    parameters: &Array<f32>,
    weights: &mut Array<f32>,
    own_scale: f32,
    bound: f32,
    #[comptime] width: usize,
) {
    if ABSOLUTE_POS >= comptime!((INPUTS + 1) * width) {
        terminate!();
    }
    let mut weight = 0.0f32;
    if ABSOLUTE_POS < comptime!(INPUTS * width) {
        weight = unbounded(
            parameters,
            ABSOLUTE_POS / width,
            ABSOLUTE_POS % width,
            own_scale,
            width,
        );
    }
    weights[ABSOLUTE_POS] = min(max(weight, -bound), bound);
}

/// Computes the first layer's sums, `[rows, width]`: the bias and the weights of the active inputs.
/// A unit computes a vector of a row.
#[cube(launch_unchecked)]
pub(crate) fn sum_rows(
    lists: &Array<u32>,
    lengths: &Array<u32>,
    weights: &Array<Four>,
    parameters: &Array<Four>,
    sums: &mut Array<Four>,
    samples: u32,
    #[comptime] capacity: usize,
    #[comptime] rows: usize,
    #[comptime] vectors: usize,
    #[comptime] bias: usize,
) {
    let row = CUBE_POS_X as usize * comptime!(GROUP) + UNIT_POS as usize / SLICE_VECTORS;
    let column = CUBE_POS_Y as usize * SLICE_VECTORS + UNIT_POS as usize % SLICE_VECTORS;
    if row % capacity >= samples as usize {
        terminate!();
    }
    let length = lengths[row] as usize;
    let mut sum = parameters[bias + column];
    let mut entry = 0usize;
    while entry < length {
        let list = entry * rows + row;
        let input0 = lists[list] as usize;
        let input1 = lists[list + rows] as usize;
        let input2 = lists[list + 2 * rows] as usize;
        let input3 = lists[list + 3 * rows] as usize;
        let weight0 = weights[input0 * vectors + column];
        let weight1 = weights[input1 * vectors + column];
        let weight2 = weights[input2 * vectors + column];
        let weight3 = weights[input3 * vectors + column];
        sum += weight0;
        sum += weight1;
        sum += weight2;
        sum += weight3;
        entry += UNROLL;
    }
    sums[row * vectors + column] = sum;
}

/// Transposes the lists to bit sets, `[rows / 32, INPUTS]`: which of a group of 32 rows have an
/// input on. A cube writes [`GROUPS`] groups.
#[cube(launch_unchecked)]
pub(crate) fn find_rows(
    lists: &Array<u32>,
    lengths: &Array<u32>,
    having: &mut Array<u32>,
    samples: u32,
    #[comptime] capacity: usize,
    #[comptime] rows: usize,
) {
    // For each row, a bit for each input.
    let mut bits = SharedMemory::<u32>::new(comptime!(GROUPS * GROUP * INPUT_WORDS));
    let unit = UNIT_POS as usize;
    let mut at = unit;
    while at < comptime!(GROUPS * GROUP * INPUT_WORDS) {
        bits[at] = 0u32;
        at += UNITS;
    }
    sync_cube();
    // Each row has one writing unit, so that no two write to the same word.
    let row = CUBE_POS_X as usize * comptime!(GROUPS * GROUP) + unit;
    if unit < comptime!(GROUPS * GROUP) && row % capacity < samples as usize {
        for entry in 0..lengths[row] as usize {
            let input = lists[entry * rows + row] as usize;
            if input < comptime!(NO_INPUT as usize) {
                bits[unit * INPUT_WORDS + input / GROUP] |= 1u32 << (input % GROUP) as u32;
            }
        }
    }
    sync_cube();
    let mut at = unit;
    while at < comptime!(GROUPS * INPUTS) {
        let group = at / INPUTS;
        let input = at % INPUTS;
        let mut word = 0u32;
        for row in 0..GROUP {
            let bit = bits[(group * GROUP + row) * INPUT_WORDS + input / GROUP];
            word |= ((bit >> (input % GROUP) as u32) & 1u32) << row as u32;
        }
        having[(CUBE_POS_X as usize * GROUPS + group) * INPUTS + input] = word;
        at += UNITS;
    }
}

/// Lists the rows of each segment that have each input on, ascending, in concatenated lists: list
/// `input` of a segment is `members[starts[segment, input]..starts[segment, input + 1]]`. A cube
/// writes a segment's lists, a unit some adjacent ones.
#[cube(launch_unchecked)]
pub(crate) fn list_rows(
    having: &Array<u32>,
    starts: &mut Array<u32>,
    members: &mut Array<u32>,
    #[comptime] segment_groups: usize,
) {
    let mut counts = SharedMemory::<u32>::new(UNITS);
    let unit = UNIT_POS as usize;
    let segment = CUBE_POS_X as usize;
    let first_group = segment * segment_groups;
    let first = unit * comptime!(INPUTS.div_ceil(UNITS));
    let end = min(first + comptime!(INPUTS.div_ceil(UNITS)), INPUTS);
    let mut count = 0u32;
    for input in first..end {
        for group in first_group..first_group + segment_groups {
            count += having[group * INPUTS + input].count_ones();
        }
    }
    counts[unit] = count;
    sync_cube();
    // Inclusive prefix sum over the units (Hillis and Steele, "Data parallel algorithms", 1986).
    #[unroll]
    for step in 0..8u32 {
        let distance = comptime!(1usize << step);
        let mut before = 0u32;
        if unit >= distance {
            before = counts[unit - distance];
        }
        sync_cube();
        counts[unit] += before;
        sync_cube();
    }
    let room = comptime!(segment_groups * GROUP * ENTRIES);
    let mut at = segment * room + (counts[unit] - count) as usize;
    for input in first..end {
        starts[segment * comptime!(INPUTS + 1) + input] = at as u32;
        for group in first_group..first_group + segment_groups {
            let mut word = having[group * INPUTS + input];
            while word != 0 {
                members[at] = (group * GROUP) as u32 + u32::find_first_set(word) - 1;
                at += 1;
                word &= word - 1;
            }
        }
    }
    if unit == 0 {
        let len = counts[comptime!(UNITS - 1)] as usize;
        starts[segment * comptime!(INPUTS + 1) + INPUTS] = (segment * room + len) as u32;
    }
}

/// Computes each segment's gradient of the effective weights, `[segments, INPUTS, width]`: for each
/// input, the sum of the gradients of the rows that have it on. A cube works on a slice of a
/// segment, small enough for its gradients to stay in the L1 cache.
#[cube(launch_unchecked)]
pub(crate) fn add_rows(
    starts: &Array<u32>,
    members: &Array<u32>,
    sums: &Array<Four>,
    parts: &mut Array<Four>,
    #[comptime] vectors: usize,
    #[comptime] units: usize,
) {
    let column = CUBE_POS_Y as usize * SLICE_VECTORS + UNIT_POS as usize % SLICE_VECTORS;
    let segment = CUBE_POS_X as usize;
    let mut input = UNIT_POS as usize / SLICE_VECTORS;
    while input < INPUTS {
        let list = segment * comptime!(INPUTS + 1) + input;
        let end = starts[list + 1] as usize;
        let mut at = starts[list] as usize;
        let mut sum = Four::new(0.0);
        while at < end {
            let row0 = members[at] as usize;
            let row1 = members[min(at + 1, end - 1)] as usize;
            let row2 = members[min(at + 2, end - 1)] as usize;
            let row3 = members[min(at + 3, end - 1)] as usize;
            let gradient0 = sums[row0 * vectors + column];
            let gradient1 = sums[row1 * vectors + column];
            let gradient2 = sums[row2 * vectors + column];
            let gradient3 = sums[row3 * vectors + column];
            sum += gradient0;
            sum += gradient1 * Four::new(select(at + 1 < end, 1.0, 0.0));
            sum += gradient2 * Four::new(select(at + 2 < end, 1.0, 0.0));
            sum += gradient3 * Four::new(select(at + 3 < end, 1.0, 0.0));
            at += UNROLL;
        }
        parts[(segment * INPUTS + input) * vectors + column] = sum;
        input += comptime!(units / SLICE_VECTORS);
    }
}

/// Sums the segments and computes the gradient of the own weights, `[INPUTS, width]`: zero where
/// the effective weight was clamped.
#[cube(launch_unchecked)]
pub(crate) fn join_rows(
    parts: &Array<Four>,
    parameters: &Array<f32>,
    gradient: &mut Array<Four>,
    segments: u32,
    own_scale: f32,
    bound: f32,
    #[comptime] vectors: usize,
) {
    if ABSOLUTE_POS >= comptime!(INPUTS * vectors) {
        terminate!();
    }
    let mut sum = Four::new(0.0);
    for segment in 0..segments as usize {
        sum += parts[segment * comptime!(INPUTS * vectors) + ABSOLUTE_POS];
    }
    let input = ABSOLUTE_POS / vectors;
    let width = comptime!(4 * vectors);
    #[unroll]
    for lane in 0..4usize {
        let column = ABSOLUTE_POS % vectors * 4 + lane;
        let weight = unbounded(parameters, input, column, own_scale, width);
        let inside = weight >= -bound && weight <= bound;
        sum[lane] = select(inside, sum[lane] * own_scale, 0.0);
    }
    gradient[ABSOLUTE_POS] = sum;
}

/// Computes the gradient of the shared weights, `[SHARED, width]`: the sum over the inputs that
/// share them.
#[cube(launch_unchecked)]
pub(crate) fn share(gradient: &mut Array<f32>, own_scale: f32, #[comptime] width: usize) {
    if ABSOLUTE_POS >= comptime!(SHARED * width) {
        terminate!();
    }
    let row = ABSOLUTE_POS / width;
    let column = ABSOLUTE_POS % width;
    let mut sum = 0.0f32;
    if row < PIECES {
        for square in 0..64usize {
            sum += gradient[(row * 64 + square) * width + column];
        }
    } else if row < OF_EDGES {
        let first = (row - PIECES) / 8 * 64 + (row - PIECES) % 8 * 8;
        for file in 0..8usize {
            sum += gradient[(first + file) * width + column];
        }
    } else if row < OF_THREATS {
        let piece = (row - OF_EDGES) / 4;
        let file = (row - OF_EDGES) % 4;
        for rank in 0..8usize {
            let first = piece * 64 + rank * 8;
            sum += gradient[(first + file) * width + column]
                + gradient[(first + 7 - file) * width + column];
        }
    } else {
        sum = gradient[(FIRST_THREAT + row - OF_THREATS) * width + column];
    }
    gradient[comptime!(INPUTS * width) + ABSOLUTE_POS] = sum / own_scale;
}
