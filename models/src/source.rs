//! Source code of a net for other engines: one file of Rust or C without dependencies, with the
//! integers of [`QuantisedNetwork`] beside it. It gives the same centipawns.

use std::fmt::Write;

use crate::accumulator::Block;
use crate::layers::{Hidden, Lanes, Stack};
use crate::{Activation, Architecture, Feature, Features, QuantisedNetwork, View};

/// Language of the source code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Rust, of any edition.
    Rust,
    /// C11.
    C,
}

impl Language {
    fn template(self) -> &'static str {
        match self {
            Language::Rust => include_str!("source/net.rs.txt"),
            Language::C => include_str!("source/net.c.txt"),
        }
    }
}

/// A position to test the source code with.
#[derive(Clone, Debug, PartialEq)]
pub struct Golden {
    /// FEN, or its first four fields.
    pub position: String,
    /// Active inputs, as the side to move sees them.
    pub features: Vec<Feature>,
}

/// Files of a net for another engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// `NAME.rs` or `NAME.c`: inference, and its test.
    pub code: String,
    /// `NAME.bin`: weights and biases, little-endian, padded to 64 bytes.
    pub weights: Vec<u8>,
    /// `NAME.golden.txt`: a line for each position, with its centipawns, FEN and inputs.
    pub golden: String,
}

impl Source {
    /// Returns the files of `network` under the name `name`.
    pub fn new(
        network: &QuantisedNetwork,
        language: Language,
        name: &str,
        golden: &[Golden],
    ) -> Source {
        let integers = Integers::of(network);
        let mut code = kept_lines(language.template(), &conditions(network));
        for (field, value) in integers.fields(network.architecture()) {
            code = code.replace(&format!("@{field}@"), &value);
        }
        Source {
            code: code.replace("@NAME@", name),
            weights: integers.bytes(),
            golden: golden.iter().map(|golden| line(network, golden)).collect(),
        }
    }
}

/// Formats a golden position.
fn line(network: &QuantisedNetwork, golden: &Golden) -> String {
    let centipawns = network.evaluate_features(&golden.features);
    let mut line = format!("{centipawns} | {} |", golden.position);
    let read = |feature: &&Feature| network.architecture().features.contains(**feature);
    for feature in golden.features.iter().filter(read) {
        write!(line, " {}", feature.index()).expect("strings take all");
    }
    line + "\n"
}

/// Returns the lines of a template without those under a condition that does not hold. `@if NAME`
/// or `@if !NAME` begins such lines, `@end` ends them; conditions may be nested.
///
/// # Panics
/// If an `@end` is missing or superfluous.
fn kept_lines(template: &str, conditions: &[&str]) -> String {
    let mut kept = vec![true];
    let mut text = String::new();
    for line in template.lines() {
        let keeps = kept.last() == Some(&true);
        if let Some(condition) = line.strip_prefix("@if ") {
            let holds = match condition.strip_prefix('!') {
                Some(condition) => !conditions.contains(&condition),
                None => conditions.contains(&condition),
            };
            kept.push(keeps && holds);
        } else if line == "@end" {
            kept.pop();
        } else if keeps {
            text += line;
            text.push('\n');
        }
    }
    assert_eq!(kept, [true], "each @if has an @end");
    text
}

/// Returns the conditions of the templates that hold.
fn conditions(network: &QuantisedNetwork) -> Vec<&'static str> {
    let architecture = network.architecture();
    let of_activation = match architecture.activation {
        Activation::ClippedRelu => "clipped",
        Activation::SquaredClippedRelu => "squared",
        Activation::PairwiseClippedRelu => "pairwise",
    };
    let others = [
        ("all", architecture.features == Features::All),
        ("both", architecture.view == View::Both),
        ("mirrored", architecture.mirrored),
        ("second", architecture.second.is_some()),
        ("third", architecture.third.is_some()),
        ("threats", network.counts_threats()),
    ];
    let others = others.into_iter().filter(|&(_, holds)| holds);
    others
        .map(|(name, _)| name)
        .chain([of_activation])
        .collect()
}

/// Integers of a network in the order of neurons, without the kernels' padding.
struct Integers {
    first_bias: Vec<i16>,
    /// `[inputs, first]`, with the inputs that the network reads.
    first: Vec<i16>,
    first_shift: u32,
    stacks: Vec<Later>,
}

/// Layers behind the first, of one bucket.
#[derive(Default)]
struct Later {
    second_bias: Vec<i32>,
    /// `[outputs, inputs]`, as the weights below.
    second: Vec<i16>,
    second_shift: u32,
    third_bias: Vec<i32>,
    third: Vec<i16>,
    third_shift: u32,
    output_bias: i32,
    output: Vec<i16>,
    /// log2 of the output's scale over `ACTIVATION_MAX`.
    pawn_shift: u32,
}

impl Integers {
    fn of(network: &QuantisedNetwork) -> Integers {
        let (architecture, first) = (network.architecture(), &network.first);
        let lanes = Lanes::of(architecture);
        let neurons = |blocks: &[Block]| -> Vec<i16> {
            let all: Vec<i16> = blocks.iter().flat_map(|block| block.0).collect();
            let neurons = 0..architecture.first;
            neurons.map(|neuron| all[lanes.lane(neuron)]).collect()
        };
        Integers {
            first_bias: neurons(&first.bias.0),
            first: Feature::all()
                .take(architecture.features.count())
                .flat_map(|input| neurons(first.column(input)))
                .collect(),
            first_shift: first.shift,
            stacks: network
                .stacks
                .iter()
                .map(|stack| Later::of(stack, architecture))
                .collect(),
        }
    }

    /// Returns the contents of `NAME.bin`: the fields of `Weights` in the templates.
    fn bytes(&self) -> Vec<u8> {
        let stacks = &self.stacks;
        let biases = (stacks.iter().flat_map(|later| &later.second_bias))
            .chain(stacks.iter().flat_map(|later| &later.third_bias))
            .chain(stacks.iter().map(|later| &later.output_bias));
        let weights = (self.first_bias.iter().chain(&self.first))
            .chain(stacks.iter().flat_map(|later| &later.second))
            .chain(stacks.iter().flat_map(|later| &later.third))
            .chain(stacks.iter().flat_map(|later| &later.output));
        let mut bytes: Vec<u8> = biases.flat_map(|bias| bias.to_le_bytes()).collect();
        bytes.extend(weights.flat_map(|weight| weight.to_le_bytes()));
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        bytes
    }

    /// Returns the fields of the templates but the name.
    fn fields(&self, architecture: Architecture) -> Vec<(&'static str, String)> {
        let shifts = |shift: &dyn Fn(&Later) -> u32| {
            let shifts: Vec<String> = (self.stacks.iter())
                .map(|later| shift(later).to_string())
                .collect();
            shifts.join(", ")
        };
        let (last, last_name) = match (architecture.second, architecture.third) {
            (None, _) => ("VIEWS * ACTIVATIONS", "first"),
            (_, None) => ("SECOND", "second"),
            _ => ("THIRD", "third"),
        };
        let size = |size: Option<usize>| size.unwrap_or_default().to_string();
        vec![
            ("SHAPE", format!("{architecture:#}")),
            ("INPUTS", architecture.features.count().to_string()),
            ("FIRST", architecture.first.to_string()),
            ("ACTIVATIONS", architecture.activations().to_string()),
            ("VIEWS", architecture.views().to_string()),
            ("SECOND", size(architecture.second)),
            ("THIRD", size(architecture.third)),
            ("BUCKETS", architecture.buckets.to_string()),
            ("PIECES_PER_BUCKET", architecture.bucket_width().to_string()),
            ("FIRST_SHIFT", self.first_shift.to_string()),
            ("SECOND_SHIFT", shifts(&|later| later.second_shift)),
            ("THIRD_SHIFT", shifts(&|later| later.third_shift)),
            ("PAWN_SHIFT", shifts(&|later| later.pawn_shift)),
            ("LAST", last.to_string()),
            ("LAST_NAME", last_name.to_string()),
        ]
    }
}

impl Later {
    fn of(stack: &Stack, architecture: Architecture) -> Later {
        let lanes = Lanes::of(architecture);
        let inputs = architecture.views() * architecture.activations();
        let Hidden {
            second,
            third,
            fourth,
        } = match stack {
            Stack::Output(output) => {
                let weights = output.weight.as_flattened();
                let weights = (0..inputs).map(|input| weights[lanes.lane(input)].into());
                return Later {
                    output_bias: output.bias,
                    output: weights.collect(),
                    pawn_shift: output.shift,
                    ..Later::default()
                };
            }
            Stack::Hidden(hidden) => &**hidden,
        };
        let width = architecture.second.unwrap_or_default();
        let of_second = (0..width).flat_map(|output| {
            let lanes = (0..inputs).map(move |input| lanes.lane(input));
            lanes.map(move |lane| second.weight[lane / 4].0[output][lane % 4].into())
        });
        let later = Later {
            second_bias: second.bias[..width].to_vec(),
            second: of_second.collect(),
            second_shift: second.shift,
            output_bias: fourth.bias,
            output: fourth.weight[..architecture.third.unwrap_or(width)].to_vec(),
            pawn_shift: second.shift + fourth.shift,
            ..Later::default()
        };
        match (third, architecture.third) {
            (Some(third), Some(outputs)) => Later {
                third_bias: third.bias[..outputs].to_vec(),
                third: (0..outputs)
                    .flat_map(|output| {
                        (0..width).map(move |input| third.weight[input / 2].0[output][input % 2])
                    })
                    .collect(),
                third_shift: third.shift,
                ..later
            },
            _ => later,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_nest_and_negate() {
        let template = "a\n@if x\nb\n@if y\nc\n@end\n@if !y\nd\n@end\n@end\ne\n";
        assert_eq!(kept_lines(template, &["x", "y"]), "a\nb\nc\ne\n");
        assert_eq!(kept_lines(template, &["x"]), "a\nb\nd\ne\n");
        assert_eq!(kept_lines(template, &["y"]), "a\ne\n");
    }

    #[test]
    fn every_field_is_filled_in_and_the_first_line_is_cc0() {
        for architecture in crate::testing::architectures() {
            let network = crate::Network::random(architecture, 1);
            let network = QuantisedNetwork::new(&network).unwrap();
            for language in [Language::Rust, Language::C] {
                let Source { code, .. } = Source::new(&network, language, "tiny", &[]);
                assert!(!code.contains('@'), "{architecture}");
                assert!(code.lines().next().unwrap().contains("CC0"));
                assert!(code.contains("tiny.bin"));
            }
        }
    }
}
