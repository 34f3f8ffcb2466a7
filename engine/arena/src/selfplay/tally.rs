//! Counts over the games of an output.

use std::collections::BTreeMap;

use cozy_chess::Color;
use records::position::Phase;
use serde::{Deserialize, Serialize};

use crate::games::ending::Ending;
use crate::selfplay::game::Game;

/// Plies per bar of the histogram of lengths.
pub const BAR_PLIES: usize = 20;

/// Counts over games, the same with and without interruptions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub games: u64,
    /// Searched positions, each with a score.
    pub positions: u64,
    pub nodes: u64,
    /// Openings rejected as decided.
    pub rejected_openings: u64,
    /// Games won by White.
    pub white_wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games won by Black.
    pub black_wins: u64,
    /// Games by ending.
    pub endings: BTreeMap<Ending, u64>,
    /// Lengths of the games.
    pub lengths: Lengths,
    /// Positions by phase, in the order of [`Phase::ALL`].
    pub phases: [u64; Phase::ALL.len()],
    /// Positions in check.
    pub in_check: u64,
    /// Positions whose best move captures or promotes.
    pub tactical: u64,
}

/// Lengths of games in plies, random ones included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lengths {
    /// Sum over all games.
    pub sum: u64,
    /// Shortest game.
    pub shortest: u64,
    /// Longest game.
    pub longest: u64,
    /// Games of 0 to 19 plies, of 20 to 39, and so on.
    pub histogram: Vec<u64>,
}

impl Tally {
    /// Counts a game.
    pub fn add(&mut self, game: &Game) {
        self.lengths.add(game.plies(), self.games == 0);
        self.games += 1;
        self.positions += game.searched.len() as u64;
        self.nodes += game.nodes;
        self.rejected_openings += game.rejected;
        *match game.winner {
            Some(Color::White) => &mut self.white_wins,
            None => &mut self.draws,
            Some(Color::Black) => &mut self.black_wins,
        } += 1;
        *self.endings.entry(game.ending).or_default() += 1;
        for position in &game.searched {
            self.phases[Phase::of_pieces(position.pieces) as usize] += 1;
            self.in_check += u64::from(position.in_check);
            self.tactical += u64::from(position.tactical);
        }
    }
}

impl Lengths {
    fn add(&mut self, plies: usize, is_first: bool) {
        let length = plies as u64;
        self.sum += length;
        self.shortest = match is_first {
            true => length,
            false => self.shortest.min(length),
        };
        self.longest = self.longest.max(length);
        let bar = plies / BAR_PLIES;
        let bars = self.histogram.len().max(bar + 1);
        self.histogram.resize(bars, 0);
        self.histogram[bar] += 1;
    }
}
