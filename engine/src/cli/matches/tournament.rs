//! The games of a match, several at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use anyhow::{Context, Result};
use cozy_chess::Board;
use indicatif::{ProgressBar, ProgressStyle};

use super::game::{self, Ending, Game, Rules};
use super::pgn::PgnFile;
use super::player::Player;
use super::spec::EngineSpec;
use super::tally::Tally;

/// Where no bar can be drawn, a line is printed each time this many games are done.
const GAMES_PER_LINE: u64 = 20;

/// A match that is set up.
pub struct Tournament<'a> {
    /// The engines.
    pub specs: [&'a EngineSpec; 2],
    /// Their names.
    pub names: &'a [String; 2],
    /// One opening for each pair of games.
    pub openings: &'a [Board],
    /// What the engines play under.
    pub rules: &'a Rules,
    /// Games at a time.
    pub concurrency: usize,
}

type Pair = (usize, [Game; 2]);

impl Tournament<'_> {
    /// Plays all games; counts and writes each pair as it ends.
    ///
    /// # Errors
    /// Where an engine cannot be started, or the PGN not be written.
    pub fn play(&self, tally: &mut Tally, pgn: &mut Option<PgnFile>) -> Result<()> {
        let next = AtomicUsize::new(0);
        let (sender, pairs) = channel::<Result<Pair>>();
        thread::scope(|scope| {
            for _ in 0..self.concurrency {
                let sender = sender.clone();
                scope.spawn(|| self.work(&next, sender));
            }
            drop(sender);
            let progress = Progress::new(2 * self.openings.len() as u64);
            for pair in pairs {
                let recorded = pair.and_then(|pair| self.record(pair, tally, pgn));
                if recorded.is_err() {
                    // No worker begins another pair.
                    next.store(self.openings.len(), Ordering::Relaxed);
                    return recorded;
                }
                progress.show(tally);
            }
            progress.finish();
            Ok(())
        })
    }

    fn record(&self, pair: Pair, tally: &mut Tally, pgn: &mut Option<PgnFile>) -> Result<()> {
        let (index, games) = pair;
        tally.add_pair(&games);
        let [first, second] = self.names;
        if let Some(pgn) = pgn {
            pgn.append(2 * index + 1, first, second, &games[0])?;
            pgn.append(2 * index + 2, second, first, &games[1])?;
        }
        Ok(())
    }

    /// Plays pairs until none is left.
    fn work(&self, next: &AtomicUsize, sender: Sender<Result<Pair>>) {
        let mut seats = Seats {
            specs: self.specs,
            players: None,
        };
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(opening) = self.openings.get(index) else {
                return;
            };
            let games = seats.play_pair(opening, self.rules);
            let failed = games.is_err();
            // Nobody listens any more once the match has failed.
            if sender.send(games.map(|games| (index, games))).is_err() || failed {
                return;
            }
        }
    }
}

/// One process for each engine, started anew where one has broken down.
struct Seats<'a> {
    specs: [&'a EngineSpec; 2],
    players: Option<[Player; 2]>,
}

impl Seats<'_> {
    fn play_pair(&mut self, opening: &Board, rules: &Rules) -> Result<[Game; 2]> {
        let first = self.play(opening, rules, false)?;
        let second = self.play(opening, rules, true)?;
        Ok([first, second])
    }

    fn play(&mut self, opening: &Board, rules: &Rules, swapped: bool) -> Result<Game> {
        let mut players = match self.players.take() {
            Some(players) => players,
            None => [Player::start(self.specs[0])?, Player::start(self.specs[1])?],
        };
        if swapped {
            players.swap(0, 1);
        }
        let game = game::play(opening, &mut players, rules);
        let usable = match game.ending {
            Ending::Crash | Ending::Hang => false,
            Ending::TimeForfeit => {
                let late = game
                    .winner
                    .map(|winner| !winner as usize)
                    .context("a forfeit has a winner")?;
                players[late].recover().is_ok()
            }
            _ => true,
        };
        if swapped {
            players.swap(0, 1);
        }
        self.players = usable.then_some(players);
        Ok(game)
    }
}

/// A bar on a terminal, now and then a line elsewhere.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new(games: u64) -> Progress {
        let bar = ProgressBar::new(games);
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg} ETA {eta}") {
            bar.set_style(style);
        }
        Progress { bar }
    }

    fn show(&self, tally: &Tally) {
        self.bar.set_position(tally.games());
        self.bar.set_message(tally.line());
        if self.bar.is_hidden() && tally.games().is_multiple_of(GAMES_PER_LINE) {
            eprintln!("{}", tally.line());
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
