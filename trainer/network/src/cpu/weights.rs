//! Weights and gradients in the kernel's layout.

use std::ops::Range;

use burn::tensor::TensorData;
use models::{Activation, Architecture, INPUTS};
use rayon::prelude::*;

use super::rows::{LATER, Narrow, Row, SLICE, Wide};

/// Partition of the first layer into slices, one task each: a slice of each view's activations,
/// with the neurons that produce them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) architecture: Architecture,
    /// Number of slices of a view's activations.
    pub(super) slices: usize,
    /// Distinct neurons behind an activation: 1, or 2 that are multiplied.
    pub(super) factors: usize,
    /// Accumulators behind a value: 1 or 2.
    pub(super) views: usize,
}

impl Layout {
    pub(super) fn new(architecture: Architecture) -> Layout {
        Layout {
            architecture,
            slices: architecture.activations().div_ceil(SLICE),
            factors: architecture.activation.neurons(),
            views: architecture.views(),
        }
    }

    /// Returns whether activations are products of clipped sums.
    pub(super) fn multiplies(self) -> bool {
        match self.architecture.activation {
            Activation::ClippedRelu => false,
            Activation::SquaredClippedRelu | Activation::PairwiseClippedRelu => true,
        }
    }

    /// Returns the neurons of each table: for each slice, those of the first factor, then those of
    /// the second.
    fn tables(self) -> impl IndexedParallelIterator<Item = Range<usize>> {
        let activations = self.architecture.activations();
        (0..self.slices * self.factors)
            .into_par_iter()
            .map(move |table| {
                let (slice, factor) = (table / self.factors, table % self.factors);
                let end = activations.min((slice + 1) * SLICE);
                factor * activations + slice * SLICE..factor * activations + end
            })
    }

    /// Returns the range of second-layer inputs in each of the `views * slices` slices.
    fn inputs(self) -> impl Iterator<Item = Range<usize>> {
        let activations = self.architecture.activations();
        (0..self.views * self.slices).map(move |index| {
            let (view, slice) = (index / self.slices, index % self.slices);
            let end = activations.min((slice + 1) * SLICE);
            view * activations + slice * SLICE..view * activations + end
        })
    }
}

/// A network's weights, padded with zeros. Padded neurons stay at zero and contribute nothing.
#[derive(Debug)]
pub(super) struct Weights {
    pub(super) layout: Layout,
    /// First-layer weights, `[slices * factors * INPUTS]`: each table's part of every input's row.
    pub(super) first: Vec<Wide>,
    /// First-layer biases, `[slices * factors]`.
    pub(super) first_bias: Vec<Wide>,
    /// The later layers, `[buckets]`.
    pub(super) stacks: Vec<Stack>,
}

/// The layers after the first, of one bucket.
#[derive(Debug)]
pub(super) struct Stack {
    /// Second-layer weights, `[views * slices * SLICE]`: a row for each activation.
    pub(super) second: Vec<Narrow>,
    /// The transpose of `second`, `[views * slices * LATER]`, slice by slice.
    pub(super) second_transposed: Vec<Wide>,
    pub(super) second_bias: Narrow,
    pub(super) third: Option<Third>,
    /// The output's weights and bias; `None` if the second layer is the output.
    pub(super) output: Option<(Narrow, f32)>,
}

/// The third layer, where it is not the output.
#[derive(Debug)]
pub(super) struct Third {
    /// Weights, `[LATER]`: a row for each input.
    pub(super) rows: Vec<Narrow>,
    /// The transpose of `rows`, `[LATER]`.
    pub(super) transposed: Vec<Narrow>,
    pub(super) bias: Narrow,
}

impl Weights {
    /// Lays out `from`: weights, row-major `[inputs, outputs]`, and biases of each layer,
    /// alternately. After the first layer, the outputs of all buckets are concatenated.
    pub(super) fn new(architecture: Architecture, from: &[&[f32]]) -> Weights {
        let layout = Layout::new(architecture);
        let (width, weight, bias) = (architecture.first, from[0], from[1]);
        let mut first = vec![Wide::ZERO; layout.slices * layout.factors * INPUTS];
        let tables = first.par_chunks_exact_mut(INPUTS).zip(layout.tables());
        tables.for_each(|(table, neurons)| {
            for (row, numbers) in table.iter_mut().zip(weight.chunks_exact(width)) {
                *row = Wide::padded(&numbers[neurons.clone()]);
            }
        });
        let biases = layout.tables().map(|neurons| Wide::padded(&bias[neurons]));
        let stack = |bucket| Stack::new(layout, bucket, &from[2..]);
        Weights {
            layout,
            first,
            first_bias: biases.collect(),
            stacks: (0..architecture.buckets).map(stack).collect(),
        }
    }
}

impl Stack {
    fn new(layout: Layout, bucket: usize, from: &[&[f32]]) -> Stack {
        let buckets = layout.architecture.buckets;
        // This bucket's rows and bias of a layer.
        let layer = |index: usize| {
            let (weight, bias) = (from[2 * index], from[2 * index + 1]);
            let outputs = bias.len() / buckets;
            let own = bucket * outputs..(bucket + 1) * outputs;
            let rows = weight.chunks_exact(bias.len());
            let rows: Vec<Narrow> = rows.map(|row| Narrow::padded(&row[own.clone()])).collect();
            (rows, Narrow::padded(&bias[own]))
        };
        let (rows, second_bias) = layer(0);
        let mut second = Vec::with_capacity(layout.views * layout.slices * SLICE);
        for (index, inputs) in layout.inputs().enumerate() {
            second.extend_from_slice(&rows[inputs]);
            second.resize((index + 1) * SLICE, Narrow::ZERO);
        }
        let layers = from.len() / 2;
        let third = (layers == 3).then(|| {
            let (mut rows, bias) = layer(1);
            rows.resize(LATER, Narrow::ZERO);
            Third {
                transposed: transposed(&rows).collect(),
                rows,
                bias,
            }
        });
        let output = (layers > 1).then(|| {
            let (rows, bias) = layer(layers - 1);
            let column: Vec<f32> = rows.iter().map(|row| row.numbers()[0]).collect();
            (Narrow::padded(&column), bias.numbers()[0])
        });
        Stack {
            second_transposed: second.chunks_exact(SLICE).flat_map(transposed).collect(),
            second,
            second_bias,
            third,
            output,
        }
    }
}

/// Returns the transpose of a matrix: a row for each of its [`LATER`] columns.
fn transposed<const GROUPS: usize>(matrix: &[Narrow]) -> impl Iterator<Item = Row<GROUPS>> {
    (0..LATER).map(move |column| {
        let mut row = Row::ZERO;
        for (to, from) in row.numbers_mut().iter_mut().zip(matrix) {
            *to = from.numbers()[column];
        }
        row
    })
}

/// Gradient of a loss, in the layout of [`Weights`].
#[derive(Debug)]
pub(super) struct Gradients {
    layout: Layout,
    /// First-layer weights' gradient, `[slices * factors * INPUTS]`.
    pub(super) first: Vec<Wide>,
    /// First-layer biases' gradient, `[slices * factors]`.
    pub(super) first_bias: Vec<Wide>,
    /// Second-layer weights' gradient, `[slices * buckets * views * SLICE]`: each slice's task
    /// writes one contiguous part.
    pub(super) second: Vec<Narrow>,
    /// Gradients of the remaining parameters, `[buckets]`.
    pub(super) later: Vec<LaterGradients>,
}

/// Gradient of one bucket's second-layer bias and later layers.
#[derive(Clone, Debug)]
pub(super) struct LaterGradients {
    pub(super) second_bias: Narrow,
    pub(super) third: [Narrow; LATER],
    pub(super) third_bias: Narrow,
    pub(super) output: Narrow,
    pub(super) output_bias: f32,
}

impl LaterGradients {
    pub(super) const ZERO: LaterGradients = LaterGradients {
        second_bias: Narrow::ZERO,
        third: [Narrow::ZERO; LATER],
        third_bias: Narrow::ZERO,
        output: Narrow::ZERO,
        output_bias: 0.0,
    };

    pub(super) fn add(&mut self, other: &LaterGradients) {
        self.second_bias.add(&other.second_bias);
        for (sum, row) in self.third.iter_mut().zip(&other.third) {
            sum.add(row);
        }
        self.third_bias.add(&other.third_bias);
        self.output.add(&other.output);
        self.output_bias += other.output_bias;
    }
}

impl Gradients {
    pub(super) fn zero(layout: Layout) -> Gradients {
        let buckets = layout.architecture.buckets;
        let tables = layout.slices * layout.factors;
        Gradients {
            layout,
            first: vec![Wide::ZERO; tables * INPUTS],
            first_bias: vec![Wide::ZERO; tables],
            second: vec![Narrow::ZERO; layout.slices * buckets * layout.views * SLICE],
            later: vec![LaterGradients::ZERO; buckets],
        }
    }

    /// Returns the gradients of each layer's weights and biases as tensors, without padding.
    pub(super) fn tensors(&self) -> Vec<TensorData> {
        let Layout {
            architecture,
            slices,
            views,
            ..
        } = self.layout;
        let width = architecture.first;
        let tables: Vec<Range<usize>> = self.layout.tables().collect();
        let mut first = vec![0.0; INPUTS * width];
        let rows = first.par_chunks_exact_mut(width).enumerate();
        rows.for_each(|(input, row)| {
            for (neurons, table) in tables.iter().zip(self.first.chunks_exact(INPUTS)) {
                let count = neurons.len();
                row[neurons.clone()].copy_from_slice(&table[input].numbers()[..count]);
            }
        });
        let mut first_bias = vec![0.0; width];
        for (neurons, bias) in tables.iter().zip(&self.first_bias) {
            let count = neurons.len();
            first_bias[neurons.clone()].copy_from_slice(&bias.numbers()[..count]);
        }
        let layers = architecture.layers();
        let buckets = architecture.buckets;
        let mut tensors = vec![
            TensorData::new(first, [INPUTS, width]),
            TensorData::new(first_bias, [width]),
        ];
        // Concatenates the buckets' rows.
        let joined = |outputs: usize, row: &dyn Fn(usize) -> Narrow| -> Vec<f32> {
            let rows = (0..buckets).flat_map(|bucket| row(bucket).numbers()[..outputs].to_vec());
            rows.collect()
        };
        let mut add = |index: usize, weight: Vec<f32>, bias: &dyn Fn(usize) -> Narrow| {
            let (outputs, inputs) = layers[index];
            tensors.push(TensorData::new(weight, [inputs, outputs]));
            tensors.push(TensorData::new(joined(outputs / buckets, bias), [outputs]));
        };
        let outputs = layers[1].0 / buckets;
        let inputs = self.layout.inputs().enumerate();
        let weight = inputs.flat_map(|(index, inputs)| {
            let (view, slice) = (index / slices, index % slices);
            let joined = &joined;
            (0..inputs.len()).flat_map(move |row| {
                joined(outputs, &|bucket| {
                    self.second[((slice * buckets + bucket) * views + view) * SLICE + row]
                })
            })
        });
        add(1, weight.collect(), &|bucket| {
            self.later[bucket].second_bias
        });
        if let [_, _, (third, inputs), _] = layers[..] {
            let rows = (0..inputs)
                .flat_map(|row| joined(third / buckets, &|bucket| self.later[bucket].third[row]));
            add(2, rows.collect(), &|bucket| self.later[bucket].third_bias);
        }
        if let [_, _, .., (_, inputs)] = layers[..] {
            let column = |row: usize| {
                let number = move |bucket: usize| self.later[bucket].output.numbers()[row];
                (0..buckets).map(number)
            };
            let bias = |bucket: usize| Narrow::padded(&[self.later[bucket].output_bias]);
            add(
                layers.len() - 1,
                (0..inputs).flat_map(column).collect(),
                &bias,
            );
        }
        tensors
    }
}
