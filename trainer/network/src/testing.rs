//! Architectures, and the lock of Burn's graph, for tests of several modules.

use std::sync::{Mutex, MutexGuard, PoisonError};

use burn::backend::Autodiff;
use burn_flex::Flex;
use models::{Activation, Architecture, View};

pub use inputs::playouts::games;

/// The processor, with gradients.
pub type Cpu = Autodiff<Flex>;

/// For tests that call `backward`, which take turns: in Burn 0.21 it also frees
/// what another thread's loss is made of, and parts of that one's gradients are
/// lost (https://github.com/tracel-ai/burn/issues/5573). The program itself trains
/// on one thread.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Small ones of every kind: each view, mirrored and not, each activation, one to three layers behind the
/// first, one bucket and several.
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
                // Halves that fill no slice.
                first: 70,
                activation,
                second,
                third,
                buckets: [1, 8, 3][(kind + depth) % 3],
            })
    })
}
