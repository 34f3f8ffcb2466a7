//! Net file format: safetensors with two tensors a layer, `layers.{i}.weight` of shape
//! `[outputs, inputs]` and `layers.{i}.bias`. After the first layer, the outputs of all buckets
//! are consecutive. The first layer's weight has columns only for the inputs in the net's
//! [`Features`](crate::Features). The only metadata entry, `kibitz`, holds [`Metadata`] as JSON:
//! safetensors keeps entries in a hash map, and with several the files would differ from run to
//! run.

use std::collections::HashMap;
use std::iter;

use half::f16;
use safetensors::tensor::{Dtype, TensorView, serialize};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::feature::THREATS;
use crate::tensors::Tensors;
use crate::{Architecture, INPUTS, LAYOUT, LAYOUT_PIECES, LAYOUT_V1, Layer, NetError, Network};

/// Largest file size that programs should read, in bytes: far more than any net needs.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

pub(crate) const METADATA_KEY: &str = "kibitz";

/// Tensor names, weight and bias of each layer. A net has two to four layers, and a file no other
/// tensors.
const NAMES: [[&str; 2]; 4] = [
    ["layers.0.weight", "layers.0.bias"],
    ["layers.1.weight", "layers.1.bias"],
    ["layers.2.weight", "layers.2.bias"],
    ["layers.3.weight", "layers.3.bias"],
];

/// Metadata of a net file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// Input layout: [`LAYOUT`], [`LAYOUT_V1`] or [`LAYOUT_PIECES`].
    pub layout: String,
    /// Architecture of the network.
    #[serde(rename = "shape")]
    pub architecture: Architecture,
    /// Unit and point of view of the output, as text.
    pub output: String,
    /// Transform of prediction and label before the loss, with its constants.
    pub target: Value,
    /// Training configuration, seed included.
    pub training: Value,
    /// Training dataset: fingerprint and size.
    pub dataset: Value,
    /// Metrics on the validation games.
    pub validation: Value,
    /// Program and version that wrote the file.
    pub tool: String,
}

impl Metadata {
    /// Returns metadata for a network of this build's layout; the trainer fills in the rest.
    pub fn new(architecture: Architecture, tool: &str) -> Metadata {
        Metadata {
            layout: architecture.features.layout().to_string(),
            architecture,
            output: "pawns, from the view of the side to move".to_string(),
            target: Value::Null,
            training: Value::Null,
            dataset: Value::Null,
            validation: Value::Null,
            tool: tool.to_string(),
        }
    }

    /// Parses the metadata. Refuses an unknown layout or architecture, and an invalid one.
    fn of(tensors: &Tensors) -> Result<Metadata, NetError> {
        let json = tensors.metadata(METADATA_KEY).ok_or(NetError::NoMetadata)?;
        // The layout comes first: a file of a later version may differ in everything else.
        let value: Value =
            serde_json::from_str(json).map_err(|e| NetError::BadMetadata(e.to_string()))?;
        let layout = value["layout"].as_str().unwrap_or("none");
        if ![LAYOUT, LAYOUT_V1, LAYOUT_PIECES].contains(&layout) {
            return Err(NetError::UnknownLayout {
                found: layout.to_string(),
            });
        }
        let unknown = |what: &str| Err(NetError::UnknownArchitecture(what.to_string()));
        // Older files have the activation here.
        match value["activation"].as_str() {
            None | Some("clipped-relu") => {}
            Some(other) => return unknown(&format!("activation {other:?}")),
        }
        if let Err(error) = Architecture::deserialize(&value["shape"]) {
            return unknown(&error.to_string());
        }
        let metadata: Metadata =
            serde_json::from_value(value).map_err(|e| NetError::BadMetadata(e.to_string()))?;
        let features = metadata.architecture.features;
        if (metadata.layout == LAYOUT_PIECES) != (features.layout() == LAYOUT_PIECES) {
            return unknown(&format!(
                "features {features} of layout {}",
                metadata.layout
            ));
        }
        metadata.architecture.check()?;
        Ok(metadata)
    }
}

impl Network {
    /// Reads a net and its metadata.
    ///
    /// # Errors
    /// [`NetError`], if this build cannot read the bytes as a net.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Network, Metadata), NetError> {
        let tensors = Tensors::read(bytes)?;
        let metadata = Metadata::of(&tensors)?;
        let mut sizes = metadata.architecture.layers();
        sizes[0].1 = metadata.architecture.features.count();
        let names = &NAMES[..sizes.len()];
        let mut found = tensors.names();
        if let Some(name) = found.find(|name| !names.as_flattened().contains(name)) {
            return Err(NetError::UnknownTensor(name.to_string()));
        }
        let read_layer = |((outputs, inputs), [weight, bias]): ((usize, usize), &[&str; 2])| {
            Ok(Layer {
                weight: tensors.values(weight, &[outputs, inputs])?,
                bias: tensors.values(bias, &[outputs])?,
            })
        };
        let layers = sizes.iter().copied().zip(names).map(read_layer);
        let mut layers = layers.collect::<Result<Vec<Layer>, NetError>>()?;
        let rows = layers[0].weight.chunks_exact(sizes[0].1);
        let zeros = iter::repeat(&0.0);
        layers[0].weight = rows
            .flat_map(|row| row.iter().chain(zeros.clone()).take(INPUTS))
            .copied()
            .collect();
        if metadata.layout == LAYOUT_V1 {
            // Inputs that were never active in training: their weights were not learned.
            for row in layers[0].weight.chunks_exact_mut(INPUTS) {
                row[THREATS].fill(0.0);
            }
        }
        Ok((Network::new(metadata.architecture, layers), metadata))
    }

    /// Returns the net as a safetensors file, with weights rounded to f16: half the size, and finer
    /// than the engine's integers. Equal networks and metadata give equal bytes. A weight beyond
    /// f16's range becomes infinite, and [`Network::from_bytes`] refuses it.
    pub fn to_bytes(&self, metadata: &Metadata) -> Vec<u8> {
        let mut tensors: Vec<(&str, Vec<usize>, Vec<u8>)> = Vec::new();
        for (index, (layer, [weight, bias])) in self.layers().iter().zip(NAMES).enumerate() {
            let inputs = match index {
                0 => self.architecture().features.count(),
                _ => layer.inputs(),
            };
            let rows = layer.weight.chunks_exact(layer.inputs());
            let weights = f16_bytes(rows.flat_map(|row| &row[..inputs]));
            tensors.push((weight, vec![layer.outputs(), inputs], weights));
            tensors.push((bias, vec![layer.outputs()], f16_bytes(&layer.bias)));
        }
        let views = tensors.iter().map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F16, shape.clone(), bytes)
                .expect("the shape matches the length");
            (name, view)
        });
        let json = serde_json::to_string(metadata).expect("metadata is plain JSON");
        let header = HashMap::from([(METADATA_KEY.to_string(), json)]);
        serialize(views, Some(header)).expect("names are distinct")
    }
}

pub(crate) fn f16_bytes<'a>(values: impl IntoIterator<Item = &'a f32>) -> Vec<u8> {
    values
        .into_iter()
        .flat_map(|&x| f16::from_f32(x).to_le_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Feature, Threats};

    const SMALL: Architecture = Architecture::hidden([8, 4, 4]);

    fn file() -> Vec<u8> {
        Network::random(SMALL, 7).to_bytes(&Metadata::new(SMALL, "test"))
    }

    #[test]
    fn files_round_trip_byte_for_byte() {
        let bytes = file();
        let (network, metadata) = Network::from_bytes(&bytes).unwrap();
        assert_eq!(network.to_bytes(&metadata), bytes);
        assert_eq!(metadata.architecture, SMALL);
    }

    #[test]
    fn validation_figures_round_trip() {
        let mut metadata = Metadata::new(SMALL, "test");
        let figures = (1..1_000).map(|i: i32| 1.3 * f64::from(i).ln());
        metadata.validation = figures.collect();
        let bytes = Network::random(SMALL, 7).to_bytes(&metadata);
        let (_, read) = Network::from_bytes(&bytes).unwrap();
        assert!(read == metadata);
    }

    #[test]
    fn nets_of_the_previous_layout_ignore_threats() {
        let mut metadata = Metadata::new(SMALL, "test");
        let network = Network::random(SMALL, 7);
        let (now, _) = Network::from_bytes(&network.to_bytes(&metadata)).unwrap();
        metadata.layout = LAYOUT_V1.to_string();
        let (before, _) = Network::from_bytes(&network.to_bytes(&metadata)).unwrap();
        let threats: Vec<Feature> = Threats::ALL.features().collect();
        let both = [Feature::IN_CHECK, threats[0]];
        assert_eq!(before.evaluate(&threats), before.evaluate(&[]));
        assert_eq!(before.evaluate(&both), now.evaluate(&both[..1]));
        assert_ne!(now.evaluate(&threats), now.evaluate(&[]));
    }

    #[test]
    fn refuses_an_unknown_layout_by_name() {
        let mut metadata = Metadata::new(SMALL, "test");
        metadata.layout = "halfkp-41024".to_string();
        let bytes = Network::random(SMALL, 7).to_bytes(&metadata);
        let error = Network::from_bytes(&bytes).unwrap_err();
        assert_eq!(
            error,
            NetError::UnknownLayout {
                found: "halfkp-41024".to_string()
            }
        );
        assert!(error.to_string().contains("halfkp-41024"));
        assert!(error.to_string().contains(LAYOUT));
        assert!(error.to_string().contains(LAYOUT_V1));
    }

    /// Returns the file of a small net with changed metadata.
    fn changed(change: impl Fn(&mut Value)) -> Vec<u8> {
        let mut metadata = serde_json::to_value(Metadata::new(SMALL, "test")).unwrap();
        change(&mut metadata);
        let zeros = zeros(SMALL, &tensors(SMALL));
        let mut header: Value = serde_json::from_slice(&zeros[8..][..length_of(&zeros)]).unwrap();
        header["__metadata__"][METADATA_KEY] = metadata.to_string().into();
        let header = header.to_string();
        let length = (header.len() as u64).to_le_bytes();
        [&length, header.as_bytes(), &zeros[8 + length_of(&zeros)..]].concat()
    }

    fn length_of(file: &[u8]) -> usize {
        u64::from_le_bytes(*file.first_chunk().unwrap()) as usize
    }

    #[test]
    fn every_architecture_round_trips() {
        for architecture in crate::testing::architectures() {
            let network = Network::random(architecture, 3);
            let metadata = Metadata::new(architecture, "test");
            let bytes = network.to_bytes(&metadata);
            let (read, same) = Network::from_bytes(&bytes).unwrap();
            assert_eq!(same, metadata);
            assert_eq!(read.to_bytes(&same), bytes);
        }
    }

    #[test]
    fn nets_of_pieces_have_a_layout_and_a_size_of_their_own() {
        let architecture = Architecture {
            features: crate::Features::Pieces,
            ..SMALL
        };
        let network = Network::random(architecture, 7);
        let metadata = Metadata::new(architecture, "test");
        assert_eq!(metadata.layout, LAYOUT_PIECES);
        let bytes = network.to_bytes(&metadata);
        let tensors = Tensors::read(&bytes).unwrap();
        assert!(tensors.values("layers.0.weight", &[8, 768]).is_ok());
        let (read, _) = Network::from_bytes(&bytes).unwrap();
        let pieces: Vec<Feature> = Feature::all().filter(|f| f.is_piece()).take(9).collect();
        let all: Vec<Feature> = pieces
            .iter()
            .copied()
            .chain(Threats::ALL.features())
            .collect();
        assert_eq!(read.evaluate(&all), read.evaluate(&pieces));
        assert_ne!(read.evaluate(&pieces), read.evaluate(&[]));
        // Files of all inputs do not name them, as before.
        let json = serde_json::to_string(&SMALL).unwrap();
        assert!(!json.contains("features"), "{json}");
    }

    #[test]
    fn files_that_predate_other_architectures_are_read() {
        let before = changed(|metadata| {
            metadata["shape"] = serde_json::json!({ "first": 8, "second": 4, "third": 4 });
            metadata["activation"] = "clipped-relu".into();
        });
        let (_, metadata) = Network::from_bytes(&before).unwrap();
        assert_eq!(metadata.architecture, SMALL);
    }

    #[test]
    fn refuses_an_unknown_architecture_by_name() {
        type Change = fn(&mut Value);
        let changes: [(&str, Change); 5] = [
            ("features pieces of layout kibitz-902-v2", |metadata| {
                metadata["shape"]["features"] = "pieces".into()
            }),
            ("screlu", |metadata| {
                metadata["activation"] = "screlu".into()
            }),
            ("gelu", |metadata| {
                metadata["shape"]["activation"] = "gelu".into()
            }),
            ("three-eyes", |metadata| {
                metadata["shape"]["view"] = "three-eyes".into()
            }),
            ("experts", |metadata| {
                metadata["shape"]["experts"] = 4.into()
            }),
        ];
        for (name, change) in changes {
            let error = Network::from_bytes(&changed(change)).unwrap_err();
            assert!(matches!(error, NetError::UnknownArchitecture(_)), "{error}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn refuses_other_shapes_and_junk() {
        let network = Network::random(SMALL, 7);
        let wrong = Metadata::new(Architecture { first: 9, ..SMALL }, "test");
        assert!(matches!(
            Network::from_bytes(&network.to_bytes(&wrong)),
            Err(NetError::WrongShape { .. })
        ));
        assert!(matches!(
            Network::from_bytes(b"not a net"),
            Err(NetError::NotSafetensors(_))
        ));
        let bytes = file();
        for cut in [0, 7, 100, bytes.len() - 1] {
            assert!(Network::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn refuses_weights_beyond_f16() {
        let mut layers = Network::random(SMALL, 7).layers().to_vec();
        layers[2].weight[3] = 1e9;
        let bytes = Network::new(SMALL, layers).to_bytes(&Metadata::new(SMALL, "test"));
        assert_eq!(
            Network::from_bytes(&bytes),
            Err(NetError::NotFinite("layers.2.weight".to_string()))
        );
    }

    /// Returns a file with these tensors, all zeros in F32, and the metadata of `architecture`.
    fn zeros(architecture: Architecture, tensors: &[(&str, Vec<usize>)]) -> Vec<u8> {
        let (mut infos, mut end) = (Vec::new(), 0);
        for (name, sizes) in tensors {
            let start = end;
            end += 4 * sizes.iter().product::<usize>();
            infos.push(format!(
                r#""{name}":{{"dtype":"F32","shape":{sizes:?},"data_offsets":[{start},{end}]}}"#
            ));
        }
        raw(architecture, &infos.join(","), &vec![0; end])
    }

    /// Returns a file with these tensors, given as JSON, and this data.
    fn raw(architecture: Architecture, tensors: &str, data: &[u8]) -> Vec<u8> {
        let metadata = serde_json::to_string(&Metadata::new(architecture, "test")).unwrap();
        let entry = serde_json::json!({ METADATA_KEY: metadata });
        let header = format!(r#"{{"__metadata__":{entry},{tensors}}}"#);
        let length = (header.len() as u64).to_le_bytes();
        [&length, header.as_bytes(), data].concat()
    }

    fn tensors(architecture: Architecture) -> Vec<(&'static str, Vec<usize>)> {
        let sizes = architecture.layers().into_iter();
        let sizes = sizes.flat_map(|(outputs, inputs)| [vec![outputs, inputs], vec![outputs]]);
        NAMES.as_flattened().iter().copied().zip(sizes).collect()
    }

    fn refusal(bytes: &[u8]) -> String {
        let error = Network::from_bytes(bytes).map(|_| ()).unwrap_err();
        error.to_string()
    }

    #[test]
    fn refuses_layers_without_neurons() {
        assert!(Network::from_bytes(&zeros(SMALL, &tensors(SMALL))).is_ok());
        for shape in [
            Architecture { first: 0, ..SMALL },
            Architecture {
                second: Some(0),
                ..SMALL
            },
            Architecture {
                third: Some(0),
                ..SMALL
            },
        ] {
            let message = refusal(&zeros(shape, &tensors(shape)));
            assert!(message.contains("at least one neuron"), "{message}");
        }
    }

    #[test]
    fn refuses_unexpected_tensors() {
        let mut more = tensors(SMALL);
        more.push(("layers.4.weight", vec![1, 1]));
        let message = refusal(&zeros(SMALL, &more));
        assert!(message.contains("layers.4.weight"), "{message}");
        let mut twice = tensors(SMALL);
        twice.push(("layers.3.bias", vec![1]));
        let message = refusal(&zeros(SMALL, &twice));
        assert!(message.contains("named twice"), "{message}");
        let mut fewer = tensors(SMALL);
        fewer.pop();
        let message = refusal(&zeros(SMALL, &fewer));
        assert!(
            message.contains("\"layers.3.bias\" is missing"),
            "{message}"
        );
    }

    /// The sizes add up to the size of the file modulo 2^64.
    #[test]
    fn refuses_sizes_that_overflow() {
        let length = |tensors: &str| raw(SMALL, tensors, &[]).len() as u64;
        let tensors = |end: u64| {
            let part = 1u64 << 60;
            let mut infos = String::new();
            for index in 0..15 {
                let (start, end) = (part * index, part * (index + 1));
                infos += &format!(
                    r#""t{index}":{{"dtype":"U8","shape":[{part}],"data_offsets":[{start},{end}]}},"#
                );
            }
            let start = 15 * part;
            let size = end - start;
            infos
                + &format!(
                    r#""last":{{"dtype":"U8","shape":[{size}],"data_offsets":[{start},{end}]}}"#
                )
        };
        // The final number has as many digits.
        let overhead = length(&tensors(u64::MAX));
        let bytes = raw(SMALL, &tensors(u64::MAX - overhead + 1), &[]);
        assert_eq!(bytes.len() as u64, overhead);
        let message = refusal(&bytes);
        assert!(message.contains("safetensors"), "{message}");
        let sizes = format!("[{}, {INPUTS}]", 1u64 << 54);
        let tensors =
            format!(r#""layers.0.weight":{{"dtype":"F16","shape":{sizes},"data_offsets":[0,0]}}"#);
        refusal(&raw(SMALL, &tensors, &[]));
    }

    #[test]
    fn refuses_nan_and_floats_beyond_f16() {
        for value in [f32::NAN, f32::INFINITY, -65_536.0, f32::MAX] {
            let mut bytes = zeros(SMALL, &tensors(SMALL));
            let end = bytes.len();
            bytes[end - 4..].copy_from_slice(&value.to_le_bytes());
            let message = refusal(&bytes);
            assert!(message.contains("layers.3.bias"), "{message}");
        }
    }

    /// Texts from a file may be long and hold anything.
    #[test]
    fn messages_are_one_short_line() {
        let long = "x\n".repeat(100_000);
        let mut metadata = Metadata::new(SMALL, "test");
        let network = Network::random(SMALL, 7);
        metadata.layout = long.clone();
        let layout = network.to_bytes(&metadata);
        let architecture = changed(|metadata| metadata["activation"] = long.clone().into());
        let mut more = tensors(SMALL);
        let name = long.replace('\n', "\\n");
        more.push((&name, vec![1]));
        let tensor = zeros(SMALL, &more);
        let dtype = String::from_utf8_lossy(&file()).replacen("F16", &name, 1);
        for bytes in [layout, architecture, tensor, dtype.into_bytes()] {
            let message = refusal(&bytes);
            assert!(message.len() < 500, "{} characters", message.len());
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
