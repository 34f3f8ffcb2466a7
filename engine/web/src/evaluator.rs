//! What evaluates: a net, or material alone; and what it makes of a position.

use engine::cozy_chess::Color;
use engine::{EMBEDDED_NET, EvaluationKind, Evaluator, features, material_values, piece_values};
use models::{INPUTS, Metadata, NetError, Network, QuantisedNetwork};
use serde::{Deserialize, Serialize};

use crate::game::Game;
use crate::session::RequestError;

/// What the evaluation is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The net.
    Network,
    /// Piece values alone.
    Material,
}

/// A net and the choice whether to use it.
pub struct Brain {
    network: Network,
    metadata: Metadata,
    quantised: QuantisedNetwork,
    /// The choice.
    pub kind: Kind,
}

/// What there is to say of a brain.
#[derive(Serialize)]
pub struct Description {
    kind: Kind,
    /// Inputs, hidden sizes, output.
    sizes: Vec<usize>,
    parameters: usize,
    /// How it was trained, and on what, in the words of its file.
    training: serde_json::Value,
    dataset: serde_json::Value,
}

/// What a brain makes of a position, in pawns from White's view.
#[derive(Serialize)]
pub struct View {
    value: f32,
    pieces: Vec<Worth>,
}

/// A piece's worth where it stands.
#[derive(Serialize)]
struct Worth {
    square: String,
    /// The value with the piece less the value without it.
    worth: f32,
    /// The value without it.
    lifted: f32,
}

impl Brain {
    /// The net that is compiled in.
    pub fn embedded() -> Result<Brain, NetError> {
        Brain::from_bytes(EMBEDDED_NET)
    }

    /// The net of a `.safetensors` file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Brain, NetError> {
        let (network, metadata) = Network::from_bytes(bytes)?;
        let quantised = QuantisedNetwork::new(&network)?;
        Ok(Brain {
            network,
            metadata,
            quantised,
            kind: Kind::Network,
        })
    }

    /// What to search with.
    pub fn evaluator(&self) -> Evaluator {
        let mut evaluator = Evaluator::new(self.quantised.clone());
        evaluator.set_kind(match self.kind {
            Kind::Network => EvaluationKind::Network,
            Kind::Material => EvaluationKind::Material,
        });
        evaluator
    }

    /// What there is to say of it.
    pub fn describe(&self) -> Description {
        let shape = self.network.shape();
        let outputs = shape.layers().map(|(outputs, _)| outputs);
        Description {
            kind: self.kind,
            sizes: [INPUTS].into_iter().chain(outputs).collect(),
            parameters: shape.parameters(),
            training: self.metadata.training.clone(),
            dataset: self.metadata.dataset.clone(),
        }
    }

    /// The value of a position and of each piece in it.
    pub fn evaluate(&self, game: &Game) -> Result<View, RequestError> {
        let position = game.replay(|_, _| {})?;
        let board = position.board();
        let (value, worths) = match self.kind {
            Kind::Network => {
                let value = self.network.evaluate(&features(board));
                let value = match board.side_to_move() {
                    Color::White => value,
                    Color::Black => -value,
                };
                (value, piece_values(&self.network, board))
            }
            Kind::Material => {
                let worths = material_values(board);
                (worths.iter().map(|&(_, pawns)| pawns).sum(), worths)
            }
        };
        let pieces = worths.into_iter().map(|(square, worth)| Worth {
            square: square.to_string(),
            worth,
            lifted: value - worth,
        });
        Ok(View {
            value,
            pieces: pieces.collect(),
        })
    }
}
