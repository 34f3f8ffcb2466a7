//! What `engine bench` counts, exported to JavaScript: `tests/wasm.sh` runs
//! it there and compares.
#![allow(
    unsafe_code,
    reason = "an export's name has to be unique in the whole program, which `unsafe` vouches for"
)]

use std::cell::RefCell;

use engine::{BenchGames, Engine, Evaluator, Tree};

fn evaluator() -> Evaluator {
    Evaluator::embedded().expect("the embedded network")
}

/// The nodes of `engine bench DEPTH`.
#[unsafe(no_mangle)]
pub extern "C" fn bench_nodes(depth: u32) -> u64 {
    engine::bench(&mut Engine::new(evaluator()), depth.into(), |_, _| {})
}

/// How many positions [`evaluate_games`] evaluates.
#[unsafe(no_mangle)]
pub extern "C" fn positions() -> u32 {
    BenchGames::new().boards().len() as u32
}

/// Evaluates the games of `engine bench --evaluations` once and returns the sum
/// of the values. The first call makes the games.
#[unsafe(no_mangle)]
pub extern "C" fn evaluate_games() -> i64 {
    thread_local! {
        static GAMES: RefCell<(BenchGames, Evaluator, Tree)> = RefCell::new({
            let evaluator = evaluator();
            let tree = Tree::new(&evaluator);
            (BenchGames::new(), evaluator, tree)
        });
    }
    GAMES.with_borrow_mut(|(games, evaluator, tree)| games.evaluate(tree, evaluator))
}
