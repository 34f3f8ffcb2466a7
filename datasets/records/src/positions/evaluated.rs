//! What the formats have in common.

use std::borrow::Cow;

use shakmaty::fen::Fen;

use crate::position::{GameResult, Label};

/// What a line says.
pub(super) struct Evaluated<'a> {
    pub(super) fen: Cow<'a, [u8]>,
    /// White's point of view. `None` if the line has no evaluation, or one
    /// that says nothing, such as mate in 0.
    pub(super) label: Option<Label>,
    pub(super) result: Option<GameResult>,
    /// Depth in plies, 0 if unknown.
    pub(super) depth: u8,
}

impl Evaluated<'_> {
    /// The position, not checked: a FEN of six fields, or its first four.
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
