//! `engine perft`.

use anyhow::Result;
use clap::Args;
use cozy_chess::Board;
use engine::{divide, is_chess960, perft, write_move};
use host::print;

use super::fen_argument;

/// Arguments of `engine perft`.
#[derive(Args)]
pub struct PerftArgs {
    /// Plies
    depth: u32,
    /// Position, by default the start of a game
    #[arg(value_parser = fen_argument)]
    fen: Option<Board>,
}

/// Prints a count for each move, then the sum, as Stockfish does.
pub fn run(args: &PerftArgs) -> Result<()> {
    let board = args.fen.clone().unwrap_or_default();
    let chess960 = is_chess960(&board);
    let mut nodes = if args.depth == 0 { perft(&board, 0) } else { 0 };
    let mut text = String::new();
    for (mv, below) in divide(&board, args.depth) {
        text += &format!("{}: {below}\n", write_move(&board, mv, chess960));
        nodes += below;
    }
    Ok(print(&format!("{text}\nNodes searched: {nodes}\n"))?)
}
