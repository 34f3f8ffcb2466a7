//! Plane 13 of the inputs: the pieces en prise, counted by kind.
//!
//! A piece is en prise if the other side attacks it and its own defends it
//! with nothing, or if a piece of a lesser kind attacks it. Kings are not
//! counted: whether the mover's is attacked, a flag says, and the other's
//! never is. Pins, and what stands behind what attacks, are not looked at.

use crate::bits::ones;
use crate::{Feature, Piece, Side};

/// The kinds that are counted: all but the king.
const KINDS: usize = 5;
/// How far the pieces of a kind are counted.
const MAX_COUNT: u32 = 3;
const INPUTS_PER_SIDE: u32 = KINDS as u32 * MAX_COUNT;

/// The inputs of plane 13 that are on: for either side and each kind, whether
/// one, two, three or more of its pieces are en prise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threats(u32);

impl Threats {
    /// The inputs that there are; all can be on at a time.
    pub const INPUTS: usize = 2 * INPUTS_PER_SIDE as usize;

    /// The index of the first of them, where plane 13 begins.
    pub const FIRST_INPUT: usize = 13 * 64;

    /// All at a time, which no position has.
    pub const ALL: Threats = Threats((1 << Threats::INPUTS) - 1);

    /// The threats in a position, the side to move first.
    #[inline]
    pub fn new(own: &Side, theirs: &Side) -> Threats {
        Threats(en_prise(own, theirs) | en_prise(theirs, own) << INPUTS_PER_SIDE)
    }

    /// As a set: bit `i` for the input `i` of plane 13.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set again.
    #[inline]
    pub const fn from_bits(bits: u32) -> Threats {
        Threats(bits)
    }

    /// The inputs that are on, in ascending order.
    #[inline]
    pub fn features(self) -> impl Iterator<Item = Feature> + use<> {
        ones(self.0.into()).map(Feature::threat)
    }
}

/// A side's pieces en prise: three bits a kind, as many of them as pieces.
#[inline]
fn en_prise(side: &Side, other: &Side) -> u32 {
    let all = |side: &Side| side.attacks.iter().fold(0, |all, set| all | set);
    let loose = all(other) & !all(side);
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

    /// By kind, own and theirs, how many are en prise.
    fn counts(threats: Threats) -> [u32; 2 * KINDS] {
        std::array::from_fn(|i| (threats.0 >> (i as u32 * MAX_COUNT) & 0b111).count_ones())
    }

    /// A side with one piece of each kind, king included, on the squares of a
    /// rank, which attacks what it is said to.
    fn side(rank: usize, attacks: [u64; 6]) -> Side {
        Side {
            pieces: std::array::from_fn(|kind| 1 << (8 * rank + kind)),
            attacks,
        }
    }

    #[test]
    fn a_piece_is_en_prise_to_a_lesser_one_or_without_a_defender() {
        let all = 0xFF;
        let defended = side(0, [0, 0, 0, 0, 0, all]);
        let loose = side(0, [0; 6]);
        // By what attacks, which kinds are en prise to it if they are defended.
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
