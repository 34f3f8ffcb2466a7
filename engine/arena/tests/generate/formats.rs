//! Equal games in all formats.

use std::fs;
use std::io::BufRead;

use engine::cozy_chess::{Color, Piece};
use engine::{Position, legal_en_passant, parse_fen, write_fen};
use viriformat::chess::piece::PieceType;
use viriformat::dataformat::{Game as Viri, WDL};

use super::{games, statistics};

const NET: [&str; 6] = ["--engine", "material", "--nodes", "100", "--games", "50"];

#[test]
fn a_compressed_output_holds_the_same_text() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, packed] = ["a.pgn", "a.pgn.zst"].map(|name| folder.path().join(name));
    for out in [&plain, &packed] {
        statistics(&NET, out);
    }
    let unpacked = zstd::decode_all(fs::File::open(packed).unwrap()).unwrap();
    assert_eq!(unpacked, fs::read(plain).unwrap());
}

/// Read by the crate of the format's author, which checks every move in this profile.
#[test]
fn viriformat_holds_the_same_games() {
    for more in [&["--resign", "none"][..], &["--chess960"]] {
        let folder = tempfile::tempdir().unwrap();
        let [plain, viri] = ["a.pgn", "a.viri"].map(|name| folder.path().join(name));
        let arguments = [&NET[..], more].concat();
        for out in [&plain, &viri] {
            statistics(&arguments, out);
        }
        let bytes = fs::read(viri).unwrap();
        let mut rest = &bytes[..];
        let (mut mates, mut castlings, mut promotions) = (0, 0, 0);
        for game in games(&fs::read_to_string(plain).unwrap()) {
            let other = Viri::deserialise_from(&mut rest, Vec::new()).unwrap();
            let result = match other.outcome() {
                WDL::Win => "1-0",
                WDL::Draw => "1/2-1/2",
                WDL::Loss => "0-1",
            };
            assert_eq!(game.tag("Result"), Some(result));
            let start = game.tag("FEN").map(|fen| parse_fen(fen).unwrap());
            let mut position = Position::of(start.unwrap_or_default());
            let opening = game.opening();
            for ply in &game.plies[..opening] {
                position.play(ply.mv).unwrap();
            }
            // Leaves out fields that differ: castling rights in Chess960, and en passant without a
            // capture.
            let fields = |fen: &str| -> Vec<String> {
                let fields = fen.split(' ').map(str::to_string).enumerate();
                let same = fields.filter(|(i, _)| ![2, 3].contains(i));
                same.map(|(_, field)| field).collect()
            };
            let theirs = other.initial_position();
            let board = position.board();
            assert_eq!(fields(&theirs.to_string()), fields(&write_fen(board)));
            let en_passant = theirs.ep_sq().map(|square| square.inner());
            let expected = legal_en_passant(board).map(|square| square as u8);
            assert_eq!(en_passant, expected);
            assert_eq!(other.moves.len(), game.plies.len() - opening);
            for (ply, (mv, score)) in (opening..).zip(&other.moves) {
                let ours = game.plies[ply].mv;
                let squares = (mv.from().inner(), mv.to().inner());
                assert_eq!(squares, (ours.from as u8, ours.to as u8));
                let promotion = mv.promotion_type().map(|piece| match piece {
                    PieceType::Knight => Piece::Knight,
                    PieceType::Bishop => Piece::Bishop,
                    PieceType::Rook => Piece::Rook,
                    _ => Piece::Queen,
                });
                assert_eq!(promotion, ours.promotion);
                let board = position.board();
                let castles = board.color_on(ours.to) == Some(board.side_to_move());
                assert_eq!(mv.is_castle(), castles);
                castlings += u32::from(castles);
                promotions += u32::from(promotion.is_some());
                let (label, _) = game.label(ply);
                let score = i32::from(score.get());
                match label.strip_prefix('#') {
                    Some(moves) => {
                        let plies = 32_000 - score.abs();
                        let mated_by: i32 = moves.parse().unwrap();
                        assert_eq!((plies + 1) / 2 * score.signum(), mated_by);
                        // The side that mates plays the last ply.
                        let mates_now = (score > 0) == (board.side_to_move() == Color::White);
                        assert_eq!(plies % 2 == 1, mates_now);
                        mates += 1;
                    }
                    None => {
                        let pawns: f64 = label.parse().unwrap();
                        assert_eq!((100.0 * pawns).round() as i32, score);
                    }
                }
                position.play(ours).unwrap();
            }
        }
        assert!(rest.fill_buf().unwrap().is_empty());
        assert!(castlings > 0 && promotions > 0);
        assert!(mates > 0);
    }
}
