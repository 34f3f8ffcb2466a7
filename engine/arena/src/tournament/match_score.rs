//! Score of a match, from the first engine's view.

use std::collections::BTreeMap;
use std::time::Duration;

use cozy_chess::Color;
use serde::{Deserialize, Serialize};

use crate::games::ending::Ending;
use crate::games::game::{Game, Ply};
use crate::statistics::pentanomial::Pentanomial;

/// Games by result, pairs by points, endings, and the conduct of both engines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchScore {
    /// Games won by the first engine.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games won by the second engine.
    pub losses: u64,
    /// Pairs by the first engine's points.
    pub pairs: Pentanomial,
    /// Games by ending.
    pub endings: BTreeMap<Ending, u64>,
    /// Conduct by engine.
    pub conduct: [Conduct; 2],
}

/// Losses of an engine other than on the board, and sums over its moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// Games lost by an illegal move.
    pub illegal_moves: u64,
    /// Games lost on time.
    pub time_losses: u64,
    /// Games lost by a crash: the process ended.
    pub crashes: u64,
    /// Games lost by a hang: no answer, without a clock.
    pub hangs: u64,
    moves: u64,
    time: Duration,
    /// Sum and count over the moves with a reported depth.
    depths: (u64, u64),
    nodes: (u64, u64),
}

/// Averages over an engine's moves; `None` if it reported none.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Averages {
    /// Depth in plies.
    pub depth: Option<f64>,
    /// Nodes per move.
    pub nodes: Option<f64>,
    /// Nodes per second, by the referee's clock.
    pub nps: Option<f64>,
    /// Milliseconds per move, by the referee's clock.
    pub move_ms: Option<f64>,
}

impl MatchScore {
    /// Returns the score of two games on one opening; the first engine has White in the first.
    pub fn of_pair(games: &[Game; 2]) -> MatchScore {
        let mut tally = MatchScore::default();
        let [first, second] = games;
        let half_points =
            tally.add_game(first, Color::White) + tally.add_game(second, Color::Black);
        tally.pairs.0[half_points] = 1;
        tally
    }

    /// Adds another score.
    pub fn add(&mut self, other: &MatchScore) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
        for (count, more) in self.pairs.0.iter_mut().zip(other.pairs.0) {
            *count += more;
        }
        for (&ending, count) in &other.endings {
            *self.endings.entry(ending).or_default() += count;
        }
        for (conduct, more) in self.conduct.iter_mut().zip(&other.conduct) {
            conduct.add(more);
        }
    }

    /// Returns whether a game was lost other than on the board.
    pub fn is_broken(&self) -> bool {
        let losses = self.conduct.iter().map(Conduct::losses);
        losses.sum::<u64>() > 0
    }

    /// Returns the index of the engine that crashed or hung in every game, if any.
    pub fn always_crashed(&self) -> Option<usize> {
        let always = |conduct: &Conduct| conduct.crashes + conduct.hangs == self.games();
        let engine = self.conduct.iter().position(always);
        engine.filter(|_| self.games() > 0)
    }

    /// Counts a game and returns the first engine's half points.
    fn add_game(&mut self, game: &Game, first_plays: Color) -> usize {
        *self.endings.entry(game.ending).or_default() += 1;
        for (engine, color) in [first_plays, !first_plays].into_iter().enumerate() {
            let opens = game.opening.side_to_move() == color;
            let plies = game.plies.iter().skip(usize::from(!opens)).step_by(2);
            self.conduct[engine].add_moves(plies);
        }
        let Some(winner) = game.winner else {
            self.draws += 1;
            return 1;
        };
        self.conduct[usize::from(winner == first_plays)].add_loss(game.ending);
        if winner == first_plays {
            self.wins += 1;
            2
        } else {
            self.losses += 1;
            0
        }
    }

    /// Returns the number of games.
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }
}

impl Conduct {
    fn add_moves<'a>(&mut self, plies: impl Iterator<Item = &'a Ply>) {
        for ply in plies {
            self.moves += 1;
            self.time += ply.time;
            if let Some(depth) = ply.info.depth {
                self.depths = sum(self.depths, (depth.into(), 1));
            }
            if let Some(nodes) = ply.info.nodes {
                self.nodes = sum(self.nodes, (nodes, 1));
            }
        }
    }

    fn add(&mut self, other: &Conduct) {
        self.illegal_moves += other.illegal_moves;
        self.time_losses += other.time_losses;
        self.crashes += other.crashes;
        self.hangs += other.hangs;
        self.moves += other.moves;
        self.time += other.time;
        self.depths = sum(self.depths, other.depths);
        self.nodes = sum(self.nodes, other.nodes);
    }

    fn add_loss(&mut self, ending: Ending) {
        match ending {
            Ending::IllegalMove => self.illegal_moves += 1,
            Ending::TimeForfeit => self.time_losses += 1,
            Ending::Crash => self.crashes += 1,
            Ending::Hang => self.hangs += 1,
            _ => {}
        }
    }

    /// Returns the number of games lost other than on the board.
    fn losses(&self) -> u64 {
        self.illegal_moves + self.time_losses + self.crashes + self.hangs
    }

    /// Returns averages over the engine's moves.
    pub fn averages(&self) -> Averages {
        let average = |(sum, count): (u64, u64)| (count > 0).then(|| sum as f64 / count as f64);
        let seconds = self.time.as_secs_f64();
        Averages {
            depth: average(self.depths),
            nodes: average(self.nodes),
            nps: (self.nodes.1 > 0 && seconds > 0.0).then(|| self.nodes.0 as f64 / seconds),
            move_ms: (self.moves > 0).then(|| 1e3 * seconds / self.moves as f64),
        }
    }
}

/// Adds sums and counts. Saturates, since engines may report any number.
fn sum(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.saturating_add(other.0), one.1 + other.1)
}
