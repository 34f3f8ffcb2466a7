//! Tests of every available kernel against integers that cannot overflow, with random nets and
//! positions up to the limits of the types.

use crate::layers::{Hidden, Stack};
use crate::{
    Accumulator, Activation, Architecture, CastlingSide, Color, Feature, Features, INPUTS, Kernel,
    Layer, Network, Piece, QuantisedNetwork, Random, Square, Threats, View,
};

/// Returns `count`, or one under Miri, where each case takes a minute.
const fn many(count: usize) -> usize {
    if cfg!(miri) { 1 } else { count }
}

impl Random {
    fn network(&mut self) -> Network {
        let architecture = self.architecture();
        let mut layers = Network::random(architecture, self.below(1 << 30) as u64)
            .layers()
            .to_vec();
        // Ranges of weights and biases by layer; the last are near the most that `scales.rs`
        // allows.
        let weights = [[0.2, 1.0, 4.4], [0.02, 0.3, 15.8], [0.1, 1.0, 100.0]];
        let biases = [[0.5, 3.0, 240.0], [0.5, 3.0, 2e6], [0.5, 3.0, 500.0]];
        for (index, layer) in layers.iter_mut().enumerate() {
            let kind = index.min(2);
            let (weight, bias) = (weights[kind][self.below(3)], biases[kind][self.below(3)]);
            // Half of the layers have only extreme values.
            let ends = self.below(2) == 0;
            let mut fill = |values: &mut [f32], most: f32| {
                for value in values {
                    let x = self.uniform();
                    *value = most * if ends { x.signum() } else { x };
                }
            };
            fill(&mut layer.weight, weight);
            fill(&mut layer.bias, bias);
        }
        Network::new(architecture, layers)
    }

    fn architecture(&mut self) -> Architecture {
        let size = |random: &mut Random, most| match cfg!(miri) {
            true => 33.min(most),
            false => 1 + random.below(most),
        };
        let activation = Activation::ALL[self.below(Activation::ALL.len())];
        let first = match self.below(4) {
            0 if !cfg!(miri) => 1024,
            _ => size(self, 512),
        };
        let later = self.below(4);
        Architecture {
            view: [View::Mover, View::Both][self.below(2)],
            mirrored: self.below(2) == 1,
            first: first.next_multiple_of(activation.neurons()),
            activation,
            second: (later > 0).then(|| size(self, 32)),
            third: (later > 1).then(|| size(self, 32)),
            buckets: [1, 8][self.below(2)],
            features: [Features::All, Features::Pieces][self.below(2)],
        }
    }

    /// Returns the features of a random position, pieces first, and the number of pieces.
    fn position(&mut self) -> (Vec<Feature>, usize) {
        let mut squares: Vec<u8> = (0..64).collect();
        let count = self.below(33);
        let mut features: Vec<Feature> = (0..count)
            .map(|_| {
                let square = squares.swap_remove(self.below(squares.len()));
                let color = [Color::White, Color::Black][self.below(2)];
                piece(color, Piece::ALL[self.below(6)], square)
            })
            .collect();
        features.extend(rest().filter(|_| self.below(2) == 0));
        (features, count)
    }

    /// Returns the 32 pieces, the threats and the flags that move one neuron the most.
    fn extreme_position(&mut self, first: &Layer) -> Vec<Feature> {
        let row = first.row(self.below(first.outputs()));
        let sign = [-1.0, 1.0][self.below(2)];
        let gain = |feature: &Feature| sign * row[feature.index()];
        let mut best: Vec<Feature> = (0..64)
            .map(|square| {
                let pieces = [Color::White, Color::Black]
                    .into_iter()
                    .flat_map(|color| Piece::ALL.map(|kind| piece(color, kind, square)));
                pieces.max_by(|a, b| gain(a).total_cmp(&gain(b))).unwrap()
            })
            .collect();
        best.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
        best.truncate(32);
        best.extend(rest().filter(|feature| gain(feature) > 0.0));
        best
    }
}

/// Returns the threats and the flags (castling rights and check).
fn rest() -> impl Iterator<Item = Feature> {
    Threats::ALL.features().chain(flags())
}

fn flags() -> [Feature; 5] {
    let castling = |color, side| Feature::castling(Color::White, color, side);
    [
        castling(Color::White, CastlingSide::King),
        castling(Color::White, CastlingSide::Queen),
        castling(Color::Black, CastlingSide::King),
        castling(Color::Black, CastlingSide::Queen),
        Feature::IN_CHECK,
    ]
}

fn piece(color: Color, piece: Piece, square: u8) -> Feature {
    Feature::piece(Color::White, color, piece, Square::new(square).unwrap())
}

/// Returns the value as defined in `docs/network.md`: from the floats and the scales, row by row,
/// in 64 bits.
fn reference(network: &Network, quantised: &QuantisedNetwork, features: &[Feature]) -> i64 {
    let architecture = network.architecture();
    let inputs = architecture.inputs(features);
    let activations = inputs
        .iter()
        .flat_map(|inputs| first_activations(network, quantised, inputs));
    let activations: Vec<_> = activations.collect();
    let weight_one = match architecture.activation {
        Activation::ClippedRelu => 1.0,
        Activation::SquaredClippedRelu | Activation::PairwiseClippedRelu => 128.0 / 127.0,
    };
    let pieces = features.iter().filter(|feature| feature.is_piece()).count();
    let stack: Vec<Layer> = network.stack(architecture.bucket(pieces)).collect();
    let (scale, sum) = match (&stack[..], quantised.stack(pieces)) {
        ([output], Stack::Output(integers)) => {
            let scale = 1 << integers.shift;
            let one = 127 * scale;
            (
                one,
                layer(output, &activations, scale as f32 * weight_one, one)[0],
            )
        }
        ([floats_of_second, later @ .., floats_of_fourth], Stack::Hidden(layers)) => {
            let Hidden {
                second,
                third,
                fourth,
            } = &**layers;
            let scale = 1 << second.shift;
            let top = 127 * scale;
            let weight_one = scale as f32 * weight_one;
            let sums = layer(floats_of_second, &activations, weight_one, top);
            let mut activations = shifted(sums, 0, top);
            for (floats, third) in later.iter().zip(third) {
                let scale = 1 << third.shift;
                let sums = layer(floats, &activations, scale as f32, scale * top);
                activations = shifted(sums, third.shift, top);
            }
            let scale = 1 << fourth.shift;
            let sum = layer(floats_of_fourth, &activations, scale as f32, scale * top)[0];
            (scale * top, sum)
        }
        _ => panic!("the layers match"),
    };
    (sum * 100 + (sum * 100).signum() * scale / 2) / scale
}

fn layer(layer: &Layer, inputs: &[i64], weight_one: f32, bias_one: i64) -> Vec<i64> {
    let round = |w: f32| (w * weight_one).round() as i64;
    let bias = |b: f32| (f64::from(b) * bias_one as f64).round() as i64;
    let products = |o| layer.row(o).iter().zip(inputs).map(|(&w, x)| round(w) * x);
    let sum = |o| products(o).sum::<i64>() + bias(layer.bias[o]);
    (0..layer.outputs()).map(sum).collect()
}

fn shifted(sums: Vec<i64>, shift: u32, top: i64) -> Vec<i64> {
    let rounding = (1 << shift) >> 1;
    let shift = |sum: i64| ((sum + rounding) >> shift).clamp(0, top);
    sums.into_iter().map(shift).collect()
}

fn first_activations(
    network: &Network,
    quantised: &QuantisedNetwork,
    features: &[Feature],
) -> Vec<i64> {
    let mut inputs = [0; INPUTS];
    features.iter().for_each(|f| inputs[f.index()] = 1);
    let shift = quantised.first.shift;
    let one = 127 << shift;
    let sums = layer(&network.layers()[0], &inputs, one as f32, one);
    let clamped = |sums: &[i64]| sums.iter().map(|sum| *sum.clamp(&0, &one)).collect();
    let products = |a: Vec<i64>, b: Vec<i64>| {
        let pairs = a.into_iter().zip(b);
        pairs.map(|(a, b)| (a * b) >> (7 + 2 * shift)).collect()
    };
    match network.architecture().activation {
        Activation::ClippedRelu => shifted(sums, shift, 127),
        Activation::SquaredClippedRelu => products(clamped(&sums), clamped(&sums)),
        Activation::PairwiseClippedRelu => {
            let (a, b) = sums.split_at(sums.len() / 2);
            products(clamped(a), clamped(b))
        }
    }
}

/// Returns random nets that can be quantised, with their quantised form.
fn networks(count: usize) -> impl Iterator<Item = (Network, QuantisedNetwork)> {
    let mut random = Random(902);
    std::iter::from_fn(move || Some(random.network()))
        .filter_map(|network| {
            let quantised = QuantisedNetwork::new(&network).ok()?;
            Some((network, quantised))
        })
        .take(count)
}

#[test]
fn kernels_match_the_definition() {
    let mut random = Random(1);
    let mut values = std::collections::HashSet::new();
    let mut widest = 0;
    for (network, quantised) in networks(many(80)) {
        for case in 0..many(11) + 1 {
            let features = match case % 2 {
                0 => random.position().0,
                _ => random.extreme_position(&network.layers()[0]),
            };
            let expected = reference(&network, &quantised, &features);
            for kernel in Kernel::available() {
                let quantised = quantised.clone().with_kernel(kernel);
                let value = quantised.evaluate_features(&features);
                assert_eq!(i64::from(value), expected, "{kernel}");
            }
            values.insert(expected);
            widest = widest.max(widest_sum(&quantised.accumulator(&features)));
        }
    }
    if !cfg!(miri) {
        assert!(values.len() > 200, "{} values", values.len());
        assert!(widest > 30_000, "{widest}");
    }
}

#[test]
fn kernels_add_transient_features() {
    let mut random = Random(3);
    let mut counts = std::collections::HashSet::new();
    for (_, quantised) in networks(many(20)) {
        for kernel in Kernel::available() {
            let quantised = quantised.clone().with_kernel(kernel);
            for count in 0..12 {
                let (features, _) = random.position();
                // Transient features follow the pieces.
                let (kept, transient) = features.split_at(features.len().saturating_sub(count));
                if quantised.architecture().mirrored && transient.iter().any(|f| f.mirrored() != *f)
                {
                    continue;
                }
                let value = quantised.evaluate_split(kept, transient);
                assert_eq!(value, quantised.evaluate_features(&features), "{kernel}");
                counts.insert(transient.len());
            }
        }
    }
    assert_eq!(counts.len(), 12, "{counts:?}");
}

fn widest_sum(accumulator: &Accumulator) -> u16 {
    let sums = accumulator.0.iter().flat_map(|block| block.0);
    sums.map(i16::unsigned_abs).max().unwrap()
}

#[test]
fn updates_match_fresh_accumulators() {
    let mut random = Random(2);
    for (_, quantised) in networks(many(20)) {
        for kernel in Kernel::available() {
            let quantised = quantised.clone().with_kernel(kernel);
            let moves = [(0, 0), (1, 1), (1, 2), (2, 2), (2, 4), (1, 5)];
            for (added, removed) in moves.into_iter().chain([(5, 0), (9, 0)]) {
                let (features, pieces) = random.position();
                if pieces < added + removed {
                    continue;
                }
                let kept = &features[added + removed..];
                let (added, removed) = features[..added + removed].split_at(added);
                let parent = quantised.accumulator(&[removed, kept].concat());
                let mut child = Accumulator::ZERO;
                quantised.update(&parent, added, removed, &mut child);
                let scalar = quantised.clone().with_kernel(scalar());
                assert_eq!(
                    child,
                    scalar.accumulator(&[added, kept].concat()),
                    "{kernel}"
                );
            }
        }
    }
}

fn scalar() -> Kernel {
    *Kernel::available().last().unwrap()
}

#[test]
fn the_scalar_kernel_is_available_and_the_best_is_first() {
    assert_eq!(scalar().to_string(), "scalar");
    assert_eq!(Kernel::available()[0], Kernel::best());
}
