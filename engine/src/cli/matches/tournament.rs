//! Games of a schedule, several at a time.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use anyhow::Result;
use cozy_chess::Board;

use super::game::{self, Ending, Game, Rules};
use super::pace::Pace;
use super::player::Player;
use super::spec::EngineSpec;

/// Two games on one opening, the first engine with White in the first.
#[derive(Clone, Copy)]
pub struct Pairing<'a> {
    /// Its place in the schedule.
    pub number: usize,
    /// The engines by their place in the tournament.
    pub engines: [usize; 2],
    /// Where both games begin.
    pub opening: &'a Board,
}

/// A tournament that is set up.
pub struct Tournament<'a> {
    /// The engines.
    pub specs: &'a [EngineSpec],
    /// What each is given for a move.
    pub paces: &'a [Pace],
    /// What all games are played under.
    pub rules: &'a Rules,
    /// Games at a time.
    pub concurrency: usize,
    /// Ends the tournament when set; games that are under way do not count.
    pub stop: &'a AtomicBool,
}

impl Tournament<'_> {
    /// Plays what is scheduled until nothing is left or `record`, which gets
    /// each pair of games as it ends, has enough.
    ///
    /// # Errors
    /// Where an engine cannot be started, or `record` fails.
    pub fn play<'s>(
        &self,
        schedule: impl Fn(usize) -> Option<Pairing<'s>> + Sync,
        mut record: impl FnMut(&Pairing, &[Game; 2]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let next = AtomicUsize::new(0);
        let (sender, pairs) = channel();
        thread::scope(|scope| {
            for _ in 0..self.concurrency {
                let sender = sender.clone();
                scope.spawn(|| self.work(&next, &schedule, sender));
            }
            drop(sender);
            for pair in pairs {
                let recorded = pair.and_then(|(pairing, games)| record(&pairing, &games));
                if !matches!(recorded, Ok(ControlFlow::Continue(()))) {
                    self.stop.store(true, Ordering::Relaxed);
                    return recorded.map(|_| ());
                }
            }
            Ok(())
        })
    }

    /// Plays pairs until none is left.
    fn work<'s>(
        &self,
        next: &AtomicUsize,
        schedule: &(impl Fn(usize) -> Option<Pairing<'s>> + Sync),
        sender: Sender<Result<(Pairing<'s>, [Game; 2])>>,
    ) {
        let mut seats = Seats {
            tournament: self,
            players: self.specs.iter().map(|_| None).collect(),
        };
        while let Some(pairing) = schedule(next.fetch_add(1, Ordering::Relaxed)) {
            let games = match seats.play_pair(&pairing) {
                Ok(Some(games)) => Ok((pairing, games)),
                Ok(None) => return,
                Err(error) => Err(error),
            };
            let failed = games.is_err();
            // Nobody listens any more once the tournament is over.
            if sender.send(games).is_err() || failed {
                return;
            }
        }
    }
}

/// The engines of one worker, started when they first play and again where
/// they have broken down.
struct Seats<'a> {
    tournament: &'a Tournament<'a>,
    players: Vec<Option<Player>>,
}

impl Seats<'_> {
    /// `None` where the tournament ended meanwhile.
    fn play_pair(&mut self, pairing: &Pairing) -> Result<Option<[Game; 2]>> {
        let [first, second] = pairing.engines;
        let game = self.play(pairing.opening, [first, second])?;
        let reverse = self.play(pairing.opening, [second, first])?;
        Ok(game.zip(reverse).map(<[Game; 2]>::from))
    }

    /// Plays a game between two engines, White first.
    fn play(&mut self, opening: &Board, engines: [usize; 2]) -> Result<Option<Game>> {
        let Tournament { rules, stop, .. } = *self.tournament;
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let [mut white, mut black] = [self.seat(engines[0])?, self.seat(engines[1])?];
        let paces = engines.map(|engine| self.tournament.paces[engine]);
        let players = [&mut white, &mut black];
        let Some(game) = game::play(opening, players, paces, rules, stop) else {
            return Ok(None);
        };
        let loser = game.winner.map(|winner| !winner as usize);
        for (color, mut player) in [white, black].into_iter().enumerate() {
            let usable = match game.ending {
                _ if loser != Some(color) => true,
                Ending::Crash | Ending::Hang => false,
                Ending::TimeForfeit => player.recover().is_ok(),
                _ => true,
            };
            self.players[engines[color]] = usable.then_some(player);
        }
        Ok(Some(game))
    }

    /// The engine, started if need be.
    fn seat(&mut self, engine: usize) -> Result<Player> {
        match self.players[engine].take() {
            Some(player) => Ok(player),
            None => Player::start(&self.tournament.specs[engine]),
        }
    }
}
