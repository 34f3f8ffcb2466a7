//! Random numbers by integer arithmetic only, equal on every machine.

use records::hash;

/// Random number generator with the distributions used here.
pub struct Random(hash::Random);

impl Random {
    /// Returns stream `stream` of a seed.
    pub fn new(seed: u64, stream: u64) -> Random {
        Random(hash::Random::new([seed, stream]))
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// Returns a number in `low..=high`.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1) as u32) as i32
    }

    /// Returns true with a probability of `per_mille` / 1000.
    pub fn chance(&mut self, per_mille: u32) -> bool {
        self.below(1000) < per_mille
    }

    /// Draws from a distribution given by evenly spaced quantiles, minimum to maximum, linear
    /// between them.
    pub fn quantile(&mut self, quantiles: &[i32]) -> i32 {
        let at = self.below((quantiles.len() as u32 - 1) << 12);
        let (i, part) = ((at >> 12) as usize, (at & 0xFFF) as i32);
        quantiles[i] + (((quantiles[i + 1] - quantiles[i]) * part) >> 12)
    }

    /// Draws an index in proportion to its weight.
    pub fn weighted(&mut self, weights: impl Iterator<Item = u32> + Clone) -> usize {
        let mut left = self.below(weights.clone().sum());
        for (i, weight) in weights.enumerate() {
            if left < weight {
                return i;
            }
            left -= weight;
        }
        unreachable!("the number is below the sum of the weights")
    }
}
