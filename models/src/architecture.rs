//! Architecture of a network: view, widths, activation and buckets behind the 902 inputs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::feature::{LAYOUT, LAYOUT_PIECES};
use crate::{Feature, INPUTS, NetError};

/// Points of view that a network takes as inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// The side to move only.
    Mover,
    /// Both sides, through the same first layer: activations of the side to move, then those of the
    /// other.
    Both,
}

/// Inputs that a network reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// All of [`INPUTS`].
    #[default]
    All,
    /// Pieces on squares, the first 768: bullet's `Chess768`. The weights of all others are zero.
    Pieces,
}

impl Features {
    /// Returns the number of inputs, which come first among [`INPUTS`].
    pub fn count(self) -> usize {
        match self {
            Features::All => INPUTS,
            Features::Pieces => 12 * 64,
        }
    }

    /// Returns whether `feature` is among the inputs.
    #[inline]
    pub fn contains(self, feature: Feature) -> bool {
        self == Features::All || feature.is_piece()
    }

    /// Returns the name of the layout, for the metadata of a net.
    pub fn layout(self) -> &'static str {
        match self {
            Features::All => LAYOUT,
            Features::Pieces => LAYOUT_PIECES,
        }
    }

    fn is_all(&self) -> bool {
        *self == Features::All
    }
}

/// Activation function of the first layer. Later hidden layers use [`Activation::ClippedRelu`].
///
/// Activations are in `0..=1`, which integers hold as 0 to 127. A sum of 0 gives 0: layers are
/// padded with such neurons.
// Places of a new variant that no match shows: `ALL`, `from_str`; the templates `source/net.*.txt`;
// `docs/network.md` and its script; the help in `trainer/src/commands/recipe.rs`; `recipe.toml`;
// `tests/reference/torch_outputs.py`; `engine/web/tests/nets.mjs`; the lists of architectures in
// `models/tests/source.rs`, `trainer/gpu/tests/against_cpu.rs`, `engine/web/src/inside.rs`,
// `tests/tests/interchange.rs` and `tests/gpu.sh`; their number in `tests/wasm/run.mjs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `clamp(x, 0, 1)`: a ReLU clipped so that activations fit 7 bits (CReLU).
    #[serde(alias = "crelu")]
    ClippedRelu,
    /// `clamp(x, 0, 1)^2` (SCReLU).
    #[serde(alias = "screlu")]
    SquaredClippedRelu,
    /// `clamp(x, 0, 1) * clamp(y, 0, 1)`, x from the first half of the neurons and y from the
    /// second (Stockfish's pairwise products).
    PairwiseClippedRelu,
}

/// Architecture of a network.
///
/// ```
/// use models::{Activation, Architecture, View};
///
/// let architecture = Architecture {
///     view: View::Both,
///     activation: Activation::PairwiseClippedRelu,
///     buckets: 8,
///     ..Architecture::hidden([512, 16, 32])
/// };
/// // 2 * 512 / 2 products feed 16 neurons in each bucket.
/// assert_eq!(architecture.layers()[1], (8 * 16, 512));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// Points of view of the inputs.
    #[serde(default = "Architecture::mover")]
    pub view: View,
    /// Mirror the board by files if the king of the viewing side is on e to h, so that it is always
    /// on a to d ([`Feature::mirrored`]).
    #[serde(default)]
    pub mirrored: bool,
    /// Neurons of the first hidden layer: the width of an accumulator. Even for pairwise products.
    pub first: usize,
    /// Activation function of the first layer.
    #[serde(default = "Architecture::clipped_relu")]
    pub activation: Activation,
    /// Neurons of the second hidden layer, if any.
    #[serde(default)]
    pub second: Option<usize>,
    /// Neurons of the third hidden layer, if any; requires a second.
    #[serde(default)]
    pub third: Option<usize>,
    /// Copies (output buckets) of the layers behind the first, selected by the number of pieces
    /// ([`Architecture::bucket`]).
    #[serde(default = "Architecture::one_bucket")]
    pub buckets: usize,
    /// Inputs that the first layer reads.
    #[serde(default, skip_serializing_if = "Features::is_all")]
    pub features: Features,
}

/// Largest layer size: far more than any net has, yet small enough to multiply.
const LARGEST: usize = 1 << 20;

impl Architecture {
    /// 902 -> 451 -> 32 -> 32 -> 1, the architecture of the article.
    pub const ARTICLE: Architecture = Architecture::hidden([451, 32, 32]);

    /// 902 -> 2x512 -> 1, the architecture of the shipped net: both views, squared clipped ReLU and
    /// eight buckets.
    pub const SHIPPED: Architecture = Architecture {
        view: View::Both,
        mirrored: false,
        first: 512,
        activation: Activation::SquaredClippedRelu,
        second: None,
        third: None,
        buckets: 8,
        features: Features::All,
    };

    /// Largest number of buckets.
    pub const MAX_BUCKETS: usize = 8;

    /// Returns an architecture with three hidden layers of these sizes, the mover's view, no
    /// mirroring, clipped ReLU, one bucket and all inputs.
    pub const fn hidden([first, second, third]: [usize; 3]) -> Architecture {
        Architecture {
            view: View::Mover,
            mirrored: false,
            first,
            activation: Activation::ClippedRelu,
            second: Some(second),
            third: Some(third),
            buckets: 1,
            features: Features::All,
        }
    }

    const fn mover() -> View {
        View::Mover
    }

    const fn clipped_relu() -> Activation {
        Activation::ClippedRelu
    }

    const fn one_bucket() -> usize {
        1
    }

    /// Returns the number of accumulators of a position: one or two.
    pub fn views(self) -> usize {
        match self.view {
            View::Mover => 1,
            View::Both => 2,
        }
    }

    /// Returns the inputs of the first layer for each view, the mover's first, from a position's
    /// inputs in the point of view of the side to move.
    pub fn inputs(self, features: &[Feature]) -> Vec<Vec<Feature>> {
        let mut views = vec![features.to_vec()];
        if self.view == View::Both {
            views.push(features.iter().map(|f| f.seen_by_other()).collect());
        }
        for features in &mut views {
            self.orient(features);
        }
        views
    }

    /// Turns one side's inputs into those of the first layer: mirrors them if
    /// [`Architecture::mirrored`] requires it.
    #[inline]
    pub fn orient(self, features: &mut [Feature]) {
        if self.mirrored && features.iter().any(|feature| feature.is_king_on_right()) {
            features.iter_mut().for_each(|f| *f = f.mirrored());
        }
    }

    /// Returns the number of first-layer activations of each view.
    pub fn activations(self) -> usize {
        self.first / self.activation.neurons()
    }

    /// Returns `(outputs, inputs)` of the two to four layers. The first has all [`INPUTS`] for any
    /// [`Architecture::features`]. After it, the outputs of all buckets are consecutive.
    pub fn layers(self) -> Vec<(usize, usize)> {
        let mut layers = vec![(self.first, INPUTS)];
        let mut inputs = self.views() * self.activations();
        let sizes = [self.second, self.third, Some(1)];
        for outputs in sizes.into_iter().flatten() {
            layers.push((self.buckets * outputs, inputs));
            inputs = outputs;
        }
        layers
    }

    /// Returns the number of weights and biases.
    pub fn parameters(self) -> usize {
        let layers = self.layers().into_iter();
        let all: usize = layers.map(|(outputs, inputs)| outputs * (inputs + 1)).sum();
        all - self.first * (INPUTS - self.features.count())
    }

    /// Returns the bucket of a position with `pieces` pieces, kings and pawns included. With N
    /// buckets each covers `32 / N` piece counts, rounded up, from 2 on (bullet's `MaterialCount`).
    pub fn bucket(self, pieces: usize) -> usize {
        (pieces.saturating_sub(2) / self.bucket_width()).min(self.buckets - 1)
    }

    /// Returns the number of piece counts that a bucket covers.
    pub(crate) fn bucket_width(self) -> usize {
        32usize.div_ceil(self.buckets)
    }

    /// Returns the bucket of a position with these active inputs.
    pub fn bucket_of(self, features: &[Feature]) -> usize {
        self.bucket(features.iter().filter(|feature| feature.is_piece()).count())
    }

    /// Checks that the architecture is valid.
    ///
    /// # Errors
    /// [`NetError::Impossible`] with the reason.
    pub fn check(self) -> Result<(), NetError> {
        let refused = |why| Err(NetError::Impossible { found: self, why });
        let sizes = [Some(self.first), self.second, self.third];
        if sizes.contains(&Some(0)) {
            return refused("a layer needs at least one neuron");
        }
        if sizes.into_iter().flatten().any(|size| size > LARGEST) {
            return refused("a layer may have at most 1,048,576 neurons");
        }
        if self.second.is_none() && self.third.is_some() {
            return refused("a third hidden layer needs a second");
        }
        if !self.first.is_multiple_of(self.activation.neurons()) {
            return refused("pairwise products need an even number of neurons");
        }
        if !(1..=Architecture::MAX_BUCKETS).contains(&self.buckets) {
            return refused("the number of buckets must be 1 to 8");
        }
        Ok(())
    }
}

/// Formats the hidden layers: `256-32-32`, `2x512-16-32 (pairwise-clipped-relu, 8 buckets)`. `{:#}`
/// includes input and output: `902-256-32-32-1`.
impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut sizes = match self.view {
            View::Mover => self.first.to_string(),
            View::Both => format!("2x{}", self.first),
        };
        for size in [self.second, self.third].into_iter().flatten() {
            sizes += &format!("-{size}");
        }
        match f.alternate() {
            true => write!(f, "{}-{sizes}-1", self.features.count())?,
            false => f.write_str(&sizes)?,
        }
        let pieces = (self.features == Features::Pieces).then(|| self.features.to_string());
        let mirrored = self.mirrored.then(|| "mirrored".to_string());
        let named = self.activation != Activation::ClippedRelu;
        let activation = named.then(|| self.activation.to_string());
        let buckets = (self.buckets > 1).then(|| format!("{} buckets", self.buckets));
        let rest: Vec<String> = [pieces, mirrored, activation, buckets]
            .into_iter()
            .flatten()
            .collect();
        match rest.is_empty() {
            true => Ok(()),
            false => write!(f, " ({})", rest.join(", ")),
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            View::Mover => "mover",
            View::Both => "both",
        })
    }
}

impl FromStr for View {
    type Err = String;

    fn from_str(text: &str) -> Result<View, String> {
        match text {
            "mover" => Ok(View::Mover),
            "both" => Ok(View::Both),
            _ => Err(format!("{text:?} is neither \"mover\" nor \"both\"")),
        }
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Features::All => "all",
            Features::Pieces => "pieces",
        })
    }
}

impl FromStr for Features {
    type Err = String;

    fn from_str(text: &str) -> Result<Features, String> {
        match text {
            "all" => Ok(Features::All),
            "pieces" => Ok(Features::Pieces),
            _ => Err(format!("{text:?} is neither \"all\" nor \"pieces\"")),
        }
    }
}

impl Activation {
    /// All activation functions.
    pub const ALL: [Activation; 3] = [
        Activation::ClippedRelu,
        Activation::SquaredClippedRelu,
        Activation::PairwiseClippedRelu,
    ];

    /// Returns the number of neurons behind an activation: 2 that are multiplied, else 1.
    pub fn neurons(self) -> usize {
        match self {
            Activation::ClippedRelu | Activation::SquaredClippedRelu => 1,
            Activation::PairwiseClippedRelu => 2,
        }
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Activation::ClippedRelu => "clipped-relu",
            Activation::SquaredClippedRelu => "squared-clipped-relu",
            Activation::PairwiseClippedRelu => "pairwise-clipped-relu",
        })
    }
}

/// Parses the names that `Display` writes, and the short names `crelu` and `screlu`.
impl FromStr for Activation {
    type Err = String;

    fn from_str(text: &str) -> Result<Activation, String> {
        match text {
            "crelu" => return Ok(Activation::ClippedRelu),
            "screlu" => return Ok(Activation::SquaredClippedRelu),
            _ => {}
        }
        let mut all = Activation::ALL.into_iter();
        all.find(|activation| activation.to_string() == text)
            .ok_or_else(|| {
                let names = Activation::ALL.map(|activation| format!("\"{activation}\""));
                format!("{text:?} is none of {}", names.join(", "))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_follow_from_the_parts() {
        assert_eq!(
            Architecture::ARTICLE.layers(),
            [(451, INPUTS), (32, 451), (32, 32), (1, 32)]
        );
        let one = Architecture {
            view: View::Both,
            second: None,
            third: None,
            ..Architecture::ARTICLE
        };
        assert_eq!(one.layers(), [(451, INPUTS), (1, 902)]);
        assert_eq!(one.parameters(), 451 * 903 + 903);
        let pieces = Architecture {
            features: Features::Pieces,
            ..one
        };
        assert_eq!(pieces.parameters(), 451 * 769 + 903);
        assert_eq!(format!("{pieces:#}"), "768-2x451-1 (pieces)");
    }

    #[test]
    fn buckets_share_out_the_pieces() {
        for buckets in 1..=Architecture::MAX_BUCKETS {
            let of = Architecture {
                buckets,
                ..Architecture::ARTICLE
            };
            let all: Vec<usize> = (0..=64).map(|pieces| of.bucket(pieces)).collect();
            assert!(all.is_sorted());
            // All buckets are used, and no index is beyond the last.
            assert_eq!((all[2], all[32], all[64]), (0, buckets - 1, buckets - 1));
            if buckets == 8 {
                assert_eq!([5, 6, 29, 30].map(|pieces| all[pieces]), [0, 1, 6, 7]);
            }
        }
    }

    #[test]
    fn invalid_architectures_are_rejected() {
        let good = Architecture::hidden([8, 4, 4]);
        let endless = Architecture::hidden([8, usize::MAX, 4]);
        assert!(
            endless
                .check()
                .unwrap_err()
                .to_string()
                .contains("1,048,576")
        );
        assert_eq!(good.check(), Ok(()));
        for (wrong, why) in [
            (Architecture { first: 0, ..good }, "at least one neuron"),
            (
                Architecture {
                    second: Some(0),
                    ..good
                },
                "at least one neuron",
            ),
            (
                Architecture {
                    second: None,
                    ..good
                },
                "needs a second",
            ),
            (Architecture { buckets: 0, ..good }, "1 to 8"),
            (Architecture { buckets: 9, ..good }, "1 to 8"),
            (
                Architecture {
                    first: 9,
                    activation: Activation::PairwiseClippedRelu,
                    ..good
                },
                "even number",
            ),
        ] {
            let error = wrong.check().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn names_round_trip() {
        for activation in Activation::ALL {
            assert_eq!(activation.to_string().parse(), Ok(activation));
            let json = serde_json::to_string(&activation).unwrap();
            assert_eq!(json, format!("\"{activation}\""));
        }
        for view in [View::Mover, View::Both] {
            assert_eq!(view.to_string().parse(), Ok(view));
            assert_eq!(serde_json::to_string(&view).unwrap(), format!("\"{view}\""));
        }
        for features in [Features::All, Features::Pieces] {
            assert_eq!(features.to_string().parse(), Ok(features));
            let json = serde_json::to_string(&features).unwrap();
            assert_eq!(json, format!("\"{features}\""));
        }
        assert!("threats".parse::<Features>().is_err());
        for (short, activation) in [
            ("crelu", Activation::ClippedRelu),
            ("screlu", Activation::SquaredClippedRelu),
        ] {
            assert_eq!(short.parse(), Ok(activation));
            let json = format!("\"{short}\"");
            assert_eq!(
                serde_json::from_str::<Activation>(&json).unwrap(),
                activation
            );
        }
        assert!(
            "relu"
                .parse::<Activation>()
                .unwrap_err()
                .contains("squared")
        );
        assert!("black".parse::<View>().is_err());
        let all = Architecture {
            view: View::Both,
            activation: Activation::PairwiseClippedRelu,
            buckets: 8,
            ..Architecture::hidden([512, 16, 32])
        };
        assert_eq!(
            all.to_string(),
            "2x512-16-32 (pairwise-clipped-relu, 8 buckets)"
        );
        assert_eq!(Architecture::hidden([256, 32, 32]).to_string(), "256-32-32");
        let mirrored = Architecture {
            mirrored: true,
            ..Architecture::hidden([256, 32, 32])
        };
        assert_eq!(mirrored.to_string(), "256-32-32 (mirrored)");
    }
}
