//! FEN and the position part of EPD: parsing, repair and writing.
//!
//! Parses standard FEN, X-FEN and Shredder-FEN castling rights. The last two fields may be missing;
//! text after them is ignored, so EPD lines with operations parse as well.

use cozy_chess::{
    Board, BoardBuilder, BoardBuilderError, Color, File, Piece, Rank, Square, get_king_moves,
};
use thiserror::Error;

use crate::board::rules::{BACK_RANKS, passed_square};

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
    /// A castling right without a matching king and rook.
    #[error("FEN castling rights {0:?} do not fit the kings and rooks")]
    Castling(String),
    /// The en-passant field is neither `-` nor a square of the third or sixth rank.
    #[error("FEN en-passant square {0:?} is not a possible en-passant square")]
    EnPassant(String),
    /// A counter that is not a number.
    #[error("FEN counter {0:?} is not a number")]
    Counter(String),
    /// A well-formed FEN of an illegal position.
    #[error("FEN {fen:?} is not a legal position: {fault}")]
    Illegal {
        /// The FEN.
        fen: String,
        /// The first fault found.
        fault: Fault,
    },
}

/// Why a position is illegal.
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
        /// Kings of that side.
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
        /// Pawns of that side.
        number: u32,
    },
    /// More than sixteen men of a side.
    #[error("{} has {} men", name(*.color), .number)]
    Men {
        /// The side.
        color: Color,
        /// Men of that side.
        number: u32,
    },
    /// Adjacent kings.
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

/// A FEN field, or a part of one, that [`repair_fen`] dropped.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FenRepair {
    /// Castling rights without their king or rook.
    #[error("FEN castling rights {0:?} do not fit the kings and rooks: dropped")]
    Castling(String),
    /// An en-passant square not behind a pawn that can just have moved.
    #[error("FEN en-passant square {0} is behind no pawn that has just moved two: dropped")]
    EnPassant(Square),
}

/// A position parsed from a FEN, and the parts of the FEN that do not fit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedFen {
    /// The position.
    pub board: Board,
    /// The dropped parts.
    pub repairs: Vec<FenRepair>,
}

/// Maximum length in characters of text quoted in messages.
const QUOTED: usize = 100;

fn quote(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}

/// Parses a FEN, or an EPD line with its operations `hmvc` and `fmvn`.
///
/// An en-passant square not behind a pawn that can just have moved is dropped, as it means nothing;
/// a halfmove clock beyond 100 is read as 100.
///
/// # Errors
/// [`FenError`] names the field that is malformed or does not fit the pieces.
pub fn parse_fen(fen: &str) -> Result<Board, FenError> {
    let RepairedFen { board, repairs } = repair_fen(fen)?;
    for repair in repairs {
        match repair {
            FenRepair::Castling(symbols) => return Err(FenError::Castling(symbols)),
            FenRepair::EnPassant(square)
                if square.rank() != Rank::Sixth.relative_to(board.side_to_move()) =>
            {
                return Err(FenError::EnPassant(square.to_string()));
            }
            FenRepair::EnPassant(_) => {}
        }
    }
    Ok(board)
}

/// Parses a FEN as [`parse_fen`] does, but drops castling rights and an en-passant square that do
/// not fit the pieces, as python-chess and Lichess do.
///
/// # Errors
/// [`FenError`] names the malformed field.
pub fn repair_fen(fen: &str) -> Result<RepairedFen, FenError> {
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
    let mut repairs = Vec::new();
    let misfits =
        read_castling(&mut builder, castling).ok_or_else(|| FenError::Castling(quote(castling)))?;
    if !misfits.is_empty() {
        repairs.push(FenRepair::Castling(misfits));
    }
    let passed = read_en_passant(en_passant)?;
    let rank = Rank::Sixth.relative_to(builder.side_to_move);
    builder.en_passant = passed.filter(|square| square.rank() == rank);
    // EPD operations start with a letter, FEN counters do not.
    let is_counter = |text: &&&str| !is_operation(text);
    let halfmoves = counters.first().filter(is_counter).copied();
    let fullmoves = halfmoves.and(counters.get(1).filter(is_counter).copied());
    if let Some(halfmoves) = halfmoves.or_else(|| operand(fen, "hmvc")) {
        builder.halfmove_clock = read_counter(halfmoves)?.min(100) as u8;
    }
    if let Some(fullmoves) = fullmoves.or_else(|| operand(fen, "fmvn")) {
        builder.fullmove_number = read_counter(fullmoves)?.clamp(1, u16::MAX.into()) as u16;
    }
    let board = build(builder, fen, castling)?;
    // The board keeps the square after every advance of two, capturable or not.
    if let Some(square) = passed
        && passed_square(&board) != passed
    {
        repairs.push(FenRepair::EnPassant(square));
    }
    Ok(RepairedFen { board, repairs })
}

/// Returns the operand of the EPD operation `code`, such as 4 of `hmvc 4;`. Quoted text is not
/// searched.
fn operand<'a>(epd: &'a str, code: &str) -> Option<&'a str> {
    let mut rest = epd;
    for _ in 0..4 {
        rest = rest.trim_ascii_start();
        rest = &rest[rest.find(|c: char| c.is_ascii_whitespace())?..];
    }
    let mut quoted = false;
    let operations = rest.split(|c: char| {
        quoted ^= c == '"';
        c == ';' && !quoted
    });
    operations.into_iter().find_map(|operation| {
        let mut words = operation.split_ascii_whitespace();
        (words.next() == Some(code)).then(|| words.next())?
    })
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
        // `fault_of_men` has found every other fault that the library checks.
        Err(_) => Err(illegal(Fault::OpponentInCheck(!builder.side_to_move))),
        // The library accepts three checkers.
        Ok(board) if board.checkers().len() > 2 => Err(illegal(Fault::Checkers)),
        Ok(board) => Ok(board),
    }
}

/// Returns the first fault of the pieces that does not depend on the side to move.
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
    // The library accepts adjacent kings.
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

/// Parses castling rights: `K` and `Q` mean the outermost rook on that side (X-FEN), a file's
/// letter the rook on that file (Shredder-FEN). Returns the symbols without a matching king and
/// rook; `None` if a symbol is not a castling right.
fn read_castling(builder: &mut BoardBuilder, castling: &str) -> Option<String> {
    let mut misfits = String::new();
    if castling == "-" {
        return Some(misfits);
    }
    for symbol in castling.chars() {
        if !matches!(symbol.to_ascii_lowercase(), 'k' | 'q' | 'a'..='h') {
            return None;
        }
        if set_right(builder, symbol).is_none() && !misfits.contains(symbol) {
            misfits.push(symbol);
        }
    }
    Some(misfits)
}

/// Sets the castling right of `symbol`. Returns `None` without its king and rook, or if another
/// rook already has the right.
fn set_right(builder: &mut BoardBuilder, symbol: char) -> Option<()> {
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
    if right.is_some_and(|taken| taken != rook) {
        return None;
    }
    *right = Some(rook);
    Some(())
}

fn read_en_passant(text: &str) -> Result<Option<Square>, FenError> {
    if text == "-" {
        return Ok(None);
    }
    match text.parse::<Square>() {
        Ok(square) if matches!(square.rank(), Rank::Third | Rank::Sixth) => Ok(Some(square)),
        _ => Err(FenError::EnPassant(quote(text))),
    }
}

fn is_operation(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn read_counter(text: &str) -> Result<u32, FenError> {
    text.parse().map_err(|_| FenError::Counter(quote(text)))
}

/// Returns the FEN, with Shredder-FEN castling rights for Chess960 positions.
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
    fn round_trips() {
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
    fn parses_epd_lines_and_missing_counters() {
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
    fn repairs_and_reports_misfits() {
        for (fen, repaired, named) in [
            ("4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", "w K - 0 1", "\"Qkq\""),
            ("4k3/8/8/8/8/8/8/R3K1RR w HG - 0 1", "w K - 0 1", "\"G\""),
            ("4k3/8/8/8/8/8/8/4K2R w K e6 0 1", "w K - 0 1", "square e6"),
            ("4k3/8/8/8/8/8/8/4K2R w K e3 0 1", "w K - 0 1", "square e3"),
        ] {
            let RepairedFen { board, repairs } = repair_fen(fen).unwrap();
            assert!(write_fen(&board).ends_with(repaired), "{fen}: {board}");
            assert_eq!(repairs.len(), 1, "{fen}: {repairs:?}");
            assert!(repairs[0].to_string().contains(named), "{fen}: {repairs:?}");
        }
        // Each pawn has just moved two, capturable or not.
        for fen in [
            "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",
            "4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1",
        ] {
            assert_eq!(repair_fen(fen).unwrap().repairs, [], "{fen}");
        }
    }

    #[test]
    fn parses_epd_counter_operations() {
        for (epd, counters) in [
            ("hmvc 7; fmvn 31;", "7 31"),
            ("bm Rh8+; fmvn 31; hmvc 7;", "7 31"),
            ("fmvn 31;", "0 31"),
            ("id \"a; hmvc 7; b\"; fmvn 2", "0 2"),
            ("3 9 hmvc 7; fmvn 31;", "3 9"),
            ("", "0 1"),
        ] {
            let board = parse_fen(&format!("4k3/8/8/8/8/8/8/4K2R w K - {epd}")).unwrap();
            assert!(
                write_fen(&board).ends_with(&format!(" {counters}")),
                "{epd}: {board}"
            );
        }
        assert!(parse_fen("4k3/8/8/8/8/8/8/4K2R w K - hmvc x;").is_err());
    }

    #[test]
    fn x_fen_picks_the_outermost_rook() {
        let board = parse_fen("4k3/8/8/8/8/8/8/1R1RK1RR w KQ - 0 1").unwrap();
        let rights = board.castle_rights(Color::White);
        assert_eq!((rights.long, rights.short), (Some(File::B), Some(File::H)));
    }

    #[test]
    fn errors_name_the_field() {
        let refused = [
            ("", "fewer than four fields"),
            ("8/8/8/8 w - -", "eight ranks"),
            ("4k3/8/8/8/8/8/8/4K4 w - - 0 1", "eight ranks"),
            ("4k3/8/8/8/8/8/8/4X3 w - - 0 1", "eight ranks"),
            ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "side to move"),
            ("4k3/8/8/8/8/8/8/4K3 w KQ - 0 1", "castling"),
            ("4k3/8/8/8/8/8/8/R3K1RR w HG - 0 1", "castling"),
            ("4k3/8/8/8/8/8/8/R3K2R w KX - 0 1", "castling"),
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
