//! The policy: a network that gives each legal move the probability that a person of a rating
//! plays it.
//!
//! Its inputs are the 902 of [`Feature`](crate::Feature) and one for the mover's [`RatingBand`]; a
//! hidden layer of squared clipped sums; then a row of output weights for each [`MoveIndex`], each
//! [`MoveKind`], and each piece on each square. The logit of a move is the product of the hidden
//! layer with the sum of its [`MOVE_ROWS`] rows; the probabilities are the softmax over the legal
//! moves.

use std::collections::HashMap;
use std::fmt;

use safetensors::tensor::{Dtype, TensorView, serialize};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bits::union;
use crate::file::{METADATA_KEY, f16_bytes};
use crate::tensors::Tensors;
use crate::{Color, INPUTS, InputPosition, LAYOUT, MAX_FIRST, NetError, Piece, Random, Square};

/// Name of the policy's input layout: [`LAYOUT`], then the rating bands.
pub const LAYOUT_POLICY: &str = "kibitz-902-v2-ratings-v2";

/// Number of rating bands, "unknown" included.
pub const RATING_BANDS: usize = 27;

/// Number of inputs of a policy.
pub const POLICY_INPUTS: usize = INPUTS + RATING_BANDS;

/// Number of output rows: one for each move, then one for each kind, then one for each piece on
/// each square.
pub const POLICY_ROWS: usize = FIRST_ARRIVAL + ARRIVALS;

const FIRST_ARRIVAL: usize = POLICY_MOVES + MoveKind::COUNT;

/// Number of [`arrival`]s.
pub const ARRIVALS: usize = 6 * 64;

/// Number of output rows of a move.
pub const MOVE_ROWS: usize = 3;

/// Number of move indices: 1,792 from a square to one that a queen or a knight reaches, and 66
/// underpromotions.
pub const POLICY_MOVES: usize = LINES + UNDERPROMOTIONS;

/// Largest number of hidden neurons.
pub const MAX_POLICY_NEURONS: usize = MAX_FIRST;

const LINES: usize = 1792;
const UNDERPROMOTIONS: usize = 22 * 3;
/// Squares that a queen or a knight reaches from each square of an empty board.
static REACHED: [u64; 64] = reached();

/// Index of each square's first move without underpromotion: they ascend by origin, then by
/// destination.
static FIRST_MOVE: [u16; 64] = first_moves();

const fn reached() -> [u64; 64] {
    let mut reached = [0; 64];
    let mut from = 0usize;
    while from < 64 {
        let mut to = 0usize;
        while to < 64 {
            let files = (from % 8).abs_diff(to % 8);
            let ranks = (from / 8).abs_diff(to / 8);
            let line = files == 0 || ranks == 0 || files == ranks;
            if from != to && (line || files * ranks == 2) {
                reached[from] |= 1 << to;
            }
            to += 1;
        }
        from += 1;
    }
    reached
}

const fn first_moves() -> [u16; 64] {
    let reached = reached();
    let mut first = [0; 64];
    let (mut from, mut next) = (0, 0);
    while from < 64 {
        first[from] = next;
        next += reached[from].count_ones() as u16;
        from += 1;
    }
    assert!(next as usize == LINES);
    first
}

/// A move as the mover sees it, one of [`POLICY_MOVES`].
///
/// The board is mirrored by ranks for Black, as in [`Feature`](crate::Feature). A promotion to a
/// queen is the pawn's move; castling is the king's move to the square of its rook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoveIndex(u16);

impl MoveIndex {
    /// Returns the index of a move by `mover`; `None` if no piece moves so.
    ///
    /// ```
    /// use models::{Color, MoveIndex, Square};
    ///
    /// let square = |index| Square::new(index).unwrap();
    /// // e2e4 by White and e7e5 by Black.
    /// let white = MoveIndex::new(Color::White, square(12), square(28), None);
    /// let black = MoveIndex::new(Color::Black, square(52), square(36), None);
    /// assert!(white.is_some());
    /// assert_eq!(white, black);
    /// ```
    #[inline]
    pub fn new(
        mover: Color,
        from: Square,
        to: Square,
        promotion: Option<Piece>,
    ) -> Option<MoveIndex> {
        let [from, to] = [from, to].map(|square| square.seen_by(mover));
        let kind = match promotion {
            None | Some(Piece::Queen) => {
                let before = REACHED[from] & ((1 << to) - 1);
                let index = FIRST_MOVE[from] + before.count_ones() as u16;
                return (REACHED[from] >> to & 1 == 1).then_some(MoveIndex(index));
            }
            Some(Piece::Knight) => 0,
            Some(Piece::Bishop) => 1,
            Some(Piece::Rook) => 2,
            Some(Piece::Pawn | Piece::King) => return None,
        };
        let (file, target) = (from % 8, to % 8);
        if from / 8 != 6 || to / 8 != 7 || file.abs_diff(target) > 1 {
            return None;
        }
        // Three times the file, and -1, 0 or 1 for the direction: 0 to 21.
        let pair = 2 * file + target;
        Some(MoveIndex((LINES + 3 * pair + kind) as u16))
    }

    /// Returns the index, below [`POLICY_MOVES`].
    #[inline]
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// Kind of a move: which piece, what it captures, what attacks and defends its origin and its
/// destination, and what it attacks from there. It tells a hanging queen from a defended one, which
/// squares alone do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoveKind(u16);

impl MoveKind {
    /// Number of kinds: 6 pieces, 6 captures (none, pawn to queen), 4 states of the destination, 3
    /// of the origin, 4 targets.
    pub const COUNT: usize = 6 * 6 * 4 * 3 * 4;

    /// Returns the kind of a legal move of `piece`.
    fn new(
        position: &InputPosition,
        piece: Piece,
        (from, to): (Square, Square),
        promotion: Option<Piece>,
    ) -> MoveKind {
        let (own, theirs) = match position.turn {
            Color::White => (&position.sides[0], &position.sides[1]),
            Color::Black => (&position.sides[1], &position.sides[0]),
        };
        let [origin, destination] = [from, to].map(|square| 1u64 << square.index());
        let captured = theirs.pieces.iter().position(|set| set & destination != 0);
        let leaves_file = from.index() % 8 != to.index() % 8;
        let capture = match captured {
            Some(piece) => piece + 1,
            // En passant.
            None if piece == Piece::Pawn && leaves_file => 1,
            None => 0,
        };
        let by_lesser = theirs.attacks_on_greater()[piece as usize];
        let attacked = union(&theirs.attacks);
        // Without the attacks of the moving piece's kind, which may be its own.
        let others = own.attacks.iter().enumerate();
        let others = others.filter(|(kind, _)| *kind != piece as usize);
        let supported = union(others.map(|(_, set)| set));
        let defended = union(&own.attacks);
        let lands = match destination {
            at if at & attacked == 0 => 0,
            at if at & by_lesser != 0 => 1,
            at if at & supported != 0 => 2,
            _ => 3,
        };
        let leaves = match origin {
            at if at & by_lesser != 0 => 1,
            at if at & attacked & !defended != 0 => 2,
            _ => 0,
        };
        let moved = promotion.unwrap_or(piece);
        let occupied = union(own.pieces.iter().chain(&theirs.pieces)) & !origin;
        let targets = attacks(position.turn, moved, to, occupied);
        let [others @ .., king] = theirs.pieces;
        // Knights and bishops are worth the same.
        let equal = if moved == Piece::Knight {
            Piece::Bishop
        } else {
            moved
        };
        let greater = union(others.iter().skip(equal as usize + 1));
        let loose = union(&others) & !attacked;
        let aims = match targets {
            at if at & king != 0 => 3,
            at if at & greater != 0 => 2,
            at if at & loose != 0 => 1,
            _ => 0,
        };
        let kind = ((piece as usize * 6 + capture) * 4 + lands) * 3 + leaves;
        MoveKind((kind * 4 + aims) as u16)
    }
}

/// Returns the squares that a piece on `square` attacks; sliders stop at the first of `occupied`.
fn attacks(color: Color, piece: Piece, square: Square, occupied: u64) -> u64 {
    // Four along lines, then the diagonals: two up the board and two down.
    #[rustfmt::skip]
    const STEPS: [(i8, i8); 8] =
        [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];
    #[rustfmt::skip]
    const JUMPS: [(i8, i8); 8] =
        [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)];
    let steps = match (piece, color) {
        (Piece::Pawn, Color::White) => &STEPS[4..6],
        (Piece::Pawn, Color::Black) => &STEPS[6..],
        (Piece::Knight, _) => &JUMPS[..],
        (Piece::Bishop, _) => &STEPS[4..],
        (Piece::Rook, _) => &STEPS[..4],
        (Piece::Queen | Piece::King, _) => &STEPS[..],
    };
    let slides = matches!(piece, Piece::Bishop | Piece::Rook | Piece::Queen);
    let index = square.index() as i8;
    let mut attacked = 0;
    for (files, ranks) in steps {
        let (mut file, mut rank) = (index % 8 + files, index / 8 + ranks);
        while (0..8).contains(&file) && (0..8).contains(&rank) {
            let bit = 1u64 << (8 * rank + file);
            attacked |= bit;
            if !slides || occupied & bit != 0 {
                break;
            }
            (file, rank) = (file + files, rank + ranks);
        }
    }
    attacked
}

/// Returns the piece that moves and its destination as the mover sees it, as one number below
/// [`ARRIVALS`].
#[inline]
pub fn arrival(mover: Color, piece: Piece, to: Square) -> usize {
    64 * piece as usize + to.seen_by(mover)
}

/// A legal move as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyMove {
    /// Squares and promotion.
    index: MoveIndex,
    /// Kind.
    kind: MoveKind,
    /// Piece that moves and its destination, as [`arrival`] counts them.
    arrival: u16,
}

impl PolicyMove {
    /// Returns a legal move of a position, which must have attacks.
    ///
    /// # Panics
    /// If no piece moves so.
    #[inline]
    pub fn new(
        position: &InputPosition,
        piece: Piece,
        squares: (Square, Square),
        promotion: Option<Piece>,
    ) -> PolicyMove {
        let index = MoveIndex::new(position.turn, squares.0, squares.1, promotion);
        PolicyMove {
            index: index.expect("a piece moves so"),
            kind: MoveKind::new(position, piece, squares, promotion),
            arrival: arrival(position.turn, piece, squares.1) as u16,
        }
    }

    /// Returns a move of any kind and arrival, by their numbers.
    #[cfg(test)]
    pub(crate) fn testing(index: MoveIndex, kind: usize, arrival: usize) -> PolicyMove {
        PolicyMove {
            index,
            kind: MoveKind((kind % MoveKind::COUNT) as u16),
            arrival: (arrival % ARRIVALS) as u16,
        }
    }

    /// Returns the output rows, below [`POLICY_ROWS`].
    #[inline]
    pub fn rows(self) -> [usize; MOVE_ROWS] {
        [
            self.index.index(),
            POLICY_MOVES + usize::from(self.kind.0),
            FIRST_ARRIVAL + usize::from(self.arrival),
        ]
    }
}

/// Band of a player's rating, 100 points wide between 600 and 3,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RatingBand(u8);

impl RatingBand {
    /// Band of players without a rating.
    pub const UNKNOWN: RatingBand = RatingBand(0);

    /// Returns all bands, "unknown" first.
    pub fn all() -> impl ExactSizeIterator<Item = RatingBand> {
        (0..RATING_BANDS as u8).map(RatingBand)
    }

    /// Returns the band of a rating.
    #[inline]
    pub fn of(rating: Option<u16>) -> RatingBand {
        match rating {
            None => RatingBand::UNKNOWN,
            Some(rating) => RatingBand((rating / 100).clamp(5, 30) as u8 - 4),
        }
    }

    /// Returns the least rating; `None` for "unknown".
    pub fn least(self) -> Option<u16> {
        match self.0 {
            0 => None,
            1 => Some(0),
            band => Some(100 * (u16::from(band) + 4)),
        }
    }

    /// Returns the index, below [`RATING_BANDS`].
    #[inline]
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// Returns the band's input of a policy.
    #[inline]
    pub fn input(self) -> usize {
        INPUTS + self.index()
    }
}

impl fmt::Display for RatingBand {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match (self.0, self.least()) {
            (_, None) => f.pad("unknown"),
            (1, _) => f.pad("below 600"),
            (26, _) => f.pad("3000 and more"),
            (_, Some(least)) => f.pad(&format!("{least} to {}", least + 99)),
        }
    }
}

/// Policy network of floats.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyNetwork {
    neurons: usize,
    /// First layer, `[POLICY_INPUTS, neurons]`: a row for each input.
    pub inputs: Vec<f32>,
    /// Biases of the first layer, `[neurons]`.
    pub bias: Vec<f32>,
    /// Output layer, `[POLICY_ROWS, neurons]`.
    pub moves: Vec<f32>,
    /// Biases of the output layer, `[POLICY_ROWS]`.
    pub move_bias: Vec<f32>,
}

impl PolicyNetwork {
    /// Returns a network of these layers.
    ///
    /// # Panics
    /// If the sizes differ from those of the fields.
    pub fn new(
        inputs: Vec<f32>,
        bias: Vec<f32>,
        moves: Vec<f32>,
        move_bias: Vec<f32>,
    ) -> PolicyNetwork {
        let neurons = bias.len();
        assert_eq!(inputs.len(), POLICY_INPUTS * neurons);
        assert_eq!(moves.len(), POLICY_ROWS * neurons);
        assert_eq!(move_bias.len(), POLICY_ROWS);
        PolicyNetwork {
            neurons,
            inputs,
            bias,
            moves,
            move_bias,
        }
    }

    /// Returns a network with random weights, determined by the seed.
    /// First-layer weights are uniform in ±0.18, with biases around 0.3, so that neurons begin
    /// inside the clipped range; output weights in `±1/sqrt(neurons)`.
    pub fn random(neurons: usize, seed: u64) -> PolicyNetwork {
        let mut random = Random(seed);
        let mut uniform = |count: usize, bound: f32| -> Vec<f32> {
            (0..count).map(|_| bound * random.uniform()).collect()
        };
        // Bound 1 / sqrt(32): some 32 inputs are active.
        let first = 0.18;
        let inputs = uniform(POLICY_INPUTS * neurons, first);
        let bias = uniform(neurons, first).iter().map(|x| 0.3 + x).collect();
        let last = 1.0 / (neurons as f32).sqrt();
        let moves = uniform(POLICY_ROWS * neurons, last);
        PolicyNetwork::new(inputs, bias, moves, vec![0.0; POLICY_ROWS])
    }

    /// Returns the start of training: random, but with output weights of 0 for kinds and pieces on
    /// squares. Those that no move has stay 0, and compress.
    pub fn untrained(neurons: usize, seed: u64) -> PolicyNetwork {
        let mut network = PolicyNetwork::random(neurons, seed);
        network.moves[POLICY_MOVES * neurons..].fill(0.0);
        network
    }

    /// Returns the network that expects all legal moves alike.
    pub fn uniform() -> PolicyNetwork {
        let zeros = |count| vec![0.0; count];
        let [inputs, rows] = [POLICY_INPUTS, POLICY_ROWS].map(zeros);
        PolicyNetwork::new(inputs, zeros(1), rows.clone(), rows)
    }

    /// Returns the number of hidden neurons.
    pub fn neurons(&self) -> usize {
        self.neurons
    }

    /// Checks that every weight is finite.
    ///
    /// # Errors
    /// [`NetError::NotFinite`].
    pub(crate) fn check_finite(&self) -> Result<(), NetError> {
        let values = [&self.inputs, &self.bias, &self.moves, &self.move_bias];
        let mut named = NAMES.iter().zip(values);
        match named.find(|(_, values)| !values.iter().all(|x| x.is_finite())) {
            Some((name, _)) => Err(NetError::NotFinite(name.to_string())),
            None => Ok(()),
        }
    }

    /// Returns the probabilities of the legal `moves`, given the active inputs.
    pub fn probabilities(
        &self,
        active: impl IntoIterator<Item = usize>,
        moves: &[PolicyMove],
    ) -> Vec<f32> {
        let mut hidden = self.bias.clone();
        for input in active {
            let row = &self.inputs[input * self.neurons..][..self.neurons];
            hidden.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        for x in &mut hidden {
            *x = x.clamp(0.0, 1.0).powi(2);
        }
        let logits = moves.iter().map(|m| {
            let of_row = |row: usize| {
                let weights = &self.moves[row * self.neurons..][..self.neurons];
                let sum: f32 = weights.iter().zip(&hidden).map(|(w, x)| w * x).sum();
                self.move_bias[row] + sum
            };
            m.rows().into_iter().map(of_row).sum()
        });
        softmax(logits.collect())
    }

    /// Parses a policy from the bytes of its safetensors file.
    ///
    /// # Errors
    /// [`NetError`] if the bytes are no policy that this build reads.
    pub fn from_bytes(bytes: &[u8]) -> Result<(PolicyNetwork, PolicyMetadata), NetError> {
        let tensors = Tensors::read(bytes)?;
        let json = tensors.metadata(METADATA_KEY).ok_or(NetError::NoMetadata)?;
        let bad = |error: serde_json::Error| NetError::BadMetadata(error.to_string());
        // The layout comes first: a file of a later version may differ in everything else.
        let value: Value = serde_json::from_str(json).map_err(bad)?;
        let layout = value["layout"].as_str().unwrap_or("none");
        if layout != LAYOUT_POLICY {
            return Err(NetError::NotPolicy {
                found: layout.to_string(),
            });
        }
        let metadata: PolicyMetadata = serde_json::from_value(value).map_err(bad)?;
        let neurons = metadata.neurons;
        if !(1..=MAX_POLICY_NEURONS).contains(&neurons) {
            return Err(NetError::UnknownArchitecture(format!("{neurons} neurons")));
        }
        let mut names = tensors.names();
        if let Some(name) = names.find(|name| !NAMES.contains(name)) {
            return Err(NetError::UnknownTensor(name.to_string()));
        }
        let [inputs, bias, moves, move_bias] = NAMES;
        let network = PolicyNetwork::new(
            tensors.values(inputs, &[POLICY_INPUTS, neurons])?,
            tensors.values(bias, &[neurons])?,
            tensors.values(moves, &[POLICY_ROWS, neurons])?,
            tensors.values(move_bias, &[POLICY_ROWS])?,
        );
        Ok((network, metadata))
    }

    /// Returns the policy as a safetensors file, with weights rounded to f16. Equal networks and
    /// metadata give equal bytes.
    pub fn to_bytes(&self, metadata: &PolicyMetadata) -> Vec<u8> {
        let shapes = [
            vec![POLICY_INPUTS, self.neurons],
            vec![self.neurons],
            vec![POLICY_ROWS, self.neurons],
            vec![POLICY_ROWS],
        ];
        let values = [&self.inputs, &self.bias, &self.moves, &self.move_bias];
        let bytes = values.map(f16_bytes);
        let tensors = NAMES.iter().zip(shapes).zip(&bytes);
        let views = tensors.map(|((name, shape), bytes)| {
            let view = TensorView::new(Dtype::F16, shape, bytes);
            (name, view.expect("the shape matches the length"))
        });
        let json = serde_json::to_string(metadata).expect("metadata is plain JSON");
        let header = HashMap::from([(METADATA_KEY.to_string(), json)]);
        serialize(views, Some(header)).expect("names are distinct")
    }
}

/// Names of the tensors: `first` has a row for each input, `moves` has [`POLICY_ROWS`].
const NAMES: [&str; 4] = ["first.weight", "first.bias", "moves.weight", "moves.bias"];

/// Returns the softmax of logits.
pub fn softmax(mut logits: Vec<f32>) -> Vec<f32> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for logit in &mut logits {
        *logit = (*logit - most).exp();
        sum += *logit;
    }
    logits.iter_mut().for_each(|x| *x /= sum);
    logits
}

/// Metadata of a policy's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyMetadata {
    /// Input layout: [`LAYOUT_POLICY`].
    pub layout: String,
    /// Hidden neurons.
    pub neurons: usize,
    /// Training moves of each rating band, "unknown" first.
    pub moves_by_band: Vec<u64>,
    /// Training configuration, seed included.
    pub training: Value,
    /// Training dataset: fingerprint and size.
    pub dataset: Value,
    /// Figures on the held-out games.
    pub validation: Value,
    /// Program and version that wrote the file.
    pub tool: String,
}

impl PolicyMetadata {
    /// Returns metadata for a policy of this build's layout; the trainer fills in the rest.
    pub fn new(neurons: usize, tool: &str) -> PolicyMetadata {
        debug_assert!(LAYOUT_POLICY.starts_with(LAYOUT));
        PolicyMetadata {
            layout: LAYOUT_POLICY.to_string(),
            neurons,
            moves_by_band: vec![0; RATING_BANDS],
            training: Value::Null,
            dataset: Value::Null,
            validation: Value::Null,
            tool: tool.to_string(),
        }
    }
}

/// Training moves from which on a policy knows a rating band.
const KNOWN_FROM: u64 = 200_000;

impl PolicyMetadata {
    /// Returns the bands with ratings that the policy knows.
    pub fn known_bands(&self) -> impl Iterator<Item = RatingBand> {
        let bands = RatingBand::all().skip(1);
        bands.filter(|band| self.moves_by_band.get(band.index()) >= Some(&KNOWN_FROM))
    }

    /// Returns the known band nearest to a rating; "unknown" if there is none.
    pub fn nearest_band(&self, rating: u16) -> RatingBand {
        let wanted = RatingBand::of(Some(rating)).index();
        let nearest = self
            .known_bands()
            .min_by_key(|band| band.index().abs_diff(wanted));
        nearest.unwrap_or(RatingBand::UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Metadata, Network};
    use std::collections::HashSet;

    fn square(index: usize) -> Square {
        Square::new(index as u8).unwrap()
    }

    #[test]
    fn every_move_has_an_index_of_its_own() {
        let promotions = [
            None,
            Some(Piece::Knight),
            Some(Piece::Bishop),
            Some(Piece::Rook),
        ];
        let squares = (0..64).flat_map(|from| (0..64).map(move |to| (from, to)));
        let mut found = HashSet::new();
        for (from, to) in squares {
            for promotion in promotions {
                let seen = |view, from: usize, to: usize| {
                    MoveIndex::new(view, square(from), square(to), promotion)
                };
                let index = seen(Color::White, from, to);
                assert_eq!(index, seen(Color::Black, from ^ 56, to ^ 56));
                if let Some(index) = index {
                    assert!(found.insert(index.index()), "{from} {to} {promotion:?}");
                }
            }
        }
        assert_eq!(found.len(), POLICY_MOVES);
        assert_eq!(found.into_iter().max(), Some(POLICY_MOVES - 1));
    }

    /// White: Ke1, Qd1, Nc3, Ng2, pawn a7; Black: Ke8, Rd5, pawn e6; White to move. Attacks by hand.
    #[test]
    fn kinds_tell_what_a_move_captures_risks_and_attacks() {
        let bit = |name: &str| {
            let [file, rank] = name.as_bytes() else {
                panic!("{name}")
            };
            1u64 << (8 * (rank - b'1') + (file - b'a'))
        };
        let set = |names: &str| names.split(' ').fold(0, |all, name| all | bit(name));
        let mut position = InputPosition {
            turn: Color::White,
            sides: [Default::default(); 2],
            castling: [[false; 2]; 2],
            en_passant: None,
            in_check: false,
        };
        let [white, black] = &mut position.sides;
        white.pieces = [bit("a7"), set("c3 g2"), 0, 0, bit("d1"), bit("e1")];
        white.attacks[Piece::Pawn as usize] = bit("b8");
        white.attacks[Piece::Knight as usize] = set("a4 b5 d5 e4 a2 b1 d1 e2 e1 e3 f4 h4");
        white.attacks[Piece::Queen as usize] = set("d2 d3 d4 d5 c1 b1 a1 c2 b3 a4 e2 f3 g4 h5 e1");
        white.attacks[Piece::King as usize] = set("d1 d2 e2 f1 f2");
        black.pieces = [bit("e6"), 0, 0, bit("d5"), 0, bit("e8")];
        black.attacks[Piece::Pawn as usize] = set("d5 f5");
        black.attacks[Piece::Rook as usize] = set("d1 d2 d3 d4 d6 d7 d8 a5 b5 c5 e5 f5 g5 h5");
        black.attacks[Piece::King as usize] = set("d7 d8 e7 f7 f8");
        let square = |name: &str| square(bit(name).trailing_zeros() as usize);
        let kind = |piece, from, to| {
            let squares = (square(from), square(to));
            MoveKind::new(&position, piece, squares, None).0
        };
        let code = |piece: Piece, capture: u16, lands: u16, leaves: u16, aims: u16| {
            (((piece as u16 * 6 + capture) * 4 + lands) * 3 + leaves) * 4 + aims
        };
        let rook = Piece::Rook as u16 + 1;
        // The queen is attacked by a rook, d5 by a pawn; the pawn on e6 is not defended.
        let of_queen = |to, capture, lands, aims| {
            let expected = code(Piece::Queen, capture, lands, 1, aims);
            assert_eq!(kind(Piece::Queen, "d1", to), expected, "{to}");
        };
        of_queen("d5", rook, 1, 1);
        of_queen("c1", 0, 0, 0);
        of_queen("a4", 0, 0, 3);
        let of_knight = |from, to, capture, lands, aims| {
            let expected = code(Piece::Knight, capture, lands, 0, aims);
            assert_eq!(kind(Piece::Knight, from, to), expected, "{to}");
        };
        of_knight("c3", "d5", rook, 1, 0);
        of_knight("c3", "b5", 0, 3, 0);
        of_knight("g2", "f4", 0, 0, 2);
        assert_eq!(kind(Piece::King, "e1", "f1"), code(Piece::King, 0, 0, 0, 0));
        for (promotion, aims) in [(Piece::Queen, 3), (Piece::Knight, 0)] {
            let squares = (square("a7"), square("a8"));
            let found = MoveKind::new(&position, Piece::Pawn, squares, Some(promotion));
            assert_eq!(found.0, code(Piece::Pawn, 0, 0, 0, aims));
        }
        let pawn = attacks(Color::Black, Piece::Pawn, square("a5"), 0);
        assert_eq!(pawn, bit("b4"));
        let squares = (square("a1"), square("h8"));
        let last = PolicyMove::new(&position, Piece::King, squares, None).arrival;
        assert_eq!(usize::from(last), ARRIVALS - 1);
        let rows = PolicyMove::testing(MoveIndex(0), MoveKind::COUNT - 1, 0).rows();
        assert_eq!(rows, [0, FIRST_ARRIVAL - 1, FIRST_ARRIVAL]);
    }

    #[test]
    fn ratings_fall_into_bands() {
        let of = |rating| RatingBand::of(Some(rating)).to_string();
        assert_eq!(of(1), "below 600");
        assert_eq!(of(599), "below 600");
        assert_eq!(of(600), "600 to 699");
        assert_eq!(of(2999), "2900 to 2999");
        assert_eq!(of(4095), "3000 and more");
        assert_eq!(RatingBand::of(None), RatingBand::UNKNOWN);
        assert_eq!(RatingBand::of(Some(4095)).index(), RATING_BANDS - 1);
        assert_eq!(RatingBand::of(None).input(), INPUTS);
    }

    #[test]
    fn unknown_ratings_play_as_the_nearest_known() {
        let mut metadata = PolicyMetadata::new(1, "test");
        assert_eq!(metadata.nearest_band(1500), RatingBand::UNKNOWN);
        for (rating, moves) in [(1250, 300_000), (1350, 199_999), (2450, 200_000)] {
            metadata.moves_by_band[RatingBand::of(Some(rating)).index()] = moves;
        }
        // Moves without a rating, which make no known band.
        metadata.moves_by_band[0] = 1_000_000;
        let nearest = |rating| metadata.nearest_band(rating).to_string();
        assert_eq!(nearest(400), "1200 to 1299");
        assert_eq!(nearest(1399), "1200 to 1299");
        assert_eq!(nearest(2000), "2400 to 2499");
        assert_eq!(nearest(2850), "2400 to 2499");
    }

    #[test]
    fn files_round_trip_and_name_what_they_are_not() {
        let metadata = PolicyMetadata::new(8, "test");
        let bytes = PolicyNetwork::random(8, 7).to_bytes(&metadata);
        let (network, read) = PolicyNetwork::from_bytes(&bytes).unwrap();
        assert_eq!(read, metadata);
        assert_eq!(network.to_bytes(&read), bytes);
        for cut in [0, 7, 100, bytes.len() - 1] {
            assert!(PolicyNetwork::from_bytes(&bytes[..cut]).is_err(), "{cut}");
        }
        // Neither is taken for the other.
        let error = Network::from_bytes(&bytes).unwrap_err();
        assert!(error.to_string().contains(LAYOUT_POLICY), "{error}");
        let architecture = Architecture::hidden([8, 4, 4]);
        let value = Network::random(architecture, 7);
        let value = value.to_bytes(&Metadata::new(architecture, "test"));
        let error = PolicyNetwork::from_bytes(&value).unwrap_err();
        assert!(error.to_string().contains(LAYOUT), "{error}");
    }

    #[test]
    fn probabilities_are_those_of_the_formula() {
        let mut network = PolicyNetwork::random(2, 1);
        network.bias = vec![0.5, 2.0];
        network.inputs[2 * 3] = 0.25;
        network.inputs[2 * 3 + 1] = -0.5;
        let moves = [(5, 2, 3), (1800, 7, 9)]
            .map(|(index, kind, arrival)| PolicyMove::testing(MoveIndex(index), kind, arrival));
        // Hidden: (0.75)^2 = 0.5625, and 1, clipped.
        let mut row = |row: usize, weights: [f32; 2], bias: f32| {
            network.moves[2 * row..][..2].copy_from_slice(&weights);
            network.move_bias[row] = bias;
        };
        row(5, [2.0, 0.25], -0.375);
        row(1800, [0.0, 0.25], 0.0);
        row(POLICY_MOVES + 2, [0.0, 0.25], 0.0);
        row(POLICY_MOVES + 7, [0.0, 0.0], 0.0);
        row(FIRST_ARRIVAL + 3, [0.0, 0.5], -0.25);
        row(FIRST_ARRIVAL + 9, [0.0, 0.0], 0.25);
        // Logits 1.5 and 0.5.
        let found = network.probabilities([3], &moves);
        let first = 1.0 / (1.0 + (-1.0f32).exp());
        assert!((found[0] - first).abs() < 1e-6, "{found:?}");
        assert!((found[1] - (1.0 - first)).abs() < 1e-6, "{found:?}");
    }
}
