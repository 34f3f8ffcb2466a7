//! Sets of inputs that a position may have.

use models::{CastlingSide, Color, Feature, Network, Piece, Random, Square, Threats};

use crate::Choices;

const COLORS: [Color; 2] = [Color::White, Color::Black];

/// Returns some positions, among them those that move a neuron the furthest either way.
pub fn some(network: &Network, choices: &mut Choices) -> Vec<Vec<Feature>> {
    let neuron = choices.below(network.architecture().first);
    let row = network.layers()[0].row(neuron);
    let mut random = Random(choices.word());
    vec![
        Vec::new(),
        extreme(row, 1.0),
        any(&mut random),
        extreme(row, -1.0),
        any(&mut random),
    ]
}

fn any(random: &mut Random) -> Vec<Feature> {
    let mut squares: Vec<u8> = (0..64).collect();
    let pieces = (0..random.below(33)).map(|_| {
        let square = squares.swap_remove(random.below(squares.len()));
        piece(COLORS[random.below(2)], Piece::ALL[random.below(6)], square)
    });
    let mut features: Vec<Feature> = pieces.collect();
    let rest = features_besides_pieces();
    features.extend(rest.filter(|_| random.below(2) == 0));
    features.extend(en_passant().nth(random.below(100)));
    features
}

/// Returns the inputs that move a sum furthest in the direction of `sign`: at most one piece a
/// square and 32 in all, one en-passant square, and all other inputs.
fn extreme(row: &[f32], sign: f32) -> Vec<Feature> {
    let gain = |feature: &Feature| sign * row[feature.index()];
    let best_of = |features: &mut dyn Iterator<Item = Feature>| {
        features.max_by(|a, b| gain(a).total_cmp(&gain(b)))
    };
    let on_square = |square| {
        let colors = COLORS.into_iter();
        best_of(&mut colors.flat_map(|color| Piece::ALL.map(|kind| piece(color, kind, square))))
    };
    let mut features: Vec<Feature> = (0..64).filter_map(on_square).collect();
    features.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
    features.truncate(32);
    features.extend(best_of(&mut en_passant()));
    features.extend(features_besides_pieces());
    features.retain(|feature| gain(feature) > 0.0);
    features
}

/// Returns the threats, the castling rights and the check flag.
fn features_besides_pieces() -> impl Iterator<Item = Feature> {
    let rights = COLORS.into_iter().flat_map(|color| {
        [CastlingSide::King, CastlingSide::Queen]
            .map(|side| Feature::castling(Color::White, color, side))
    });
    let threats = Threats::ALL.features();
    threats.chain(rights).chain([Feature::IN_CHECK])
}

fn en_passant() -> impl Iterator<Item = Feature> {
    let squares = (0..64).filter_map(Square::new);
    squares.map(|square| Feature::en_passant(Color::White, square))
}

fn piece(color: Color, piece: Piece, square: u8) -> Feature {
    let square = Square::new(square).expect("below 64");
    Feature::piece(Color::White, color, piece, square)
}
