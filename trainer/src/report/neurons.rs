//! Pictures of first-layer neurons: their weights as boards, one for each kind of piece.

use charts::{Anchor, Colour, Panel, Tone, WIDTH};
use models::{Layer, Network};

/// Number of neurons drawn.
const SHOWN: usize = 12;
/// Inputs of pieces: the first twelve planes.
const PIECE_INPUTS: usize = 12 * 64;
/// Number of shades of a colour.
const SHADES: usize = 8;

const NAMES: f64 = 46.0;
const CELL: f64 = 8.5;
const BOARD: f64 = 8.0 * CELL;
const ROW: f64 = BOARD + 8.0;

/// Draws the neurons chosen by [`most_significant`].
pub fn panels(network: &Network) -> Vec<Panel> {
    let first = &network.layers()[0];
    let chosen = most_significant(network, SHOWN);
    chosen
        .into_iter()
        .map(|neuron| panel(first, neuron))
        .collect()
}

/// Returns the pictures as a standalone SVG.
pub fn svg(network: &Network) -> String {
    let mut panels = panels(network).into_iter().peekable();
    let mut rows = Vec::new();
    while panels.peek().is_some() {
        rows.push(panels.by_ref().take(3).collect());
    }
    charts::sheet(None, rows)
}

/// Returns the most significant neurons: each is the one with the largest part not spanned by those
/// before it (Gram-Schmidt with pivoting, on the centred weights of the pieces times the norm of
/// the neuron's outgoing weights).
fn most_significant(network: &Network, count: usize) -> Vec<usize> {
    let [first, second, ..] = network.layers() else {
        unreachable!("a network has two layers at least")
    };
    let activations = network.architecture().activations();
    let mut rest: Vec<Vec<f64>> = (0..first.outputs())
        .map(|neuron| {
            // Indices in the second layer, one a view; a pairwise neuron has those of its product.
            let places = (neuron % activations..second.inputs()).step_by(activations);
            let outgoing = (0..second.outputs()).flat_map(|o| {
                let row = second.row(o);
                places.clone().map(|place| f64::from(row[place]))
            });
            let loudness = outgoing.map(|weight| weight * weight).sum::<f64>().sqrt();
            let incoming = centred(first.row(neuron)).into_iter();
            incoming
                .map(|weight| loudness * f64::from(weight))
                .collect()
        })
        .collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut chosen = Vec::new();
    while chosen.len() < count {
        let lengths = rest
            .iter()
            .map(|vector| product(vector, vector))
            .enumerate();
        let Some((neuron, length)) = lengths.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            break;
        };
        // Remaining vectors are spanned by the chosen ones.
        if length < 1e-12 {
            break;
        }
        chosen.push(neuron);
        let direction: Vec<f64> = rest[neuron].iter().map(|x| x / length.sqrt()).collect();
        for vector in &mut rest {
            let share = product(vector, &direction);
            for (x, d) in vector.iter_mut().zip(&direction) {
                *x -= share * d;
            }
        }
    }
    chosen
}

/// Returns the weights of the pieces, minus each piece's mean over its squares: the differences
/// between squares remain. A pawn's first and last rank, which no position uses, are 0.
fn centred(row: &[f32]) -> Vec<f32> {
    let mut weights = row[..PIECE_INPUTS].to_vec();
    for (plane, weights) in weights.chunks_mut(64).enumerate() {
        let used = if plane % 6 == 0 { 8..56 } else { 0..64 };
        let mean = weights[used.clone()].iter().sum::<f32>() / used.len() as f32;
        for (square, weight) in weights.iter_mut().enumerate() {
            *weight = if used.contains(&square) {
                *weight - mean
            } else {
                0.0
            };
        }
    }
    weights
}

fn panel(first: &Layer, neuron: usize) -> Panel {
    let row = centred(first.row(neuron));
    let strongest = row
        .iter()
        .fold(f32::MIN_POSITIVE, |most, w| most.max(w.abs()));
    let note = format!("Blue above the piece's mean, orange below; deepest: by {strongest:.2}.");
    let size = (WIDTH, 18.0 + 2.0 * ROW);
    let mut panel = Panel::new(&format!("Neuron {neuron}"), &note, size);
    for (i, name) in ["pawn", "knight", "bishop", "rook", "queen", "king"]
        .iter()
        .enumerate()
    {
        let at = (left(i) + BOARD / 2.0, 10.0);
        panel.text(at, Anchor::Middle, Tone::Faint, name);
    }
    for (i, name) in ["own", "their"].iter().enumerate() {
        let at = (NAMES - 10.0, top(i) + BOARD / 2.0 + 4.0);
        panel.text(at, Anchor::End, Tone::Faint, name);
    }
    for piece in 0..6 {
        for side in 0..2 {
            let at = (left(piece), top(side));
            panel.rectangle(at, (BOARD, BOARD), Colour::Ground, "");
        }
    }
    // A shape for each shade, since a rectangle for each square would make the file ten times as
    // large.
    for (colour, sign) in [(Colour::Blue, 1.0), (Colour::Orange, -1.0)] {
        for shade in 1..=SHADES {
            let strength = |input: usize| {
                let share = sign * row[input] / strongest;
                (share * SHADES as f32).round().max(0.0) as usize
            };
            let squares: String = (0..PIECE_INPUTS)
                .filter(|&input| strength(input) == shade)
                .map(square)
                .collect();
            if !squares.is_empty() {
                panel.shape(&squares, colour, shade as f64 / SHADES as f64);
            }
        }
    }
    panel
}

fn left(piece: usize) -> f64 {
    NAMES + piece as f64 * (WIDTH - NAMES + 4.0) / 6.0
}

fn top(side: usize) -> f64 {
    18.0 + side as f64 * ROW
}

/// Returns the square of a piece's input as an SVG path, the mover's first rank at the bottom.
fn square(input: usize) -> String {
    let (plane, rank, file) = (input / 64, input % 64 / 8, input % 8);
    let x = left(plane % 6) + CELL * file as f64;
    let y = top(plane / 6) + CELL * (7 - rank) as f64;
    format!("M{x:.1} {y:.1}h{CELL}v{CELL}h-{CELL}z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Architecture;

    #[test]
    fn skips_copies_of_chosen_neurons() {
        let network = Network::random(Architecture::ARTICLE, 1);
        let mut layers = network.layers().to_vec();
        // All neurons are alike except two: choose these, and one of the others.
        let inputs = layers[0].inputs();
        let pattern = layers[0].row(0).to_vec();
        for neuron in (1..layers[0].outputs()).filter(|n| ![7, 300].contains(n)) {
            layers[0].weight[neuron * inputs..][..inputs].copy_from_slice(&pattern);
        }
        let chosen = most_significant(&Network::new(Architecture::ARTICLE, layers), SHOWN);
        assert_eq!(chosen.len(), 3, "{chosen:?}");
        assert!(chosen.contains(&7) && chosen.contains(&300));
    }

    #[test]
    fn boards_show_the_strongest_square_deepest() {
        let network = Network::random(Architecture::ARTICLE, 1);
        let mut layers = network.layers().to_vec();
        layers[0].weight[..PIECE_INPUTS].fill(0.0);
        layers[0].weight[4 * 64 + 3] = -2.0; // own queen d1
        layers[0].weight[3] = 5.0; // own pawn d1: no position has one
        let svg = panel(&layers[0], 0).inline();
        assert!(svg.contains("deepest: by 1.97"), "{svg}");
        assert!(svg.contains(&square(4 * 64 + 3)), "{svg}");
        assert!(
            !svg.contains(&square(3)) && !svg.contains("fill blue"),
            "{svg}"
        );
    }

    #[test]
    fn centring_removes_a_pieces_mean() {
        let mut row = vec![0.0; PIECE_INPUTS];
        row[..64].fill(5.0); // pawns, and what is no square of theirs
        row[64..128].fill(3.0);
        row[64] = 4.0;
        let centred = centred(&row);
        assert!(centred[..64].iter().all(|&weight| weight == 0.0));
        assert!((centred[64] - 63.0 / 64.0).abs() < 1e-6);
        assert!((centred[65] + 1.0 / 64.0).abs() < 1e-6);
    }

    #[test]
    fn small_nets_show_all_neurons() {
        let architecture = Architecture::hidden([5, 2, 2]);
        assert_eq!(panels(&Network::random(architecture, 1)).len(), 5);
    }
}
