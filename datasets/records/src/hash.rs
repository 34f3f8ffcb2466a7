//! The project's 64-bit hash and random generator. Keys, splits and shuffles are part of the
//! dataset format, so a library's hash, which may change between versions, will not do.

/// splitmix64's finaliser (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014): a bijection that mixes well.
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Hashes bytes: little-endian words of eight, the last padded with zeros,
/// then the length.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let hash = bytes.chunks(8).fold(0, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash ^ u64::from_le_bytes(word))
    });
    mix(hash ^ bytes.len() as u64)
}

/// A seeded sequence of random numbers, the same on every machine.
pub struct Random(u64);

impl Random {
    /// Seeds the sequence with `numbers`, such as a seed, an epoch and a shard.
    pub fn new<const N: usize>(numbers: [u64; N]) -> Random {
        Random(
            numbers
                .into_iter()
                .fold(0, |state, number| mix(state ^ number)),
        )
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Returns a number below `limit`, by multiplication (Lemire 2019). The bias is below 2^-32 for
    /// limits below 2^32.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// Shuffles in place (Fisher-Yates).
    pub fn shuffle<T>(&mut self, slice: &mut [T]) {
        for i in (1..slice.len()).rev() {
            slice.swap(i, self.below(i + 1));
        }
    }
}
