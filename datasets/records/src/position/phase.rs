use crate::position::Record;

/// Game phase by the number of pieces on the board, kings and pawns included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// 25 to 32 pieces.
    Opening,
    /// 13 to 24 pieces.
    Middlegame,
    /// 2 to 12 pieces.
    Endgame,
}

impl Phase {
    /// All phases, in the order of a game.
    pub const ALL: [Phase; 3] = [Phase::Opening, Phase::Middlegame, Phase::Endgame];

    /// Returns the phase of a position.
    pub fn of(record: &Record) -> Phase {
        Phase::of_pieces(record.pieces().count() as u32)
    }

    /// Returns the phase of a position with `pieces` pieces.
    pub fn of_pieces(pieces: u32) -> Phase {
        match pieces {
            25.. => Phase::Opening,
            13..=24 => Phase::Middlegame,
            _ => Phase::Endgame,
        }
    }

    /// Returns name and bounds, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Opening => "opening, 25-32 pieces",
            Phase::Middlegame => "middlegame, 13-24",
            Phase::Endgame => "endgame, 2-12",
        }
    }
}
