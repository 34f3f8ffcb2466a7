//! Test helpers: small architectures, and a lock around Burn's graph.

use std::sync::{Mutex, MutexGuard, PoisonError};

use models::{Activation, Architecture, Features, View};

pub use features::playouts::games;

/// Locks `backward`, which tests must not call concurrently: in Burn 0.21 it also frees parts of
/// another thread's graph, so that gradients get lost
/// (https://github.com/tracel-ai/burn/issues/5573). The program itself trains on one thread.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Small architectures of every kind: each view, mirrored and not, each activation, one to three
/// layers after the first, one bucket and several, all inputs and pieces alone.
pub fn architectures() -> impl Iterator<Item = Architecture> {
    let views = [View::Mover, View::Both].into_iter();
    let kinds = views.flat_map(|view| Activation::ALL.map(|activation| (view, activation)));
    kinds.enumerate().flat_map(|(kind, (view, activation))| {
        let later = [(None, None), (Some(5), None), (Some(4), Some(7))];
        later
            .into_iter()
            .enumerate()
            .map(move |(depth, (second, third))| Architecture {
                view,
                mirrored: (kind + depth) % 2 == 1,
                // Not a multiple of the slice width, nor are its halves.
                first: 70,
                activation,
                second,
                third,
                buckets: [1, 8, 3][(kind + depth) % 3],
                features: [Features::All, Features::Pieces][kind / 2 % 2],
            })
    })
}
