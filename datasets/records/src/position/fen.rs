//! Text forms of a record: EPD, FEN and lines of positions.

use std::fmt::Write;

use shakmaty::{Bitboard, Color, File, Square};

use crate::position::{GameResult, Record};

const EMPTY: u8 = 0;

impl Record {
    /// Returns the first four fields of the position's FEN. En passant is given only if a capture
    /// is legal, castling in X-FEN letters.
    pub fn epd(&self) -> String {
        let mut text = String::with_capacity(80);
        self.write_epd(&mut text);
        text
    }

    /// Appends the position's FEN, six fields. A record has no fifty-move clock, so it is written
    /// as 0; the move number follows from the ply.
    pub fn write_fen(&self, text: &mut String) {
        self.write_epd(text);
        // Writing to a String cannot fail.
        let _ = write!(text, " 0 {}", self.ply() / 2 + 1);
    }

    /// Appends a line of [`PositionFormat::Text`](crate::text_formats::PositionFormat::Text),
    /// `FEN | cp | wdl`, from White's point of view. A mate is written as stored, ±(32000 - n), an
    /// unknown result as `?`.
    pub fn write_line(&self, text: &mut String) {
        self.write_fen(text);
        let result = match self.result() {
            Some(GameResult::BlackWins) => "0.0",
            Some(GameResult::Draw) => "0.5",
            Some(GameResult::WhiteWins) => "1.0",
            None => "?",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, " | {} | {result}", self.label().stored());
    }

    /// Appends the [`Record::epd`] text.
    pub fn write_epd(&self, text: &mut String) {
        let mut board = [EMPTY; 64];
        for (square, color, role) in self.pieces() {
            let letter = role.char() as u8;
            board[square as usize] = color.fold_wb(letter.to_ascii_uppercase(), letter);
        }
        write_board(&board, text);
        text.push_str(self.turn().fold_wb(" w ", " b "));
        self.write_castling(&board, text);
        text.push(' ');
        match self.en_passant() {
            Some(square) => text.extend([square.file().char(), square.rank().char()]),
            None => text.push('-'),
        }
    }

    /// Appends castling rights in X-FEN: K or Q for the outermost rook of a side, the file letter
    /// for an inner one.
    fn write_castling(&self, board: &[u8; 64], text: &mut String) {
        let unmoved: Bitboard = self.unmoved_rooks().map(|(square, _)| square).collect();
        let start = text.len();
        for color in Color::ALL {
            let letter = |upper: u8| color.fold_wb(upper, upper.to_ascii_lowercase());
            let rank = &board[Square::from_coords(File::A, color.backrank()) as usize..][..8];
            let king = rank.iter().position(|&piece| piece == letter(b'K'));
            let first = rank.iter().position(|&piece| piece == letter(b'R'));
            let last = rank.iter().rposition(|&piece| piece == letter(b'R'));
            for square in (unmoved & color.backrank()).into_iter().rev() {
                let rook = Some(square.file() as usize);
                let upper = if rook == first && rook < king {
                    b'Q'
                } else if rook == last && rook > king {
                    b'K'
                } else {
                    square.file().upper_char() as u8
                };
                text.push(char::from(letter(upper)));
            }
        }
        if text.len() == start {
            text.push('-');
        }
    }
}

/// Appends the board field of a FEN: ranks from the eighth to the first, digits for runs of empty
/// squares.
fn write_board(board: &[u8; 64], text: &mut String) {
    // At most 64 pieces and eight slashes. Each byte is written unconditionally and kept by
    // advancing `len`: pieces are too irregular for branch prediction.
    let mut bytes = [0; 72];
    let mut len = 0;
    for rank in board.chunks_exact(8).rev() {
        let mut empty = 0;
        for &piece in rank {
            let occupied = piece != EMPTY;
            bytes[len] = b'0' + empty;
            len += usize::from(occupied && empty > 0);
            bytes[len] = piece;
            len += usize::from(occupied);
            empty = if occupied { 0 } else { empty + 1 };
        }
        bytes[len] = b'0' + empty;
        len += usize::from(empty > 0);
        bytes[len] = b'/';
        len += 1;
    }
    text.push_str(str::from_utf8(&bytes[..len - 1]).expect("ASCII"));
}

#[cfg(test)]
mod tests {
    use shakmaty::fen::{Epd, Fen};
    use shakmaty::{CastlingMode, Chess, EnPassantMode};

    use crate::position::{Label, Origin, Record};

    /// Includes Chess960: two rooks on one side of the king, a castling rook inside another, rights
    /// of one side only.
    const FENS: [&str; 10] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 0 12",
        "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
        "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 60",
        "1r2k1r1/8/8/8/8/8/8/RR2K1R1 w BGbg - 0 1",
        "1rk2rr1/8/8/8/8/8/8/1RK2RR1 w BFbf - 0 1",
        "4k2r/8/8/8/8/8/8/RR2K2R b KBk - 0 32768",
        "k7/8/8/8/8/8/8/4KR1R w F - 0 5",
        "r5kr/8/8/8/8/8/8/R5KR b HAha - 0 2",
        "7k/P7/8/8/8/8/7p/K7 w - - 0 99",
    ];

    #[test]
    fn text_equals_shakmaty() {
        for text in FENS {
            let fen: Fen = text.parse().unwrap();
            let position: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
            let record = Record::new(&position, Label::from_centipawns(0), Origin::default());
            let epd = Epd::from_position(&position, EnPassantMode::Legal);
            assert_eq!(record.epd(), epd.to_string());
            let mut written = String::new();
            record.write_fen(&mut written);
            let fen = Fen::from_position(&position, EnPassantMode::Legal);
            assert_eq!(written, fen.to_string());
        }
    }
}
