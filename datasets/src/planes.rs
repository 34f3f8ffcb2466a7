//! Piece codes as four bit planes of the board, and as one code of four bits
//! for each occupied square: the form a record keeps.

/// Four planes of 64 squares: bit `s` of plane `b` is bit `b` of the code of
/// the piece on square `s`.
pub(crate) type Planes = [u64; 4];

/// The codes of up to 32 occupied squares, from a1 to h8, lowest bits first.
pub(crate) type Codes = [u64; 2];

/// The codes of the occupied squares, of which there are at most 32.
pub(crate) fn pack(occupied: u64, planes: &Planes) -> Codes {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has BMI2, as was just asked.
        return unsafe { bmi2::pack(occupied, planes) };
    }
    pack_portable(occupied, planes)
}

/// The planes of the codes.
pub(crate) fn unpack(occupied: u64, codes: &Codes) -> Planes {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has BMI2, as was just asked.
        return unsafe { bmi2::unpack(occupied, codes) };
    }
    unpack_portable(occupied, codes)
}

fn pack_portable(occupied: u64, planes: &Planes) -> Codes {
    let mut codes = [0; 2];
    for (i, square) in squares(occupied).enumerate().take(32) {
        for (bit, plane) in planes.iter().enumerate() {
            codes[i / 16] |= (plane >> square & 1) << (4 * (i % 16) + bit);
        }
    }
    codes
}

fn unpack_portable(occupied: u64, codes: &Codes) -> Planes {
    let mut planes = [0; 4];
    for (i, square) in squares(occupied).enumerate().take(32) {
        for (bit, plane) in planes.iter_mut().enumerate() {
            *plane |= (codes[i / 16] >> (4 * (i % 16) + bit) & 1) << square;
        }
    }
    planes
}

fn squares(mut occupied: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let square = occupied.trailing_zeros();
        occupied &= occupied.wrapping_sub(1);
        (square < u64::BITS).then_some(square)
    })
}

#[cfg(target_arch = "x86_64")]
mod bmi2 {
    use std::arch::x86_64::{_pdep_u64, _pext_u64};

    use super::{Codes, Planes};

    /// The lowest bit of each code.
    const LOWEST: u64 = 0x1111_1111_1111_1111;

    #[target_feature(enable = "bmi2")]
    pub(super) fn pack(occupied: u64, planes: &Planes) -> Codes {
        let mut codes = [0; 2];
        for (bit, &plane) in planes.iter().enumerate() {
            let dense = _pext_u64(plane, occupied);
            codes[0] |= _pdep_u64(dense, LOWEST << bit);
            codes[1] |= _pdep_u64(dense >> 16, LOWEST << bit);
        }
        codes
    }

    #[target_feature(enable = "bmi2")]
    pub(super) fn unpack(occupied: u64, codes: &Codes) -> Planes {
        let mut planes = [0; 4];
        for (bit, plane) in planes.iter_mut().enumerate() {
            let low = _pext_u64(codes[0], LOWEST << bit);
            let high = _pext_u64(codes[1], LOWEST << bit);
            *plane = _pdep_u64(low | high << 16, occupied);
        }
        planes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn both_ways_are_one_and_undo_each_other() {
        for seed in 0..10_000 {
            let random = |n| mix(mix(seed) ^ n);
            // From no square to 32 of them.
            let mut occupied = random(0);
            while occupied.count_ones() > (seed % 33) as u32 {
                occupied &= occupied - 1;
            }
            let planes = [1, 2, 3, 4].map(|n| random(n) & occupied);
            let codes = pack(occupied, &planes);
            assert_eq!(codes, pack_portable(occupied, &planes));
            assert_eq!(unpack(occupied, &codes), planes);
            assert_eq!(unpack_portable(occupied, &codes), planes);
        }
    }
}
