//! FEN and the position part of EPD, in and out.
//!
//! Reads standard FEN, X-FEN and Shredder-FEN castling rights. The last two
//! fields may be missing, and whatever follows them is ignored, so that EPD
//! lines with operations are read as they are.

use cozy_chess::{
    Board, BoardBuilder, BoardBuilderError, Color, File, Piece, Rank, Square, get_king_moves,
};
use thiserror::Error;

use crate::board::rules::BACK_RANKS;

/// Why a FEN was refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FenError {
    /// Fewer than placement, side to move, castling and en passant.
    #[error("FEN {0:?} has fewer than four fields")]
    TooShort(String),
    /// The placement is not eight ranks of eight squares.
    #[error("FEN placement {0:?} is not eight ranks of eight squares")]
    Placement(String),
    /// The side to move is neither `w` nor `b`.
    #[error("FEN side to move {0:?} is neither \"w\" nor \"b\"")]
    SideToMove(String),
    /// A castling right that no rook and king can have.
    #[error("FEN castling rights {0:?} do not fit the kings and rooks")]
    Castling(String),
    /// The en-passant field is neither `-` nor a square of the third or sixth rank.
    #[error("FEN en-passant square {0:?} is no such square")]
    EnPassant(String),
    /// A counter that is no number.
    #[error("FEN counter {0:?} is not a number")]
    Counter(String),
    /// Readable, but no legal position.
    #[error("FEN {fen:?} is not a legal position: {fault}")]
    Illegal {
        /// The FEN.
        fen: String,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// Why no game is played from a position.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// A side without a king.
    #[error("{} has no king", name(*.0))]
    NoKing(Color),
    /// A side with more kings than one.
    #[error("{} has {} kings", name(*.color), .number)]
    Kings {
        /// The side.
        color: Color,
        /// Of that side.
        number: u32,
    },
    /// A pawn on the first or the last rank.
    #[error("a pawn cannot stand on {0}")]
    Pawn(Square),
    /// More than eight pawns of a side.
    #[error("{} has {} pawns", name(*.color), .number)]
    Pawns {
        /// The side.
        color: Color,
        /// Of that side.
        number: u32,
    },
    /// More than sixteen men of a side.
    #[error("{} has {} men", name(*.color), .number)]
    Men {
        /// The side.
        color: Color,
        /// Of that side.
        number: u32,
    },
    /// Kings side by side.
    #[error("the kings stand side by side")]
    Kiss,
    /// The side that has just moved is in check.
    #[error("{} is in check, and it is not its turn", name(*.0))]
    OpponentInCheck(Color),
    /// More than two pieces give check.
    #[error("more than two pieces give check")]
    Checkers,
}

fn name(color: Color) -> &'static str {
    match color {
        Color::White => "White",
        Color::Black => "Black",
    }
}

/// Longer texts are cut to this many characters in messages.
const QUOTED: usize = 100;

fn quote(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}

/// Reads a FEN, or the first fields of an EPD line.
///
/// An en-passant square behind no pawn that can just have moved is dropped,
/// as it means nothing; a halfmove clock beyond 100 is read as 100.
///
/// # Errors
/// [`FenError`] names the field that cannot be read.
pub fn parse_fen(fen: &str) -> Result<Board, FenError> {
    let fields: Vec<&str> = fen.split_ascii_whitespace().take(6).collect();
    let &[placement, side, castling, en_passant, ref counters @ ..] = fields.as_slice() else {
        return Err(FenError::TooShort(quote(fen)));
    };
    let mut builder = BoardBuilder::empty();
    read_placement(&mut builder, placement).ok_or_else(|| FenError::Placement(quote(placement)))?;
    builder.side_to_move = match side {
        "w" => Color::White,
        "b" => Color::Black,
        _ => return Err(FenError::SideToMove(quote(side))),
    };
    read_castling(&mut builder, castling).ok_or_else(|| FenError::Castling(quote(castling)))?;
    builder.en_passant = read_en_passant(en_passant, builder.side_to_move)?;
    // EPD operations stand where FEN has its counters; they start with a letter.
    if let Some(halfmoves) = counters.first().filter(|text| !is_operation(text)) {
        builder.halfmove_clock = read_counter(halfmoves)?.min(100) as u8;
        if let Some(fullmoves) = counters.get(1).filter(|text| !is_operation(text)) {
            builder.fullmove_number = read_counter(fullmoves)?.clamp(1, u16::MAX.into()) as u16;
        }
    }
    build(builder, fen, castling)
}

fn build(mut builder: BoardBuilder, fen: &str, castling: &str) -> Result<Board, FenError> {
    let illegal = |fault| FenError::Illegal {
        fen: quote(fen),
        fault,
    };
    if let Some(fault) = fault_of_men(&builder) {
        return Err(illegal(fault));
    }
    match builder.build() {
        Err(BoardBuilderError::InvalidEnPassant) => {
            builder.en_passant = None;
            build(builder, fen, castling)
        }
        Err(BoardBuilderError::InvalidCastlingRights) => Err(FenError::Castling(quote(castling))),
        // All else that the library looks at was found sound.
        Err(_) => Err(illegal(Fault::OpponentInCheck(!builder.side_to_move))),
        // The library lets three pieces give check.
        Ok(board) if board.checkers().len() > 2 => Err(illegal(Fault::Checkers)),
        Ok(board) => Ok(board),
    }
}

/// What is wrong with the pieces, whoever is to move.
fn fault_of_men(builder: &BoardBuilder) -> Option<Fault> {
    let squares = |piece, color| {
        let stands = move |&square: &Square| builder.square(square) == Some((piece, color));
        Square::ALL.into_iter().filter(stands)
    };
    for color in Color::ALL {
        let kings = squares(Piece::King, color).count() as u32;
        let pawns = squares(Piece::Pawn, color).count() as u32;
        let men = (Piece::ALL.into_iter())
            .map(|piece| squares(piece, color).count() as u32)
            .sum();
        match kings {
            0 => return Some(Fault::NoKing(color)),
            1 => {}
            number => return Some(Fault::Kings { color, number }),
        }
        if let Some(square) = squares(Piece::Pawn, color).find(|&square| BACK_RANKS.has(square)) {
            return Some(Fault::Pawn(square));
        }
        if pawns > 8 {
            let number = pawns;
            return Some(Fault::Pawns { color, number });
        }
        if men > 16 {
            return Some(Fault::Men { color, number: men });
        }
    }
    // The library would let one king take the other.
    let [white, black] =
        [Color::White, Color::Black].map(|color| squares(Piece::King, color).next());
    let touch = get_king_moves(white?).has(black?);
    touch.then_some(Fault::Kiss)
}

fn read_placement(builder: &mut BoardBuilder, placement: &str) -> Option<()> {
    let ranks: Vec<&str> = placement.split('/').collect();
    if ranks.len() != 8 {
        return None;
    }
    for (text, rank) in ranks.into_iter().zip(Rank::ALL.into_iter().rev()) {
        let mut file = 0;
        for symbol in text.chars() {
            if let Some(empty @ 1..=8) = symbol.to_digit(10) {
                file += empty as usize;
                continue;
            }
            let piece = Piece::try_from(symbol.to_ascii_lowercase()).ok()?;
            let color = if symbol.is_ascii_uppercase() {
                Color::White
            } else {
                Color::Black
            };
            let square = Square::new(File::try_index(file)?, rank);
            *builder.square_mut(square) = Some((piece, color));
            file += 1;
        }
        if file != 8 {
            return None;
        }
    }
    Some(())
}

/// `K` and `Q` mean the outermost rook on that side (X-FEN), a file's letter
/// the rook on that file (Shredder-FEN).
fn read_castling(builder: &mut BoardBuilder, castling: &str) -> Option<()> {
    if castling == "-" {
        return Some(());
    }
    for symbol in castling.chars() {
        let color = if symbol.is_ascii_uppercase() {
            Color::White
        } else {
            Color::Black
        };
        let back_rank = Rank::First.relative_to(color);
        let holds = |builder: &BoardBuilder, file: File, piece: Piece| {
            builder.square(Square::new(file, back_rank)) == Some((piece, color))
        };
        let king = File::ALL
            .into_iter()
            .find(|&file| holds(builder, file, Piece::King))?;
        let mut rooks = File::ALL
            .into_iter()
            .filter(|&file| holds(builder, file, Piece::Rook));
        let rook = match symbol.to_ascii_lowercase() {
            'k' => rooks.rfind(|&file| file > king)?,
            'q' => rooks.find(|&file| file < king)?,
            letter => {
                let wanted = File::try_from(letter).ok()?;
                rooks.find(|&file| file == wanted)?
            }
        };
        let rights = builder.castle_rights_mut(color);
        let right = if rook > king {
            &mut rights.short
        } else {
            &mut rights.long
        };
        if right.replace(rook).is_some() {
            return None;
        }
    }
    Some(())
}

fn read_en_passant(text: &str, side_to_move: Color) -> Result<Option<Square>, FenError> {
    if text == "-" {
        return Ok(None);
    }
    match text.parse::<Square>() {
        Ok(square) if square.rank() == Rank::Sixth.relative_to(side_to_move) => Ok(Some(square)),
        _ => Err(FenError::EnPassant(quote(text))),
    }
}

fn is_operation(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn read_counter(text: &str) -> Result<u32, FenError> {
    text.parse().map_err(|_| FenError::Counter(quote(text)))
}

/// Writes a FEN, with Shredder-FEN castling rights where the position is one
/// of Chess960.
pub fn write_fen(board: &Board) -> String {
    if crate::board::is_chess960(board) {
        format!("{board:#}")
    } else {
        board.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let fens = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 12 30",
            "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        ];
        for fen in fens {
            assert_eq!(write_fen(&parse_fen(fen).unwrap()), fen);
        }
    }

    #[test]
    fn takes_epd_lines_and_missing_counters() {
        let plain = parse_fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1").unwrap();
        for epd in [
            "4k3/8/8/8/8/8/8/4K2R w K -",
            "  4k3/8/8/8/8/8/8/4K2R  w K - bm Rh8+; id \"x\";",
            "4k3/8/8/8/8/8/8/4K2R w H - 0 0",
            "4k3/8/8/8/8/8/8/4K2R w K e6 0 1",
        ] {
            assert_eq!(parse_fen(epd).unwrap(), plain, "{epd}");
        }
    }

    #[test]
    fn x_fen_means_the_outermost_rook() {
        let board = parse_fen("4k3/8/8/8/8/8/8/1R1RK1RR w KQ - 0 1").unwrap();
        let rights = board.castle_rights(Color::White);
        assert_eq!((rights.long, rights.short), (Some(File::B), Some(File::H)));
    }

    #[test]
    fn refuses_by_field() {
        let refused = [
            ("", "fewer than four fields"),
            ("8/8/8/8 w - -", "eight ranks"),
            ("4k3/8/8/8/8/8/8/4K4 w - - 0 1", "eight ranks"),
            ("4k3/8/8/8/8/8/8/4X3 w - - 0 1", "eight ranks"),
            ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "side to move"),
            ("4k3/8/8/8/8/8/8/4K3 w KQ - 0 1", "castling"),
            ("4k3/8/8/8/8/8/8/R3K2R w KK - 0 1", "castling"),
            ("4k3/8/8/8/8/8/8/4K3 w - e4 0 1", "en-passant"),
            ("4k3/8/8/8/8/8/8/4K3 w - - -1 1", "counter"),
            ("8/8/8/8/8/8/8/8 w - - 0 1", "White has no king"),
            ("8/8/8/8/8/8/8/4K3 w - - 0 1", "Black has no king"),
            ("4k3/8/8/8/8/8/8/4KK2 w - - 0 1", "White has 2 kings"),
            ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "stand on h8"),
            ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "Black is in check"),
            ("4k3/8/8/8/8/8/4r3/4K3 b - - 0 1", "White is in check"),
            ("8/8/8/8/8/8/4k3/4K3 w - - 0 1", "side by side"),
            ("4k3/8/8/b7/7q/3n4/8/4K3 w - - 0 1", "more than two"),
            (
                "QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/8/8/8/8/K6k w - - 0 1",
                "White has 25 men",
            ),
            ("4k3/8/P7/8/8/8/PPPPPPPP/4K3 w - - 0 1", "White has 9 pawns"),
        ];
        for (fen, reason) in refused {
            let message = parse_fen(fen).unwrap_err().to_string();
            assert!(message.contains(reason), "{fen}: {message}");
        }
    }
}
