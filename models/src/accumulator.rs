//! The first layer's sums, and how wide the layers may be.

/// The widest accumulator this build plays with, a multiple of 32 lanes.
pub const MAX_FIRST: usize = 1024;
/// The widest second and third hidden layer this build plays with.
pub const MAX_LATER: usize = 32;

/// The top of a first activation: 7 bits, so that products of u8 and i8 can
/// be added in pairs without saturation.
pub(crate) const ACTIVATION_MAX: i32 = 127;

/// Lanes of a [`Block`].
pub(crate) const BLOCK: usize = 32;

/// 64 bytes of an accumulator or of a column: a cache line, and the widest
/// register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Block(pub(crate) [i16; BLOCK]);

/// The first layer's sums for one view of a board.
///
/// An accumulator belongs to one side: it holds the features as that side
/// sees them. It never drifts: integers added and removed cancel exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulator(pub(crate) [Block; MAX_FIRST / BLOCK]);

impl Accumulator {
    /// One that belongs to no network yet.
    pub const ZERO: Accumulator = Accumulator([Block([0; BLOCK]); MAX_FIRST / BLOCK]);
}
