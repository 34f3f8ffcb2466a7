//! A game from its start and its moves, as the page keeps it.

use std::collections::BTreeMap;

use engine::cozy_chess::{Board, Color, File, Move, Piece, Rank, Square, util};
use engine::{
    Ending, Position, is_castling, is_chess960, parse_fen, parse_move, position_key, write_fen,
    write_move,
};
use serde::{Deserialize, Serialize};

use crate::session::RequestError;

/// A game so far.
#[derive(Deserialize)]
pub struct Game {
    /// A FEN; the usual start where there is none.
    pub start: Option<String>,
    /// As UCI writes them.
    #[serde(default)]
    pub moves: Vec<String>,
}

impl Game {
    /// The board that the game begins with.
    pub fn opening(&self) -> Result<Board, RequestError> {
        Ok(match &self.start {
            Some(fen) => parse_fen(fen)?,
            None => Board::startpos(),
        })
    }

    /// Plays the game, and tells of every move before it is made.
    pub fn replay(&self, mut each: impl FnMut(&Position, Move)) -> Result<Position, RequestError> {
        let mut position = Position::of(self.opening()?);
        for text in &self.moves {
            let mv = parse_move(position.board(), text)?;
            each(&position, mv);
            position.play(mv)?;
        }
        Ok(position)
    }
}

/// A move that was played, and where it led.
#[derive(Serialize)]
pub struct Ply {
    uci: String,
    san: String,
    fen: String,
    /// Equal for equal positions.
    key: String,
    check: bool,
    capture: bool,
    castles: bool,
}

/// All plies of a game.
#[derive(Serialize)]
pub struct GameReport {
    start: String,
    start_key: String,
    plies: Vec<Ply>,
    ending: Option<EndingReport>,
}

/// How the rules have ended a game.
#[derive(Serialize)]
pub struct EndingReport {
    reason: &'static str,
    winner: Option<&'static str>,
}

/// A position, and what can be played in it.
#[derive(Serialize)]
pub struct PositionReport {
    fen: String,
    turn: &'static str,
    check: bool,
    /// Squares by square. A castling king may go to its target or onto its rook.
    dests: BTreeMap<String, Vec<String>>,
    /// The moves of these that have to name a piece.
    promotions: Vec<String>,
    ending: Option<EndingReport>,
    /// Sides that have nothing but a king, and so cannot win on time.
    bare: Vec<&'static str>,
    halfmoves: u8,
    occurrences: usize,
}

/// The page's word for a side.
pub fn name(color: Color) -> &'static str {
    match color {
        Color::White => "white",
        Color::Black => "black",
    }
}

fn ending(position: &Position) -> Option<EndingReport> {
    position.ending().map(|ending| EndingReport {
        reason: match ending {
            Ending::Checkmate { .. } => "checkmate",
            Ending::Stalemate => "stalemate",
            Ending::Repetition => "repetition",
            Ending::FiftyMoves => "fiftyMoves",
            Ending::InsufficientMaterial => "insufficientMaterial",
        },
        winner: ending.winner().map(name),
    })
}

/// Forty bits: the page loads those of all named openings, and one position in
/// 10^8 gets the name of another.
fn key(board: &Board) -> String {
    format!("{:010x}", position_key(board) >> 24)
}

/// Tells of every ply of a game.
pub fn describe_game(game: &Game) -> Result<GameReport, RequestError> {
    let opening = game.opening()?;
    let chess960 = is_chess960(&opening);
    let mut plies: Vec<Ply> = Vec::new();
    let position = game.replay(|position, mv| {
        let board = position.board();
        let mut after = board.clone();
        after.play_unchecked(mv);
        plies.push(Ply {
            uci: write_move(board, mv, chess960),
            san: util::display_san_move(board, mv).to_string(),
            fen: write_fen(&after),
            key: key(&after),
            check: !after.checkers().is_empty(),
            capture: after.occupied().len() < board.occupied().len(),
            castles: is_castling(board, mv),
        });
    })?;
    Ok(GameReport {
        start: write_fen(&opening),
        start_key: key(&opening),
        plies,
        ending: ending(&position),
    })
}

/// Reads a move as people or UCI write it.
pub fn parse_text(game: &Game, text: &str) -> Result<String, RequestError> {
    let position = game.replay(|_, _| {})?;
    let (board, text) = (position.board(), text.trim());
    // People write castling with zeros, and glyphs behind a move.
    let plain = text.trim_end_matches(['!', '?']).replace('0', "O");
    let mv = match util::parse_san_move(board, &plain) {
        Ok(mv) => mv,
        Err(_) => parse_move(board, text)?,
    };
    Ok(write_move(board, mv, is_chess960(board)))
}

/// Tells what can be played after a game's last move.
pub fn describe_position(game: &Game) -> Result<PositionReport, RequestError> {
    let position = game.replay(|_, _| {})?;
    let board = position.board();
    let ending = ending(&position);
    let mut moves = Vec::new();
    if ending.is_none() {
        board.generate_moves(|piece_moves| {
            moves.extend(piece_moves);
            false
        });
    }
    let mut dests: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut promotions = Vec::new();
    for mv in moves {
        for to in targets(board, mv) {
            let of_piece = dests.entry(mv.from.to_string()).or_default();
            let to = to.to_string();
            if mv.promotion.is_some() && !of_piece.contains(&to) {
                promotions.push(format!("{}{to}", mv.from));
            }
            if !of_piece.contains(&to) {
                of_piece.push(to);
            }
        }
    }
    let bare = |&color: &Color| board.colors(color) == board.colored_pieces(color, Piece::King);
    Ok(PositionReport {
        fen: write_fen(board),
        turn: name(board.side_to_move()),
        check: !board.checkers().is_empty(),
        dests,
        promotions,
        ending,
        bare: Color::ALL.into_iter().filter(bare).map(name).collect(),
        halfmoves: board.halfmove_clock(),
        occurrences: position.occurrences(),
    })
}

/// Where a move may be dropped: castling, on the rook, and in standard chess
/// also on the king's target.
fn targets(board: &Board, mv: Move) -> Vec<Square> {
    let mut targets = vec![mv.to];
    if is_castling(board, mv) && !is_chess960(board) {
        let file = match mv.to.file() > mv.from.file() {
            true => File::G,
            false => File::C,
        };
        let rank: Rank = mv.to.rank();
        targets.push(Square::new(file, rank));
    }
    targets
}
