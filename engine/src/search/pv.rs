//! The principal variation, gathered while the search returns.

use cozy_chess::Move;

use crate::evaluation::score::MAX_PLY;

/// For every ply the best line found from there on: the usual triangular table.
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

    /// Forgets the line from `ply` on.
    pub(crate) fn clear(&mut self, ply: usize) {
        self.lines[ply].clear();
    }

    /// Makes `mv` and the line after it the line from `ply` on.
    pub(crate) fn set(&mut self, ply: usize, mv: Move) {
        let (upper, lower) = self.lines.split_at_mut(ply + 1);
        let line = &mut upper[ply];
        line.clear();
        line.push(mv);
        line.extend_from_slice(&lower[0]);
    }

    /// The line from `ply` on.
    pub(crate) fn line_from(&self, ply: usize) -> &[Move] {
        &self.lines[ply]
    }
}
