//! The result of a match, from the first engine's view.

use std::collections::BTreeMap;
use std::fmt::Write;

use cozy_chess::Color;
use serde::Serialize;

use super::game::{Ending, Game};

/// Games by result, pairs by points, and why games ended.
#[derive(Default)]
pub struct Tally {
    wins: u64,
    draws: u64,
    losses: u64,
    /// Pairs of games on one opening by the half points the first engine made
    /// of them, 0 to 4.
    pairs: [u64; 5],
    endings: BTreeMap<Ending, u64>,
    /// By engine: games lost by an illegal move, on time, by a crash or a hang.
    illegal_moves: [u64; 2],
    time_losses: [u64; 2],
    breakdowns: [u64; 2],
}

/// A finished match in numbers.
#[derive(Serialize)]
pub struct Summary<'a> {
    engines: &'a [String; 2],
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    /// The first engine's share of the points.
    score: f64,
    /// `None` where one side made every point.
    elo: Option<f64>,
    /// Half the width of the 95 % interval.
    elo_error: Option<f64>,
    pairs: [u64; 5],
    endings: &'a BTreeMap<Ending, u64>,
    illegal_moves: [u64; 2],
    time_losses: [u64; 2],
    breakdowns: [u64; 2],
}

impl Tally {
    /// Counts the two games on one opening; the first engine has White in the
    /// first of them.
    pub fn add_pair(&mut self, games: &[Game; 2]) {
        let mut half_points = 0;
        for (game, first_plays) in games.iter().zip([Color::White, Color::Black]) {
            half_points += self.add_game(game, first_plays);
        }
        self.pairs[half_points] += 1;
    }

    fn add_game(&mut self, game: &Game, first_plays: Color) -> usize {
        *self.endings.entry(game.ending).or_default() += 1;
        let Some(winner) = game.winner else {
            self.draws += 1;
            return 1;
        };
        let loser = usize::from(winner == first_plays);
        match game.ending {
            Ending::IllegalMove => self.illegal_moves[loser] += 1,
            Ending::TimeForfeit => self.time_losses[loser] += 1,
            Ending::Crash | Ending::Hang => self.breakdowns[loser] += 1,
            _ => {}
        }
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

    /// Wins, draws and losses on one line.
    pub fn line(&self) -> String {
        format!(
            "{} games: +{} ={} -{}, {:.1} %",
            self.games(),
            self.wins,
            self.draws,
            self.losses,
            100.0 * self.score().0
        )
    }

    /// The first engine's share of the points and its standard error, from
    /// the pairs: the two games on one opening are not independent, their sum
    /// is (the "pentanomial" model of Fishtest).
    fn score(&self) -> (f64, f64) {
        let count = self.pairs.iter().sum::<u64>() as f64;
        let points = |half_points: usize| half_points as f64 / 4.0;
        let expect = |value: &dyn Fn(f64) -> f64| {
            let weighted = self
                .pairs
                .iter()
                .enumerate()
                .map(|(i, &n)| n as f64 * value(points(i)));
            weighted.sum::<f64>() / count.max(1.0)
        };
        let mean = expect(&|x| x);
        let variance = expect(&|x| (x - mean) * (x - mean));
        (mean, (variance / count.max(1.0)).sqrt())
    }

    /// Everything in numbers.
    pub fn summary<'a>(&'a self, names: &'a [String; 2]) -> Summary<'a> {
        let (score, error) = self.score();
        // 95 % of a normal distribution lie within 1.96 standard errors.
        let interval = [score - 1.96 * error, score + 1.96 * error].map(elo);
        let elo_error = match interval {
            [Some(low), Some(high)] => Some((high - low) / 2.0),
            _ => None,
        };
        Summary {
            engines: names,
            games: self.games(),
            wins: self.wins,
            draws: self.draws,
            losses: self.losses,
            score,
            elo: elo(score),
            elo_error,
            pairs: self.pairs,
            endings: &self.endings,
            illegal_moves: self.illegal_moves,
            time_losses: self.time_losses,
            breakdowns: self.breakdowns,
        }
    }

    /// The summary as text.
    pub fn table(&self, names: &[String; 2]) -> String {
        let summary = self.summary(names);
        let show =
            |elo: Option<f64>| elo.map_or("unbounded".to_string(), |elo| format!("{elo:.1}"));
        let mut text = format!("{} against {}: {}\n", names[0], names[1], self.line());
        let (elo, error) = (show(summary.elo), show(summary.elo_error));
        let _ = writeln!(
            text,
            "Elo {elo} +/- {error} (95 %, by pairs {:?})",
            self.pairs
        );
        let endings: Vec<String> = self
            .endings
            .iter()
            .map(|(ending, count)| format!("{ending} {count}"))
            .collect();
        let _ = writeln!(text, "endings: {}", endings.join(", "));
        for (index, name) in names.iter().enumerate() {
            let _ = writeln!(
                text,
                "{name}: {} illegal moves, {} time losses, {} breakdowns",
                self.illegal_moves[index], self.time_losses[index], self.breakdowns[index]
            );
        }
        text
    }
}

/// The difference in Elo at which the expected score is `score`: the logistic
/// model, score = 1 / (1 + 10^(-elo / 400)) (A. Elo, "The Rating of
/// Chessplayers", 1978). `None` at and beyond 0 and 1.
fn elo(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| -400.0 * (1.0 / score - 1.0).log10())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elo_of_known_scores() {
        assert_eq!(elo(0.5), Some(0.0));
        assert!((elo(0.75).unwrap() - 190.85).abs() < 0.01);
        assert!((elo(0.25).unwrap() + 190.85).abs() < 0.01);
        assert_eq!((elo(0.0), elo(1.0)), (None, None));
    }

    #[test]
    fn error_comes_from_the_pairs() {
        // Every pair 1-1: the score is certain, however the single games went.
        let split = Tally {
            pairs: [0, 0, 10, 0, 0],
            ..Tally::default()
        };
        assert_eq!(split.score(), (0.5, 0.0));
        // Half of the pairs 2-0, half 0-2: one pair's deviation is 1/2.
        let wild = Tally {
            pairs: [8, 0, 0, 0, 8],
            ..Tally::default()
        };
        assert_eq!(wild.score(), (0.5, 0.125));
    }
}
