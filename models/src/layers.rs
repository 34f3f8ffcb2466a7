//! Quantised layers, laid out for the kernels.
//!
//! Outputs are adjacent, and so are the inputs of one multiply-add: an input is broadcast over a
//! register and multiplied with the weights of many outputs, so that no kernel needs horizontal
//! adds.

use crate::accumulator::{ACTIVATION_MAX, BLOCK, Block};
use crate::{
    Accumulator, Activation, Architecture, Feature, INPUTS, Layer, MAX_FIRST, MAX_LATER, NetError,
    Threats, scales,
};

/// First layer: one column an input.
#[derive(Clone, Debug)]
pub(crate) struct First {
    /// `[INPUTS][blocks]`.
    columns: Vec<Block>,
    /// Blocks of an accumulator.
    pub(crate) blocks: usize,
    pub(crate) bias: Accumulator,
    /// log2 of the sums' scale over [`ACTIVATION_MAX`].
    pub(crate) shift: u32,
    pub(crate) activation: Activation,
}

/// Layout of first-layer neurons and activations in whole blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    /// Adjacent neurons: all of them, or half for pairwise products; the other half begins with a
    /// new block.
    neurons: usize,
    /// Blocks of these neurons, and of the activations of a view.
    pub(crate) blocks: usize,
}

impl Lanes {
    pub(crate) fn of(architecture: Architecture) -> Lanes {
        let neurons = architecture.activations();
        let blocks = neurons.div_ceil(BLOCK);
        Lanes { neurons, blocks }
    }

    /// Returns the lane of a neuron, or of an activation of any view.
    pub(crate) fn lane(self, index: usize) -> usize {
        index / self.neurons * self.blocks * BLOCK + index % self.neurons
    }

    /// Returns the number of lanes of `count` neurons or activations.
    fn lanes(self, count: usize) -> usize {
        count / self.neurons * self.blocks * BLOCK
    }
}

impl First {
    /// Quantises the first layer.
    ///
    /// # Errors
    /// [`NetError::Unquantisable`].
    pub(crate) fn new(layer: &Layer, architecture: Architecture) -> Result<First, NetError> {
        let shift = scales::first_shift(layer, First::finest_shift(architecture.activation))?;
        Ok(First::at_shift(layer, architecture, shift))
    }

    /// Returns the largest shift that the kernels take.
    pub(crate) fn finest_shift(activation: Activation) -> u32 {
        match activation {
            Activation::ClippedRelu => 5,
            // Largest shift of products in `kernel::forward`.
            Activation::SquaredClippedRelu | Activation::PairwiseClippedRelu => 4,
        }
    }

    /// Quantises the first layer at a shift, at which no sum may overflow.
    pub(crate) fn at_shift(layer: &Layer, architecture: Architecture, shift: u32) -> First {
        let one = (ACTIVATION_MAX << shift) as f32;
        let lanes = Lanes::of(architecture);
        let blocks = lanes.lanes(layer.outputs()) / BLOCK;
        let mut columns = vec![Block([0; BLOCK]); INPUTS * blocks];
        for neuron in 0..layer.outputs() {
            let lane = lanes.lane(neuron);
            let (block, lane) = (lane / BLOCK, lane % BLOCK);
            for (input, weight) in layer.row(neuron).iter().enumerate() {
                columns[input * blocks + block].0[lane] = (weight * one).round() as i16;
            }
        }
        First {
            columns,
            blocks,
            bias: First::bias(&layer.bias, architecture, shift),
            shift,
            activation: architecture.activation,
        }
    }

    /// Quantises biases of the first layer.
    pub(crate) fn bias(bias: &[f32], architecture: Architecture, shift: u32) -> Accumulator {
        let one = (ACTIVATION_MAX << shift) as f32;
        let rounding = match architecture.activation {
            // Rounds the later right shift to nearest.
            Activation::ClippedRelu => ((1i32 << shift) >> 1) as f32,
            Activation::SquaredClippedRelu | Activation::PairwiseClippedRelu => 0.0,
        };
        let lanes = Lanes::of(architecture);
        let mut sums = Accumulator::ZERO;
        for (neuron, bias) in bias.iter().enumerate() {
            let lane = lanes.lane(neuron);
            sums.0[lane / BLOCK].0[lane % BLOCK] = (bias * one + rounding).round() as i16;
        }
        sums
    }

    /// Returns whether any threat has a nonzero column; in nets of the previous layout none has.
    pub(crate) fn counts_threats(&self) -> bool {
        let mut threats = Threats::ALL.features();
        let silent = Block([0; BLOCK]);
        threats.any(|threat| self.column(threat).iter().any(|&block| block != silent))
    }

    /// Returns the weights that an input adds to the sums.
    #[inline]
    pub(crate) fn column(&self, feature: Feature) -> &[Block] {
        &self.columns[feature.index() * self.blocks..][..self.blocks]
    }
}

/// Sums of a later layer.
pub(crate) type Sums = [i32; MAX_LATER];
/// Weights of the second layer for four inputs.
pub(crate) type Weights4 = Aligned<[[i8; 4]; MAX_LATER]>;
/// Weights of the third layer for two inputs.
pub(crate) type Weights2 = Aligned<[[i16; 2]; MAX_LATER]>;

/// A value aligned to a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// Layers behind the first, of one bucket.
#[derive(Clone, Debug)]
pub(crate) enum Stack {
    /// Only the output layer.
    Output(Output),
    /// Hidden layers and the output layer.
    Hidden(Box<Hidden>),
}

/// Hidden layers behind the first (one or two), and the output.
#[derive(Clone, Debug)]
pub(crate) struct Hidden {
    pub(crate) second: Second,
    pub(crate) third: Option<Third>,
    pub(crate) fourth: Fourth,
}

impl Stack {
    /// Quantises the one to three layers of a bucket.
    ///
    /// # Errors
    /// [`NetError::Unquantisable`].
    pub(crate) fn new(layers: &[Layer], architecture: Architecture) -> Result<Stack, NetError> {
        Ok(match layers {
            [output] => Stack::Output(Output::new(output, architecture)?),
            [second, third @ .., fourth] => {
                let second = Second::new(second, architecture)?;
                let one = ACTIVATION_MAX << second.shift;
                let third = third.first().map(|third| Third::new(third, one));
                Stack::Hidden(Box::new(Hidden {
                    third: third.transpose()?,
                    fourth: Fourth::new(fourth, layers.len(), one)?,
                    second,
                }))
            }
            [] => unreachable!("a network has an output"),
        })
    }
}

/// Returns the scale of a weight in units of the second layer: a product of two activations is
/// smaller than one activation by [`ACTIVATION_MAX`]` / 128`, since dividing by 128 is a shift.
fn weight_one(architecture: Architecture) -> f32 {
    match architecture.activation {
        Activation::ClippedRelu => 1.0,
        Activation::SquaredClippedRelu | Activation::PairwiseClippedRelu => {
            128.0 / ACTIVATION_MAX as f32
        }
    }
}

/// Second layer: 7-bit inputs, 8-bit weights.
#[derive(Clone, Debug)]
pub(crate) struct Second {
    /// `[inputs / 4][outputs][4]`, with the inputs padded to a multiple of [`BLOCK`].
    pub(crate) weight: Vec<Weights4>,
    /// `[inputs / 2][outputs][2]`: simd128 cannot multiply bytes.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    pub(crate) pairs: Vec<Weights2>,
    pub(crate) bias: Sums,
    /// log2 of the weights' scale.
    pub(crate) shift: u32,
}

impl Second {
    /// # Errors
    /// [`NetError::Unquantisable`].
    fn new(layer: &Layer, architecture: Architecture) -> Result<Second, NetError> {
        let one = weight_one(architecture);
        let shift = scales::second_shift(layer, one)?;
        let scale = (1u32 << shift) as f32 * one;
        let lanes = Lanes::of(architecture);
        let mut weight = vec![Aligned([[0; 4]; MAX_LATER]); lanes.lanes(layer.inputs()) / 4];
        for output in 0..layer.outputs() {
            for (input, w) in layer.row(output).iter().enumerate() {
                let lane = lanes.lane(input);
                weight[lane / 4].0[output][lane % 4] = (w * scale).round() as i8;
            }
        }
        Ok(Second {
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            pairs: weight.iter().flat_map(pairs).collect(),
            weight,
            bias: bias(layer, f64::from(ACTIVATION_MAX << shift), 0),
            shift,
        })
    }
}

/// Output layer directly behind the first: 7-bit inputs, 8-bit weights.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Weights in the order of the inputs.
    pub(crate) weight: Vec<[i8; BLOCK]>,
    pub(crate) bias: i32,
    /// log2 of the weights' scale.
    pub(crate) shift: u32,
}

impl Output {
    /// Quantises the layer's first row.
    ///
    /// # Errors
    /// [`NetError::Unquantisable`].
    pub(crate) fn new(layer: &Layer, architecture: Architecture) -> Result<Output, NetError> {
        let one = weight_one(architecture);
        let shift = scales::second_shift(layer, one)?;
        let scale = (1u32 << shift) as f32 * one;
        let lanes = Lanes::of(architecture);
        let mut weight = vec![[0; BLOCK]; lanes.lanes(layer.inputs()) / BLOCK];
        for (input, w) in layer.row(0).iter().enumerate() {
            let lane = lanes.lane(input);
            weight[lane / BLOCK][lane % BLOCK] = (w * scale).round() as i8;
        }
        Ok(Output {
            weight,
            bias: bias(layer, f64::from(ACTIVATION_MAX << shift), 0)[0],
            shift,
        })
    }
}

/// Splits the weights of four inputs into two pairs.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn pairs(weights: &Weights4) -> [Weights2; 2] {
    let pair = |i: usize| weights.0.map(|four| [four[i].into(), four[i + 1].into()]);
    [Aligned(pair(0)), Aligned(pair(2))]
}

/// Third layer: 16-bit inputs and weights.
#[derive(Clone, Debug)]
pub(crate) struct Third {
    /// `[inputs / 2][outputs][2]`.
    pub(crate) weight: [Weights2; MAX_LATER / 2],
    /// Biases, with the rounding of the later shift added.
    pub(crate) bias: Sums,
    /// log2 of the weights' scale.
    pub(crate) shift: u32,
}

impl Third {
    /// Quantises a layer with inputs in `0..=activation_one`.
    ///
    /// # Errors
    /// [`NetError::Unquantisable`].
    fn new(layer: &Layer, activation_one: i32) -> Result<Third, NetError> {
        let shift = scales::later_shift(layer, 2, activation_one)?;
        let scale = (1u32 << shift) as f32;
        let mut weight = [Aligned([[0; 2]; MAX_LATER]); MAX_LATER / 2];
        for output in 0..layer.outputs() {
            for (input, w) in layer.row(output).iter().enumerate() {
                weight[input / 2].0[output][input % 2] = (w * scale).round() as i16;
            }
        }
        let one = f64::from(scale) * f64::from(activation_one);
        Ok(Third {
            weight,
            bias: bias(layer, one, (1i32 << shift) >> 1),
            shift,
        })
    }
}

/// Output layer behind a hidden layer of 16 bits: the fourth of four layers, or the third of three.
#[derive(Clone, Debug)]
pub(crate) struct Fourth {
    pub(crate) weight: [i16; MAX_LATER],
    pub(crate) bias: i32,
    /// log2 of the weights' scale.
    pub(crate) shift: u32,
}

impl Fourth {
    /// Quantises a layer with inputs in `0..=activation_one`; `index` counts layers from 0.
    ///
    /// # Errors
    /// [`NetError::Unquantisable`].
    fn new(layer: &Layer, index: usize, activation_one: i32) -> Result<Fourth, NetError> {
        let shift = scales::later_shift(layer, index, activation_one)?;
        let scale = (1u32 << shift) as f32;
        let mut weight = [0; MAX_LATER];
        for (slot, w) in weight.iter_mut().zip(layer.row(0)) {
            *slot = (w * scale).round() as i16;
        }
        let one = f64::from(scale) * f64::from(activation_one);
        Ok(Fourth {
            weight,
            bias: bias(layer, one, 0)[0],
            shift,
        })
    }
}

fn bias(layer: &Layer, one: f64, rounding: i32) -> Sums {
    let mut sums = [0; MAX_LATER];
    for (sum, &b) in sums.iter_mut().zip(&layer.bias) {
        *sum = (f64::from(b) * one).round() as i32 + rounding;
    }
    sums
}

const _: () = assert!(MAX_FIRST.is_multiple_of(BLOCK));
