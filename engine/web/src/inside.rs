//! Report of the network's inference on a position: active inputs, the first layer's strongest
//! neurons, the activations of each layer.

use engine::cozy_chess::{Board, Color, Piece, Square};
use engine::{changed_features, features, model_color};
use models::{CastlingSide, Feature, ForwardPass, Layer, Meaning, Network};
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::game::Game;
use crate::names::{PieceName, SideName, SquareName};

/// Number of neurons reported.
const STRONGEST: usize = 8;

/// A position, optionally edited; an edited position need not be legal.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct InsideRequest {
    /// FEN; `null` for the standard start.
    start: Option<String>,
    /// UCI moves.
    moves: Vec<String>,
    #[serde(default)]
    changes: Vec<Change>,
    /// Whether to give the move to the other side.
    #[serde(default)]
    pass: bool,
}

/// Replacement of a square's contents.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Change {
    square: SquareName,
    /// FEN letter of the piece; `null` empties the square.
    piece: Option<char>,
}

/// The network's inference on a position. Values are in pawns from White's view.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NetworkReport {
    turn: SideName,
    value: f32,
    /// Active inputs.
    inputs: Vec<InputReport>,
    /// Number of inputs in the layout.
    of_inputs: usize,
    /// Perspectives, the side to move first.
    views: Vec<ViewReport>,
    /// First-layer activations with the largest effects, the largest first.
    neurons: Vec<NeuronReport>,
    /// Activations of the further hidden layers, scaled to `0..=255`.
    hidden: Vec<Vec<u8>>,
    bucket: BucketReport,
    /// Bias of the output.
    bias: f32,
}

/// An active input.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct InputReport {
    /// Index in the layout, from the side to move's perspective.
    index: usize,
    kind: InputKind,
    /// Side that the input is about; `null` for an en-passant square.
    color: Option<SideName>,
    /// Kind of piece; for castling, `king` or `queen` for the wing.
    piece: Option<PieceName>,
    square: Option<SquareName>,
    /// Minimal number of pieces en prise; 0 for other inputs.
    count: usize,
    /// Value minus the value without this input.
    effect: f32,
}

/// Kind of input: a piece on a square, the target of a legal en-passant capture, pieces en
/// prise, a castling right, a check.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
enum InputKind {
    Piece,
    EnPassant,
    EnPrise,
    Castling,
    Check,
}

/// First layer from one side's perspective.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ViewReport {
    side: SideName,
    /// Whether the files are mirrored.
    mirrored: bool,
    /// Activations scaled to `0..=255`.
    activations: Vec<u8>,
    /// Contribution of the activations to the value; `null` if hidden layers follow.
    adds: Option<f32>,
}

/// An activation of the first layer.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct NeuronReport {
    /// Index into the report's `views`.
    view: usize,
    /// Activation, `0..=1`.
    activation: f32,
    /// Value minus the value with this activation at zero.
    effect: f32,
    /// The neuron, or the two neurons multiplied.
    parts: Vec<NeuronPart>,
}

/// A neuron of the first layer.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct NeuronPart {
    neuron: usize,
    bias: f32,
    /// Bias plus the weights of the active inputs.
    sum: f32,
    /// Weight that is written as 127 in `weights`.
    scale: f32,
    /// Piece-square weights: White's pawns on a1 to h8, knights, ..., kings, then Black's.
    weights: Vec<i8>,
    /// Weight of each active input.
    on: Vec<f32>,
}

/// A perspective on the board.
#[derive(Clone, Copy)]
struct Perspective {
    side: Color,
    mirrored: bool,
}

/// The layer stack used for the number of pieces on the board.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct BucketReport {
    /// Bucket number, from 1.
    number: usize,
    /// Number of buckets.
    of: usize,
    /// Piece counts of the bucket.
    least: usize,
    most: usize,
}

impl InsideRequest {
    /// Runs the network on the position.
    ///
    /// # Errors
    /// If the request is invalid, or the values overflow.
    pub fn report(self, network: &Network) -> Result<NetworkReport, RequestError> {
        let game = Game {
            start: self.start,
            moves: self.moves,
        };
        let position = game.replay(|_, _| {})?;
        let mut changes = Vec::new();
        for change in &self.changes {
            changes.push(change.read()?);
        }
        report(network, position.board(), &changes, self.pass)
    }
}

impl Change {
    fn read(&self) -> Result<(Square, Option<(Color, Piece)>), RequestError> {
        let read = |letter: char| {
            let piece = Piece::try_from(letter.to_ascii_lowercase());
            let color = match letter.is_ascii_uppercase() {
                true => Color::White,
                false => Color::Black,
            };
            let piece = piece.map_err(|_| RequestError::NoPiece(letter))?;
            Ok::<_, RequestError>((color, piece))
        };
        Ok((self.square.0, self.piece.map(read).transpose()?))
    }
}

fn report(
    network: &Network,
    board: &Board,
    changes: &[(Square, Option<(Color, Piece)>)],
    pass: bool,
) -> Result<NetworkReport, RequestError> {
    let architecture = network.architecture();
    let mut features = changed_features(board, changes, pass);
    features.retain(|feature| architecture.features.contains(*feature));
    let turn = match pass {
        false => board.side_to_move(),
        true => !board.side_to_move(),
    };
    let sign = white_sign(turn);
    let pass = ForwardPass::new(network, &features);
    if !pass.value.is_finite() {
        return Err(RequestError::NotFinite);
    }
    let effects: Vec<f32> = pass.activation_effects().iter().map(|e| sign * e).collect();
    let on_right = |side: Color| {
        features.iter().any(|feature| match side == turn {
            true => feature.is_king_on_right(),
            false => feature.seen_by_other().is_king_on_right(),
        })
    };
    let perspectives = [turn, !turn].map(|side| Perspective {
        side,
        mirrored: architecture.mirrored && on_right(side),
    });
    let views = perspectives
        .iter()
        .zip(pass.activations.chunks(architecture.activations()));
    let views = views.zip(effects.chunks(architecture.activations()));
    let views = views.map(|((perspective, activations), effects)| ViewReport {
        side: perspective.side.into(),
        mirrored: perspective.mirrored,
        activations: bytes(activations),
        adds: architecture.second.is_none().then(|| effects.iter().sum()),
    });
    let first = &network.layers()[0];
    let strongest = strongest(&effects);
    let neurons = strongest.into_iter().map(|index| {
        let view = index / architecture.activations();
        let parts = pass.neurons_of(index).into_iter();
        NeuronReport {
            view,
            activation: pass.activations[index],
            effect: effects[index],
            parts: parts
                .map(|neuron| part(&pass, first, view, perspectives[view], neuron))
                .collect(),
        }
    });
    let of = |pieces: &usize| architecture.bucket(*pieces) == pass.bucket;
    Ok(NetworkReport {
        turn: turn.into(),
        value: sign * pass.value,
        inputs: input_reports(&pass, &features, turn, |_| true),
        of_inputs: architecture.features.count(),
        views: views.collect(),
        neurons: neurons.collect(),
        hidden: pass.hidden.iter().map(|layer| bytes(layer)).collect(),
        bucket: BucketReport {
            number: pass.bucket + 1,
            of: architecture.buckets,
            least: (2..=32).find(of).unwrap_or(2),
            most: (2..=32).rfind(of).unwrap_or(32),
        },
        bias: sign * pass.output_bias(),
    })
}

/// Reports the active inputs whose meaning is `wanted`, from the side to move's perspective.
fn input_reports(
    pass: &ForwardPass,
    features: &[Feature],
    turn: Color,
    wanted: impl Fn(&Meaning) -> bool,
) -> Vec<InputReport> {
    let inputs = features.iter().enumerate().filter_map(|(index, feature)| {
        let meaning = feature.meaning(model_color(turn)).filter(&wanted)?;
        let effect = white_sign(turn) * pass.input_effect(index);
        Some(InputReport::new(feature.index(), meaning, effect))
    });
    inputs.collect()
}

/// Sign that turns a value from the side to move's view into White's.
fn white_sign(turn: Color) -> f32 {
    match turn {
        Color::White => 1.0,
        Color::Black => -1.0,
    }
}

/// Returns the active inputs for pieces en prise.
pub fn threats(network: &Network, board: &Board) -> Vec<InputReport> {
    let mut features = features(board);
    features.retain(|feature| network.architecture().features.contains(*feature));
    let pass = ForwardPass::new(network, &features);
    let en_prise = |meaning: &Meaning| matches!(meaning, Meaning::EnPrise(..));
    input_reports(&pass, &features, board.side_to_move(), en_prise)
}

/// Returns the indices of the [`STRONGEST`] largest effects, the largest first.
fn strongest(effects: &[f32]) -> Vec<usize> {
    let mut found = Vec::new();
    while found.len() < STRONGEST.min(effects.len()) {
        let rest = (0..effects.len()).filter(|index| !found.contains(index));
        found.extend(rest.max_by(|&a, &b| effects[a].abs().total_cmp(&effects[b].abs())));
    }
    found
}

/// Describes a first-layer neuron from a perspective.
fn part(
    pass: &ForwardPass,
    layer: &Layer,
    view: usize,
    perspective: Perspective,
    neuron: usize,
) -> NeuronPart {
    let row = layer.row(neuron);
    let weight = |color, piece, square| {
        let feature = Feature::piece(model_color(perspective.side), color, piece, square);
        match perspective.mirrored {
            true => row[feature.mirrored().index()],
            false => row[feature.index()],
        }
    };
    let mut weights = Vec::new();
    for color in [models::Color::White, models::Color::Black] {
        for piece in models::Piece::ALL {
            let squares = (0..64).filter_map(models::Square::new);
            weights.extend(squares.map(|square| weight(color, piece, square)));
        }
    }
    let most = weights
        .iter()
        .fold(f32::MIN_POSITIVE, |most, weight| weight.abs().max(most));
    NeuronPart {
        neuron,
        bias: layer.bias[neuron],
        sum: pass.sums[view][neuron],
        scale: most,
        weights: weights
            .iter()
            .map(|w| (w / most * 127.0).round() as i8)
            .collect(),
        on: pass.inputs[view]
            .iter()
            .map(|feature| row[feature.index()])
            .collect(),
    }
}

/// Scales activations from `0..=1` to `0..=255`.
fn bytes(activations: &[f32]) -> Vec<u8> {
    activations
        .iter()
        .map(|x| (x * 255.0).round() as u8)
        .collect()
}

impl InputReport {
    fn new(index: usize, meaning: Meaning, effect: f32) -> InputReport {
        let named = |square: models::Square| SquareName(Square::index(square.index()));
        let (kind, color, piece, square, count) = match meaning {
            Meaning::Piece(color, piece, square) => (
                InputKind::Piece,
                Some(color),
                Some(piece.into()),
                Some(named(square)),
                0,
            ),
            Meaning::EnPassant(square) => {
                (InputKind::EnPassant, None, None, Some(named(square)), 0)
            }
            Meaning::EnPrise(color, piece, count) => (
                InputKind::EnPrise,
                Some(color),
                Some(piece.into()),
                None,
                count,
            ),
            Meaning::Castling(color, side) => {
                let side = match side {
                    CastlingSide::King => PieceName::King,
                    CastlingSide::Queen => PieceName::Queen,
                };
                (InputKind::Castling, Some(color), Some(side), None, 0)
            }
            Meaning::Check(color) => (InputKind::Check, Some(color), None, None, 0),
        };
        InputReport {
            index,
            kind,
            color: color.map(SideName::from),
            piece,
            square,
            count,
            effect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::parse_fen;
    use models::{Activation, Architecture, View};

    const FEN: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1";

    fn architectures() -> Vec<Architecture> {
        let article = Architecture::hidden([16, 8, 4]);
        let direct = Architecture {
            view: View::Both,
            activation: Activation::SquaredClippedRelu,
            second: None,
            third: None,
            buckets: 8,
            ..article
        };
        let pairwise = Architecture {
            view: View::Both,
            mirrored: true,
            activation: Activation::PairwiseClippedRelu,
            third: None,
            ..article
        };
        vec![article, direct, pairwise]
    }

    #[test]
    fn a_report_of_every_architecture_adds_up() {
        for architecture in architectures() {
            let network = Network::random(architecture, 3);
            let board = parse_fen(FEN).unwrap();
            let report = report(&network, &board, &[], false).unwrap();
            assert_eq!(report.value, -network.evaluate(&features(&board)));
            assert_eq!(report.views.len(), architecture.views());
            let adds: Option<f32> = report.views.iter().map(|view| view.adds).sum();
            match architecture.second {
                None => assert!((adds.unwrap() + report.bias - report.value).abs() < 1e-4),
                Some(_) => assert_eq!(adds, None),
            }
            for neuron in &report.neurons {
                for part in &neuron.parts {
                    let sum = part.bias + part.on.iter().sum::<f32>();
                    assert!((sum - part.sum).abs() < 1e-4, "{architecture}");
                    // The weight of a piece input equals its entry in the weight map.
                    for (input, on) in report.inputs.iter().zip(&part.on) {
                        if input.kind == InputKind::Piece {
                            let (color, piece) = (input.color.unwrap(), input.piece.unwrap());
                            let square = input.square.unwrap();
                            let plane = 6 * color as usize + piece as usize;
                            let weight = part.weights[64 * plane + square.0 as usize];
                            let weight = f32::from(weight) / 127.0 * part.scale;
                            assert!((weight - on).abs() <= part.scale / 127.0, "{architecture}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn applies_edits_to_the_position() {
        let network = Network::random(architectures()[1], 3);
        let board = parse_fen(FEN).unwrap();
        let lifted = [
            (Square::F3, None),
            (Square::A6, Some((Color::White, Piece::Rook))),
        ];
        let report = report(&network, &board, &lifted, true).unwrap();
        assert!(matches!(report.turn, SideName::White));
        let stands = |at: Square| {
            let mut pieces = report
                .inputs
                .iter()
                .filter(|input| input.kind == InputKind::Piece);
            let found = pieces.find(|input| input.square.is_some_and(|square| square.0 == at))?;
            found.color.zip(found.piece)
        };
        assert!(stands(Square::F3).is_none());
        assert!(matches!(
            stands(Square::A6),
            Some((SideName::White, PieceName::Rook))
        ));
    }
}
