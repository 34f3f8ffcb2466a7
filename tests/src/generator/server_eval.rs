//! Plausible engine evaluations: the material two plies later, a drift through the game, noise, and
//! the game's real mate.

use super::playout::{End, Ply};
use super::random::Random;

/// Evaluation in Lichess's notation, from White's point of view.
#[derive(Clone, Copy)]
pub enum ServerEval {
    /// Score in centipawns.
    Centipawns(i32),
    /// Moves to mate; negative if Black mates.
    Mate(i32),
}

/// Evaluates the position after each move of a game; `None` for a final position without moves.
pub fn evaluate(plies: &[Ply], end: End, random: &mut Random, out: &mut Vec<Option<ServerEval>>) {
    out.clear();
    let last = plies.len().saturating_sub(1);
    // Plies before the mate from which it is announced.
    let horizon = random.quantile(&[1, 4, 8, 14, 22]) as usize;
    let mut drift = 0;
    for (i, _) in plies.iter().enumerate() {
        drift = drift * 15 / 16 + random.quantile(&[-500, -120, -25, -6, 0, 6, 25, 120, 500]);
        out.push(if i == last && end != End::Stopped {
            None
        } else if end == End::Mate && last - i <= horizon {
            Some(ServerEval::Mate(countdown(last - i, last)))
        } else {
            Some(static_evaluation(plies, i, drift, random))
        });
    }
}

/// Returns moves to the mate given at ply `last`, seen `plies_left` plies earlier.
fn countdown(plies_left: usize, last: usize) -> i32 {
    let moves = plies_left.div_ceil(2) as i32;
    if last.is_multiple_of(2) {
        moves
    } else {
        -moves
    }
}

fn static_evaluation(plies: &[Ply], i: usize, drift: i32, random: &mut Random) -> ServerEval {
    let at = |i: usize| plies[i.min(plies.len() - 1)].material;
    let material = (at(i + 1) + at(i + 2)) / 2;
    let certain = (i as i32).min(40);
    let centipawns =
        20 + material + (drift + random.between(-12, 12)) * certain / 40 + random.between(-6, 6);
    if centipawns.abs() < 900 {
        return ServerEval::Centipawns(centipawns);
    }
    if random.chance(350) {
        let moves = random.quantile(&[1, 3, 5, 8, 12, 25]);
        return ServerEval::Mate(moves * centipawns.signum());
    }
    if random.chance(30) {
        return ServerEval::Centipawns(centipawns.signum() * random.between(2000, 8500));
    }
    ServerEval::Centipawns(centipawns.signum() * (800 + centipawns.abs() / 10))
}

/// Table of win chances by centipawns, by the formula of Lichess's analysis, `2 / (1 +
/// exp(-0.00368208 cp)) - 1`, in hundredths of a per mille. Repeated multiplication makes it equal
/// on every machine.
pub struct WinChances(Vec<i32>);

impl WinChances {
    /// Computes the table.
    pub fn new() -> WinChances {
        /// Value of exp(-0.00368208).
        const STEP: f64 = 0.996_324_690_4;
        let powers = std::iter::successors(Some(1.0), |power| Some(power * STEP));
        let chance = |power: f64| ((2.0 / (1.0 + power) - 1.0) * 100_000.0) as i32;
        WinChances(powers.take(1001).map(chance).collect())
    }

    fn of(&self, evaluation: ServerEval) -> i32 {
        match evaluation {
            ServerEval::Centipawns(centipawns) => {
                let size = (centipawns.unsigned_abs() as usize).min(self.0.len() - 1);
                self.0[size] * centipawns.signum()
            }
            ServerEval::Mate(moves) => 100_000 * moves.signum(),
        }
    }

    /// Returns Lichess's glyph for a move, by the win chance that the mover lost.
    pub fn glyph(&self, white: bool, before: ServerEval, after: ServerEval) -> &'static str {
        let loss = self.of(before) - self.of(after);
        match if white { loss } else { -loss } {
            30_000.. => "??",
            20_000.. => "?",
            10_000.. => "?!",
            _ => "",
        }
    }
}
