//! Weights and gradients, laid out for the kernel.

use burn::tensor::TensorData;
use models::{INPUTS, Shape};
use rayon::prelude::*;

use super::rows::{LATER, Narrow, Row, SLICE, Wide};

/// Something for each of the network's parameters, as Burn keeps them: of each
/// layer the weights, row-major `[inputs, outputs]`, and the biases.
pub(super) type OfParameters<T> = [T; 8];

/// The weights, padded with zeros. Padded neurons stay at zero and pass
/// nothing on.
#[derive(Debug)]
pub(super) struct Weights {
    /// `[slices * INPUTS]`: each slice's part of every input's row.
    pub(super) first: Vec<Wide>,
    /// `[slices]`.
    pub(super) first_bias: Vec<Wide>,
    /// `[slices * SLICE]`: a row for each neuron of the first hidden layer.
    pub(super) second: Vec<Narrow>,
    /// `[slices * LATER]`: each slice of the transpose.
    pub(super) second_transposed: Vec<Wide>,
    pub(super) second_bias: Narrow,
    /// `[LATER]`.
    pub(super) third: Vec<Narrow>,
    /// `[LATER]`: the transpose.
    pub(super) third_transposed: Vec<Narrow>,
    pub(super) third_bias: Narrow,
    pub(super) fourth: Narrow,
    pub(super) fourth_bias: f32,
}

impl Weights {
    pub(super) fn new(shape: Shape, from: OfParameters<&[f32]>) -> Weights {
        let [
            first_weight,
            first_bias,
            second_weight,
            second_bias,
            third_weight,
            third_bias,
            fourth_weight,
            fourth_bias,
        ] = from;
        let slices = shape.first.div_ceil(SLICE);
        let part = |slice: usize| slice * SLICE..shape.first.min((slice + 1) * SLICE);
        let mut first = vec![Wide::ZERO; slices * INPUTS];
        let tables = first.par_chunks_exact_mut(INPUTS).enumerate();
        tables.for_each(|(slice, table)| {
            for (row, numbers) in table.iter_mut().zip(first_weight.chunks_exact(shape.first)) {
                *row = Wide::padded(&numbers[part(slice)]);
            }
        });
        let mut second = rows(second_weight, shape.second);
        second.resize(slices * SLICE, Narrow::ZERO);
        let mut third = rows(third_weight, shape.third);
        third.resize(LATER, Narrow::ZERO);
        Weights {
            first,
            first_bias: (0..slices)
                .map(|slice| Wide::padded(&first_bias[part(slice)]))
                .collect(),
            second_transposed: second.chunks_exact(SLICE).flat_map(transposed).collect(),
            second,
            second_bias: Narrow::padded(second_bias),
            third_transposed: transposed(&third).collect(),
            third,
            third_bias: Narrow::padded(third_bias),
            fourth: Narrow::padded(fourth_weight),
            fourth_bias: fourth_bias[0],
        }
    }

    /// Number of slices of the first hidden layer.
    pub(super) fn slices(&self) -> usize {
        self.first_bias.len()
    }
}

/// A matrix with rows of `width` numbers.
fn rows(numbers: &[f32], width: usize) -> Vec<Narrow> {
    numbers.chunks_exact(width).map(Narrow::padded).collect()
}

/// The transpose of a matrix: a row for each of its [`LATER`] columns.
fn transposed<const GROUPS: usize>(matrix: &[Narrow]) -> impl Iterator<Item = Row<GROUPS>> {
    (0..LATER).map(move |column| {
        let mut row = Row::ZERO;
        for (to, from) in row.numbers_mut().iter_mut().zip(matrix) {
            *to = from.numbers()[column];
        }
        row
    })
}

/// The gradient of a loss, as [`Weights`] are laid out.
#[derive(Debug)]
pub(super) struct Gradients {
    /// `[slices * INPUTS]`.
    pub(super) first: Vec<Wide>,
    /// `[slices]`.
    pub(super) first_bias: Vec<Wide>,
    /// `[slices * SLICE]`.
    pub(super) second: Vec<Narrow>,
    pub(super) later: LaterGradients,
}

/// The part of the gradient that is small.
#[derive(Clone, Debug)]
pub(super) struct LaterGradients {
    pub(super) second_bias: Narrow,
    pub(super) third: [Narrow; LATER],
    pub(super) third_bias: Narrow,
    pub(super) fourth: Narrow,
    pub(super) fourth_bias: f32,
}

impl LaterGradients {
    pub(super) const ZERO: LaterGradients = LaterGradients {
        second_bias: Narrow::ZERO,
        third: [Narrow::ZERO; LATER],
        third_bias: Narrow::ZERO,
        fourth: Narrow::ZERO,
        fourth_bias: 0.0,
    };

    pub(super) fn add(&mut self, other: &LaterGradients) {
        self.second_bias.add(&other.second_bias);
        for (sum, row) in self.third.iter_mut().zip(&other.third) {
            sum.add(row);
        }
        self.third_bias.add(&other.third_bias);
        self.fourth.add(&other.fourth);
        self.fourth_bias += other.fourth_bias;
    }
}

impl Gradients {
    pub(super) fn zero(slices: usize) -> Gradients {
        Gradients {
            first: vec![Wide::ZERO; slices * INPUTS],
            first_bias: vec![Wide::ZERO; slices],
            second: vec![Narrow::ZERO; slices * SLICE],
            later: LaterGradients::ZERO,
        }
    }

    /// As tensors, without the padding.
    pub(super) fn tensors(&self, shape: Shape) -> OfParameters<TensorData> {
        let mut first = vec![0.0; INPUTS * shape.first];
        let rows = first.par_chunks_exact_mut(shape.first).enumerate();
        rows.for_each(|(input, row)| {
            for (to, table) in row.chunks_mut(SLICE).zip(self.first.chunks_exact(INPUTS)) {
                to.copy_from_slice(&table[input].numbers()[..to.len()]);
            }
        });
        let wide = self.first_bias.iter().flat_map(Row::numbers).copied();
        let narrow = |row: &Narrow, width: usize| row.numbers()[..width].to_vec();
        let matrix = |rows: &[Narrow], width: usize| -> Vec<f32> {
            let numbers = rows.iter().flat_map(|row| &row.numbers()[..width]);
            numbers.copied().collect()
        };
        let later = &self.later;
        [
            TensorData::new(first, [INPUTS, shape.first]),
            TensorData::new(wide.take(shape.first).collect(), [shape.first]),
            TensorData::new(
                matrix(&self.second[..shape.first], shape.second),
                [shape.first, shape.second],
            ),
            TensorData::new(narrow(&later.second_bias, shape.second), [shape.second]),
            TensorData::new(
                matrix(&later.third[..shape.second], shape.third),
                [shape.second, shape.third],
            ),
            TensorData::new(narrow(&later.third_bias, shape.third), [shape.third]),
            TensorData::new(narrow(&later.fourth, shape.third), [shape.third, 1]),
            TensorData::new(vec![later.fourth_bias], [1]),
        ]
    }
}
