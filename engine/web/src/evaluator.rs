//! The selected evaluation, a network or material, and its values of positions and pieces.

use engine::cozy_chess::{Board, Color, Square};
use engine::{Evaluator, embedded_net, features, material_values, piece_values};
use models::{Metadata, NetError, Network, QuantisedNetwork};
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::game::Game;
use crate::inside::{InputReport, InsideRequest, NetworkReport, threats};
use crate::names::SquareName;

/// Kind of evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum EvaluationKind {
    Network,
    /// Piece values alone.
    Material,
}

/// A network, and whether it or material is in use.
pub struct SelectedEvaluator {
    network: Network,
    metadata: Metadata,
    quantised: QuantisedNetwork,
    pub kind: EvaluationKind,
}

/// Description of a network.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NetDescription {
    kind: EvaluationKind,
    /// Layer sizes and other parts of the architecture, as text.
    architecture: String,
    parameters: usize,
    training: Training,
}

/// Training data of a network, from its metadata.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
struct Training {
    /// Number of training positions; `null` if the file does not have it.
    positions: Option<u64>,
    /// Whether training started from another network; `positions` then counts only the last run.
    from_another_net: bool,
}

/// The value of a position and of each piece in it, in pawns from White's view.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PositionEvaluation {
    value: f32,
    pieces: Vec<PieceValue>,
}

/// Value of a piece on its square, in pawns from White's view.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct PieceValue {
    square: SquareName,
    /// Value of the position minus its value without the piece.
    value: f32,
    /// Value of the position without the piece.
    without: f32,
}

impl Training {
    /// Reads the metadata of any trainer version.
    fn of(metadata: &Metadata) -> Training {
        Training {
            positions: metadata.dataset["positions_train"].as_u64(),
            from_another_net: !metadata.training["init"].is_null(),
        }
    }
}

impl SelectedEvaluator {
    /// Loads the embedded network.
    pub fn embedded() -> Result<SelectedEvaluator, NetError> {
        SelectedEvaluator::from_bytes(embedded_net())
    }

    /// Loads the network of a `.safetensors` file.
    pub fn from_bytes(bytes: &[u8]) -> Result<SelectedEvaluator, NetError> {
        let (network, metadata) = Network::from_bytes(bytes)?;
        let quantised = QuantisedNetwork::new(&network)?;
        Ok(SelectedEvaluator {
            network,
            metadata,
            quantised,
            kind: EvaluationKind::Network,
        })
    }

    /// Returns an evaluator for the engine.
    pub fn evaluator(&self) -> Evaluator {
        let mut evaluator = Evaluator::new(self.quantised.clone());
        evaluator.set_kind(match self.kind {
            EvaluationKind::Network => engine::EvaluationKind::Network,
            EvaluationKind::Material => engine::EvaluationKind::Material,
        });
        evaluator
    }

    /// Describes the network.
    pub fn describe(&self) -> NetDescription {
        let architecture = self.network.architecture();
        NetDescription {
            kind: self.kind,
            architecture: format!("{architecture:#}"),
            parameters: architecture.parameters(),
            training: Training::of(&self.metadata),
        }
    }

    /// Describes the network's inference on a position; `None` while material is in use.
    ///
    /// # Errors
    /// If the request is invalid, or the network's values overflow.
    pub fn inside(&self, request: InsideRequest) -> Result<Option<NetworkReport>, RequestError> {
        match self.kind {
            EvaluationKind::Network => request.report(&self.network).map(Some),
            EvaluationKind::Material => Ok(None),
        }
    }

    /// Evaluates the last position of a game and each piece in it.
    ///
    /// # Errors
    /// If the game is invalid, or the network's values overflow.
    pub fn evaluate(&self, game: &Game) -> Result<PositionEvaluation, RequestError> {
        let position = game.replay(|_, _| {})?;
        let value = self.value(position.board())?;
        let worths = self.worths(position.board())?;
        let pieces = worths.into_iter().map(|(square, piece)| PieceValue {
            square: SquareName(square),
            value: piece,
            without: value - piece,
        });
        Ok(PositionEvaluation {
            value,
            pieces: pieces.collect(),
        })
    }

    /// Returns the static evaluation in pawns, from White's view.
    ///
    /// # Errors
    /// If the network's value overflows.
    pub fn value(&self, board: &Board) -> Result<f32, RequestError> {
        let value = match (self.kind, board.side_to_move()) {
            (EvaluationKind::Network, Color::White) => self.network.evaluate(&features(board)),
            (EvaluationKind::Network, Color::Black) => -self.network.evaluate(&features(board)),
            (EvaluationKind::Material, _) => {
                material_values(board).iter().map(|&(_, pawns)| pawns).sum()
            }
        };
        value
            .is_finite()
            .then_some(value)
            .ok_or(RequestError::NotFinite)
    }

    /// Returns the value of each piece by square, in pawns from White's view.
    ///
    /// # Errors
    /// As for [`SelectedEvaluator::value`].
    pub fn worths(&self, board: &Board) -> Result<Vec<(Square, f32)>, RequestError> {
        let worths = match self.kind {
            EvaluationKind::Network => piece_values(&self.network, board),
            EvaluationKind::Material => material_values(board),
        };
        let finite = worths.iter().all(|(_, worth)| worth.is_finite());
        finite.then_some(worths).ok_or(RequestError::NotFinite)
    }

    /// Returns the active inputs for pieces en prise; empty while material is in use.
    pub fn threats(&self, board: &Board) -> Vec<InputReport> {
        match self.kind {
            EvaluationKind::Network => threats(&self.network, board),
            EvaluationKind::Material => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Architecture;
    use serde_json::json;

    #[test]
    fn metadata_of_other_versions_is_read() {
        let mut metadata = Metadata::new(Architecture::ARTICLE, "test");
        let unknown = Training {
            positions: None,
            from_another_net: false,
        };
        assert_eq!(Training::of(&metadata), unknown);
        metadata.dataset = json!({ "positions_train": 7, "positions_validation": 1 });
        metadata.training = json!({ "init": { "file": "x.safetensors" }, "epochs": 3 });
        let known = Training {
            positions: Some(7),
            from_another_net: true,
        };
        assert_eq!(Training::of(&metadata), known);
        metadata.dataset = json!(["positions_train"]);
        metadata.training = json!({ "init": null });
        assert_eq!(Training::of(&metadata), unknown);
    }
}
