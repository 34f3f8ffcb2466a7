//! What keeps a net from learning its games by heart, by how many there are.

/// Fewer training positions than this are few: a thousand games are soon
/// known by heart, a hundred thousand are not.
const FEW: u64 = 1_000_000;

/// How much a net is held back (docs/experiments.md,
/// "How fast the own part, and in how many steps").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regularisation {
    /// What an input's own part of the first layer counts. At a sixteenth Adam,
    /// whose steps do not depend on scale, moves it a sixteenth as fast as the
    /// shared parts. A power of two, so that dividing by it loses nothing.
    pub own_scale: f32,
    /// How fast weights decay, in units of the learning rate (decoupled, as in
    /// Loshchilov and Hutter, "Decoupled weight decay regularization", 2019).
    pub weight_decay: f64,
}

impl Regularisation {
    /// For a thousand games or so.
    const STRONG: Regularisation = Regularisation {
        own_scale: 1.0 / 16.0,
        weight_decay: 0.3,
    };
    /// For many.
    const WEAK: Regularisation = Regularisation {
        own_scale: 1.0,
        weight_decay: 0.1,
    };

    /// For so many training positions.
    pub fn for_positions(positions: u64) -> Regularisation {
        match positions < FEW {
            true => Regularisation::STRONG,
            false => Regularisation::WEAK,
        }
    }
}
