//! Threats (plane 13 of the inputs): pieces en prise, counted by kind.
//!
//! A piece is en prise if it is attacked and not defended, or attacked by a piece of a lesser kind.
//! Kings are not counted: a flag says whether the mover is in check, and the other king cannot be
//! attacked. Pins and X-ray attacks are ignored.

use crate::bits::{ones, union};
use crate::{Feature, Piece, Side};

/// Counted kinds: all but the king.
const KINDS: usize = 5;
/// Pieces en prise of a kind are counted up to this number.
const MAX_COUNT: u32 = 3;
const INPUTS_PER_SIDE: u32 = KINDS as u32 * MAX_COUNT;

/// Active inputs of plane 13: for either side and each kind, whether one, two, three or more of its
/// pieces are en prise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threats(u32);

impl Threats {
    /// Number of inputs, also the bound on those active at once.
    pub const INPUTS: usize = 2 * INPUTS_PER_SIDE as usize;

    /// Index of the first input, the start of plane 13.
    pub const FIRST_INPUT: usize = 13 * 64;

    /// All inputs at once, which no position has.
    pub const ALL: Threats = Threats((1 << Threats::INPUTS) - 1);

    /// Returns the threats in a position; `own` is the side to move.
    #[inline]
    pub fn new(own: &Side, theirs: &Side) -> Threats {
        Threats(en_prise(own, theirs) | en_prise(theirs, own) << INPUTS_PER_SIDE)
    }

    /// Returns the set as bits: bit `i` for the input `i` of plane 13.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the set of these bits.
    #[inline]
    pub const fn from_bits(bits: u32) -> Threats {
        Threats(bits)
    }

    /// Returns the active inputs, in ascending order.
    #[inline]
    pub fn features(self) -> impl Iterator<Item = Feature> + use<> {
        ones(self.0.into()).map(Feature::threat)
    }
}

/// Returns a side's pieces en prise: three bits a kind, one set for each piece.
#[inline]
fn en_prise(side: &Side, other: &Side) -> u32 {
    let loose = union(&other.attacks) & !union(&side.attacks);
    let mut bits = 0;
    for (kind, by_lesser) in other
        .attacks_on_greater()
        .into_iter()
        .take(KINDS)
        .enumerate()
    {
        let mut left = side.pieces[kind] & (loose | by_lesser);
        for count in 0..MAX_COUNT {
            bits |= u32::from(left != 0) << (kind as u32 * MAX_COUNT + count);
            left &= left.wrapping_sub(1);
        }
    }
    bits
}

const _: () = assert!(Piece::Queen as usize + 1 == KINDS && Threats::INPUTS <= 32);

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of pieces en prise by kind, own first.
    fn counts(threats: Threats) -> [u32; 2 * KINDS] {
        std::array::from_fn(|i| (threats.0 >> (i as u32 * MAX_COUNT) & 0b111).count_ones())
    }

    /// Returns a side with one piece of each kind, king included, on a rank, and these attacks.
    fn side(rank: usize, attacks: [u64; 6]) -> Side {
        Side {
            pieces: std::array::from_fn(|kind| 1 << (8 * rank + kind)),
            attacks,
        }
    }

    #[test]
    fn pieces_are_en_prise_to_lesser_ones_or_undefended() {
        let all = 0xFF;
        let defended = side(0, [0, 0, 0, 0, 0, all]);
        let loose = side(0, [0; 6]);
        // Defended kinds that are en prise, by kind of the attacker.
        let to = [0b11110, 0b11000, 0b11000, 0b10000, 0, 0];
        for (kind, expected) in to.into_iter().enumerate() {
            let mut attacks = [0; 6];
            attacks[kind] = all;
            let attacker = side(7, attacks);
            let own = |own: &Side| {
                let counts = counts(Threats::new(own, &attacker));
                assert_eq!(counts[KINDS..], [0; KINDS], "theirs");
                (0..KINDS).fold(0, |set, kind| set | counts[kind] << kind)
            };
            assert_eq!(own(&defended), expected, "attacked by kind {kind}");
            assert_eq!(own(&loose), 0b11111, "attacked by kind {kind}");
        }
        assert_eq!(Threats::new(&loose, &side(7, [0; 6])), Threats::default());
    }

    #[test]
    fn pieces_of_a_kind_are_counted_to_three() {
        for count in 0..=8 {
            let mut own = Side::default();
            own.pieces[Piece::Pawn as usize] = (1 << count) - 1;
            let mut theirs = Side::default();
            theirs.attacks[Piece::King as usize] = u64::MAX;
            let indices = |threats: Threats| -> Vec<usize> {
                threats.features().map(|feature| feature.index()).collect()
            };
            let first = 13 * 64;
            let here = Threats::new(&own, &theirs);
            assert_eq!(indices(here), Vec::from_iter(first..first + count.min(3)));
            let there = indices(Threats::new(&theirs, &own));
            assert_eq!(there, Vec::from_iter(first + 15..first + 15 + count.min(3)));
            assert_eq!(Threats::from_bits(here.bits()), here);
        }
    }
}
