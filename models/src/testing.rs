//! Architectures for tests.

use crate::{Activation, Architecture, Features, View};

/// Returns small architectures of every kind: each view, mirrored and not, each activation, one to
/// three layers behind the first, one bucket and several, all inputs and pieces alone.
pub(crate) fn architectures() -> impl Iterator<Item = Architecture> {
    let later = [(None, None), (Some(5), None), (Some(4), Some(7))];
    let kinds = [View::Mover, View::Both].into_iter().flat_map(move |view| {
        let all = Activation::ALL.into_iter();
        all.flat_map(move |activation| later.map(|later| (view, activation, later)))
    });
    kinds.enumerate().map(
        |(index, (view, activation, (second, third)))| Architecture {
            view,
            mirrored: index % 2 == 1,
            first: 66,
            activation,
            second,
            third,
            buckets: [1, 8, 3][(index / 3 + index) % 3],
            features: [Features::All, Features::Pieces][index / 2 % 2],
        },
    )
}
