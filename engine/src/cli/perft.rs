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
    let mut printed = Ok(());
    count(&board, args.depth, |line| {
        printed = print(&format!("{line}\n"));
        printed.is_ok()
    });
    Ok(printed?)
}

/// Counts below each move, and gives `tell` a line of each, then the sum. Ends early
/// where `tell` says no.
pub fn count(board: &Board, depth: u32, mut tell: impl FnMut(&str) -> bool) {
    let chess960 = is_chess960(board);
    let mut nodes = if depth == 0 { perft(board, 0) } else { 0 };
    for (mv, below) in divide(board, depth) {
        if !tell(&format!("{}: {below}", write_move(board, mv, chess960))) {
            return;
        }
        nodes += below;
    }
    tell(&format!("\nNodes searched: {nodes}"));
}
