//! Static evaluation: the network, or material alone.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use arrayvec::ArrayVec;
use cozy_chess::{BitBoard, Board, Piece};
use models::packed::unpack;
use models::{
    Accumulated, Accumulator, Feature, Features, NetError, QuantisedNetwork, View, material,
};

use crate::evaluation::Score;
use crate::evaluation::accumulators::of_board;
use crate::evaluation::danger::Danger;
use crate::evaluation::features::{features, model_piece, with_attacks, without_attacks};

/// The embedded network as packed by the build script.
static PACKED_NET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/net.packed"));

/// Returns the embedded network as a safetensors file.
pub fn embedded_net() -> &'static [u8] {
    static NET: OnceLock<Vec<u8>> = OnceLock::new();
    NET.get_or_init(|| unpack(PACKED_NET).expect("the build script packed it"))
}

/// Source of the static evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationKind {
    /// The network.
    Network,
    /// Material alone, the baseline for networks.
    Material,
}

impl FromStr for EvaluationKind {
    type Err = String;

    fn from_str(text: &str) -> Result<EvaluationKind, String> {
        match text {
            "network" => Ok(EvaluationKind::Network),
            "material" => Ok(EvaluationKind::Material),
            _ => Err(format!(
                "evaluation {text:?} is neither \"network\" nor \"material\""
            )),
        }
    }
}

impl fmt::Display for EvaluationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EvaluationKind::Network => "network",
            EvaluationKind::Material => "material",
        })
    }
}

/// A network and the selected [`EvaluationKind`].
#[derive(Clone)]
pub struct Evaluator {
    network: QuantisedNetwork,
    kind: EvaluationKind,
}

impl Evaluator {
    /// Returns an evaluator that uses `network`.
    pub fn new(network: QuantisedNetwork) -> Evaluator {
        Evaluator {
            network,
            kind: EvaluationKind::Network,
        }
    }

    /// Returns an evaluator that uses the embedded network.
    ///
    /// # Errors
    /// [`NetError`] if the file given at build time is not a network.
    pub fn embedded() -> Result<Evaluator, NetError> {
        Ok(Evaluator::new(
            QuantisedNetwork::from_bytes(embedded_net())?,
        ))
    }

    /// Replaces the network.
    pub fn set_network(&mut self, network: QuantisedNetwork) {
        self.network = network;
    }

    /// Selects network or material.
    pub fn set_kind(&mut self, kind: EvaluationKind) {
        self.kind = kind;
    }

    /// Returns the network in use; `None` under [`EvaluationKind::Material`].
    pub(crate) fn network(&self) -> Option<&QuantisedNetwork> {
        match self.kind {
            EvaluationKind::Network => Some(&self.network),
            EvaluationKind::Material => None,
        }
    }

    /// Returns the evaluation of a board, computed from scratch, from the side to move's point of
    /// view.
    pub fn evaluate_board(&self, board: &Board) -> Score {
        match self.network() {
            None => material_balance(board),
            Some(network) => {
                let mover = board.side_to_move();
                let own = of_board(network, board, mover);
                let both = network.architecture().view == View::Both;
                let other = both.then(|| of_board(network, board, !mover));
                network_value(network, board, &own, other.as_ref()).0
            }
        }
    }
}

/// Returns the network's evaluation of a board from its accumulators (the side to move's is `own`),
/// and the attacks of [`Danger`] if the network computed threats anyway.
#[inline(always)]
pub(crate) fn network_value(
    network: &QuantisedNetwork,
    board: &Board,
    own: &Accumulator,
    other: Option<&Accumulator>,
) -> (Score, Option<Danger>) {
    let counts_threats = network.counts_threats();
    let position = match counts_threats {
        true => with_attacks(board, BitBoard::EMPTY),
        false => without_attacks(board),
    };
    let transient: ArrayVec<Feature, { models::MAX_TRANSIENT }> =
        match network.architecture().features {
            Features::All => position.transient().collect(),
            Features::Pieces => ArrayVec::new(),
        };
    let value = match network.architecture().mirrored && position.en_passant.is_some() {
        true => from_scratch(network, board),
        false => network.evaluate(&Accumulated {
            own,
            other,
            transient: &transient,
            pieces: board.occupied().len() as usize,
        }),
    };
    let theirs = &position.sides[!board.side_to_move() as usize];
    let danger = counts_threats.then(|| Danger::by(theirs));
    (Score::from_centipawns(value), danger)
}

/// Evaluates a board in centipawns without an accumulator.
#[cold]
fn from_scratch(network: &QuantisedNetwork, board: &Board) -> i32 {
    network.evaluate_features(&features(board))
}

/// Returns the material balance from the side to move's point of view.
pub(crate) fn material_balance(board: &Board) -> Score {
    let mover = board.side_to_move();
    let balance = Piece::ALL
        .into_iter()
        .map(|piece| {
            let own = board.colored_pieces(mover, piece).len() as i32;
            let theirs = board.colored_pieces(!mover, piece).len() as i32;
            material::centipawns(model_piece(piece)) * (own - theirs)
        })
        .sum();
    Score::from_centipawns(balance)
}
