//! CPU forward and backward pass of a policy with its cross-entropy, as one operation of Burn's
//! graph.
//!
//! As in the value's pass, the hidden layer is cut into slices of neurons. Of the output layer only
//! the rows of a position's legal moves are read, two each for some 35 moves, of 2,290. No two tasks add to the same
//! number, and sums over samples are formed in one order, so results are equal to the bit for any
//! number of threads.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::grads::Gradients as GraphGradients;
use burn::backend::autodiff::ops::{Backward, Ops};
use burn::tensor::{Tensor, TensorData, TensorPrimitive};
use burn_flex::{Flex, FlexTensor};
use features::PlayedMove;
use models::{MOVE_ROWS, POLICY_INPUTS, POLICY_ROWS, PolicyNetwork, softmax};
use rayon::prelude::*;
use records::position::MoveRecord;

use super::lanes::{Lanes, Level, with_lanes};
use super::rows::{Row, add, add_times, clip, times, where_inside};
use super::samples::BLOCK;
use super::{Tracked, floats, in_graph};
use crate::lists::Lists;
use crate::tensors::Cpu;

/// Neurons of the hidden layer in a slice.
const SLICE: usize = 48;

/// A slice of the hidden layer.
type Wide = Row<{ SLICE / 16 }>;

/// Played moves of a batch in the kernel's layout.
#[derive(Debug)]
pub struct PolicySamples {
    blocks: Vec<Block>,
}

/// Up to [`BLOCK`] samples.
#[derive(Debug)]
struct Block {
    /// Index of the first sample in the batch.
    begin: usize,
    /// Active inputs.
    inputs: Lists<u16>,
    /// Output rows of the legal moves.
    moves: Lists<[u16; MOVE_ROWS]>,
    /// Index of each sample's played move in its list of `moves`.
    played: Vec<u8>,
}

impl Block {
    fn empty() -> Block {
        Block {
            begin: 0,
            inputs: Lists::default(),
            moves: Lists::default(),
            played: Vec::new(),
        }
    }

    fn push(&mut self, played: &PlayedMove) {
        self.inputs.push(played.inputs().map(|input| input as u16));
        self.moves
            .push(played.moves().map(|m| m.rows().map(|row| row as u16)));
        self.played.push(played.played as u8);
    }
}

impl PolicySamples {
    /// Prepares records. Those whose move is not legal are left out; a dataset has none.
    pub fn new(records: &[MoveRecord]) -> PolicySamples {
        let blocks = records.par_chunks(BLOCK).map(|records| {
            let mut block = Block::empty();
            let played = records.iter().filter_map(PlayedMove::new);
            played.for_each(|played| block.push(&played));
            block
        });
        let mut blocks: Vec<Block> = blocks.collect();
        let mut begin = 0;
        for block in &mut blocks {
            block.begin = begin;
            begin += block.played.len();
        }
        PolicySamples { blocks }
    }

    /// Prepares at most 1,024 played moves.
    ///
    /// # Panics
    /// If there are more.
    pub fn of(played: &[PlayedMove]) -> PolicySamples {
        assert!(played.len() <= BLOCK);
        let mut block = Block::empty();
        played.iter().for_each(|played| block.push(played));
        PolicySamples {
            blocks: vec![block],
        }
    }

    /// Returns the number of samples.
    pub fn count(&self) -> usize {
        self.blocks.iter().map(|block| block.played.len()).sum()
    }
}

/// A policy's weights in the kernel's layout, padded with zeros. Padded neurons stay at zero and
/// contribute nothing.
#[derive(Debug)]
struct Weights {
    neurons: usize,
    /// First layer, `[slices * POLICY_INPUTS]`.
    inputs: Vec<Wide>,
    /// Biases of the first layer, `[slices]`.
    bias: Vec<Wide>,
    /// Output layer, `[slices * POLICY_ROWS]`.
    moves: Vec<Wide>,
    /// Biases of the moves, `[POLICY_ROWS]`.
    move_bias: Vec<f32>,
}

impl Weights {
    fn new([inputs, bias, moves, move_bias]: [&[f32]; 4]) -> Weights {
        Weights {
            neurons: bias.len(),
            inputs: sliced(inputs, bias.len()),
            bias: bias.chunks(SLICE).map(Wide::padded).collect(),
            moves: sliced(moves, bias.len()),
            move_bias: move_bias.to_vec(),
        }
    }

    fn slices(&self) -> usize {
        self.bias.len()
    }
}

/// Cuts the rows of a matrix, `[rows, neurons]`, into slices: `[slices * rows]`.
fn sliced(matrix: &[f32], neurons: usize) -> Vec<Wide> {
    let rows = matrix.len() / neurons;
    let mut sliced = vec![Wide::ZERO; neurons.div_ceil(SLICE) * rows];
    let tables = sliced.par_chunks_exact_mut(rows).enumerate();
    tables.for_each(|(slice, table)| {
        let own = slice * SLICE..neurons.min((slice + 1) * SLICE);
        for (part, row) in table.iter_mut().zip(matrix.chunks_exact(neurons)) {
            *part = Wide::padded(&row[own.clone()]);
        }
    });
    sliced
}

/// Returns the matrix, `[rows, neurons]`, of slices.
fn joined(sliced: &[Wide], neurons: usize) -> Vec<f32> {
    let rows = sliced.len() / neurons.div_ceil(SLICE);
    let mut matrix = vec![0.0; rows * neurons];
    let of_rows = matrix.par_chunks_exact_mut(neurons).enumerate();
    of_rows.for_each(|(row, numbers)| {
        for (slice, part) in numbers.chunks_mut(SLICE).enumerate() {
            part.copy_from_slice(&sliced[slice * rows + row].numbers()[..part.len()]);
        }
    });
    matrix
}

/// Forward pass of a batch.
#[derive(Debug)]
struct Forward {
    /// Clipped sums of the hidden layer, `[slices * samples]`.
    clipped: Vec<Wide>,
    /// Logits of each block's legal moves.
    logits: Vec<Vec<f32>>,
}

fn forward(level: Level, weights: &Weights, samples: &PolicySamples) -> Forward {
    let count = samples.count();
    let mut clipped = vec![Wide::ZERO; weights.slices() * count];
    let slices = clipped.par_chunks_exact_mut(count.max(1)).enumerate();
    slices.for_each(|(slice, out)| {
        let table = &weights.inputs[slice * POLICY_INPUTS..][..POLICY_INPUTS];
        for block in &samples.blocks {
            let out = &mut out[block.begin..][..block.played.len()];
            with_lanes!(
                level,
                hidden(table, &weights.bias[slice], &block.inputs, out)
            );
        }
    });
    let blocks = samples.blocks.par_iter();
    let logits = blocks.map(|block| {
        let moves = block.moves.inputs.iter();
        let bias = moves.map(|rows| {
            rows.map(|row| weights.move_bias[usize::from(row)])
                .iter()
                .sum()
        });
        let mut logits: Vec<f32> = bias.collect();
        for slice in 0..weights.slices() {
            let table = &weights.moves[slice * POLICY_ROWS..][..POLICY_ROWS];
            let clipped = &clipped[slice * count + block.begin..][..block.played.len()];
            with_lanes!(level, add_logits(table, clipped, &block.moves, &mut logits));
        }
        logits
    });
    let logits = logits.collect();
    Forward { clipped, logits }
}

/// Computes a slice of the hidden layer: the sums of the active inputs' rows, clipped.
#[inline(always)]
fn hidden<L: Lanes>(lanes: L, table: &[Wide], bias: &Wide, inputs: &Lists<u16>, out: &mut [Wide]) {
    let table: &[Wide; POLICY_INPUTS] = table.try_into().expect("a row for each input");
    for (inputs, out) in inputs.iter().zip(out) {
        let mut sums = bias.load(lanes);
        for &input in inputs {
            add(lanes, &mut sums, &table[usize::from(input)]);
        }
        out.store(lanes, clip(lanes, sums));
    }
}

/// Adds a slice's part to the logits.
#[inline(always)]
fn add_logits<L: Lanes>(
    lanes: L,
    table: &[Wide],
    clipped: &[Wide],
    moves: &Lists<[u16; MOVE_ROWS]>,
    logits: &mut [f32],
) {
    let table: &[Wide; POLICY_ROWS] = table.try_into().expect("a row for each move");
    let mut logits = logits.iter_mut();
    for (moves, clipped) in moves.iter().zip(clipped) {
        let active = times(lanes, clipped.load(lanes), clipped);
        for (rows, logit) in moves.iter().zip(&mut logits) {
            let [of_move, others @ ..] = rows.map(|row| &table[usize::from(row)]);
            let mut weights = of_move.load(lanes);
            for row in others {
                add(lanes, &mut weights, row);
            }
            let products = product(lanes, active, weights);
            let [first, rest @ ..] = products;
            let sum = rest.into_iter().fold(first, |sum, x| lanes.add(sum, x));
            *logit += total(lanes, sum);
        }
    }
}

/// Returns the elementwise product of sums in registers.
#[inline(always)]
fn product<L: Lanes, const GROUPS: usize>(
    lanes: L,
    mut x: [L::Floats; GROUPS],
    y: [L::Floats; GROUPS],
) -> [L::Floats; GROUPS] {
    for (x, y) in x.iter_mut().zip(y) {
        *x = lanes.mul_add(*x, y, lanes.splat(0.0));
    }
    x
}

/// Returns the sum of sixteen floats.
#[inline(always)]
fn total<L: Lanes>(lanes: L, sums: L::Floats) -> f32 {
    let mut sixteen = [0.0; 16];
    lanes.store(sums, &mut sixteen);
    let eight: [f32; 8] = std::array::from_fn(|i| sixteen[i] + sixteen[i + 8]);
    let four: [f32; 4] = std::array::from_fn(|i| eight[i] + eight[i + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// Turns a block's logits into the cross-entropy's derivative by them, times `weight`. Returns the
/// sum of the block's cross-entropies.
fn derive(block: &Block, logits: &mut [f32], weight: f32) -> f64 {
    let mut sum = 0.0;
    let mut rest = logits;
    for (moves, &played) in block.moves.iter().zip(&block.played) {
        let (own, after) = rest.split_at_mut(moves.len());
        rest = after;
        let played = usize::from(played);
        let most = own.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let of_played = own[played] - most;
        let mut all = 0.0;
        for logit in own.iter_mut() {
            *logit = (*logit - most).exp();
            all += *logit;
        }
        sum += f64::from(all.ln() - of_played);
        let factor = weight / all;
        own.iter_mut().for_each(|x| *x *= factor);
        own[played] -= weight;
    }
    sum
}

/// Gradient of the mean cross-entropy, in the layout of [`Weights`].
struct Gradients {
    inputs: Vec<Wide>,
    bias: Vec<Wide>,
    moves: Vec<Wide>,
    move_bias: Vec<f32>,
}

/// Returns the gradient of the weights, given the derivatives by the logits.
fn backward(
    level: Level,
    weights: &Weights,
    samples: &PolicySamples,
    clipped: &[Wide],
    slopes: &[Vec<f32>],
) -> Gradients {
    let (slices, count) = (weights.slices(), samples.count());
    let mut gradients = Gradients {
        inputs: vec![Wide::ZERO; slices * POLICY_INPUTS],
        bias: vec![Wide::ZERO; slices],
        moves: vec![Wide::ZERO; slices * POLICY_ROWS],
        move_bias: vec![0.0; POLICY_ROWS],
    };
    let outs = (
        gradients.inputs.par_chunks_exact_mut(POLICY_INPUTS),
        gradients.bias.par_iter_mut(),
        gradients.moves.par_chunks_exact_mut(POLICY_ROWS),
    );
    let tasks = outs.into_par_iter().enumerate();
    tasks.for_each(|(slice, (inputs, bias, moves))| {
        let rows = &weights.moves[slice * POLICY_ROWS..][..POLICY_ROWS];
        for (block, slopes) in samples.blocks.iter().zip(slopes) {
            let clipped = &clipped[slice * count + block.begin..][..block.played.len()];
            let outs = (&mut *inputs, &mut *bias, &mut *moves);
            with_lanes!(level, add_gradients(rows, block, clipped, slopes, outs));
        }
    });
    for (block, slopes) in samples.blocks.iter().zip(slopes) {
        for (rows, slope) in block.moves.inputs.iter().zip(slopes) {
            for &row in rows {
                gradients.move_bias[usize::from(row)] += slope;
            }
        }
    }
    gradients
}

/// Adds a block's part to a slice's gradients: of the inputs' rows, the bias and the moves' rows.
#[inline(always)]
fn add_gradients<L: Lanes>(
    lanes: L,
    rows: &[Wide],
    block: &Block,
    clipped: &[Wide],
    slopes: &[f32],
    (of_inputs, of_bias, of_moves): (&mut [Wide], &mut Wide, &mut [Wide]),
) {
    let rows: &[Wide; POLICY_ROWS] = rows.try_into().expect("a row for each move");
    let of_moves: &mut [Wide; POLICY_ROWS] = of_moves.try_into().expect("a row for each move");
    let of_inputs: &mut [Wide; POLICY_INPUTS] = of_inputs.try_into().expect("a row for each input");
    let mut slopes = slopes.iter();
    let lists = block.moves.iter().zip(block.inputs.iter());
    for ((moves, inputs), clipped) in lists.zip(clipped) {
        let mut active = Wide::ZERO;
        active.store(lanes, times(lanes, clipped.load(lanes), clipped));
        let mut sums = Wide::ZERO.load(lanes);
        for (of_move, &slope) in moves.iter().zip(&mut slopes) {
            for &row in of_move {
                of_moves[usize::from(row)].add_times(lanes, slope, &active);
                add_times(lanes, &mut sums, slope, &rows[usize::from(row)]);
            }
        }
        // The square's derivative, 2 x, inside the clipped range.
        let doubled = sums.map(|sum| lanes.add(sum, sum));
        let sums = where_inside(lanes, times(lanes, doubled, clipped), clipped);
        let mut of_sums = Wide::ZERO;
        of_sums.store(lanes, sums);
        for &input in inputs {
            of_inputs[usize::from(input)].add_times(lanes, 1.0, &of_sums);
        }
        of_bias.add_times(lanes, 1.0, &of_sums);
    }
}

/// The operation in Burn's graph.
#[derive(Debug)]
struct CrossEntropy;

/// State of the backward pass.
#[derive(Debug)]
struct Run {
    weights: Weights,
    samples: Arc<PolicySamples>,
    clipped: Vec<Wide>,
    slopes: Vec<Vec<f32>>,
}

/// Returns the mean cross-entropy of the played moves, in nats, tracked so that [`Backward`] can
/// derive its gradient. `parameters` are the fields of a [`PolicyNetwork`].
pub fn cross_entropy(parameters: [Tracked; 4], samples: &Arc<PolicySamples>) -> Tensor<Cpu, 1> {
    let tensors = parameters.each_ref().map(|x| x.primitive.to_contiguous());
    let weights = Weights::new(tensors.each_ref().map(floats));
    let Forward {
        clipped,
        mut logits,
    } = forward(Level::best(), &weights, samples);
    let weight = 1.0 / samples.count().max(1) as f32;
    let blocks = samples.blocks.par_iter().zip(&mut logits);
    let sums = blocks.map(|(block, logits)| derive(block, logits, weight));
    let sum: f64 = sums.collect::<Vec<f64>>().into_iter().sum();
    let loss = (sum * f64::from(weight)) as f32;
    let output = FlexTensor::from_data(TensorData::new(vec![loss], [1]));
    let run = Run {
        weights,
        samples: Arc::clone(samples),
        clipped,
        slopes: logits,
    };
    let loss = in_graph(CrossEntropy, &parameters, Arc::new(run), output);
    Tensor::from_primitive(TensorPrimitive::Float(loss))
}

impl Backward<Flex, 4> for CrossEntropy {
    type State = Arc<Run>;

    fn backward(
        self,
        ops: Ops<Arc<Run>, 4>,
        gradients: &mut GraphGradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let output = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let factor = floats(&output)[0];
        let run = ops.state;
        let (weights, neurons) = (&run.weights, run.weights.neurons);
        let found = backward(
            Level::best(),
            weights,
            &run.samples,
            &run.clipped,
            &run.slopes,
        );
        let bias = found.bias.iter().flat_map(|bias| bias.numbers());
        let numbers = [
            (joined(&found.inputs, neurons), vec![POLICY_INPUTS, neurons]),
            (bias.copied().take(neurons).collect(), vec![neurons]),
            (joined(&found.moves, neurons), vec![POLICY_ROWS, neurons]),
            (found.move_bias, vec![POLICY_ROWS]),
        ];
        for (parent, (mut numbers, shape)) in ops.parents.into_iter().zip(numbers) {
            if let Some(parent) = parent {
                numbers.iter_mut().for_each(|number| *number *= factor);
                let tensor = FlexTensor::from_data(TensorData::new(numbers, shape));
                gradients.register::<Flex>(parent.id, tensor);
            }
        }
    }
}

/// Evaluator of a policy.
pub struct PolicyEvaluator(Weights);

impl PolicyEvaluator {
    /// Returns an evaluator of `network`.
    pub fn new(network: &PolicyNetwork) -> PolicyEvaluator {
        PolicyEvaluator(Weights::new([
            &network.inputs,
            &network.bias,
            &network.moves,
            &network.move_bias,
        ]))
    }

    /// Returns the probabilities of each sample's legal moves, in their order.
    pub fn probabilities(&self, samples: &PolicySamples) -> Vec<Vec<f32>> {
        let found = forward(Level::best(), &self.0, samples);
        let blocks = samples.blocks.iter().zip(found.logits);
        let blocks = blocks.flat_map(|(block, logits)| {
            let mut rest = logits.into_iter();
            let lists = block.moves.iter();
            let found = lists.map(|moves| softmax(rest.by_ref().take(moves.len()).collect()));
            found.collect::<Vec<_>>()
        });
        blocks.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::backend::Backend;
    use burn_flex::FlexDevice;
    use records::position::Mover;
    use shakmaty::Position;

    use crate::policy::PolicyModel;
    use crate::tensors;
    use crate::testing::{games, turn};

    /// Returns moves of random games by players of changing ratings.
    fn moves(count: usize) -> Vec<MoveRecord> {
        let games = games(count).into_iter().enumerate();
        let played = games.filter_map(|(i, game)| {
            let position = game.to_chess()?;
            let moves = position.legal_moves();
            let &m = moves.get(i % moves.len().max(1))?;
            let mover = Mover {
                rating: (i % 5 > 0).then_some(400 + (i % 30) as u16 * 100),
                ..Mover::default()
            };
            Some(MoveRecord::new(&position, m, mover, i as u64))
        });
        played.collect()
    }

    /// Returns the mean cross-entropy, by Burn's own operations on dense matrices.
    fn by_operations(model: &PolicyModel<Cpu>, records: &[MoveRecord]) -> Tensor<Cpu, 1> {
        let device = &FlexDevice;
        let [inputs, bias, moves, move_bias] = model.tensors();
        let played = records
            .iter()
            .map(|record| PlayedMove::new(record).unwrap());
        let played: Vec<PlayedMove> = played.collect();
        let most = played
            .iter()
            .map(|played| played.moves().len())
            .max()
            .unwrap();
        let count = records.len();
        let mut active = vec![0f32; count * POLICY_INPUTS];
        // Rows and target are one-hot. `absent` masks the places without a move.
        let mut rows = vec![0f32; count * most * POLICY_ROWS];
        let mut target = vec![0f32; count * most];
        let mut absent = vec![-1e9f32; count * most];
        for (i, played) in played.iter().enumerate() {
            for input in played.inputs() {
                active[i * POLICY_INPUTS + input] = 1.0;
            }
            for (place, m) in (i * most..).zip(played.moves()) {
                absent[place] = 0.0;
                for row in m.rows() {
                    rows[place * POLICY_ROWS + row] = 1.0;
                }
            }
            target[i * most + played.played] = 1.0;
        }
        let matrix = |numbers: Vec<f32>, columns: usize| {
            Tensor::<Cpu, 2>::from_data(TensorData::new(numbers, [count, columns]), device)
        };
        let one = |x| Tensor::<Cpu, 1>::from_primitive(TensorPrimitive::Float(x));
        let two = |x| Tensor::<Cpu, 2>::from_primitive(TensorPrimitive::Float(x));
        let sums = matrix(active, POLICY_INPUTS).matmul(two(inputs)) + one(bias).unsqueeze();
        let clipped = sums.clamp(0.0, 1.0);
        let hidden = clipped.clone() * clipped;
        let of_rows = hidden.matmul(two(moves).transpose()) + one(move_bias).unsqueeze();
        let rows = TensorData::new(rows, [count, most, POLICY_ROWS]);
        let rows = Tensor::<Cpu, 3>::from_data(rows, device);
        let logits = (rows * of_rows.unsqueeze_dim::<3>(1))
            .sum_dim(2)
            .squeeze_dim::<2>(2);
        let logits = logits + matrix(absent, most);
        let likely = burn::tensor::activation::log_softmax(logits, 1);
        (likely * matrix(target, most)).sum() * (-1.0 / count as f32)
    }

    fn assert_close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        let scale = expected.iter().fold(1e-6f32, |max, x| max.max(x.abs()));
        for (at, (x, y)) in found.iter().zip(expected).enumerate() {
            assert!((x - y).abs() < 2e-4 * scale, "{at}: {x} instead of {y}");
        }
    }

    #[test]
    fn loss_and_gradients_are_those_of_burns_operations() {
        let _turn = turn();
        Cpu::seed(&FlexDevice, 1);
        let records = moves(70);
        // A slice and a part of one.
        let model = PolicyModel::tracked(&PolicyNetwork::random(SLICE + 13, 4));
        let samples = Arc::new(PolicySamples::new(&records));
        assert_eq!(samples.count(), records.len());
        let found = cross_entropy(model.tensors(), &samples);
        let expected = by_operations(&model, &records);
        let [found_loss, expected_loss] =
            [&found, &expected].map(|loss| tensors::floats(loss.clone()));
        assert_close(&found_loss, &expected_loss);
        let [found, expected] =
            [found, expected].map(|loss| model.gradients(&(loss * 3.0).backward()));
        for (found, expected) in found.iter().zip(&expected) {
            assert!(expected.iter().any(|&x| x != 0.0));
            assert_close(found, expected);
        }
    }

    #[test]
    fn simd_levels_and_threads_do_not_matter() {
        let records = moves(1300);
        let network = PolicyNetwork::random(SLICE + 5, 2);
        let weights = PolicyEvaluator::new(&network).0;
        let samples = PolicySamples::new(&records);
        let run = |level| {
            let mut found = forward(level, &weights, &samples);
            let weight = 1.0 / samples.count() as f32;
            let blocks = samples.blocks.iter().zip(&mut found.logits);
            blocks.for_each(|(block, logits)| {
                derive(block, logits, weight);
            });
            let gradients = backward(level, &weights, &samples, &found.clipped, &found.logits);
            let neurons = weights.neurons;
            [
                joined(&gradients.inputs, neurons),
                joined(&gradients.moves, neurons),
            ]
        };
        let expected = run(Level::all()[0]);
        for level in Level::all() {
            for (found, expected) in run(level).iter().zip(&expected) {
                assert_close(found, expected);
            }
            let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let [one, three] = [1, 3].map(|threads| pool(threads).unwrap().install(|| run(level)));
            assert_eq!(one, three, "{level:?}");
        }
    }

    #[test]
    fn probabilities_are_those_of_the_network() {
        let records = moves(100);
        let network = PolicyNetwork::random(SLICE + 1, 9);
        let played: Vec<PlayedMove> = records.iter().filter_map(PlayedMove::new).collect();
        let found = PolicyEvaluator::new(&network).probabilities(&PolicySamples::of(&played));
        assert_eq!(found.len(), played.len());
        for (found, played) in found.iter().zip(&played) {
            let moves: Vec<_> = played.moves().collect();
            assert_close(found, &network.probabilities(played.inputs(), &moves));
        }
    }
}
