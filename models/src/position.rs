//! Position as input of the network: filled by rules libraries, read as [`Feature`]s.

use crate::bits::{ones, union};
use crate::{CastlingSide, Color, Feature, Piece, Square, Threats};

/// Pieces of one side as bitboards, bit 0 for a1 to bit 63 for h8.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    /// Squares of the pieces, by [`Piece`].
    pub pieces: [u64; 6],
    /// Attacked squares, by [`Piece`], occupied or not; sliders stop at the first piece. All empty
    /// if threats are not needed.
    pub attacks: [u64; 6],
}

impl Side {
    /// Returns, by [`Piece`], the squares on which a piece of the other side would be attacked by a
    /// lesser piece.
    #[inline]
    pub fn attacks_on_greater(&self) -> [u64; 6] {
        let [pawns, knights, bishops, rooks, ..] = self.attacks;
        let by_minor = pawns | knights | bishops;
        [0, pawns, pawns, by_minor, by_minor | rooks, 0]
    }
}

/// A position as a rules library describes it to the network.
///
/// ```
/// use models::{Color, Feature, InputPosition, Piece, Side, Square};
///
/// let mut position = InputPosition {
///     turn: Color::Black,
///     sides: [Side::default(); 2],
///     castling: [[false; 2]; 2],
///     en_passant: None,
///     in_check: true,
/// };
/// let e8 = Square::new(60).unwrap();
/// position.sides[Color::Black as usize].pieces[Piece::King as usize] = 1 << e8.index();
/// let king = Feature::piece(Color::Black, Color::Black, Piece::King, e8);
/// assert!(position.features().eq([king, Feature::IN_CHECK]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InputPosition {
    /// The side to move.
    pub turn: Color,
    /// Pieces on the board, by [`Color`].
    pub sides: [Side; 2],
    /// Castling rights, by [`Color`] and [`CastlingSide`].
    pub castling: [[bool; 2]; 2],
    /// Target square of a legal en-passant capture.
    pub en_passant: Option<Square>,
    /// The side to move is in check.
    pub in_check: bool,
}

impl InputPosition {
    /// Returns all active inputs, at most [`MAX_ACTIVE`](crate::MAX_ACTIVE), from the side to
    /// move's point of view. Sums of floats depend on their order: pieces from a1 to h8, en
    /// passant, threats, castling rights, check.
    #[inline]
    pub fn features(&self) -> impl Iterator<Item = Feature> + use<> {
        self.pieces(self.turn)
            .chain(self.en_passant())
            .chain(self.threats().features())
            .chain(self.castling(self.turn))
            .chain(self.check())
    }

    /// Returns the inputs kept in an accumulator (pieces and castling rights), as `view` sees them.
    pub fn accumulated(&self, view: Color) -> impl Iterator<Item = Feature> + use<> {
        self.pieces(view).chain(self.castling(view))
    }

    /// Returns the other inputs, which change with every move: en passant, threats and check.
    #[inline(always)]
    pub fn transient(&self) -> impl Iterator<Item = Feature> + use<> {
        let flags = self.en_passant().into_iter().chain(self.check());
        flags.chain(self.threats().features())
    }

    /// Returns the pieces en prise.
    #[inline(always)]
    pub fn threats(&self) -> Threats {
        let [white, black] = &self.sides;
        match self.turn {
            Color::White => Threats::new(white, black),
            Color::Black => Threats::new(black, white),
        }
    }

    /// Returns the pieces, from a1 to h8.
    #[inline]
    fn pieces(&self, view: Color) -> impl Iterator<Item = Feature> + use<> {
        let sets = self.sides.map(|side| side.pieces);
        // Bits of the piece kind, as bitboards.
        let bits: [u64; 3] = std::array::from_fn(|bit| {
            let kinds = (0..6).filter(|kind| kind >> bit & 1 == 1);
            kinds.fold(0, |all, kind| all | sets[0][kind] | sets[1][kind])
        });
        let [white, black] = sets.map(|sets| union(&sets));
        ones(white | black).map(move |at| {
            let kind = (0..3).fold(0, |kind, bit| kind | (bits[bit] >> at & 1) << bit);
            let color = match black >> at & 1 {
                0 => Color::White,
                _ => Color::Black,
            };
            let square = Square::new(at as u8).expect("a bit of 64");
            Feature::piece(view, color, Piece::ALL[kind as usize], square)
        })
    }

    /// Returns the castling rights in the order of their rooks, from a1 to h8.
    #[inline]
    fn castling(&self, view: Color) -> impl Iterator<Item = Feature> + use<> {
        use {CastlingSide::*, Color::*};
        let castling = self.castling;
        [(White, Queen), (White, King), (Black, Queen), (Black, King)]
            .into_iter()
            .filter(move |&(color, side)| castling[color as usize][side as usize])
            .map(move |(color, side)| Feature::castling(view, color, side))
    }

    #[inline(always)]
    fn en_passant(&self) -> Option<Feature> {
        let target = self.en_passant?;
        Some(Feature::en_passant(self.turn, target))
    }

    #[inline(always)]
    fn check(&self) -> Option<Feature> {
        self.in_check.then_some(Feature::IN_CHECK)
    }
}
