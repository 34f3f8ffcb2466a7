//! What the first layer looks at: the weights of some of its neurons as
//! boards, one for each kind of piece.

use models::{Layer, Network};

use crate::report::picture::{self, Anchor, Panel, WIDTH};

/// Neurons that are drawn.
const SHOWN: usize = 12;
/// Inputs that are pieces: the first twelve planes.
const PIECE_INPUTS: usize = 12 * 64;
/// Strengths of colour.
const SHADES: usize = 8;

const NAMES: f64 = 46.0;
const CELL: f64 = 8.5;
const BOARD: f64 = 8.0 * CELL;
const ROW: f64 = BOARD + 8.0;

/// Draws the neurons that [`telling`] chooses.
pub fn panels(network: &Network) -> Vec<Panel> {
    let first = &network.layers()[0];
    let chosen = telling(network, SHOWN);
    chosen
        .into_iter()
        .map(|neuron| panel(first, neuron))
        .collect()
}

/// The pictures as an SVG that stands alone.
pub fn svg(network: &Network) -> String {
    picture::sheet(panels(network), 3)
}

/// The neurons that tell most: each the one with the most that those before
/// it do not show already. (Gram and Schmidt's method with pivoting, on the
/// weights of the pieces as the next layer hears them: times the length of
/// the neuron's outgoing weights.)
fn telling(network: &Network, count: usize) -> Vec<usize> {
    let [first, second, ..] = network.layers();
    let mut rest: Vec<Vec<f64>> = (0..first.outputs())
        .map(|neuron| {
            let outgoing = (0..second.outputs()).map(|o| f64::from(second.row(o)[neuron]));
            let loudness = outgoing.map(|weight| weight * weight).sum::<f64>().sqrt();
            let incoming = &first.row(neuron)[..PIECE_INPUTS];
            incoming
                .iter()
                .map(|&weight| loudness * f64::from(weight))
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
        // All that is left lies in what is shown.
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

fn panel(first: &Layer, neuron: usize) -> Panel {
    let row = &first.row(neuron)[..PIECE_INPUTS];
    let used = (0..PIECE_INPUTS).filter(|&input| is_used(input));
    let strongest = used
        .map(|input| row[input].abs())
        .fold(f32::MIN_POSITIVE, f32::max);
    let note = format!(
        "Blue on, orange off; deepest: weight {strongest:.2}. Bias {:.2}.",
        first.bias[neuron]
    );
    let mut panel = Panel::new(&format!("Neuron {neuron}"), &note, 18.0 + 2.0 * ROW);
    for (i, name) in ["pawn", "knight", "bishop", "rook", "queen", "king"]
        .iter()
        .enumerate()
    {
        let at = (left(i) + BOARD / 2.0, 10.0);
        panel.text(at, 13, "faint", Anchor::Middle, *name);
    }
    for (i, name) in ["own", "their"].iter().enumerate() {
        let at = (NAMES - 10.0, top(i) + BOARD / 2.0 + 4.0);
        panel.text(at, 13, "faint", Anchor::End, *name);
    }
    for piece in 0..6 {
        for side in 0..2 {
            panel.rectangle((left(piece), top(side)), (BOARD, BOARD), "ground");
        }
    }
    // One shape a shade: a rectangle a square would be ten times the file.
    for class in ["plus", "minus"] {
        let sign = if class == "plus" { 1.0 } else { -1.0 };
        for shade in 1..=SHADES {
            let strength = |input: usize| {
                let share = sign * row[input] / strongest;
                (share * SHADES as f32).round().max(0.0) as usize
            };
            let squares: String = (0..PIECE_INPUTS)
                .filter(|&input| is_used(input) && strength(input) == shade)
                .map(square)
                .collect();
            if !squares.is_empty() {
                panel.shape(&squares, class, shade as f64 / SHADES as f64);
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

/// Whether any position uses a piece's input: no pawn stands on its first or
/// its last rank.
fn is_used(input: usize) -> bool {
    let (plane, rank) = (input / 64, input % 64 / 8);
    plane % 6 != 0 || (1..7).contains(&rank)
}

/// The square of a piece's input, the mover's first rank at the bottom, as
/// commands of an SVG path.
fn square(input: usize) -> String {
    let (plane, rank, file) = (input / 64, input % 64 / 8, input % 8);
    let x = left(plane % 6) + CELL * file as f64;
    let y = top(plane / 6) + CELL * (7 - rank) as f64;
    format!(
        "M{} {}h{CELL}v{CELL}h-{CELL}z",
        picture::tenths(x),
        picture::tenths(y)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Shape;

    #[test]
    fn copies_of_what_is_shown_are_not_shown_again() {
        let network = Network::random(Shape::DEFAULT, 1);
        let mut layers = network.layers().clone();
        // All neurons alike but two: these, and one of the rest.
        let inputs = layers[0].inputs();
        let pattern = layers[0].row(0).to_vec();
        for neuron in (1..layers[0].outputs()).filter(|n| ![7, 300].contains(n)) {
            layers[0].weight[neuron * inputs..][..inputs].copy_from_slice(&pattern);
        }
        let chosen = telling(&Network::new(Shape::DEFAULT, layers), SHOWN);
        assert_eq!(chosen.len(), 3, "{chosen:?}");
        assert!(chosen.contains(&7) && chosen.contains(&300));
    }

    #[test]
    fn boards_show_the_strongest_square_deepest() {
        let network = Network::random(Shape::DEFAULT, 1);
        let mut layers = network.layers().clone();
        layers[0].weight[..PIECE_INPUTS].fill(0.0);
        layers[0].weight[4 * 64 + 3] = -2.0; // own queen d1
        layers[0].weight[3] = 5.0; // own pawn d1: no position has one
        let svg = panel(&layers[0], 0).inline();
        assert!(svg.contains("deepest: weight 2.00"), "{svg}");
        assert!(svg.contains(&square(4 * 64 + 3)), "{svg}");
        assert!(
            !svg.contains(&square(3)) && !svg.contains("class=\"plus\""),
            "{svg}"
        );
    }

    #[test]
    fn small_nets_show_what_they_have() {
        let shape = Shape {
            first: 5,
            second: 2,
            third: 2,
        };
        assert_eq!(panels(&Network::random(shape, 1)).len(), 5);
    }
}
