//! What the fuzzer chooses.

/// The bytes of an input, spent one after the other; zeros behind its end.
pub struct Choices<'a> {
    left: &'a [u8],
}

impl<'a> Choices<'a> {
    /// The choices of an input.
    pub fn new(input: &'a [u8]) -> Choices<'a> {
        Choices { left: input }
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        match self.left.split_first() {
            Some((&byte, left)) => {
                self.left = left;
                byte
            }
            None => 0,
        }
    }

    /// Eight bytes as a number.
    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        let number = match end {
            0..=256 => usize::from(self.byte()),
            _ => usize::from(self.byte()) << 8 | usize::from(self.byte()),
        };
        number % end
    }

    /// One of these.
    pub fn of<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// True once in `times`, and not behind the end of the input.
    pub fn seldom(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }
}

/// Numbers that follow from a seed (splitmix64; Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.word() >> 32) as usize % end
    }

    /// Between -1 and 1.
    pub fn uniform(&mut self) -> f32 {
        (self.word() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}
