//! Choices of the fuzzer, read from its input.

/// Bytes of an input, consumed in order; zeros after its end.
pub struct Choices<'a> {
    left: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Returns the choices of an input.
    pub fn new(input: &'a [u8]) -> Choices<'a> {
        Choices { left: input }
    }

    /// Returns a byte.
    pub fn byte(&mut self) -> u8 {
        match self.left.split_first() {
            Some((&byte, left)) => {
                self.left = left;
                byte
            }
            None => 0,
        }
    }

    /// Returns eight bytes as a number.
    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Returns a number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        let number = match end {
            0..=256 => usize::from(self.byte()),
            _ => usize::from(self.byte()) << 8 | usize::from(self.byte()),
        };
        number % end
    }

    /// Returns an element of `from`.
    pub fn of<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Returns true once in `times`, and false after the end of the input.
    pub fn seldom(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }
}
