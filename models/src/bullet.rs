//! Nets of [bullet](https://github.com/jw1912/bullet): the file `quantised.bin` of its example
//! `simple`, with or without output buckets, which engines embed.
//!
//! All numbers are little-endian i16. With H hidden neurons and B buckets:
//!
//! | numbers | what | one is |
//! |---|---|---|
//! | 768 * H | first layer, a column of H for each input | 255 |
//! | H | its bias | 255 |
//! | B * 2 * H | output, by bucket; the mover's activations first | 64 |
//! | B | its bias | 255 * 64 |
//!
//! The file is padded to a multiple of 64 bytes. Inputs are bullet's `Chess768`, the first 768 of
//! [`INPUTS`], and buckets its `MaterialCount`. The output times a scale (bullet's `eval_scale`) is
//! the value in centipawns.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::scales::first_layer_reach;
use crate::{Activation, Architecture, Feature, Features, INPUTS, Layer, Network, View};

/// Inputs of the first layer.
const PIECES: usize = 768;
/// Integer form of 1 in the first layer.
const QA: i32 = 255;
/// Integer form of 1 among the output's weights.
const QB: i32 = 64;
/// Size of a file is a multiple of it, in bytes.
const ALIGNMENT: usize = 64;
/// Padding, as bullet writes it.
const PADDING: &[u8] = b"bullet";
/// Scale of bullet's examples.
pub const DEFAULT_SCALE: u16 = 400;

/// Shape of a file, which has no header. Its text is `HIDDEN[xBUCKETS][:ACTIVATION[:SCALE]]`.
///
/// ```
/// use models::bullet::BulletShape;
///
/// let shape: BulletShape = "256x8".parse().unwrap();
/// assert_eq!(shape.to_string(), "256x8:screlu:400");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulletShape {
    /// Neurons of the hidden layer for each view.
    pub hidden: usize,
    /// Output buckets, at most [`Architecture::MAX_BUCKETS`].
    pub buckets: usize,
    /// Clipped ReLU (CReLU) or its square (SCReLU).
    pub activation: Activation,
    /// Centipawns of an output of 1.
    pub scale: u16,
}

impl BulletShape {
    /// Returns the number of integers in a file.
    fn numbers(self) -> usize {
        (PIECES + 1) * self.hidden + self.buckets * (2 * self.hidden + 1)
    }

    /// Returns the size of a file in bytes.
    pub fn file_bytes(self) -> usize {
        (2 * self.numbers()).next_multiple_of(ALIGNMENT)
    }

    /// Returns whether activations are squares; [`BulletNet::new`] refuses pairwise products.
    fn squares(self) -> bool {
        match self.activation {
            Activation::ClippedRelu => false,
            Activation::SquaredClippedRelu | Activation::PairwiseClippedRelu => true,
        }
    }

    fn architecture(self) -> Architecture {
        Architecture {
            view: View::Both,
            mirrored: false,
            first: self.hidden,
            activation: self.activation,
            second: None,
            third: None,
            buckets: self.buckets,
            features: Features::Pieces,
        }
    }
}

impl fmt::Display for BulletShape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let activation = match self.squares() {
            true => "screlu",
            false => "crelu",
        };
        let BulletShape {
            hidden,
            buckets,
            scale,
            ..
        } = self;
        write!(f, "{hidden}x{buckets}:{activation}:{scale}")
    }
}

impl FromStr for BulletShape {
    type Err = String;

    fn from_str(text: &str) -> Result<BulletShape, String> {
        let refused = || {
            format!(
                "{text:?} is not HIDDEN[xBUCKETS][:ACTIVATION[:SCALE]], such as 256x8:screlu:400"
            )
        };
        let mut parts = text.split(':');
        let sizes = parts.next().unwrap_or_default();
        let (hidden, buckets) = sizes.split_once('x').unwrap_or((sizes, "1"));
        let activation = match parts.next() {
            None | Some("screlu") => Activation::SquaredClippedRelu,
            Some("crelu") => Activation::ClippedRelu,
            Some(_) => return Err(refused()),
        };
        let scale = parts.next().map_or(Ok(DEFAULT_SCALE), str::parse);
        let shape = BulletShape {
            hidden: hidden.parse().map_err(|_| refused())?,
            buckets: buckets.parse().map_err(|_| refused())?,
            activation,
            scale: scale.map_err(|_| refused())?,
        };
        shape.architecture().check().map_err(|e| e.to_string())?;
        match parts.next() {
            None if shape.scale > 0 => Ok(shape),
            _ => Err(refused()),
        }
    }
}

/// Reason that a net cannot be written in bullet's format, or a file not be read.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BulletError {
    /// The format has no room for a part of the net.
    #[error("bullet's format has no {part}; {remedy} in `trainer fit`")]
    Unfit {
        /// Part of the net.
        part: &'static str,
        /// Change of the options of `trainer fit`.
        remedy: &'static str,
    },
    /// A number does not fit i16.
    #[error("{part} reaches {reach:.2}, the most in bullet's format is {most:.2}")]
    TooLarge {
        /// Name of the number.
        part: &'static str,
        /// Magnitude of the number.
        reach: f64,
        /// The largest possible magnitude.
        most: f64,
    },
    /// A file of another size.
    #[error(
        "it has {found} bytes, but a net of {shape} has {expected}; give its shape by --bullet"
    )]
    WrongSize {
        /// Size of the file in bytes.
        found: usize,
        /// Size of a file of the shape.
        expected: usize,
        /// The given shape.
        shape: BulletShape,
    },
}

/// A net of integers, as in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct BulletNet {
    shape: BulletShape,
    /// `[768, hidden]`.
    first: Vec<i16>,
    first_bias: Vec<i16>,
    /// `[buckets, 2 * hidden]`.
    output: Vec<i16>,
    output_bias: Vec<i16>,
}

impl BulletNet {
    /// Rounds a network. `scale` is the engine's factor from the output to centipawns.
    ///
    /// # Errors
    /// [`BulletError::Unfit`], [`BulletError::TooLarge`].
    pub fn new(network: &Network, scale: u16) -> Result<BulletNet, BulletError> {
        let architecture = network.architecture();
        let (first, output) = match network.layers() {
            [first, output] => (first, output),
            _ => return unfit("second hidden layer", "use --hidden N"),
        };
        if architecture.view == View::Mover {
            return unfit("single view", "use --view both");
        }
        if architecture.mirrored {
            return unfit("mirrored views", "omit --mirrored");
        }
        match architecture.activation {
            Activation::ClippedRelu | Activation::SquaredClippedRelu => {}
            Activation::PairwiseClippedRelu => {
                return unfit(
                    "products of neurons",
                    "use --activation squared-clipped-relu",
                );
            }
        }
        let is_zero = |row: &[f32]| row[PIECES..].iter().all(|&weight| weight == 0.0);
        if !first.weight.chunks_exact(INPUTS).all(is_zero) {
            return unfit(
                "inputs of castling, en passant, check and pieces en prise",
                "use --features pieces",
            );
        }
        let hidden = architecture.first;
        let (one, pawn) = (f64::from(QA), 100.0 / f64::from(scale));
        // Rounding errors: one half for each piece and the bias.
        let most = f64::from(i16::MAX) - 33.0 / 2.0;
        limit("a neuron's sum", first_layer_reach(first), most / one)?;
        let rounded = |part, values: &mut dyn Iterator<Item = f32>, one: f64| {
            let mut integers = Vec::new();
            for value in values {
                let value = f64::from(value);
                limit(part, value.abs(), f64::from(i16::MAX) / one)?;
                integers.push((value * one).round() as i16);
            }
            Ok(integers)
        };
        let columns = (0..PIECES).flat_map(|input| (0..hidden).map(move |row| (row, input)));
        let mut columns = columns.map(|(row, input)| first.weight[row * INPUTS + input]);
        let of_output = f64::from(QB) * pawn;
        Ok(BulletNet {
            shape: BulletShape {
                hidden,
                buckets: architecture.buckets,
                activation: architecture.activation,
                scale,
            },
            first: rounded("a weight", &mut columns, one)?,
            first_bias: rounded("a bias", &mut first.bias.iter().copied(), one)?,
            output: rounded(
                "an output weight",
                &mut output.weight.iter().copied(),
                of_output,
            )?,
            output_bias: rounded(
                "the output's bias",
                &mut output.bias.iter().copied(),
                one * of_output,
            )?,
        })
    }

    /// Reads a file of this shape.
    ///
    /// # Errors
    /// [`BulletError::WrongSize`].
    pub fn from_bytes(bytes: &[u8], shape: BulletShape) -> Result<BulletNet, BulletError> {
        let expected = shape.file_bytes();
        if bytes.len() != expected {
            return Err(BulletError::WrongSize {
                found: bytes.len(),
                expected,
                shape,
            });
        }
        let (numbers, _) = bytes.as_chunks();
        let mut numbers = numbers.iter().map(|&bytes| i16::from_le_bytes(bytes));
        let mut take = |count| numbers.by_ref().take(count).collect();
        Ok(BulletNet {
            shape,
            first: take(PIECES * shape.hidden),
            first_bias: take(shape.hidden),
            output: take(shape.buckets * 2 * shape.hidden),
            output_bias: take(shape.buckets),
        })
    }

    /// Returns the net as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts = [
            &self.first,
            &self.first_bias,
            &self.output,
            &self.output_bias,
        ];
        let numbers = parts.into_iter().flatten();
        let bytes = numbers.flat_map(|number| number.to_le_bytes());
        let padding = PADDING.iter().copied().cycle();
        bytes.chain(padding).take(self.shape.file_bytes()).collect()
    }

    /// Returns the shape.
    pub fn shape(&self) -> BulletShape {
        self.shape
    }

    /// Returns the largest magnitude of an output weight. Engines that multiply an activation and a
    /// weight in 16 bits need at most 128.
    pub fn largest_output_weight(&self) -> u16 {
        let magnitudes = self.output.iter().map(|weight| weight.unsigned_abs());
        magnitudes.max().unwrap_or_default()
    }

    /// Returns the net in floats.
    pub fn network(&self) -> Network {
        let (shape, one) = (self.shape, f64::from(QA));
        let pawn = f64::from(QB) * 100.0 / f64::from(shape.scale);
        let floats = |integers: &[i16], one: f64| -> Vec<f32> {
            let integers = integers.iter().map(|&integer| f64::from(integer));
            integers.map(|integer| (integer / one) as f32).collect()
        };
        let columns = floats(&self.first, one);
        let mut weight = vec![0.0; shape.hidden * INPUTS];
        for (row, weights) in weight.chunks_exact_mut(INPUTS).enumerate() {
            for (input, weight) in weights[..PIECES].iter_mut().enumerate() {
                *weight = columns[input * shape.hidden + row];
            }
        }
        let first = Layer {
            weight,
            bias: floats(&self.first_bias, one),
        };
        let output = Layer {
            weight: floats(&self.output, pawn),
            bias: floats(&self.output_bias, one * pawn),
        };
        Network::new(shape.architecture(), vec![first, output])
    }

    /// Returns the value in centipawns of the position with these active inputs, from the side to
    /// move's point of view, in the integers of bullet's example.
    pub fn evaluate(&self, features: &[Feature]) -> i32 {
        let BulletShape { hidden, scale, .. } = self.shape;
        let pieces = || features.iter().filter(|feature| feature.is_piece());
        let own: Vec<Feature> = pieces().copied().collect();
        let other = own.iter().map(|feature| feature.seen_by_other()).collect();
        let bucket = self.shape.architecture().bucket(own.len());
        let weights = &self.output[bucket * 2 * hidden..][..2 * hidden];
        let mut sum = 0;
        for (view, weights) in [own, other].iter().zip(weights.chunks_exact(hidden)) {
            for (neuron, &weight) in weights.iter().enumerate() {
                let columns = view
                    .iter()
                    .map(|input| self.first[input.index() * hidden + neuron]);
                let inputs: i32 = columns.map(i32::from).sum();
                let active = (i32::from(self.first_bias[neuron]) + inputs).clamp(0, QA);
                let active = match self.shape.squares() {
                    true => active * active,
                    false => active,
                };
                sum += i64::from(active) * i64::from(weight);
            }
        }
        if self.shape.squares() {
            sum /= i64::from(QA);
        }
        sum += i64::from(self.output_bias[bucket]);
        (sum * i64::from(scale) / i64::from(QA * QB)) as i32
    }
}

fn unfit<T>(part: &'static str, remedy: &'static str) -> Result<T, BulletError> {
    Err(BulletError::Unfit { part, remedy })
}

fn limit(part: &'static str, reach: f64, most: f64) -> Result<(), BulletError> {
    match reach <= most {
        true => Ok(()),
        false => Err(BulletError::TooLarge { part, reach, most }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Color, Network, Piece, Random, Square, Threats};

    const SHAPES: [&str; 4] = ["8", "33x8:crelu:100", "16x3:screlu:400", "64x1:crelu:1000"];

    /// Returns a network that fits a shape, with different buckets.
    fn fitting(shape: BulletShape, seed: u64) -> Network {
        let architecture = shape.architecture();
        let mut random = Random(seed);
        let mut layers = Network::random(architecture, seed).layers().to_vec();
        let output = &mut layers[1];
        let numbers = output.weight.iter_mut().chain(&mut output.bias);
        numbers.for_each(|number| *number = random.uniform());
        Network::new(architecture, layers)
    }

    /// Returns the features of a random position of `pieces` pieces.
    fn position(random: &mut Random, pieces: usize) -> Vec<Feature> {
        let mut squares: Vec<u8> = (0..64).collect();
        let mut feature = |_| {
            let square = squares.swap_remove(random.below(squares.len()));
            let color = [Color::White, Color::Black][random.below(2)];
            let piece = Piece::ALL[random.below(6)];
            Feature::piece(Color::White, color, piece, Square::new(square).unwrap())
        };
        (0..pieces).map(&mut feature).collect()
    }

    #[test]
    fn files_have_the_documented_layout() {
        let shape: BulletShape = "2x2:crelu:100".parse().unwrap();
        let mut layers = fitting(shape, 1).layers().to_vec();
        layers[0].weight[5] = 1.0; // neuron 0, input 5
        layers[0].weight[INPUTS] = -0.5; // neuron 1, input 0
        layers[0].bias = vec![0.1, 0.2];
        layers[1].weight = vec![1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0, -4.0];
        layers[1].bias = vec![0.5, -0.25];
        let network = Network::new(shape.architecture(), layers);
        let bytes = BulletNet::new(&network, 100).unwrap().to_bytes();
        let number = |index: usize| {
            let at = 2 * index;
            i16::from_le_bytes([bytes[at], bytes[at + 1]])
        };
        assert_eq!((number(10), number(1)), (255, -128));
        let rest: Vec<i16> = (2 * 768..2 * 768 + 12).map(number).collect();
        let expected = [
            26, 51, 64, 128, 192, 256, -64, -128, -192, -256, 8160, -4080,
        ];
        assert_eq!(rest, expected);
        assert_eq!(bytes.len(), 3136);
        assert!(bytes[2 * (2 * 768 + 12)..].starts_with(b"bulletbullet"));
    }

    #[test]
    fn files_round_trip() {
        for (seed, shape) in (1..).zip(SHAPES) {
            let shape: BulletShape = shape.parse().unwrap();
            let net = BulletNet::new(&fitting(shape, seed), shape.scale).unwrap();
            assert_eq!(net.shape(), shape);
            let read = BulletNet::from_bytes(&net.to_bytes(), shape).unwrap();
            assert_eq!(read, net);
            assert_eq!(BulletNet::new(&read.network(), shape.scale), Ok(net));
        }
    }

    #[test]
    fn integers_agree_with_floats() {
        for (seed, shape) in (1..).zip(SHAPES) {
            let shape: BulletShape = shape.parse().unwrap();
            let network = fitting(shape, seed);
            let net = BulletNet::new(&network, shape.scale).unwrap();
            let read = net.network();
            let mut random = Random(seed);
            let steps = [1.0 / 255.0, f32::from(shape.scale) / 6400.0];
            let layers = network.layers().iter().zip(read.layers());
            for ((layer, read), step) in layers.zip(steps) {
                for (weight, read) in layer.weight.iter().zip(&read.weight) {
                    assert!((weight - read).abs() < 0.501 * step, "{weight} {read}");
                }
            }
            let mut values = std::collections::HashSet::new();
            for pieces in 2..=32 {
                let features = position(&mut random, pieces);
                let integers = net.evaluate(&features) as f32;
                // Only divisions are rounded here.
                let float = 100.0 * read.evaluate(&features);
                assert!(
                    (integers - float).abs() < 1.1,
                    "{shape}: {integers} {float}"
                );
                values.insert(integers as i32);
                let also = features.into_iter().chain(Threats::ALL.features());
                let also: Vec<Feature> = also.chain([Feature::IN_CHECK]).collect();
                assert_eq!(net.evaluate(&also) as f32, integers);
            }
            assert!(values.len() > 25, "{values:?}");
        }
    }

    #[test]
    fn unfit_networks_are_refused_with_the_option() {
        let fit = "8x2".parse::<BulletShape>().unwrap().architecture();
        let refusal = |architecture| {
            let network = Network::random(architecture, 1);
            BulletNet::new(&network, 400).unwrap_err().to_string()
        };
        for (architecture, option) in [
            (
                Architecture {
                    features: Features::All,
                    ..fit
                },
                "--features pieces",
            ),
            (
                Architecture {
                    view: View::Mover,
                    ..fit
                },
                "--view both",
            ),
            (
                Architecture {
                    mirrored: true,
                    ..fit
                },
                "omit --mirrored",
            ),
            (
                Architecture {
                    second: Some(4),
                    ..fit
                },
                "--hidden N",
            ),
            (
                Architecture {
                    activation: Activation::PairwiseClippedRelu,
                    ..fit
                },
                "--activation squared-clipped-relu",
            ),
        ] {
            let error = refusal(architecture);
            assert!(error.contains(option), "{error}");
        }
    }

    #[test]
    fn numbers_beyond_i16_are_refused() {
        let shape: BulletShape = "8".parse().unwrap();
        let with = |layer: usize, index: usize, number: f32| {
            let mut layers = fitting(shape, 1).layers().to_vec();
            match index {
                0 => layers[layer].bias[0] = number,
                _ => layers[layer].weight[index] = number,
            }
            BulletNet::new(&Network::new(shape.architecture(), layers), shape.scale)
        };
        for (layer, index, number, part) in [
            (0, 1, 130.0, "a neuron's sum"),
            (1, 1, 2_050.0, "an output weight"),
            (1, 0, 8.1, "the output's bias"),
            (1, 0, f32::NAN, "the output's bias"),
        ] {
            let error = with(layer, index, number).unwrap_err().to_string();
            assert!(error.starts_with(part), "{error}");
        }
        assert!(with(1, 0, 8.0).is_ok());
        assert_eq!(with(1, 1, 4.0).unwrap().largest_output_weight(), 64);
    }

    #[test]
    fn other_sizes_are_refused() {
        let shape: BulletShape = "8".parse().unwrap();
        let bytes = BulletNet::new(&fitting(shape, 1), 400).unwrap().to_bytes();
        let wider = "9".parse().unwrap();
        for (bytes, shape) in [(&bytes[1..], shape), (&bytes[..64], shape), (&bytes, wider)] {
            let error = BulletNet::from_bytes(bytes, shape).unwrap_err().to_string();
            assert!(error.contains(&shape.to_string()), "{error}");
            assert!(error.contains(&bytes.len().to_string()), "{error}");
        }
    }

    #[test]
    fn shapes_are_parsed_strictly() {
        for shape in SHAPES {
            let parsed: BulletShape = shape.parse().unwrap();
            assert_eq!(parsed.to_string().parse(), Ok(parsed));
        }
        for wrong in [
            "",
            "x8",
            "0",
            "256x0",
            "256x9",
            "256:relu",
            "256:screlu:0",
            "256:screlu:400:1",
            "-1",
            "256x8x1",
            "99999999",
        ] {
            assert!(wrong.parse::<BulletShape>().is_err(), "{wrong}");
        }
    }
}
