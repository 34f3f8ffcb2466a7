//! Conversion of piece codes between four bit planes of the board and one four-bit code for each
//! occupied square, the form a record keeps.

/// Four planes of 64 squares: bit `s` of plane `b` is bit `b` of the code of
/// the piece on square `s`.
pub(crate) type Planes = [u64; 4];

/// Four planes of up to 32 pieces: bit `i` of plane `b` is bit `b` of the code of the `i`th piece,
/// from a1 to h8.
pub(crate) type PiecePlanes = [u64; 4];

/// The codes of up to 32 occupied squares, from a1 to h8, lowest bits first.
pub(crate) type Codes = [u64; 2];

/// The lowest bit of each code.
const LOWEST: u64 = 0x1111_1111_1111_1111;

/// Implementation of bit gather and scatter (PEXT and PDEP).
pub(crate) trait BitMoves: Copy {
    /// Returns the bits under the mask, packed at the low end.
    fn gather(self, bits: u64, mask: u64) -> u64;

    /// Returns the low bits, spread to the ones of the mask.
    fn scatter(self, bits: u64, mask: u64) -> u64;
}

/// Bit-by-bit implementation for any processor.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl BitMoves for Portable {
    fn gather(self, bits: u64, mask: u64) -> u64 {
        let gathered = ones(mask).zip(0..);
        gathered.fold(0, |all, (from, to)| all | (bits >> from & 1) << to)
    }

    fn scatter(self, bits: u64, mask: u64) -> u64 {
        let scattered = ones(mask).zip(0..);
        scattered.fold(0, |all, (to, from)| all | (bits >> from & 1) << to)
    }
}

/// Returns the indices of a word's ones, the lowest first.
fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (place < u64::BITS).then_some(place)
    })
}

/// PEXT and PDEP of x86-64. Functions that use it must be compiled for BMI2, or each operation is a
/// call.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Bmi2(());

#[cfg(target_arch = "x86_64")]
impl Bmi2 {
    /// Returns `None` if the processor lacks BMI2.
    pub(crate) fn new() -> Option<Bmi2> {
        is_x86_feature_detected!("bmi2").then_some(Bmi2(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl BitMoves for Bmi2 {
    #[inline(always)]
    fn gather(self, bits: u64, mask: u64) -> u64 {
        // SAFETY: a Bmi2 exists only on processors with BMI2.
        unsafe { std::arch::x86_64::_pext_u64(bits, mask) }
    }

    #[inline(always)]
    fn scatter(self, bits: u64, mask: u64) -> u64 {
        // SAFETY: a Bmi2 exists only on processors with BMI2.
        unsafe { std::arch::x86_64::_pdep_u64(bits, mask) }
    }
}

/// Calls `$with(moves, arguments...)` with the fastest available [`BitMoves`], compiled for it.
macro_rules! with_bit_moves {
    ($with:ident($($name:ident: $type:ty),*) $(-> $result:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        if let Some(moves) = $crate::position::planes::Bmi2::new() {
            #[target_feature(enable = "bmi2")]
            fn bmi2(moves: $crate::position::planes::Bmi2, $($name: $type),*) $(-> $result)? {
                $with(moves, $($name),*)
            }
            // SAFETY: a Bmi2 exists only on processors with BMI2.
            return unsafe { bmi2(moves, $($name),*) };
        }
        $with($crate::position::planes::Portable, $($name),*)
    }};
}
pub(crate) use with_bit_moves;

/// Returns the codes of the occupied squares, at most 32.
pub(crate) fn pack(occupied: u64, planes: &Planes) -> Codes {
    with_bit_moves!(pack_with(occupied: u64, planes: &Planes) -> Codes)
}

/// Returns the board planes of the codes.
pub(crate) fn unpack(occupied: u64, codes: &Codes) -> Planes {
    with_bit_moves!(unpack_with(occupied: u64, codes: &Codes) -> Planes)
}

#[inline(always)]
fn pack_with(moves: impl BitMoves, occupied: u64, planes: &Planes) -> Codes {
    codes_of(moves, &planes.map(|plane| moves.gather(plane, occupied)))
}

#[inline(always)]
fn unpack_with(moves: impl BitMoves, occupied: u64, codes: &Codes) -> Planes {
    piece_planes_of(moves, codes).map(|plane| moves.scatter(plane, occupied))
}

/// Returns the codes of piece planes.
#[inline(always)]
pub(crate) fn codes_of(moves: impl BitMoves, planes: &PiecePlanes) -> Codes {
    let mut codes = [0; 2];
    for (bit, plane) in planes.iter().enumerate() {
        codes[0] |= moves.scatter(plane & 0xFFFF, LOWEST << bit);
        codes[1] |= moves.scatter(plane >> 16, LOWEST << bit);
    }
    codes
}

/// Returns the piece planes of codes.
#[inline(always)]
pub(crate) fn piece_planes_of(moves: impl BitMoves, codes: &Codes) -> PiecePlanes {
    [0, 1, 2, 3].map(|bit| {
        let low = moves.gather(codes[0], LOWEST << bit);
        let high = moves.gather(codes[1], LOWEST << bit);
        low | high << 16
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn pack_and_unpack_are_inverse_and_match_portable() {
        for seed in 0..10_000 {
            let random = |n| mix(mix(seed) ^ n);
            // Between 0 and 32 squares.
            let mut occupied = random(0);
            while occupied.count_ones() > (seed % 33) as u32 {
                occupied &= occupied - 1;
            }
            let planes = [1, 2, 3, 4].map(|n| random(n) & occupied);
            let codes = pack(occupied, &planes);
            assert_eq!(codes, pack_with(Portable, occupied, &planes));
            assert_eq!(unpack(occupied, &codes), planes);
            assert_eq!(unpack_with(Portable, occupied, &codes), planes);
            // Check against the definition, square by square.
            for (i, square) in ones(occupied).enumerate() {
                let code = codes[i / 16] >> (4 * (i % 16)) & 15;
                let bits = (0..4).map(|b| (planes[b] >> square & 1) << b);
                assert_eq!(code, bits.sum::<u64>());
            }
        }
    }
}
