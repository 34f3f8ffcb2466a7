//! The 902 inputs: 14 planes of 64 squares and 6 flags, from the side to move's point of view.
//!
//! | index | meaning |
//! |---|---|
//! | `64 * plane + square`, plane 0-5 | own P N B R Q K |
//! | plane 6-11 | their P N B R Q K |
//! | plane 12 | target square of a legal en-passant capture |
//! | plane 13, first 30 | pieces en prise, counted by kind ([`Threats`]) |
//! | plane 13, the rest | always zero |
//! | 896-899 | own O-O, own O-O-O, their O-O, their O-O-O |
//! | 900 | the viewing side is in check |
//! | 901 | the other side is in check |
//!
//! For Black the board is mirrored by ranks (`square ^ 56`) and the colours are swapped, so that a
//! position and its colour-flipped twin have the same inputs.
//!
//! A network with both views ([`View::Both`](crate::View::Both)) receives the inputs of the side to
//! move, and the same inputs from the other side's point of view ([`Feature::seen_by_other`]). Only
//! the side to move can be in check, so 901 occurs only in the other side's view. A mirrored
//! network ([`Architecture::mirrored`](crate::Architecture::mirrored)) receives the inputs of the
//! board mirrored by files ([`Feature::mirrored`]) if the king of the viewing side is on e to h.

use crate::Threats;

/// Name of this input layout, in the metadata of every net.
pub const LAYOUT: &str = "kibitz-902-v2";

/// Name of the previous layout, in which plane 13 was always zero; otherwise the same. Nets of
/// other layouts are refused.
pub const LAYOUT_V1: &str = "kibitz-902-v1";

/// Name of the layout that has only the first 768 inputs, the pieces on squares
/// ([`Features::Pieces`](crate::Features::Pieces)).
pub const LAYOUT_PIECES: &str = "kibitz-768-v1";

/// Number of inputs: 14 planes of 64 squares and 6 flags.
pub const INPUTS: usize = 14 * 64 + 6;

/// Largest number of active inputs: 32 pieces, four castling rights and [`MAX_TRANSIENT`].
pub const MAX_ACTIVE: usize = 32 + 4 + MAX_TRANSIENT;

/// Largest number of inputs that change with every move: one en-passant square, the threats and the
/// check flag.
pub const MAX_TRANSIENT: usize = 1 + Threats::INPUTS + 1;

const EN_PASSANT_PLANE: usize = 12;
/// Used inputs of plane 13.
pub(crate) const THREATS: std::ops::Range<usize> =
    Threats::FIRST_INPUT..Threats::FIRST_INPUT + Threats::INPUTS;
const FIRST_FLAG: usize = 14 * 64;

/// Colour of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Color {
    /// White.
    White,
    /// Black.
    Black,
}

/// Piece kind, in the order of the input planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Pawn.
    Pawn,
    /// Knight.
    Knight,
    /// Bishop.
    Bishop,
    /// Rook.
    Rook,
    /// Queen.
    Queen,
    /// King.
    King,
}

impl Piece {
    /// All kinds, in this order.
    pub const ALL: [Piece; 6] = [
        Piece::Pawn,
        Piece::Knight,
        Piece::Bishop,
        Piece::Rook,
        Piece::Queen,
        Piece::King,
    ];
}

/// Side of the board to which a king castles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastlingSide {
    /// O-O, towards the h-file.
    King,
    /// O-O-O, towards the a-file.
    Queen,
}

/// A square: a1 = 0, b1 = 1, ..., h8 = 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Square(u8);

impl Square {
    /// Returns the square of an index, `None` from 64 on.
    #[inline]
    pub const fn new(index: u8) -> Option<Square> {
        if index < 64 {
            Some(Square(index))
        } else {
            None
        }
    }

    /// Returns the index, 0 (a1) to 63 (h8).
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the square as `view` sees it: mirrored by ranks for Black.
    #[inline]
    pub(crate) const fn seen_by(self, view: Color) -> usize {
        match view {
            Color::White => self.0 as usize,
            Color::Black => (self.0 ^ 56) as usize,
        }
    }
}

/// Meaning of an input, in colours and squares of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A piece on a square.
    Piece(Color, Piece, Square),
    /// Target square of a legal en-passant capture.
    EnPassant(Square),
    /// At least this many pieces of a kind are en prise.
    EnPrise(Color, Piece, usize),
    /// A side may still castle.
    Castling(Color, CastlingSide),
    /// A side is in check.
    Check(Color),
}

/// An active input, one of the 902.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feature(u16);

impl Feature {
    /// Flag: the side to move is in check.
    pub const IN_CHECK: Feature = Feature((FIRST_FLAG + 4) as u16);

    /// Returns all inputs, 0 to 901.
    pub fn all() -> impl ExactSizeIterator<Item = Feature> {
        (0..INPUTS as u16).map(Feature)
    }

    /// Returns the input of a `color` piece on `square`, as `view` sees it.
    #[inline]
    pub const fn piece(view: Color, color: Color, piece: Piece, square: Square) -> Feature {
        let theirs = 6 * (view as usize != color as usize) as usize;
        Feature(((theirs + piece as usize) * 64 + square.seen_by(view)) as u16)
    }

    /// Returns the input of a legal en-passant target square, as `view` sees it.
    #[inline]
    pub const fn en_passant(view: Color, target: Square) -> Feature {
        Feature((EN_PASSANT_PLANE * 64 + target.seen_by(view)) as u16)
    }

    /// Returns input `index` of plane 13 ([`Threats`]).
    #[inline]
    pub(crate) const fn threat(index: u32) -> Feature {
        Feature((THREATS.start + index as usize) as u16)
    }

    /// Returns the input of `color`'s right to castle to `side`, as `view` sees it.
    #[inline]
    pub const fn castling(view: Color, color: Color, side: CastlingSide) -> Feature {
        let theirs = 2 * (view as usize != color as usize) as usize;
        Feature((FIRST_FLAG + theirs + side as usize) as u16)
    }

    /// Returns the input from the other side's point of view: own and their are swapped, ranks
    /// mirrored.
    #[inline]
    pub const fn seen_by_other(self) -> Feature {
        const PLANES: u16 = 6 * 64;
        const PIECES: u16 = 2 * PLANES;
        const FIRST_THREAT: u16 = THREATS.start as u16;
        const THREATS_OF_SIDE: u16 = Threats::INPUTS as u16 / 2;
        const THEIR_THREATS: u16 = FIRST_THREAT + THREATS_OF_SIDE;
        const UNUSED: u16 = THREATS.end as u16;
        const FIRST_FLAG: u16 = self::FIRST_FLAG as u16;
        const CHECKS: u16 = Feature::IN_CHECK.0;
        Feature(match self.0 {
            0..PLANES => (self.0 + PLANES) ^ 56,
            PLANES..PIECES => (self.0 - PLANES) ^ 56,
            PIECES..FIRST_THREAT => self.0 ^ 56,
            FIRST_THREAT..THEIR_THREATS => self.0 + THREATS_OF_SIDE,
            THEIR_THREATS..UNUSED => self.0 - THREATS_OF_SIDE,
            UNUSED..FIRST_FLAG => self.0,
            FIRST_FLAG..CHECKS => self.0 ^ 2,
            _ => self.0 ^ 1,
        })
    }

    /// Returns the input on the board mirrored by files; kingside and queenside castling are
    /// swapped.
    #[inline]
    pub const fn mirrored(self) -> Feature {
        const FIRST_THREAT: u16 = THREATS.start as u16;
        const FIRST_FLAG: u16 = self::FIRST_FLAG as u16;
        const CHECKS: u16 = Feature::IN_CHECK.0;
        Feature(match self.0 {
            0..FIRST_THREAT => self.0 ^ 7,
            FIRST_FLAG..CHECKS => self.0 ^ 1,
            _ => self.0,
        })
    }

    /// Returns whether the input is the viewing side's king on one of the files e to h.
    #[inline]
    pub const fn is_king_on_right(self) -> bool {
        const KING: u16 = Piece::King as u16;
        self.0 / 64 == KING && self.0 & 4 != 0
    }

    /// Returns whether the input is a piece on a square.
    #[inline]
    pub const fn is_piece(self) -> bool {
        self.0 < 2 * 6 * 64
    }

    /// Returns the meaning of the input in the point of view of `view`; `None` for unused inputs.
    pub fn meaning(self, view: Color) -> Option<Meaning> {
        let index = self.index();
        let side = |theirs: bool| match (view, theirs) {
            (Color::White, false) | (Color::Black, true) => Color::White,
            _ => Color::Black,
        };
        let square = Square((index % 64) as u8).seen_by(view) as u8;
        Some(match index {
            _ if self.is_piece() => {
                let plane = index / 64;
                Meaning::Piece(side(plane >= 6), Piece::ALL[plane % 6], Square(square))
            }
            _ if index / 64 == EN_PASSANT_PLANE => Meaning::EnPassant(Square(square)),
            _ if THREATS.contains(&index) => {
                let (threat, per_side) = (index - THREATS.start, Threats::INPUTS / 2);
                let kind = Piece::ALL[threat % per_side / 3];
                Meaning::EnPrise(side(threat >= per_side), kind, threat % 3 + 1)
            }
            FIRST_FLAG.. => match index - FIRST_FLAG {
                flag @ 0..4 => {
                    let castling = [CastlingSide::King, CastlingSide::Queen][flag % 2];
                    Meaning::Castling(side(flag >= 2), castling)
                }
                flag => Meaning::Check(side(flag == 5)),
            },
            _ => return None,
        })
    }

    /// Returns the index, 0 to 901.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example_of_the_layout() {
        let e2 = Square::new(12).unwrap();
        let e7 = Square::new(52).unwrap();
        assert_eq!(
            Feature::piece(Color::White, Color::White, Piece::Pawn, e2).index(),
            12
        );
        assert_eq!(
            Feature::piece(Color::White, Color::Black, Piece::Pawn, e7).index(),
            6 * 64 + 52
        );
        assert_eq!(
            Feature::piece(Color::Black, Color::Black, Piece::Pawn, e7).index(),
            12
        );
        let e3 = Square::new(20).unwrap();
        assert_eq!(Feature::en_passant(Color::Black, e3).index(), 12 * 64 + 44);
        assert_eq!(
            Feature::castling(Color::Black, Color::White, CastlingSide::Queen).index(),
            899
        );
        assert_eq!(Feature::IN_CHECK.index(), 900);
        let pawn = |square| Feature::piece(Color::White, Color::White, Piece::Pawn, square);
        assert_eq!(pawn(e2).mirrored(), pawn(Square::new(11).unwrap()));
        let [short, long] = [CastlingSide::King, CastlingSide::Queen]
            .map(|side| Feature::castling(Color::White, Color::Black, side));
        assert_eq!(short.mirrored(), long);
        for square in (0..64).map(|i| Square::new(i).unwrap()) {
            let king = |color| Feature::piece(Color::White, color, Piece::King, square);
            let on_right = square.index() % 8 >= 4;
            assert_eq!(king(Color::White).is_king_on_right(), on_right);
            assert!(!king(Color::Black).is_king_on_right() && !pawn(square).is_king_on_right());
        }
        assert!(Square::new(64).is_none());
    }

    #[test]
    fn meanings_round_trip() {
        for view in [Color::White, Color::Black] {
            let mut silent = 0;
            for feature in Feature::all() {
                let Some(meaning) = feature.meaning(view) else {
                    silent += 1;
                    continue;
                };
                let again = match meaning {
                    Meaning::Piece(color, piece, square) => {
                        Feature::piece(view, color, piece, square)
                    }
                    Meaning::EnPassant(square) => Feature::en_passant(view, square),
                    Meaning::EnPrise(color, piece, count) => {
                        let theirs = if color == view { 0 } else { 15 };
                        Feature::threat((theirs + 3 * piece as usize + count - 1) as u32)
                    }
                    Meaning::Castling(color, side) => Feature::castling(view, color, side),
                    Meaning::Check(color) if color == view => Feature::IN_CHECK,
                    Meaning::Check(_) => Feature::IN_CHECK.seen_by_other(),
                };
                assert_eq!(again, feature);
                let other = match view {
                    Color::White => Color::Black,
                    Color::Black => Color::White,
                };
                assert_eq!(feature.seen_by_other().meaning(other), Some(meaning));
            }
            assert_eq!(silent, 64 - Threats::INPUTS);
        }
    }

    #[test]
    fn no_two_meanings_share_an_index() {
        let mut seen = std::collections::HashSet::new();
        for color in [Color::White, Color::Black] {
            for square in (0..64).map(|i| Square::new(i).unwrap()) {
                for piece in Piece::ALL {
                    let feature = Feature::piece(Color::Black, color, piece, square);
                    assert!(seen.insert(feature));
                    let other = Feature::piece(Color::White, color, piece, square);
                    assert_eq!(feature.seen_by_other(), other);
                    assert_eq!(other.seen_by_other(), feature);
                }
            }
            for side in [CastlingSide::King, CastlingSide::Queen] {
                let feature = Feature::castling(Color::Black, color, side);
                assert!(seen.insert(feature));
                let other = Feature::castling(Color::White, color, side);
                assert_eq!(feature.seen_by_other(), other);
                assert_eq!(other.seen_by_other(), feature);
            }
        }
        for square in (0..64).map(|i| Square::new(i).unwrap()) {
            let feature = Feature::en_passant(Color::Black, square);
            assert!(seen.insert(feature));
            let other = Feature::en_passant(Color::White, square);
            assert_eq!(feature.seen_by_other(), other);
        }
        assert!(seen.insert(Feature::IN_CHECK));
        assert_eq!(Feature::IN_CHECK.seen_by_other().index(), 901);
        for threat in Threats::ALL.features() {
            assert!(seen.insert(threat));
            let other = threat.seen_by_other();
            assert_eq!(other.index().abs_diff(threat.index()), Threats::INPUTS / 2);
            assert_eq!(other.seen_by_other(), threat);
        }
        assert_eq!(
            seen.len(),
            INPUTS - (64 - Threats::INPUTS) - 1,
            "all but the rest of plane 13 and the spare flag"
        );
        assert!(seen.iter().all(|f| f.index() < INPUTS));
        for feature in Feature::all() {
            let other = feature.seen_by_other();
            assert_eq!(other.seen_by_other(), feature);
            let mirrored = feature.mirrored();
            assert_eq!(mirrored.mirrored(), feature);
            assert_eq!(mirrored.seen_by_other(), other.mirrored());
        }
        assert!(seen.iter().all(|f| f.is_piece() == (f.index() < 768)));
    }
}
