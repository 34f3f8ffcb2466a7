//! The accumulator (sums of the first layer), and the largest layer widths.

/// Widest accumulator that inference supports, a multiple of 32 lanes.
pub const MAX_FIRST: usize = 1024;
/// Widest second and third hidden layer that inference supports.
pub const MAX_LATER: usize = 32;

/// Largest first activation: 7 bits, so that products of u8 and i8 can be added in pairs without
/// saturation.
pub(crate) const ACTIVATION_MAX: i32 = 127;

/// Lanes of a [`Block`].
pub(crate) const BLOCK: usize = 32;

/// 64 bytes of an accumulator or a column: a cache line, and the widest register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Block(pub(crate) [i16; BLOCK]);

/// Sums of the first layer for one view of a board.
///
/// An accumulator belongs to one side: its features are from that side's point of view. It never
/// drifts: integer additions and subtractions cancel exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulator(pub(crate) [Block; MAX_FIRST / BLOCK]);

impl Accumulator {
    /// All zeros, the accumulator of no network.
    pub const ZERO: Accumulator = Accumulator([Block([0; BLOCK]); MAX_FIRST / BLOCK]);
}
