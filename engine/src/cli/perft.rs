//! `engine perft`.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use clap::Args;
use cozy_chess::{Board, Move};
use engine::uci::MAX_PLIES;
use engine::{is_chess960, legal_moves, perft, write_move};
use host::print;

use super::fen_argument;

/// Depth counted without checking whether to stop: some milliseconds.
const AT_ONCE: u32 = 4;

/// Arguments of `engine perft`.
#[derive(Args)]
pub struct PerftArgs {
    /// Depth in plies
    #[arg(value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_PLIES)))]
    depth: u32,
    /// Position (default: the standard start)
    #[arg(value_parser = fen_argument)]
    fen: Option<Board>,
}

/// Prints the count of each move, then the sum, as Stockfish does.
pub fn run(args: &PerftArgs) -> Result<()> {
    let board = args.fen.clone().unwrap_or_default();
    let mut printed = Ok(());
    let stop = AtomicBool::new(false);
    count(&board, args.depth, &stop, |line| {
        printed = print(&format!("{line}\n"));
        printed.is_ok()
    });
    Ok(printed?)
}

/// Calls `tell` with a line per move, then with the sum. Returns early if `stop` is set or `tell`
/// returns false.
pub fn count(board: &Board, depth: u32, stop: &AtomicBool, mut tell: impl FnMut(&str) -> bool) {
    let chess960 = is_chess960(board);
    let mut nodes = u64::from(depth == 0);
    let moves = if depth == 0 {
        Vec::new()
    } else {
        legal_moves(board)
    };
    for mv in moves {
        let Some(below) = count_below(board, mv, depth - 1, stop) else {
            return;
        };
        if !tell(&format!("{}: {below}", write_move(board, mv, chess960))) {
            return;
        }
        nodes += below;
    }
    tell(&format!("\nNodes searched: {nodes}"));
}

/// Returns [`perft`] after a move; `None` once `stop` is set.
fn count_below(board: &Board, mv: Move, depth: u32, stop: &AtomicBool) -> Option<u64> {
    let mut child = board.clone();
    child.play_unchecked(mv);
    if depth <= AT_ONCE {
        return Some(perft(&child, depth));
    }
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    let counts = legal_moves(&child).into_iter();
    counts
        .map(|mv| count_below(&child, mv, depth - 1, stop))
        .sum()
}
