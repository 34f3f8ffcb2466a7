//! The first layer's kernels, in CubeCL: one source for CUDA, Vulkan and Metal.
//!
//! No two units write to the same number, and every sum over samples is formed in one
//! order, so results are equal to the bit from run to run. No atomics are needed.

use burn::tensor::{DType, Shape, TensorMetadata};
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::cubecl::{self, calculate_cube_count_elemwise};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{BoolElement, CubeBackend, CubeRuntime};
use models::INPUTS;

use super::Kernels;
use crate::network::cost::SEGMENT_SAMPLES;

/// Bits of a word: samples of a group.
const WORD: usize = u32::BITS as usize;
/// Words that hold a bit for each input.
const INPUT_WORDS: usize = INPUTS.div_ceil(WORD);
/// Units of a cube. Vulkan and Metal promise no more.
const UNITS: u32 = 256;
/// Groups of a segment. A unit adds up one segment after another unit's, so that an
/// input that most positions have, such as a pawn at home, holds nobody up.
const SEGMENT: usize = SEGMENT_SAMPLES / WORD;

/// Entry `at` of a list of 16-bit numbers, two to a word.
#[cube]
fn entry(list: &Array<u32>, at: usize) -> usize {
    ((list[at / 2] >> (16 * (at % 2) as u32)) & 0xffff) as usize
}

/// A sample's sums, `[samples, width]`: the bias, and the rows of its inputs.
#[cube(launch)]
fn sum_rows<N: Float>(
    starts: &Array<u32>,
    inputs: &Array<u32>,
    weight: &Array<f32>,
    bias: &Array<f32>,
    sums: &mut Array<N>,
    #[comptime] width: usize,
    #[define(N)] _number: StorageType,
) {
    if ABSOLUTE_POS >= sums.len() {
        terminate!();
    }
    let sample = ABSOLUTE_POS / width;
    let column = ABSOLUTE_POS % width;
    let mut sum = bias[column];
    for at in starts[sample] as usize..starts[sample + 1] as usize {
        sum += weight[entry(inputs, at) * width + column];
    }
    sums[ABSOLUTE_POS] = N::cast_from(sum);
}

/// The inputs as a matrix of zeros and ones, `[samples, INPUTS]`.
#[cube(launch)]
fn write_dense<N: Float>(
    starts: &Array<u32>,
    inputs: &Array<u32>,
    dense: &mut Array<N>,
    #[define(N)] _number: StorageType,
) {
    if ABSOLUTE_POS >= dense.len() {
        terminate!();
    }
    let sample = ABSOLUTE_POS / INPUTS;
    let input = ABSOLUTE_POS % INPUTS;
    let mut value = N::new(0.0);
    for at in starts[sample] as usize..starts[sample + 1] as usize {
        if entry(inputs, at) == input {
            value = N::new(1.0);
        }
    }
    dense[ABSOLUTE_POS] = value;
}

/// The lists turned round, `[groups, INPUTS]`: which of a group's 32 samples have an
/// input, a bit each. A cube writes a group.
#[cube(launch)]
fn find_samples(starts: &Array<u32>, inputs: &Array<u32>, having: &mut Array<u32>) {
    let samples = starts.len() - 1;
    let group = CUBE_POS;
    if group >= having.len() / INPUTS {
        terminate!();
    }
    // A row of bits for each sample, one for each input.
    let mut rows = SharedMemory::<u32>::new(WORD * INPUT_WORDS);
    let mut at = UNIT_POS as usize;
    while at < WORD * INPUT_WORDS {
        rows[at] = 0u32;
        at += UNITS as usize;
    }
    sync_cube();
    // One unit a sample, so that no two write to the same word.
    let unit = UNIT_POS as usize;
    let sample = group * WORD + unit;
    if unit < WORD && sample < samples {
        for at in starts[sample] as usize..starts[sample + 1] as usize {
            let input = entry(inputs, at);
            rows[unit * INPUT_WORDS + input / WORD] |= 1u32 << (input % WORD) as u32;
        }
    }
    sync_cube();
    let mut input = UNIT_POS as usize;
    while input < INPUTS {
        let mut word = 0u32;
        for sample in 0..WORD {
            let bit = (rows[sample * INPUT_WORDS + input / WORD] >> (input % WORD) as u32) & 1u32;
            word |= bit << sample as u32;
        }
        having[group * INPUTS + input] = word;
        input += UNITS as usize;
    }
}

/// The gradient of the weights, segment by segment, `[segments, INPUTS, width]`: for
/// each input, the rows of `output` of the samples that have it.
#[cube(launch)]
fn add_segments<N: Float>(
    having: &Array<u32>,
    output: &Array<N>,
    parts: &mut Array<f32>,
    #[comptime] width: usize,
    #[define(N)] _number: StorageType,
) {
    if ABSOLUTE_POS >= parts.len() {
        terminate!();
    }
    let column = ABSOLUTE_POS % width;
    let input = (ABSOLUTE_POS / width) % INPUTS;
    let begin = ABSOLUTE_POS / (width * INPUTS) * SEGMENT;
    let end = min(begin + SEGMENT, having.len() / INPUTS);
    let mut sum = 0.0f32;
    for group in begin..end {
        let mut word = having[group * INPUTS + input];
        while word != 0 {
            let sample = group * WORD + u32::find_first_set(word) as usize - 1;
            sum += f32::cast_from(output[sample * width + column]);
            word &= word - 1;
        }
    }
    parts[ABSOLUTE_POS] = sum;
}

/// Adds the segments up, `[INPUTS, width]`.
#[cube(launch)]
fn join_segments(parts: &Array<f32>, whole: &mut Array<f32>) {
    if ABSOLUTE_POS >= whole.len() {
        terminate!();
    }
    let mut sum = 0.0f32;
    for segment in 0..parts.len() / whole.len() {
        sum += parts[segment * whole.len() + ABSOLUTE_POS];
    }
    whole[ABSOLUTE_POS] = sum;
}

/// Room on the device of a tensor.
fn room<R: CubeRuntime>(beside: &CubeTensor<R>, shape: Shape, dtype: DType) -> CubeTensor<R> {
    let (client, device) = (beside.client.clone(), beside.device.clone());
    empty_device_contiguous_dtype(client, device, shape, dtype)
}

/// Enough cubes for a unit a number.
fn cubes<R: CubeRuntime>(of: &CubeTensor<R>) -> (CubeCount, CubeDim) {
    let units = CubeDim::new_1d(UNITS);
    let count = calculate_cube_count_elemwise(&of.client, of.shape().num_elements(), units);
    (count, units)
}

impl<R: CubeRuntime, BT: BoolElement> Kernels for CubeBackend<R, f32, i32, BT> {
    fn sums(
        starts: CubeTensor<R>,
        inputs: CubeTensor<R>,
        weight: CubeTensor<R>,
        bias: CubeTensor<R>,
        dtype: DType,
    ) -> CubeTensor<R> {
        let (samples, width) = (starts.shape()[0] - 1, bias.shape()[0]);
        let sums = room(&weight, Shape::new([samples, width]), dtype);
        let (count, units) = cubes(&sums);
        sum_rows::launch(
            &sums.client,
            count,
            units,
            into_contiguous(starts).into_array_arg(),
            into_contiguous(inputs).into_array_arg(),
            into_contiguous(weight).into_array_arg(),
            into_contiguous(bias).into_array_arg(),
            sums.clone().into_array_arg(),
            width,
            dtype.into(),
        );
        sums
    }

    fn weight_gradient(
        starts: CubeTensor<R>,
        inputs: CubeTensor<R>,
        output: CubeTensor<R>,
    ) -> CubeTensor<R> {
        let [samples, width] = output.shape().dims();
        let dtype = output.dtype;
        let groups = samples.div_ceil(WORD);
        let segments = groups.div_ceil(SEGMENT);
        let having = room(&output, Shape::new([groups, INPUTS]), DType::U32);
        let units = CubeDim::new_1d(UNITS);
        find_samples::launch(
            &having.client,
            calculate_cube_count_elemwise(&having.client, groups * UNITS as usize, units),
            units,
            into_contiguous(starts).into_array_arg(),
            into_contiguous(inputs).into_array_arg(),
            having.clone().into_array_arg(),
        );
        let parts = room(&output, Shape::new([segments, INPUTS, width]), DType::F32);
        let (count, units) = cubes(&parts);
        add_segments::launch(
            &parts.client,
            count,
            units,
            having.into_array_arg(),
            into_contiguous(output).into_array_arg(),
            parts.clone().into_array_arg(),
            width,
            dtype.into(),
        );
        let whole = room(&parts, Shape::new([INPUTS, width]), DType::F32);
        let (count, units) = cubes(&whole);
        join_segments::launch(
            &whole.client,
            count,
            units,
            parts.into_array_arg(),
            whole.clone().into_array_arg(),
        );
        whole
    }

    fn dense(starts: CubeTensor<R>, inputs: CubeTensor<R>, dtype: DType) -> CubeTensor<R> {
        let samples = starts.shape()[0] - 1;
        let dense = room(&starts, Shape::new([samples, INPUTS]), dtype);
        let (count, units) = cubes(&dense);
        write_dense::launch(
            &dense.client,
            count,
            units,
            into_contiguous(starts).into_array_arg(),
            into_contiguous(inputs).into_array_arg(),
            dense.clone().into_array_arg(),
            dtype.into(),
        );
        dense
    }
}
