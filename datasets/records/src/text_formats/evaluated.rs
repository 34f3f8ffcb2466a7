//! Parsed line, common to the text formats.

use std::borrow::Cow;

use shakmaty::fen::Fen;

use crate::position::{GameResult, Label};

/// Position and evaluation of a line.
pub(super) struct EvaluatedLine<'a> {
    pub(super) fen: Cow<'a, [u8]>,
    /// White's point of view. `None` without an evaluation, or with an empty one such as mate in 0.
    pub(super) label: Option<Label>,
    pub(super) result: Option<GameResult>,
    /// Depth in plies, 0 if unknown.
    pub(super) depth: u8,
}

impl EvaluatedLine<'_> {
    /// Parses the FEN, of six or four fields, without checking legality.
    pub(super) fn setup(&self) -> Option<Fen> {
        let fields = self
            .fen
            .split(|&byte| byte == b' ')
            .filter(|f| !f.is_empty());
        if !matches!(fields.count(), 4 | 6) {
            return None;
        }
        Fen::from_ascii(&self.fen).ok()
    }
}
