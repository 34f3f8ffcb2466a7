//! Training data of a record: inputs, label and result, all from the side to move's point of view.
//!
//! ```
//! use records::position::{Label, Origin, Record};
//! use shakmaty::Chess;
//!
//! let start = Record::new(&Chess::new(), Label::from_centipawns(18), Origin::default());
//! // 32 pieces and four castling rights.
//! assert_eq!(features::active(&start).count(), 36);
//! assert_eq!(features::target_pawns(&start), 0.18);
//! ```

pub mod playouts;
mod policy;

use models::{
    Architecture, CastlingSide, Color, Feature, InputPosition, Piece, Side, Square, Threats,
    material,
};
use records::position::{GameResult, Record};
use shakmaty::{Bitboard, Role, attacks};

pub use policy::{PlayedMove, arrival};

/// Piece planes: own and their P N B R Q K.
pub const PIECES: usize = 12;
/// Factoriser rows: first-layer rows that inputs share during training. Each piece has one, 8 for
/// its ranks and 4 for its distances from the edge files; each threat has one.
pub const SHARED: usize = PIECES * (1 + 8 + 4) + Threats::INPUTS;

/// Returns the shared rows of an input: three for a piece, one for a threat, none otherwise.
pub fn shared_rows(input: usize) -> impl Iterator<Item = usize> {
    let of_piece = (input < PIECES * 64).then(|| {
        let (piece, rank, file) = (input / 64, input % 64 / 8, input % 8);
        let edge = file.min(7 - file);
        [
            piece,
            PIECES + piece * 8 + rank,
            PIECES * 9 + piece * 4 + edge,
        ]
    });
    let threat = input.checked_sub(Threats::FIRST_INPUT);
    let threat = threat.filter(|&threat| threat < Threats::INPUTS);
    let of_threat = threat.map(|threat| PIECES * 13 + threat);
    of_piece.into_iter().flatten().chain(of_threat)
}

/// Slope of Lichess's win chances, per pawn, fitted to results of its rated games (lila,
/// `WinPercent`).
pub const K: f64 = 0.368208;

/// Returns the win chance of a value in pawns, `2 / (1 + exp(-K p)) - 1`: -1 lost, 1 won.
pub fn win_chance(pawns: f32) -> f32 {
    (f64::from(pawns) * K / 2.0).tanh() as f32
}

/// Returns the active inputs, at most [`models::MAX_ACTIVE`].
pub fn active(record: &Record) -> impl Iterator<Item = Feature> + use<> {
    with_attacks(record).features()
}

/// Returns the output bucket of a position.
pub fn bucket(architecture: Architecture, record: &Record) -> usize {
    architecture.bucket(record.pieces().count())
}

/// Returns the position of a record without attacks, so without threats among its inputs.
pub fn without_attacks(record: &Record) -> InputPosition {
    let mut sides = [Side::default(); 2];
    for (at, owner, role) in record.pieces() {
        let pieces = &mut sides[color(owner) as usize].pieces;
        pieces[piece(role) as usize] |= Bitboard::from(at).0;
    }
    let mut castling = [[false; 2]; 2];
    for (owner, side) in record.castling() {
        let side = match side {
            shakmaty::CastlingSide::KingSide => CastlingSide::King,
            shakmaty::CastlingSide::QueenSide => CastlingSide::Queen,
        };
        castling[color(owner) as usize][side as usize] = true;
    }
    InputPosition {
        turn: color(record.turn()),
        sides,
        castling,
        en_passant: record.en_passant().map(square),
        in_check: record.in_check(),
    }
}

/// Returns the position of a record with attacks.
fn with_attacks(record: &Record) -> InputPosition {
    let mut position = without_attacks(record);
    let all = position.sides.iter().flat_map(|side| side.pieces);
    let occupied = Bitboard(all.fold(0, |all, pieces| all | pieces));
    let colors = [shakmaty::Color::White, shakmaty::Color::Black];
    for (side, color) in position.sides.iter_mut().zip(colors) {
        let [pawns, knights, bishops, rooks, queens, king] = side.pieces.map(Bitboard);
        let attacks = [
            attacked(pawns, |at| attacks::pawn_attacks(color, at)),
            attacked(knights, attacks::knight_attacks),
            attacked(bishops, |at| attacks::bishop_attacks(at, occupied)),
            attacked(rooks, |at| attacks::rook_attacks(at, occupied)),
            attacked(queens, |at| attacks::queen_attacks(at, occupied)),
            attacked(king, attacks::king_attacks),
        ];
        side.attacks = attacks.map(|squares| squares.0);
    }
    position
}

/// Returns the union of the attacks of the pieces on these squares.
fn attacked(pieces: Bitboard, from: impl Fn(shakmaty::Square) -> Bitboard) -> Bitboard {
    let sets = pieces.into_iter().map(from);
    sets.fold(Bitboard::EMPTY, |all, squares| all | squares)
}

/// Returns the label in pawns, from the side to move's point of view
/// ([`Label::target_pawns`](records::position::Label::target_pawns)).
pub fn target_pawns(record: &Record) -> f32 {
    record.label().seen_by(record.turn()).target_pawns()
}

/// Returns the game's result from the side to move's point of view: -1 lost, 0 drawn, 1 won. `None`
/// if it is unknown.
pub fn result(record: &Record) -> Option<f32> {
    let white = match record.result()? {
        GameResult::BlackWins => -1.0,
        GameResult::Draw => 0.0,
        GameResult::WhiteWins => 1.0,
    };
    Some(record.turn().fold_wb(white, -white))
}

/// Returns the material balance in pawns, from the side to move's point of view: the baseline of
/// piece values only.
pub fn material(record: &Record) -> f32 {
    let balance: i32 = record
        .pieces()
        .map(|(_, owner, role)| {
            let sign = if owner == record.turn() { 1 } else { -1 };
            sign * material::centipawns(piece(role))
        })
        .sum();
    balance as f32 / 100.0
}

fn color(color: shakmaty::Color) -> Color {
    match color {
        shakmaty::Color::White => Color::White,
        shakmaty::Color::Black => Color::Black,
    }
}

fn piece(role: Role) -> Piece {
    match role {
        Role::Pawn => Piece::Pawn,
        Role::Knight => Piece::Knight,
        Role::Bishop => Piece::Bishop,
        Role::Rook => Piece::Rook,
        Role::Queen => Piece::Queen,
        Role::King => Piece::King,
    }
}

fn square(square: shakmaty::Square) -> Square {
    Square::new(square as u8).expect("both count a1 to h8 as 0 to 63")
}

#[cfg(test)]
mod tests {
    use records::position::{Label, Origin};
    use shakmaty::fen::Fen;
    use shakmaty::uci::UciMove;
    use shakmaty::{CastlingMode, Chess, Position, PositionError};

    use super::*;

    fn board(fen: &str) -> Chess {
        let fen: Fen = fen.parse().expect("a FEN");
        let position = fen.into_position(CastlingMode::Chess960);
        let position = position.or_else(PositionError::ignore_invalid_ep_square);
        position.expect("a legal position")
    }

    fn recorded(position: &Chess, centipawns: i64) -> Record {
        let label = Label::from_centipawns(centipawns);
        Record::new(position, label, Origin::default())
    }

    fn record(fen: &str, centipawns: i64) -> Record {
        recorded(&board(fen), centipawns)
    }

    fn indices(record: &Record) -> Vec<usize> {
        let mut indices: Vec<usize> = active(record).map(Feature::index).collect();
        indices.sort();
        indices
    }

    #[test]
    fn colour_twins_have_equal_inputs() {
        let white = record(
            "r3k2r/p1pp1pb1/bn2Qnp1/2qPN3/1p2P3/2N5/PPPBBPPP/R3K2R b KQkq - 3 2",
            -50,
        );
        let black = record(
            "r3k2r/pppbbppp/2n5/1P2p3/2Qpn3/BN2qNP1/P1PP1PB1/R3K2R w KQkq - 3 2",
            50,
        );
        assert_eq!(indices(&white), indices(&black));
        assert_eq!(target_pawns(&white), 0.5);
        assert_eq!(target_pawns(&black), 0.5);
        assert_eq!(material(&white), material(&black));
    }

    /// Positions reached by a move are tested twice, the second time by playing the move.
    #[test]
    fn inputs_are_those_of_python() {
        let mut compared = 0;
        let mut compare = |position: &Chess, expected: &[usize]| {
            let record = recorded(position, 0);
            assert_eq!(indices(&record), expected, "{}", record.epd());
            compared += 1;
        };
        for row in test_support::inputs_by_python() {
            compare(&board(&row.fen), &row.inputs);
            if let Some((played, before)) = row.played {
                let before = board(&before);
                let played: UciMove = played.parse().expect("a move");
                let played = played.to_move(&before).expect("a legal move");
                compare(&before.play(played).expect("it is"), &row.inputs);
            }
        }
        assert!(compared > 2_000, "{compared}");
    }

    #[test]
    fn every_kind_of_input_is_read() {
        let position = record("4k3/8/8/2Pp4/8/8/8/4K2R w K d6 0 2", 0);
        let expected = vec![
            34,           // own pawn c5
            3 * 64 + 7,   // own rook h1
            5 * 64 + 4,   // own king e1
            6 * 64 + 35,  // their pawn d5
            11 * 64 + 60, // their king e8
            12 * 64 + 43, // en passant on d6
            14 * 64,      // own O-O
        ];
        assert_eq!(indices(&position), expected);
        assert_eq!(material(&position), 5.0);
        // A knight attacks their rook, which a pawn defends.
        let exchange = record("4k3/8/3p4/4r3/8/5N2/8/4K3 w - - 0 1", 0);
        let threats = indices(&exchange).into_iter();
        let threats: Vec<usize> = threats.filter(|i| (832..896).contains(i)).collect();
        assert_eq!(threats, [832 + 15 + 9]);
        let check = record("4k3/8/8/8/8/8/8/4R1K1 b - - 0 1", 0);
        assert!(indices(&check).contains(&900));
    }
}
