//! Weights and gradients, laid out for the kernel.

use std::ops::Range;

use burn::tensor::TensorData;
use models::{Activation, Architecture, INPUTS};
use rayon::prelude::*;

use super::rows::{LATER, Narrow, Row, SLICE, Wide};

/// How a network's numbers are cut into slices, each of which one task works on: a slice
/// of each view's activations, with the neurons that they are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) architecture: Architecture,
    /// Slices of a view's activations.
    pub(super) slices: usize,
    /// Neurons that an activation is made of: one, or two that are multiplied.
    pub(super) factors: usize,
    /// Accumulators that a value is made of: one or two.
    pub(super) views: usize,
}

impl Layout {
    pub(super) fn new(architecture: Architecture) -> Layout {
        Layout {
            architecture,
            slices: architecture.activations().div_ceil(SLICE),
            factors: architecture.first / architecture.activations(),
            views: architecture.views(),
        }
    }

    /// Whether activations are products of neurons.
    pub(super) fn multiplies(self) -> bool {
        self.architecture.activation != Activation::ClippedRelu
    }

    /// The neurons of each table, in order: of a slice, those of the first factor, then
    /// those of the second.
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

    /// Where the second layer's inputs lie among its padded rows: for each of
    /// `views * slices` slices, its inputs.
    fn inputs(self) -> impl Iterator<Item = Range<usize>> {
        let activations = self.architecture.activations();
        (0..self.views * self.slices).map(move |index| {
            let (view, slice) = (index / self.slices, index % self.slices);
            let end = activations.min((slice + 1) * SLICE);
            view * activations + slice * SLICE..view * activations + end
        })
    }
}

/// The weights, padded with zeros. Padded neurons stay at zero and pass
/// nothing on.
#[derive(Debug)]
pub(super) struct Weights {
    pub(super) layout: Layout,
    /// `[slices * factors * INPUTS]`: each table's part of every input's row.
    pub(super) first: Vec<Wide>,
    /// `[slices * factors]`.
    pub(super) first_bias: Vec<Wide>,
    /// `[buckets]`.
    pub(super) stacks: Vec<Stack>,
}

/// The layers behind the first, of one bucket.
#[derive(Debug)]
pub(super) struct Stack {
    /// `[views * slices * SLICE]`: a row for each activation.
    pub(super) second: Vec<Narrow>,
    /// `[views * slices * LATER]`: each slice of the transpose.
    pub(super) second_transposed: Vec<Wide>,
    pub(super) second_bias: Narrow,
    pub(super) third: Option<Third>,
    /// The output's weights and bias, where it does not follow the first layer.
    pub(super) output: Option<(Narrow, f32)>,
}

/// The third layer, where it is not the output.
#[derive(Debug)]
pub(super) struct Third {
    /// `[LATER]`.
    pub(super) rows: Vec<Narrow>,
    /// `[LATER]`: the transpose.
    pub(super) transposed: Vec<Narrow>,
    pub(super) bias: Narrow,
}

impl Weights {
    /// Of each layer's weights, row-major `[inputs, outputs]`, and biases, as Burn has
    /// them: behind the first, the outputs of all buckets follow each other.
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
        // Of a layer, the rows and the bias of this bucket.
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
    layout: Layout,
    /// `[slices * factors * INPUTS]`.
    pub(super) first: Vec<Wide>,
    /// `[slices * factors]`.
    pub(super) first_bias: Vec<Wide>,
    /// `[slices * buckets * views * SLICE]`: what a slice's task finds lies together.
    pub(super) second: Vec<Narrow>,
    /// `[buckets]`.
    pub(super) later: Vec<LaterGradients>,
}

/// The part of the gradient that is small, of one bucket.
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

    /// As tensors, without the padding: of each layer weights and biases.
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
        // A row of all buckets, from each one's.
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
