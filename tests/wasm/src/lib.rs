//! Counts of `engine bench`, exported to JavaScript; `tests/wasm.sh` compares them with the native
//! program's.
#![allow(
    unsafe_code,
    reason = "an export's name has to be unique in the whole program, which `unsafe` vouches for"
)]

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use engine::{BenchGames, Engine, Evaluator, Tree, features};
use models::{
    Activation, Architecture, Feature, Features, Kernel, Network, QuantisedNetwork, View,
};

fn evaluator() -> Evaluator {
    Evaluator::embedded().expect("the embedded network")
}

/// Returns the node count of `engine bench DEPTH`.
#[unsafe(no_mangle)]
pub extern "C" fn bench_nodes(depth: u32) -> u64 {
    engine::bench(
        &mut Engine::new(evaluator()),
        depth.into(),
        &AtomicBool::new(false),
        |_, _| {},
    )
}

/// Returns the number of positions that [`evaluate_games`] evaluates.
#[unsafe(no_mangle)]
pub extern "C" fn positions() -> u32 {
    BenchGames::new().boards().len() as u32
}

/// Evaluates the games of `engine bench --evaluations` once and returns the sum of the values. The
/// first call makes the games.
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

/// Returns the number of network architectures for which all kernels of this build agree, on
/// positions of the games.
///
/// # Panics
/// If kernels disagree.
#[unsafe(no_mangle)]
pub extern "C" fn architectures_that_agree() -> u32 {
    let games = BenchGames::new();
    let boards = games.boards();
    let some = boards.iter().step_by(boards.len() / 100);
    let positions: Vec<Vec<Feature>> = some.map(features).collect();
    let mut agree = 0;
    for view in [View::Mover, View::Both] {
        for activation in Activation::ALL {
            for (second, third, buckets) in
                [(None, None, 8), (Some(16), None, 1), (Some(9), Some(32), 3)]
            {
                let architecture = Architecture {
                    view,
                    mirrored: agree % 2 == 1,
                    first: 202,
                    activation,
                    second,
                    third,
                    buckets,
                    features: [Features::All, Features::Pieces][agree as usize / 2 % 2],
                };
                let network = Network::random(architecture, agree.into());
                let network = QuantisedNetwork::new(&network).expect("small weights");
                let mut by_kernel = Kernel::available().into_iter().map(|kernel| {
                    let network = network.clone().with_kernel(kernel);
                    let values = positions.iter().map(|on| network.evaluate_features(on));
                    values.collect::<Vec<i32>>()
                });
                let best = by_kernel.next().expect("there is always one");
                assert!(by_kernel.all(|values| values == best), "{architecture}");
                agree += 1;
            }
        }
    }
    agree
}
