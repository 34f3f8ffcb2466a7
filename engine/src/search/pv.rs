//! Principal variation, collected while the search returns.

use cozy_chess::Move;

use crate::evaluation::score::MAX_PLY;

/// Triangular PV table: the best line from each ply.
pub(crate) struct PvTable {
    lines: Vec<Vec<Move>>,
}

impl PvTable {
    pub(crate) fn new() -> PvTable {
        PvTable {
            lines: (0..=MAX_PLY)
                .map(|ply| Vec::with_capacity(MAX_PLY - ply))
                .collect(),
        }
    }

    /// Clears the line from `ply`.
    pub(crate) fn clear(&mut self, ply: usize) {
        self.lines[ply].clear();
    }

    /// Sets the line from `ply` to `mv` followed by the line from `ply + 1`.
    pub(crate) fn set(&mut self, ply: usize, mv: Move) {
        let (upper, lower) = self.lines.split_at_mut(ply + 1);
        let line = &mut upper[ply];
        line.clear();
        line.push(mv);
        line.extend_from_slice(&lower[0]);
    }

    /// Returns the line from `ply`.
    pub(crate) fn line_from(&self, ply: usize) -> &[Move] {
        &self.lines[ply]
    }
}
