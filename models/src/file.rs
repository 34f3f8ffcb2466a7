//! A net's file: safetensors with eight tensors, `layers.{0..3}.weight` of
//! shape `[outputs, inputs]` and `layers.{0..3}.bias`, and one metadata entry,
//! `kibitz`, that holds [`Metadata`] as JSON. One entry rather than many,
//! because safetensors keeps entries in a hash map, whose order would make
//! files differ from run to run.

use std::collections::HashMap;

use half::f16;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::feature::THREATS;
use crate::{ACTIVATION, INPUTS, LAYOUT, LAYOUT_V1, Layer, NetError, Network, Shape};

const METADATA_KEY: &str = "kibitz";

/// What a net's file says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The input layout, [`LAYOUT`] or [`LAYOUT_V1`].
    pub layout: String,
    /// Hidden sizes.
    pub shape: Shape,
    /// The function between layers, [`ACTIVATION`].
    pub activation: String,
    /// What the network puts out, in words.
    pub output: String,
    /// The transform that prediction and label went through before the loss,
    /// with its constants.
    pub target: Value,
    /// The training configuration, seed included.
    pub training: Value,
    /// What it was trained on: the dataset's fingerprint and size.
    pub dataset: Value,
    /// Figures on the held-out games.
    pub validation: Value,
    /// The program that wrote it, with its version.
    pub tool: String,
}

impl Metadata {
    /// Metadata for a network of this build's layout and activation; the
    /// trainer fills in the rest.
    pub fn new(shape: Shape, tool: &str) -> Metadata {
        Metadata {
            layout: LAYOUT.to_string(),
            shape,
            activation: ACTIVATION.to_string(),
            output: "pawns, from the view of the side to move".to_string(),
            target: Value::Null,
            training: Value::Null,
            dataset: Value::Null,
            validation: Value::Null,
            tool: tool.to_string(),
        }
    }

    /// Reads the metadata alone, and refuses a layout or an activation that
    /// this build does not know.
    pub fn from_bytes(bytes: &[u8]) -> Result<Metadata, NetError> {
        let (_, header) = SafeTensors::read_metadata(bytes)
            .map_err(|e| NetError::NotSafetensors(e.to_string()))?;
        let json = header
            .metadata()
            .as_ref()
            .and_then(|entries| entries.get(METADATA_KEY))
            .ok_or(NetError::NoMetadata)?;
        // The layout first: a file of a later version may differ in all else.
        let value: Value =
            serde_json::from_str(json).map_err(|e| NetError::BadMetadata(e.to_string()))?;
        let layout = value["layout"].as_str().unwrap_or("none");
        if ![LAYOUT, LAYOUT_V1].contains(&layout) {
            return Err(NetError::UnknownLayout {
                found: layout.to_string(),
            });
        }
        let metadata: Metadata =
            serde_json::from_value(value).map_err(|e| NetError::BadMetadata(e.to_string()))?;
        if metadata.activation != ACTIVATION {
            return Err(NetError::UnknownActivation {
                found: metadata.activation,
            });
        }
        Ok(metadata)
    }
}

impl Network {
    /// Reads a net and what it says of itself.
    ///
    /// # Errors
    /// [`NetError`], when the bytes are no net that this build can read.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Network, Metadata), NetError> {
        let metadata = Metadata::from_bytes(bytes)?;
        let tensors =
            SafeTensors::deserialize(bytes).map_err(|e| NetError::NotSafetensors(e.to_string()))?;
        let read_layer = |i: usize| -> Result<Layer, NetError> {
            let (outputs, inputs) = metadata.shape.layers()[i];
            Ok(Layer {
                weight: read_tensor(&tensors, &format!("layers.{i}.weight"), &[outputs, inputs])?,
                bias: read_tensor(&tensors, &format!("layers.{i}.bias"), &[outputs])?,
            })
        };
        let mut first = read_layer(0)?;
        if metadata.layout == LAYOUT_V1 {
            // Never on in training, so whatever they weigh was not learned.
            for row in first.weight.chunks_exact_mut(INPUTS) {
                row[THREATS].fill(0.0);
            }
        }
        let layers = [first, read_layer(1)?, read_layer(2)?, read_layer(3)?];
        let network = Network::new(metadata.shape, layers);
        network.check_finite()?;
        Ok((network, metadata))
    }

    /// The net as a safetensors file, weights rounded to f16: half the size,
    /// and finer than the integers that the engine plays with. The same
    /// network and metadata give the same bytes.
    ///
    /// # Panics
    /// Never for weights within f16's range; a weight beyond it becomes
    /// infinite, and [`Network::from_bytes`] refuses it.
    pub fn to_bytes(&self, metadata: &Metadata) -> Vec<u8> {
        let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
        for (i, layer) in self.layers().iter().enumerate() {
            let shape = vec![layer.outputs(), layer.inputs()];
            tensors.push((
                format!("layers.{i}.weight"),
                shape,
                f16_bytes(&layer.weight),
            ));
            let shape = vec![layer.outputs()];
            tensors.push((format!("layers.{i}.bias"), shape, f16_bytes(&layer.bias)));
        }
        let views = tensors.iter().map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F16, shape.clone(), bytes)
                .expect("shape and length are made together");
            (name, view)
        });
        let json = serde_json::to_string(metadata).expect("metadata is plain JSON");
        let header = HashMap::from([(METADATA_KEY.to_string(), json)]);
        serialize(views, Some(header)).expect("names are distinct")
    }
}

fn f16_bytes(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|&x| f16::from_f32(x).to_le_bytes())
        .collect()
}

fn read_tensor(
    tensors: &SafeTensors,
    name: &str,
    expected: &[usize],
) -> Result<Vec<f32>, NetError> {
    let tensor = tensors
        .tensor(name)
        .map_err(|_| NetError::MissingTensor(name.to_string()))?;
    if tensor.shape() != expected {
        return Err(NetError::WrongShape {
            name: name.to_string(),
            found: tensor.shape().to_vec(),
            expected: expected.to_vec(),
        });
    }
    let data = tensor.data();
    match tensor.dtype() {
        Dtype::F32 => Ok(data
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect()),
        Dtype::F16 => Ok(data
            .chunks_exact(2)
            .map(|b| f16::from_le_bytes([b[0], b[1]]).to_f32())
            .collect()),
        other => Err(NetError::WrongType {
            name: name.to_string(),
            found: format!("{other:?}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Feature, Threats};

    const SMALL: Shape = Shape {
        first: 8,
        second: 4,
        third: 4,
    };

    fn file() -> Vec<u8> {
        Network::random(SMALL, 7).to_bytes(&Metadata::new(SMALL, "test"))
    }

    #[test]
    fn reads_what_it_wrote_byte_for_byte() {
        let bytes = file();
        let (network, metadata) = Network::from_bytes(&bytes).unwrap();
        assert_eq!(network.to_bytes(&metadata), bytes);
        assert_eq!(metadata.shape, SMALL);
    }

    #[test]
    fn a_net_of_the_layout_before_knows_no_threats() {
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

    #[test]
    fn refuses_other_activations_shapes_and_junk() {
        let mut metadata = Metadata::new(SMALL, "test");
        metadata.activation = "screlu".to_string();
        let network = Network::random(SMALL, 7);
        assert!(matches!(
            Network::from_bytes(&network.to_bytes(&metadata)),
            Err(NetError::UnknownActivation { .. })
        ));
        let wrong = Metadata::new(Shape { first: 9, ..SMALL }, "test");
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
        let mut layers = Network::random(SMALL, 7).layers().clone();
        layers[2].weight[3] = 1e9;
        let bytes = Network::new(SMALL, layers).to_bytes(&Metadata::new(SMALL, "test"));
        assert_eq!(
            Network::from_bytes(&bytes),
            Err(NetError::NotFinite("layers.2.weight".to_string()))
        );
    }
}
