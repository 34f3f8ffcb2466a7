//! What evaluates: a net, or material alone; and what it makes of a position.

use engine::cozy_chess::{Board, Color, Piece};
use engine::{EMBEDDED_NET, EvaluationKind, Evaluator, features, piece_values};
use models::{INPUTS, Metadata, NetError, Network, QuantisedNetwork, material};
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
            Kind::Material => material_values(board),
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

/// The balance of material, and each piece's part in it.
fn material_values(board: &Board) -> (f32, Vec<(engine::cozy_chess::Square, f32)>) {
    let worth = |square| {
        let piece = match board.piece_on(square)? {
            Piece::Pawn => models::Piece::Pawn,
            Piece::Knight => models::Piece::Knight,
            Piece::Bishop => models::Piece::Bishop,
            Piece::Rook => models::Piece::Rook,
            Piece::Queen => models::Piece::Queen,
            Piece::King => return None,
        };
        let pawns = material::centipawns(piece) as f32 / 100.0;
        let own = board.color_on(square)? == Color::White;
        Some((square, if own { pawns } else { -pawns }))
    };
    let worths: Vec<_> = board.occupied().iter().filter_map(worth).collect();
    (worths.iter().map(|&(_, pawns)| pawns).sum(), worths)
}
