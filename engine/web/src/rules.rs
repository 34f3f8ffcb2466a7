//! Rules of chess applied to games and trees: plies, legal moves, endings.

use std::collections::BTreeMap;

use engine::cozy_chess::{Board, Color, File, Move, Piece, Square, util};
use engine::{
    Ending, Position, is_castling, is_chess960, legal_moves, position_key, write_fen, write_move,
};
use serde::Serialize;

use crate::error::RequestError;
use crate::game::{Game, read_fen};
use crate::names::{SideName, SquareName};
use crate::pgn::{find_move, without_piece};
use crate::tree::{Tree, Walk, children};

/// A played move and the position after it.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Ply {
    uci: String,
    san: String,
    /// FEN after the move.
    fen: String,
    /// Hash of the position after the move.
    key: String,
    check: bool,
    capture: bool,
    castles: bool,
}

/// All plies of a game.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct GameReport {
    /// FEN of the start.
    start: String,
    start_key: String,
    plies: Vec<Ply>,
    ending: Option<EndingReport>,
}

/// All moves of a tree.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TreeReport {
    /// FEN of the start.
    start: String,
    start_key: String,
    /// Plies by node, that of node 1 first.
    plies: Vec<Ply>,
    /// Child nodes by node, the main line first.
    children: Vec<Vec<usize>>,
    /// Ending of the main line.
    ending: Option<EndingReport>,
}

/// An ending by the rules.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EndingReport {
    reason: EndingReason,
    winner: Option<SideName>,
}

/// The rule that ended a game.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
enum EndingReason {
    Checkmate,
    Stalemate,
    Repetition,
    FiftyMoves,
    InsufficientMaterial,
}

/// A position and its legal moves.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PositionReport {
    fen: String,
    turn: SideName,
    check: bool,
    /// Target squares by origin; castling has the king's target and the rook's square.
    #[cfg_attr(test, ts(type = "{ [square in SquareName]?: Array<SquareName> }"))]
    dests: BTreeMap<SquareName, Vec<SquareName>>,
    /// Origin and target of the moves that promote.
    promotions: Vec<String>,
    ending: Option<EndingReport>,
    /// Sides with a bare king, which cannot win on time.
    bare: Vec<SideName>,
}

fn ending(position: &Position) -> Option<EndingReport> {
    position.ending().map(|ending| EndingReport {
        reason: match ending {
            Ending::Checkmate { .. } => EndingReason::Checkmate,
            Ending::Stalemate => EndingReason::Stalemate,
            Ending::Repetition => EndingReason::Repetition,
            Ending::FiftyMoves => EndingReason::FiftyMoves,
            Ending::InsufficientMaterial => EndingReason::InsufficientMaterial,
        },
        winner: ending.winner().map(SideName::from),
    })
}

/// Returns a position's hash, cut to 40 bits to be stored with every game; one position in 10^8
/// collides with a named opening.
fn key(board: &Board) -> String {
    format!("{:010x}", position_key(board) >> 24)
}

fn ply(board: &Board, mv: Move, after: &Board, chess960: bool) -> Ply {
    Ply {
        uci: write_move(board, mv, chess960),
        san: util::display_san_move(board, mv).to_string(),
        fen: write_fen(after),
        key: key(after),
        check: !after.checkers().is_empty(),
        capture: after.occupied().len() < board.occupied().len(),
        castles: is_castling(board, mv),
    }
}

/// Describes every move of a tree.
pub fn describe_tree(tree: &Tree) -> Result<TreeReport, RequestError> {
    let walk = Walk::of(tree)?;
    let nodes = tree.nodes.iter().zip(&walk.moves).enumerate();
    let plies = nodes.filter_map(|(index, (node, mv))| {
        let before = &walk.boards[node.parent];
        Some(ply(before, (*mv)?, &walk.boards[index], walk.chess960))
    });
    let plies = plies.collect();
    let children = children(tree);
    let mut main = Position::of(walk.boards[0].clone());
    let mut node = 0;
    while let Some(&next) = children[node].first() {
        if let Some(mv) = walk.moves[next] {
            main.play(mv)?;
        }
        node = next;
    }
    Ok(TreeReport {
        start: write_fen(&walk.boards[0]),
        start_key: key(&walk.boards[0]),
        plies,
        children,
        ending: ending(&main),
    })
}

/// Describes every ply of a game.
pub fn describe_game(game: &Game) -> Result<GameReport, RequestError> {
    let opening = game.opening()?;
    let chess960 = is_chess960(&opening);
    let mut plies: Vec<Ply> = Vec::new();
    let position = game.replay(|position, mv| {
        let board = position.board();
        let mut after = board.clone();
        after.play_unchecked(mv);
        plies.push(ply(board, mv, &after, chess960));
    })?;
    Ok(GameReport {
        start: write_fen(&opening),
        start_key: key(&opening),
        plies,
        ending: ending(&position),
    })
}

/// Parses a move in SAN, its variants, or UCI; returns UCI. If a promotion does not name its
/// piece, neither does the result.
pub fn parse_text(game: &Game, text: &str) -> Result<String, RequestError> {
    let position = game.replay(|_, _| {})?;
    let (board, text) = (position.board(), text.trim());
    if let Some(mv) = find_move(board, text) {
        return Ok(write_move(board, mv, is_chess960(board)));
    }
    let mv = without_piece(board, text).ok_or_else(|| RequestError::NoMove(text.to_string()))?;
    Ok(format!("{}{}", mv.from, mv.to))
}

/// Parses a FEN, with optional fields after the placement, and writes all fields.
pub fn set_up(fen: &str) -> Result<String, RequestError> {
    let board = read_fen(fen)?;
    let passed = fen
        .split_ascii_whitespace()
        .nth(3)
        .filter(|text| *text != "-");
    match (passed, board.en_passant()) {
        (Some(square), None) => Err(RequestError::NothingPassed(square.to_string())),
        _ => Ok(write_fen(&board)),
    }
}

/// Returns the FEN of a Chess960 start.
pub fn chess960(number: u32) -> Result<String, RequestError> {
    match number {
        0..960 => Ok(write_fen(&Board::chess960_startpos(number))),
        _ => Err(RequestError::NoStart(number)),
    }
}

/// Describes the position after a game's last move.
pub fn describe_position(game: &Game) -> Result<PositionReport, RequestError> {
    let position = game.replay(|_, _| {})?;
    let board = position.board();
    let ending = ending(&position);
    let moves = match ending {
        None => legal_moves(board),
        Some(_) => Vec::new(),
    };
    let mut dests: BTreeMap<SquareName, Vec<SquareName>> = BTreeMap::new();
    let mut promotions = Vec::new();
    for mv in moves {
        for to in targets(board, mv).into_iter().map(SquareName) {
            let of_piece = dests.entry(SquareName(mv.from)).or_default();
            if of_piece.contains(&to) {
                continue;
            }
            if mv.promotion.is_some() {
                promotions.push(format!("{}{}", mv.from, mv.to));
            }
            of_piece.push(to);
        }
    }
    let bare = |&color: &Color| board.colors(color) == board.colored_pieces(color, Piece::King);
    Ok(PositionReport {
        fen: write_fen(board),
        turn: board.side_to_move().into(),
        check: !board.checkers().is_empty(),
        dests,
        promotions,
        ending,
        bare: (Color::ALL.into_iter().filter(bare))
            .map(SideName::from)
            .collect(),
    })
}

/// Returns the squares where a move may be dropped: for castling the rook's square and, in
/// standard chess, also the king's target.
fn targets(board: &Board, mv: Move) -> Vec<Square> {
    let mut targets = vec![mv.to];
    if let Some([king, _]) = castled(board, mv)
        && !is_chess960(board)
    {
        targets.push(king);
    }
    targets
}

/// Returns the squares of king and rook after castling; `None` for other moves.
pub fn castled(board: &Board, mv: Move) -> Option<[Square; 2]> {
    let files = match mv.to.file() > mv.from.file() {
        true => [File::G, File::F],
        false => [File::C, File::D],
    };
    let castles = is_castling(board, mv);
    castles.then(|| files.map(|file| Square::new(file, mv.from.rank())))
}
