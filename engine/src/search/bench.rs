//! Benchmark positions and games of `engine bench`, and its signature search. No clock is read
//! here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cozy_chess::{Board, Move};

use crate::board::{Position, legal_moves, position_key};
use crate::evaluation::Evaluator;
use crate::search::Tree;
use crate::search::engine::Engine;
use crate::search::limits::Limits;
use crate::search::report::Signals;

/// Bench positions: the start, a well-known perft position, a Chess960 opening, five endings, and
/// positions of games in the Lichess database (CC0) at all stages.
pub const BENCH_POSITIONS: [&str; 30] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "8/5k2/3p2p1/2pP1p1p/2P2P1P/5KP1/8/8 w - - 0 1",
    "8/1k6/8/5p2/3R4/5K2/6P1/2r5 w - - 0 1",
    "5k2/R7/5P2/4K3/8/8/2r5/8 b - - 0 1",
    "8/8/4k3/3n4/3P1B2/4K3/8/8 w - - 4 60",
    "rn1qk2r/pp2bpp1/3p3p/2pnpb2/2P5/3P1NP1/PP2PPBP/R1BQ1RK1 w kq - 0 9",
    "rnb1kbnr/pp3ppp/2p1p3/3q4/3P4/5N2/PP2PPPP/RNBQKB1R w KQkq - 0 5",
    "8/2pkr3/2p5/8/P3b1Pp/2BP2bP/1PP1B3/5R1K w - - 0 31",
    "r7/p1p3p1/2N2k2/2b3p1/8/8/PPb3PP/R3R2K w - - 0 21",
    "1r1q1rk1/1b3pp1/pp2p2p/2b1N3/P3p3/3QP1P1/1PP2PBP/R3R1K1 w - - 0 17",
    "3r1rk1/1p1nqpp1/p2p1n1p/3Pp3/2P5/4BP2/PP2B1PP/R2Q1RK1 w - - 1 17",
    "r1b4Q/2p1kp1p/pp6/8/5p2/3P1N2/PPP1q1PP/RN3n1K w - - 1 17",
    "r2qk2r/ppp2ppp/2np1n2/1BP5/4P1b1/5N2/PP3PPP/RNBQ1RK1 w kq - 1 9",
    "r1bqkbnr/ppp3pp/2n2p2/3pp3/3P3B/5P2/PPP1P1PP/RN1QKBNR w KQkq - 0 5",
    "r3k2r/p3ppbp/1qppb1p1/8/2B1PP2/2N4P/PPP3P1/R1B2R1K w kq - 1 13",
    "2kr3r/1bp1q3/Bp1p3b/2n1p3/4P1N1/2N4P/PPP1Q1P1/R4RK1 w - - 1 21",
    "rn2k2r/ppp2pp1/3bp2p/3q1b2/3P4/4BN2/PPP1BPPP/R2QK2R w KQkq - 2 9",
    "r1bq1rk1/pp3pp1/3p3p/3pp3/3PP3/3P3P/PP3PP1/R1BQ1RK1 w - - 0 13",
    "r5k1/1p3r1n/2pp4/p3p3/2Pb2B1/P2bN2P/1P3PP1/1R3RK1 w - - 0 21",
    "rn3k2/p4p2/1p2p3/q2p1bp1/2PPn3/PQ2PN2/4BPPP/2R2RK1 w - - 0 17",
    "1rbq1rk1/p3bpp1/2n2n1p/1p2pP2/2ppP1P1/3P2NP/PPPB1NB1/R2Q1RK1 w - - 0 17",
    "r4rk1/pQP1qpp1/7p/4p3/1P6/3P1NP1/P1n4P/RN2KB1R w KQ - 1 17",
    "1r1r2k1/5ppp/6q1/p1PpP3/p1p5/4R1PP/1Q6/2K4R w - - 2 31",
    "r4rk1/ppp1q1pp/2n1p3/2Nn4/2B5/8/PPP2PPP/R2Q1RK1 w - - 2 13",
    "2r3k1/5pp1/2b1p2p/R1Np4/1B1PnP2/P7/2r3PP/5RK1 w - - 7 26",
    "r2q3r/1ppn1kp1/1p1p1nbp/4p3/4P1PN/2NP3P/PPP2P2/R2Q1RK1 w - - 0 13",
    "rnbq1b1r/pp3kp1/4pn1p/2p5/2BP4/5N2/PPP2PPP/R1BQK2R w KQ - 0 9",
];

/// Search depth of the signature, in plies.
pub const BENCH_DEPTH: u64 = 10;

/// Maximum bench depth in plies; deeper searches would not end in practice.
pub const MAX_BENCH_DEPTH: u64 = 30;

/// Maximum plies of a game of [`BenchGames`].
const GAME_PLIES: usize = 100;

/// Clears the engine, searches all [`BENCH_POSITIONS`] to `depth`, and returns the total number of
/// nodes: the engine's signature. Calls `report` with each position and its nodes. Returns early if
/// `stop` is set.
pub fn bench(
    engine: &mut Engine,
    depth: u64,
    stop: &AtomicBool,
    mut report: impl FnMut(&str, u64),
) -> u64 {
    let limits = Limits {
        depth: Some(depth),
        ..Limits::default()
    };
    let signals = Signals {
        stop,
        pondering: None,
        elapsed: &|| Duration::ZERO,
    };
    // Cleared once, not per position: the bench does not measure clearing.
    engine.clear();
    let goes_on = |_: &&&str| !stop.load(Ordering::Relaxed);
    let nodes = BENCH_POSITIONS.iter().take_while(goes_on).map(|fen| {
        let outcome = engine.search(&bench_position(fen), &limits, &signals, &mut |_| {});
        report(fen, outcome.nodes);
        outcome.nodes
    });
    nodes.sum()
}

fn bench_position(fen: &str) -> Position {
    Position::from_fen(fen).expect("a position of this file")
}

/// Random games from [`BENCH_POSITIONS`], the same on every machine.
pub struct BenchGames(Vec<(Position, Vec<Move>)>);

impl BenchGames {
    /// Plays the games.
    pub fn new() -> BenchGames {
        let game = |fen: &&str| {
            let position = bench_position(fen);
            let moves = random_moves(position.board().clone());
            (position, moves)
        };
        BenchGames(BENCH_POSITIONS.iter().map(game).collect())
    }

    /// Returns the board after every move.
    pub fn boards(&self) -> Vec<Board> {
        let boards = self.0.iter().flat_map(|(position, moves)| {
            let mut board = position.board().clone();
            moves.iter().map(move |&mv| {
                board.play_unchecked(mv);
                board.clone()
            })
        });
        boards.collect()
    }

    /// Plays the games on a tree, evaluates after every move, and returns the sum of the
    /// evaluations in centipawns.
    pub fn evaluate(&self, tree: &mut Tree, evaluator: &Evaluator) -> i64 {
        let mut sum = 0;
        for (position, moves) in &self.0 {
            tree.start(position, evaluator);
            for &mv in moves {
                tree.push(mv);
                sum += i64::from(tree.evaluate(evaluator).centipawns());
            }
        }
        sum
    }
}

impl Default for BenchGames {
    fn default() -> BenchGames {
        BenchGames::new()
    }
}

/// Returns moves chosen by the position's key, which serves as a random number.
fn random_moves(mut board: Board) -> Vec<Move> {
    let mut line = Vec::new();
    while line.len() < GAME_PLIES {
        let moves = legal_moves(&board);
        if moves.is_empty() {
            break;
        }
        // Adding the ply prevents cycles through repeated positions.
        let choice = position_key(&board).wrapping_add(line.len() as u64);
        let mv = moves[(choice % moves.len() as u64) as usize];
        board.play_unchecked(mv);
        line.push(mv);
    }
    line
}
