//! The network on the CPU: one operation of Burn's, forward and backward,
//! instead of a dozen.
//!
//! Burn's own operations would expand every position to 902 numbers of which
//! some 25 are not zero, and pass whole batches through memory between them.
//! Here the first layer is the sum of the active inputs' rows, and what is
//! worked on stays in the cache: the first hidden layer is cut into slices of
//! neurons, each a task over all samples, so that a slice of the weights is
//! read from memory once a batch. No two tasks add to the same number, and sums
//! over samples are formed in one order, so results are equal to the bit
//! whatever the number of threads.
//!
//! Positions come as [`Samples`]: the indices of their active inputs, as they are
//! read off the records. Burn's graph never sees them: only parameters have
//! gradients, and the operation's state may be of any type. [`Flex`]'s tensors hold
//! parameters, targets and values; loss and optimizer are Burn's as on any device.

mod backward;
mod forward;
mod lanes;
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
use burn::tensor::{Tensor, TensorData, TensorMetadata, TensorPrimitive};
use burn_flex::{Flex, FlexTensor};
use models::{Architecture, Network};
use records::position::Record;

use crate::target::Aim;
use crate::tensors::Layers;
use forward::{Activations, forward};
use lanes::Level;
use weights::Weights;

pub use samples::Samples;

/// The layers' tensors: of each its weights and its biases.
fn primitives<B: Backend>(layers: Layers<B>) -> Vec<B::FloatTensorPrimitive> {
    let primitives = layers.into_iter().flat_map(|(weight, bias)| {
        [
            weight.into_primitive().tensor(),
            bias.into_primitive().tensor(),
        ]
    });
    primitives.collect()
}

/// The values of positions in pawns, `[samples]`.
pub fn values(
    architecture: Architecture,
    layers: Layers<Flex>,
    samples: &Arc<Samples>,
) -> Tensor<Flex, 1> {
    let run = Run::new(architecture, &primitives(layers), samples);
    Tensor::from_primitive(TensorPrimitive::Float(run.output()))
}

/// The same, for a loss of which [`Backward`] derives the gradient.
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

/// [`tracked_values`], where there are so many tensors of parameters.
fn tracked<const PARAMETERS: usize>(
    architecture: Architecture,
    layers: Layers<Autodiff<Flex>>,
    samples: &Arc<Samples>,
) -> Tensor<Autodiff<Flex>, 1> {
    let tensors = primitives(layers);
    let nodes: [_; PARAMETERS] = std::array::from_fn(|index| tensors[index].node.clone());
    let tensors: Vec<FlexTensor> = tensors.into_iter().map(|tensor| tensor.primitive).collect();
    let run = Run::new(architecture, &tensors, samples);
    let output = run.output();
    let values = match ForwardPass
        .prepare::<NoCheckpointing>(nodes)
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(prepared) => prepared.finish(Arc::new(run), output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    };
    Tensor::from_primitive(TensorPrimitive::Float(values))
}

/// The win chances that training aims at, `[samples]`.
pub fn targets<B: Backend>(samples: &Samples, device: &B::Device) -> Tensor<B, 1> {
    let targets = TensorData::new(samples.targets.clone(), [samples.count()]);
    Tensor::from_data(targets, device)
}

/// A network that is evaluated as its file has it: what training keeps its
/// weights within does not matter here.
pub struct Evaluator(Weights);

impl Evaluator {
    /// Of a network that the engine has room for
    /// ([`QuantisedNetwork::fits`](models::QuantisedNetwork::fits)).
    pub fn new(network: &Network) -> Evaluator {
        // As Burn has them: `[inputs, outputs]`.
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

    /// The values of positions in pawns, from the mover's view. Each depends on
    /// its position alone.
    pub fn values(&self, records: &[Record]) -> Vec<f32> {
        if records.is_empty() {
            return Vec::new();
        }
        let samples = Samples::new(self.0.layout.architecture, records, Aim::LABEL);
        samples.in_order(&forward(Level::best(), &self.0, &samples.blocks).output)
    }
}

/// A batch that went forward.
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

/// The operation, as Burn's graph knows it.
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

/// A contiguous tensor's numbers.
fn floats(tensor: &FlexTensor) -> &[f32] {
    let begin = tensor.layout().start_offset();
    &tensor.storage::<f32>()[begin..][..tensor.shape().num_elements()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::tensors;
    use crate::testing::{Cpu, games, turn};
    use crate::trainer::tracked;
    use burn::tensor::DType;
    use inputs as position;

    /// The article's; ones whose sizes are no multiples of anything; and small ones of
    /// every kind.
    fn architectures() -> impl Iterator<Item = Architecture> {
        let odd = [[50, 7, 32], [1, 1, 1]].map(Architecture::hidden);
        let some = [Architecture::ARTICLE].into_iter().chain(odd);
        some.chain(crate::testing::architectures())
    }

    /// Numbers that agree but for rounding.
    fn assert_close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        let scale = expected.iter().fold(1e-6f32, |max, x| max.max(x.abs()));
        for (at, (x, y)) in found.iter().zip(expected).enumerate() {
            assert!((x - y).abs() < 1e-4 * scale, "{at}: {x} instead of {y}");
        }
    }

    /// Values and gradients of a batch, in Burn's own operations or in one.
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

    /// Values by Burn's own operations alone.
    fn by_operations(model: &Model<Cpu>, records: &[Record]) -> Tensor<Cpu, 1> {
        let device = Default::default();
        let architecture = model.architecture();
        let seen = tensors::dense_inputs(architecture, records, &device);
        let first = |view: usize, weight, bias: Tensor<_, 1>| {
            seen[view].clone().matmul(weight) + bias.unsqueeze()
        };
        let buckets = (architecture.buckets > 1).then(|| {
            let bucket = |record| position::bucket(architecture, record) as i32;
            let buckets = TensorData::new(records.iter().map(bucket).collect(), [records.len()]);
            Tensor::from_data(buckets, (&device, DType::I32))
        });
        model.values_by_operations(first, buckets.as_ref())
    }

    /// Values and gradients of a batch, by the kernel itself.
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
    fn every_level_computes_what_the_portable_one_does() {
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
    fn a_network_is_evaluated_as_its_file_has_it() {
        let records = games(1500);
        for (seed, architecture) in architectures().enumerate() {
            // Far beyond what training keeps weights within.
            let mut layers = Network::random(architecture, seed as u64).layers().to_vec();
            let numbers = layers.iter_mut().flat_map(|layer| &mut layer.weight);
            numbers.for_each(|weight| *weight *= 10.0);
            let network = Network::new(architecture, layers);
            let evaluator = Evaluator::new(&network);
            let values = evaluator.values(&records);
            for (record, &value) in records.iter().zip(&values) {
                let features: Vec<_> = position::features(record).collect();
                let expected = network.evaluate(&features);
                assert!((value - expected).abs() < 1e-3, "{value}, not {expected}");
            }
            // Whatever it is evaluated with.
            let apart = records.chunks(7).flat_map(|part| evaluator.values(part));
            assert!(apart.eq(values));
            assert!(evaluator.values(&[]).is_empty());
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
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
    fn is_what_burns_own_operations_compute() {
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
