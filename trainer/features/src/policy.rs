//! Training data of a policy: inputs and legal moves of a position, and the move played.

use models::{InputPosition, PolicyMove, RatingBand};
use records::position::MoveRecord;
use shakmaty::{CastlingMode, Move, MoveList, Position};

use crate::{color, piece, square, with_attacks};

/// A played move, with the inputs and the legal moves of its position.
pub struct PlayedMove {
    position: InputPosition,
    band: RatingBand,
    legal: MoveList,
    /// Index of the played move in [`PlayedMove::moves`].
    pub played: usize,
}

impl PlayedMove {
    /// Reads a record. `None` if its move is not legal, which no record of a dataset has.
    pub fn new(record: &MoveRecord) -> Option<PlayedMove> {
        let board = record.position();
        let chess = board.to_chess()?;
        let legal = chess.legal_moves();
        let played = record.uci().to_move(&chess).ok()?;
        let position = InputPosition {
            in_check: chess.is_check(),
            ..with_attacks(&board)
        };
        Some(PlayedMove {
            position,
            band: RatingBand::of(record.rating()),
            played: legal.iter().position(|&m| m == played)?,
            legal,
        })
    }

    /// Returns the band of the mover's rating.
    pub fn band(&self) -> RatingBand {
        self.band
    }

    /// Returns the active inputs of a policy.
    pub fn inputs(&self) -> impl Iterator<Item = usize> + use<> {
        let band = self.band.input();
        let features = self.position.features();
        features.map(|feature| feature.index()).chain([band])
    }

    /// Returns the legal moves, at least one.
    pub fn moves(&self) -> impl ExactSizeIterator<Item = PolicyMove> {
        self.legal.iter().map(|&m| policy_move(&self.position, m))
    }

    /// Returns the legal moves in UCI, castling as the king's move to its rook's square.
    pub fn uci(&self) -> impl Iterator<Item = String> {
        let moves = self.legal.iter();
        moves.map(|m| m.to_uci(CastlingMode::Chess960).to_string())
    }

    /// Returns the [`arrival`] of each legal move.
    pub fn arrivals(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        let turn = self.position.turn;
        let moves = self.legal.iter();
        moves.map(move |m| models::arrival(turn, piece(m.role()), square(m.to())))
    }
}

/// Returns the [`models::arrival`] of a record's move. `None` if no piece stands on the origin.
pub fn arrival(record: &MoveRecord) -> Option<usize> {
    let position = record.position();
    let uci = record.uci();
    let (from, to) = (uci.from()?, uci.to()?);
    let (_, _, role) = position.pieces().find(|(square, _, _)| *square == from)?;
    Some(models::arrival(
        color(position.turn()),
        piece(role),
        square(to),
    ))
}

fn policy_move(position: &InputPosition, m: Move) -> PolicyMove {
    let from = m.from().expect("no drops in standard chess");
    let squares = (square(from), square(m.to()));
    PolicyMove::new(position, piece(m.role()), squares, m.promotion().map(piece))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playouts;
    use records::position::Mover;
    use shakmaty::Chess;
    use shakmaty::Role;
    use shakmaty::fen::Fen;
    use std::collections::HashSet;

    fn chess(fen: &str) -> Chess {
        let fen: Fen = fen.parse().unwrap();
        fen.into_position(CastlingMode::Chess960).unwrap()
    }

    #[test]
    fn the_played_move_is_found_among_the_legal_ones() {
        for fen in [
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
            "4k3/8/8/2Pp4/8/8/8/4K2R w K d6 0 2",
            "4k3/1p6/8/8/8/8/pP6/4K2R b K - 0 2",
        ] {
            let position = chess(fen);
            let mut indices = HashSet::new();
            for m in position.legal_moves() {
                let mover = Mover {
                    rating: Some(1650),
                    ..Mover::default()
                };
                let record = MoveRecord::new(&position, m, mover, 0);
                let found = PlayedMove::new(&record).unwrap();
                assert_eq!(found.legal[found.played], m);
                assert_eq!(found.arrivals().nth(found.played), arrival(&record));
                assert_eq!(found.band(), RatingBand::of(Some(1650)));
                let index = found.moves().nth(found.played).unwrap().rows()[0];
                assert!(indices.insert(index), "{fen}: {m:?}");
                let queens = m.promotion() == Some(Role::Queen);
                assert!(!queens || index < 1792, "{m:?}");
            }
        }
    }

    #[test]
    fn inputs_are_those_of_a_value_and_the_band() {
        for game in playouts::games(300) {
            let position = game.to_chess().unwrap();
            let Some(&m) = position.legal_moves().first() else {
                continue;
            };
            let record = MoveRecord::new(&position, m, Mover::default(), 0);
            let found: Vec<usize> = PlayedMove::new(&record).unwrap().inputs().collect();
            let mut expected: Vec<usize> = crate::active(&game).map(|f| f.index()).collect();
            expected.push(models::INPUTS);
            assert_eq!(found, expected, "{}", game.epd());
        }
    }
}
