//! What a match counts, from the first engine's view.

use std::collections::BTreeMap;
use std::time::Duration;

use cozy_chess::Color;
use serde::{Deserialize, Serialize};

use crate::games::ending::Ending;
use crate::games::game::{Game, Ply};
use crate::statistics::pentanomial::Pentanomial;

/// Games by result, pairs by points, why games ended, how the engines thought.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchScore {
    /// Games that the first engine won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that the second engine won.
    pub losses: u64,
    /// Pairs of games on one opening.
    pub pairs: Pentanomial,
    /// Why games ended.
    pub endings: BTreeMap<Ending, u64>,
    /// By engine.
    pub conduct: [Conduct; 2],
}

/// How an engine lost other than on the board, and what it said of its moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// Games lost by an illegal move.
    pub illegal_moves: u64,
    /// Games lost on time.
    pub time_losses: u64,
    /// Games lost because the program ended.
    pub crashes: u64,
    /// Games lost because the program did not answer, though no clock ran.
    pub hangs: u64,
    moves: u64,
    time: Duration,
    /// Sum and count, of the moves that came with one.
    depths: (u64, u64),
    nodes: (u64, u64),
}

/// Averages over an engine's moves; `None` where it said nothing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Averages {
    /// Plies.
    pub depth: Option<f64>,
    /// Nodes a move.
    pub nodes: Option<f64>,
    /// Nodes a second, by the referee's clock.
    pub nps: Option<f64>,
    /// Milliseconds a move, by the referee's clock.
    pub move_ms: Option<f64>,
}

impl MatchScore {
    /// Counts the two games on one opening; the first engine has White in the
    /// first of them.
    pub fn of_pair(games: &[Game; 2]) -> MatchScore {
        let mut tally = MatchScore::default();
        let [first, second] = games;
        let half_points =
            tally.add_game(first, Color::White) + tally.add_game(second, Color::Black);
        tally.pairs.0[half_points] = 1;
        tally
    }

    /// Adds what another one counts.
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

    /// Whether a game was lost other than on the board.
    pub fn is_broken(&self) -> bool {
        let losses = self.conduct.iter().map(Conduct::losses);
        losses.sum::<u64>() > 0
    }

    /// The engine, counted from 0, that crashed or hung in every game.
    pub fn always_crashed(&self) -> Option<usize> {
        let always = |conduct: &Conduct| conduct.crashes + conduct.hangs == self.games();
        let engine = self.conduct.iter().position(always);
        engine.filter(|_| self.games() > 0)
    }

    /// Counts a game; returns the first engine's half points.
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

    /// Games so far.
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

    /// Games lost other than on the board.
    fn losses(&self) -> u64 {
        self.illegal_moves + self.time_losses + self.crashes + self.hangs
    }

    /// Averages over the engine's moves.
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

/// Adds a sum and a count. What engines say may be anything.
fn sum(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.saturating_add(other.0), one.1 + other.1)
}
