//! CPU forward and backward pass of the whole network as one operation of Burn's graph.
//!
//! Burn's own operations would expand every position to 902 numbers, some 25 of them nonzero, and
//! pass whole batches through memory between a dozen operations. Here the first layer sums the
//! active inputs' rows, and the working set stays in the cache: the first hidden layer is cut into
//! slices of neurons, each a task over all samples, so that a slice of the weights is read from
//! memory once a batch. No two tasks add to the same number, and sums over samples are formed in
//! one order, so results are equal to the bit for any number of threads.
//!
//! Positions come as [`Samples`], the indices of their active inputs. Burn's graph never sees them:
//! only parameters have gradients, and the operation's state may be of any type. [`Flex`]'s tensors
//! hold parameters and values. Elementwise work on whole parameters (the first layer's sum, clipping
//! of gradients and weights, AdamW) and the loss are operations of this crate too, each one pass
//! over memory, so nothing here depends on how fast [`Flex`]'s own operations are.

mod backward;
mod forward;
mod lanes;
mod loss;
mod policy;
mod rows;
mod samples;
mod weights;

use std::sync::Arc;

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::tensor::backend::Backend;
use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, TensorData, TensorMetadata, TensorPrimitive};
use burn_flex::{Flex, FlexTensor};
use models::{Architecture, Network};
use records::position::Record;

use crate::target::Aim;
use crate::tensors::Layers;
use forward::{Activations, forward};
use lanes::Level;
use weights::Weights;

pub use loss::loss;
pub use policy::{PolicyEvaluator, PolicySamples, cross_entropy};
pub use samples::Samples;

/// Returns the layers' primitive tensors: weights and biases alternately.
fn primitives<B: Backend>(layers: Layers<B>) -> Vec<B::FloatTensorPrimitive> {
    let primitives = layers.into_iter().flat_map(|(weight, bias)| {
        [
            weight.into_primitive().tensor(),
            bias.into_primitive().tensor(),
        ]
    });
    primitives.collect()
}

/// Returns the values in pawns for the side to move, `[samples]`.
pub fn values(
    architecture: Architecture,
    layers: Layers<Flex>,
    samples: &Arc<Samples>,
) -> Tensor<Flex, 1> {
    let run = Run::new(architecture, &primitives(layers), samples);
    Tensor::from_primitive(TensorPrimitive::Float(run.output()))
}

/// Returns the values like [`values`], tracked so that [`Backward`] can derive a loss's gradient.
pub fn tracked_values(
    architecture: Architecture,
    layers: Layers<Autodiff<Flex>>,
    samples: &Arc<Samples>,
) -> Tensor<Autodiff<Flex>, 1> {
    match layers.len() {
        2 => tracked::<4>(architecture, layers, samples),
        3 => tracked::<6>(architecture, layers, samples),
        _ => tracked::<8>(architecture, layers, samples),
    }
}

/// [`tracked_values`] for `PARAMETERS` parameter tensors.
fn tracked<const PARAMETERS: usize>(
    architecture: Architecture,
    layers: Layers<Autodiff<Flex>>,
    samples: &Arc<Samples>,
) -> Tensor<Autodiff<Flex>, 1> {
    let parents = primitives(layers);
    let parents: &[_; PARAMETERS] = (&parents[..])
        .try_into()
        .expect("a weight and bias a layer");
    let tensors: Vec<FlexTensor> = parents
        .iter()
        .map(|parent| parent.primitive.clone())
        .collect();
    let run = Run::new(architecture, &tensors, samples);
    let output = run.output();
    let values = in_graph(ForwardPass, parents, Arc::new(run), output);
    Tensor::from_primitive(TensorPrimitive::Float(values))
}

/// A tensor of Burn's graph.
pub(crate) type Tracked = FloatTensor<Autodiff<Flex>>;

/// Adds an operation to Burn's graph, given its output and the state of its backward pass. Returns
/// the tracked output.
pub(crate) fn in_graph<O: Backward<Flex, PARENTS>, const PARENTS: usize>(
    operation: O,
    parents: &[Tracked; PARENTS],
    state: O::State,
    output: FlexTensor,
) -> Tracked {
    let nodes = std::array::from_fn(|index| parents[index].node.clone());
    match operation
        .prepare::<NoCheckpointing>(nodes)
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(prepared) => prepared.finish(state, output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    }
}

/// Evaluator of a network exactly as its file holds it, without training's clamps on weights.
pub struct Evaluator(Weights);

impl Evaluator {
    /// Returns an evaluator of `network`, which must fit the engine
    /// ([`QuantisedNetwork::fits`](models::QuantisedNetwork::fits)).
    pub fn new(network: &Network) -> Evaluator {
        // Burn's layout: `[inputs, outputs]`.
        let transposed = network.layers().iter().map(|layer| -> Vec<f32> {
            let (inputs, outputs) = (layer.inputs(), layer.outputs());
            let column = |input| (0..outputs).map(move |output| layer.row(output)[input]);
            (0..inputs).flat_map(column).collect()
        });
        let transposed: Vec<Vec<f32>> = transposed.collect();
        let layers = transposed.iter().zip(network.layers());
        let numbers = layers.flat_map(|(weight, layer)| [&weight[..], &layer.bias[..]]);
        let numbers: Vec<&[f32]> = numbers.collect();
        Evaluator(Weights::new(network.architecture(), &numbers))
    }

    /// Returns the positions' values in pawns for the side to move. Each depends on its position
    /// alone.
    pub fn values(&self, records: &[Record]) -> Vec<f32> {
        if records.is_empty() {
            return Vec::new();
        }
        let samples = Samples::new(self.0.layout.architecture, records, Aim::LABEL);
        samples.in_order(&forward(Level::best(), &self.0, &samples.blocks).output)
    }
}

/// Forward pass of a batch, kept for the backward pass.
#[derive(Debug)]
struct Run {
    weights: Weights,
    samples: Arc<Samples>,
    activations: Activations,
}

impl Run {
    fn new(architecture: Architecture, tensors: &[FlexTensor], samples: &Arc<Samples>) -> Run {
        let tensors: Vec<FlexTensor> = tensors.iter().map(FlexTensor::to_contiguous).collect();
        let numbers: Vec<&[f32]> = tensors.iter().map(floats).collect();
        let weights = Weights::new(architecture, &numbers);
        let activations = forward(Level::best(), &weights, &samples.blocks);
        Run {
            weights,
            samples: Arc::clone(samples),
            activations,
        }
    }

    fn output(&self) -> FlexTensor {
        let output = self.activations.output.clone();
        let samples = output.len();
        FlexTensor::from_data(TensorData::new(output, [samples]))
    }
}

/// The operation in Burn's graph.
#[derive(Debug)]
struct ForwardPass;

impl<const PARAMETERS: usize> Backward<Flex, PARAMETERS> for ForwardPass {
    type State = Arc<Run>;

    fn backward(
        self,
        ops: Ops<Arc<Run>, PARAMETERS>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let output = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let run = ops.state;
        let found = backward::backward(
            Level::best(),
            &run.weights,
            &run.samples.blocks,
            &run.activations,
            floats(&output),
        );
        let tensors = found.tensors();
        for (parent, tensor) in ops.parents.into_iter().zip(tensors) {
            if let Some(parent) = parent {
                gradients.register::<Flex>(parent.id, FlexTensor::from_data(tensor));
            }
        }
    }
}

/// Returns the values of a contiguous tensor.
pub(crate) fn floats(tensor: &FlexTensor) -> &[f32] {
    let begin = tensor.layout().start_offset();
    &tensor.storage::<f32>()[begin..][..tensor.shape().num_elements()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::tensors;
    use crate::tensors::Cpu;
    use crate::testing::{games, turn};
    use crate::trainer::tracked;
    use burn::tensor::DType;

    /// The article's architecture, two with odd sizes, and small ones of every kind.
    fn architectures() -> impl Iterator<Item = Architecture> {
        let odd = [[50, 7, 32], [1, 1, 1]].map(Architecture::hidden);
        let some = [Architecture::ARTICLE].into_iter().chain(odd);
        some.chain(crate::testing::architectures())
    }

    /// Asserts equality up to rounding.
    fn assert_close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        let scale = expected.iter().fold(1e-6f32, |max, x| max.max(x.abs()));
        for (at, (x, y)) in found.iter().zip(expected).enumerate() {
            assert!((x - y).abs() < 1e-4 * scale, "{at}: {x} instead of {y}");
        }
    }

    /// Returns values and gradients of a batch, by the fused operation (`in_one`) or by Burn's own.
    fn pass(network: &Network, records: &[Record], in_one: bool) -> Vec<Vec<f32>> {
        let _turn = turn();
        let device = Default::default();
        let model = tracked(Model::new(network));
        let samples = Arc::new(Samples::new(network.architecture(), records, Aim::LABEL));
        // A loss whose gradient differs from sample to sample.
        let weights: Vec<f32> = (0..records.len()).map(|i| i as f32 - 300.0).collect();
        let (values, weights) = if in_one {
            let values = tracked_values(network.architecture(), model.layers(), &samples);
            (values, samples.as_ordered(&weights))
        } else {
            (by_operations(&model, records), weights)
        };
        let weights = TensorData::new(weights, [records.len()]);
        let weights = Tensor::from_data(weights, &device);
        let gradients = (values.clone() * weights).sum().backward();
        let values = tensors::floats(values);
        let values = match in_one {
            true => samples.in_order(&values),
            false => values,
        };
        let mut found = vec![values];
        found.extend(model.gradients(&gradients));
        found
    }

    /// Returns the values by Burn's own operations.
    fn by_operations(model: &Model<Cpu>, records: &[Record]) -> Tensor<Cpu, 1> {
        let device = Default::default();
        let architecture = model.architecture();
        let seen = tensors::dense_inputs(architecture, records, &device);
        let first = |view: usize, weight, bias: Tensor<_, 1>| {
            seen[view].clone().matmul(weight) + bias.unsqueeze()
        };
        let buckets = (architecture.buckets > 1).then(|| {
            let bucket = |record| features::bucket(architecture, record) as i32;
            let buckets = TensorData::new(records.iter().map(bucket).collect(), [records.len()]);
            Tensor::from_data(buckets, (&device, DType::I32))
        });
        model.values_by_operations(first, buckets.as_ref())
    }

    /// Returns values and gradients of a batch, by the kernel at `level`.
    fn run(level: Level, network: &Network, records: &[Record]) -> (Vec<f32>, Vec<Vec<f32>>) {
        let model = Model::new(network);
        let tensors = primitives(model.layers());
        let tensors: Vec<FlexTensor> = tensors.iter().map(FlexTensor::to_contiguous).collect();
        let numbers: Vec<&[f32]> = tensors.iter().map(floats).collect();
        let weights = Weights::new(network.architecture(), &numbers);
        let samples = Samples::new(network.architecture(), records, Aim::LABEL);
        let activations = forward(level, &weights, &samples.blocks);
        // A loss whose gradient differs from sample to sample.
        let output: Vec<f32> = (0..records.len()).map(|i| i as f32 - 300.0).collect();
        let gradients = backward::backward(level, &weights, &samples.blocks, &activations, &output);
        let gradients = gradients.tensors().into_iter();
        let gradients = gradients.map(|tensor| tensor.to_vec().expect("f32"));
        (activations.output, gradients.collect())
    }

    #[test]
    fn simd_levels_match_the_portable_one() {
        let records = games(1030);
        for (seed, architecture) in architectures().enumerate() {
            let network = Network::random(architecture, seed as u64);
            let (values, gradients) = run(Level::Portable(lanes::Portable), &network, &records);
            for level in Level::all() {
                let (found_values, found_gradients) = run(level, &network, &records);
                assert_close(&found_values, &values);
                for (found, expected) in found_gradients.iter().zip(&gradients) {
                    assert_close(found, expected);
                }
            }
        }
    }

    #[test]
    fn evaluates_unclamped_weights() {
        let records = games(1500);
        for (seed, architecture) in architectures().enumerate() {
            // Far outside training's bounds.
            let mut layers = Network::random(architecture, seed as u64).layers().to_vec();
            let numbers = layers.iter_mut().flat_map(|layer| &mut layer.weight);
            numbers.for_each(|weight| *weight *= 10.0);
            let network = Network::new(architecture, layers);
            let evaluator = Evaluator::new(&network);
            let values = evaluator.values(&records);
            for (record, &value) in records.iter().zip(&values) {
                let features: Vec<_> = features::active(record).collect();
                let expected = network.evaluate(&features);
                assert!((value - expected).abs() < 1e-3, "{value}, not {expected}");
            }
            // Independent of the rest of the batch.
            let apart = records.chunks(7).flat_map(|part| evaluator.values(part));
            assert!(apart.eq(values));
            assert!(evaluator.values(&[]).is_empty());
        }
    }

    #[test]
    fn results_do_not_depend_on_the_thread_count() {
        let records = games(3000);
        let network = Network::random(Architecture::ARTICLE, 3);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads")
                .install(|| run(Level::best(), &network, &records))
        };
        let one = on(1);
        assert!(one == on(2) && one == on(5));
    }

    #[test]
    fn matches_burns_own_operations() {
        for (seed, architecture) in architectures().enumerate() {
            let network = Network::random(architecture, seed as u64);
            for samples in [1, 9, 1027] {
                let records = games(samples);
                let found = pass(&network, &records, true);
                let expected = pass(&network, &records, false);
                for (found, expected) in found.iter().zip(&expected) {
                    assert_close(found, expected);
                }
            }
        }
    }
}
