//! Nearly valid net files.

use half::f16;
use models::{Activation, Architecture, Features, LAYOUT, LAYOUT_PIECES, LAYOUT_V1, Random, View};

use crate::Choices;

/// Hidden sizes at the edges of what kernels process at once.
const FIRST: [usize; 12] = [8, 1, 2, 31, 32, 33, 64, 65, 96, 1023, 1024, 1025];
const LATER: [usize; 8] = [4, 1, 3, 31, 32, 33, 16, 2];

/// Weights at the limits of the integer types and f16.
const VALUES: [f32; 32] = [
    0.0,
    1.0,
    0.5,
    0.02,
    0.004,
    1e-8,
    1.99,
    2.0,
    3.98,
    4.4,
    7.9,
    15.8,
    15.9,
    16.0,
    100.0,
    233.0,
    257.0,
    258.0,
    515.0,
    1023.0,
    2047.0,
    2048.0,
    9_000.0,
    65_504.0,
    65_520.0,
    65_536.0,
    3e6,
    f32::MAX,
    f32::INFINITY,
    f32::NAN,
    f32::MIN_POSITIVE,
    -1.0,
];

/// Numbers that are not valid sizes.
const ODD_NUMBERS: [&str; 12] = [
    "0",
    "1",
    "-1",
    "1.5",
    "1e3",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "2305843009213693952",
    "4294967296",
    "null",
    "\"8\"",
];

const ODD_TYPES: [&str; 6] = ["BF16", "F64", "U8", "I32", "F8_E4M3", ""];
const ODD_NAMES: [&str; 5] = [
    "layers.4.weight",
    "",
    "__metadata__",
    "layers.0.weight",
    "\\n",
];
const ODD_JSON: [&str; 8] = [
    "null",
    "true",
    "[]",
    "{}",
    "1e400",
    "\"\\ud800\"",
    "0.1234567890123456789",
    "[[[[[[[[1]]]]]]]]",
];

/// Returns a file, usually a complete net.
pub fn file(choices: &mut Choices) -> Vec<u8> {
    let architecture = architecture(choices);
    let layers = architecture.layers();
    let mut entries = vec![metadata(architecture, choices)];
    let mut data = Vec::new();
    for (index, (outputs, inputs)) in layers.into_iter().enumerate() {
        tensor(
            &format!("layers.{index}.weight"),
            &[outputs, inputs],
            choices,
            &mut entries,
            &mut data,
        );
        tensor(
            &format!("layers.{index}.bias"),
            &[outputs],
            choices,
            &mut entries,
            &mut data,
        );
    }
    if choices.seldom(32) {
        entries.remove(choices.below(entries.len()));
    }
    if choices.seldom(32) {
        let twice = choices.of(&entries);
        entries.push(twice);
    }
    let mut file = Vec::new();
    let mut header = format!("{{{}}}", entries.join(",")).into_bytes();
    if choices.seldom(16) {
        let place = choices.below(header.len());
        header[place] = choices.byte();
    }
    let length = match choices.seldom(64) {
        true => choices.word(),
        false => header.len() as u64,
    };
    file.extend(length.to_le_bytes());
    file.extend(header);
    file.extend(data);
    if choices.seldom(32) {
        file.truncate(choices.below(file.len()));
    }
    file
}

/// Returns an architecture, usually a valid one.
fn architecture(choices: &mut Choices) -> Architecture {
    let depth = choices.below(4);
    let activation = choices.of(&Activation::ALL);
    let first = choices.of(&FIRST);
    Architecture {
        view: choices.of(&[View::Mover, View::Both]),
        mirrored: choices.of(&[false, true]),
        first: first.next_multiple_of(activation.neurons()),
        activation,
        second: (depth > 0).then(|| choices.of(&LATER)),
        third: (depth > 1).then(|| choices.of(&LATER)),
        buckets: choices.of(&[1, 8, 2, 3]),
        features: choices.of(&[Features::All, Features::Pieces]),
    }
}

/// Returns the metadata entry of the header.
fn metadata(architecture: Architecture, choices: &mut Choices) -> String {
    let mut number = |size: usize| odd_or(choices, size.to_string());
    let first = number(architecture.first);
    let mut optional = |size: Option<usize>| match size {
        Some(size) => number(size),
        None => "null".to_string(),
    };
    let [second, third] = [architecture.second, architecture.third].map(&mut optional);
    let (view, mirrored) = (architecture.view, architecture.mirrored);
    let buckets = number(architecture.buckets);
    let layout = match choices.below(16) {
        15 => "halfkp",
        12..15 => LAYOUT_PIECES,
        8..12 => LAYOUT_V1,
        _ => LAYOUT,
    };
    let activation = match choices.seldom(32) {
        true => "gelu".to_string(),
        false => architecture.activation.to_string(),
    };
    let mut any = || match choices.seldom(4) {
        true => choices.of(&ODD_JSON),
        false => "null",
    };
    let (target, training, dataset, validation) = (any(), any(), any(), any());
    let features = match architecture.features {
        Features::All => "",
        Features::Pieces => r#","features":"pieces""#,
    };
    let json = format!(
        r#"{{"layout":"{layout}","shape":{{"view":"{view}","mirrored":{mirrored},"first":{first},"activation":"{activation}","second":{second},"third":{third},"buckets":{buckets}{features}}},"output":"pawns","target":{target},"training":{training},"dataset":{dataset},"validation":{validation},"tool":"fuzz"}}"#
    );
    let json = json.replace('\\', "\\\\").replace('"', "\\\"");
    format!(r#""__metadata__":{{"kibitz":"{json}"}}"#)
}

/// Adds a tensor to the header's entries and to the data.
fn tensor(
    name: &str,
    sizes: &[usize],
    choices: &mut Choices,
    entries: &mut Vec<String>,
    data: &mut Vec<u8>,
) {
    let values = values(sizes.iter().product(), choices);
    let start = data.len();
    let wide = choices.seldom(2);
    match wide {
        true => data.extend(values.iter().flat_map(|value| value.to_le_bytes())),
        false => {
            data.extend(
                values
                    .iter()
                    .flat_map(|&value| f16::from_f32(value).to_le_bytes()),
            );
        }
    }
    let mut dtype = if wide { "F32" } else { "F16" };
    if choices.seldom(64) {
        dtype = choices.of(&ODD_TYPES);
    }
    let name = match choices.seldom(64) {
        true => choices.of(&ODD_NAMES),
        false => name,
    };
    let sizes: Vec<String> = sizes
        .iter()
        .map(|size| odd_or(choices, size.to_string()))
        .collect();
    let start = odd_or(choices, start.to_string());
    let end = odd_or(choices, data.len().to_string());
    let sizes = sizes.join(",");
    entries.push(format!(
        r#""{name}":{{"dtype":"{dtype}","shape":[{sizes}],"data_offsets":[{start},{end}]}}"#
    ));
}

fn odd_or(choices: &mut Choices, number: String) -> String {
    match choices.seldom(128) {
        true => choices.of(&ODD_NUMBERS).to_string(),
        false => number,
    }
}

/// Returns values that differ at most in sign, or lie between two bounds; sometimes one is
/// replaced.
fn values(count: usize, choices: &mut Choices) -> Vec<f32> {
    let most = choices.of(&VALUES);
    let mode = choices.byte();
    let mut random = Random(mode.into());
    let mut values: Vec<f32> = (0..count)
        .map(|_| match mode {
            0..64 => most,
            64..128 => most * random.uniform().signum(),
            _ => most * random.uniform(),
        })
        .collect();
    if choices.seldom(4) {
        let place = choices.below(count);
        values[place] = match choices.seldom(2) {
            true => f32::from_bits(choices.word() as u32),
            false => choices.of(&VALUES),
        };
    }
    values
}
