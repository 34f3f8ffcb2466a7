//! Scheduler: plays the pairings of a tournament, several games at the same time.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{iter, thread};

use anyhow::{Context, Result, anyhow, ensure};
use engine::{is_chess960, write_fen};
use host::Workers;
use thiserror::Error;
use uci_client::StartError;

use crate::games::ending::Ending;
use crate::games::game::{self, Game, Rules};
use crate::games::pairing::Pairing;
use crate::players::pace::Pace;
use crate::players::player::Player;
use crate::players::spec::EngineSpec;

/// Crashes or hangs of one engine in a row that end the tournament.
const MAX_CRASHES: u64 = 6;

/// An engine crashed or hung in too many games in a row.
#[derive(Debug, Error)]
#[error("engine {engine:?} crashed or hung in {games} games in a row; run it by itself to see why")]
pub struct BrokenEngine {
    /// Specification of the engine.
    pub engine: String,
    /// Number of these games.
    pub games: u64,
}

/// A tournament that is set up.
pub struct Tournament<'a> {
    pub specs: &'a [EngineSpec],
    /// Limits by engine.
    pub paces: &'a [Pace],
    /// Rules of all games.
    pub rules: Rules,
    /// Indices of the pairs already played.
    pub done: HashSet<usize>,
    /// Games played at the same time.
    pub concurrency: usize,
    /// Ends the tournament when set; unfinished games do not count.
    pub stop: &'a AtomicBool,
}

/// Outcome of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All scheduled games were played.
    Complete,
    /// `record` ended the tournament.
    Enough,
    /// `stop` was set before the end.
    Stopped,
}

impl End {
    /// Returns [`End::Stopped`] for an engine start that `stop` cancelled.
    ///
    /// # Errors
    /// All other errors of `played`.
    pub fn of(played: Result<End>) -> Result<End> {
        match played {
            Err(error) if is_cancelled(&error) => Ok(End::Stopped),
            played => played,
        }
    }
}

/// Returns whether an engine's start was cancelled because the tournament was stopped.
fn is_cancelled(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StartError::Cancelled))
}

impl Tournament<'_> {
    /// Plays the pairings of `schedule`, by index, until it gives `None` or `record` breaks.
    /// `record` gets each pair of games as it ends.
    ///
    /// # Errors
    /// If an engine cannot be started, or `record` fails; [`BrokenEngine`] if one has crashed in
    /// [`MAX_CRASHES`] games in a row.
    pub fn play<'s>(
        &self,
        schedule: impl FnMut(usize) -> Option<Pairing<'s>> + Send,
        mut record: impl FnMut(&Pairing, &[Game; 2]) -> Result<ControlFlow<()>>,
    ) -> Result<End> {
        let games = self.concurrency;
        let workers = Workers {
            threads: games,
            least: games,
            window: 2 * games,
        };
        let mut left = (0..).map_while(schedule);
        let mut left = iter::from_fn(|| left.find(|pairing| !self.done.contains(&pairing.number)));
        // A pairing that is left when `stop` is set is returned unplayed: the end is not complete.
        let mut stopped = false;
        let pairings = iter::from_fn(move || {
            let last = std::mem::replace(&mut stopped, self.stop.load(Ordering::Relaxed));
            if last { None } else { left.next() }
        });
        thread::scope(|scope| {
            let worker = || {
                let mut seats = Seats {
                    tournament: self,
                    players: self.specs.iter().map(|_| None).collect(),
                };
                Ok(move |pairing: Pairing<'s>| {
                    let games = seats.play_pair(&pairing)?;
                    Ok(games.map(|games| (pairing, games)))
                })
            };
            let ended = (|| {
                let pairs = workers.start(scope, pairings, worker);
                let pairs =
                    pairs.with_context(|| format!("{games} games at a time are too many"))?;
                let mut end = End::Complete;
                let mut crashes = vec![0; self.specs.len()];
                for pair in pairs.as_completed() {
                    let defect = |_| Err(anyhow!("a game could not be played: a defect"));
                    // Pairs that other workers finished meanwhile count.
                    let Some((pairing, games)) = pair.unwrap_or_else(defect)? else {
                        end = End::Stopped;
                        continue;
                    };
                    let flow = record(&pairing, &games)?;
                    count_crashes(&mut crashes, &pairing, &games);
                    self.check_crashes(&crashes)?;
                    if flow.is_break() {
                        return Ok(End::Enough);
                    }
                }
                Ok(end)
            })();
            if !matches!(ended, Ok(End::Complete)) {
                self.stop.store(true, Ordering::Relaxed);
            }
            ended
        })
    }

    /// Fails if an engine has crashed in too many games in a row.
    fn check_crashes(&self, crashes: &[u64]) -> Result<()> {
        let broken = crashes.iter().position(|&games| games >= MAX_CRASHES);
        broken.map_or(Ok(()), |engine| {
            Err(BrokenEngine {
                engine: self.specs[engine].text.clone(),
                games: crashes[engine],
            }
            .into())
        })
    }
}

/// Updates each engine's count of crashes in a row by a pair of games. A game that the opponent
/// broke off does not change an engine's count.
fn count_crashes(crashes: &mut [u64], pairing: &Pairing, games: &[Game; 2]) {
    let [first, second] = pairing.engines;
    for (game, players) in games.iter().zip([[first, second], [second, first]]) {
        match (game.ending, game.winner) {
            (Ending::Crash | Ending::Hang, Some(winner)) => {
                crashes[players[!winner as usize]] += 1;
            }
            _ => players.iter().for_each(|&engine| crashes[engine] = 0),
        }
    }
}

/// The engines of one worker, started when they first play and again after a crash.
struct Seats<'a> {
    tournament: &'a Tournament<'a>,
    players: Vec<Option<Player>>,
}

impl Seats<'_> {
    /// Plays both games of a pair; `None` if the tournament ended meanwhile.
    fn play_pair(&mut self, pairing: &Pairing) -> Result<Option<[Game; 2]>> {
        let game = self.play(pairing, [0, 1])?;
        let reverse = self.play(pairing, [1, 0])?;
        Ok(game.zip(reverse).map(<[Game; 2]>::from))
    }

    /// Plays one game. `places` are indices into the pairing's engines, White first.
    fn play(&mut self, pairing: &Pairing, places: [usize; 2]) -> Result<Option<Game>> {
        let opening = pairing.opening;
        let engines = places.map(|place| pairing.engines[place]);
        let Tournament { rules, stop, .. } = self.tournament;
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let (Some(mut white), Some(mut black)) = (self.seat(engines[0])?, self.seat(engines[1])?)
        else {
            return Ok(None);
        };
        for (player, place) in [&mut white, &mut black].into_iter().zip(places) {
            player.set_options(pairing.options[place])?;
        }
        if is_chess960(opening) {
            for (player, engine) in [&white, &black].into_iter().zip(engines) {
                ensure!(
                    player.plays_chess960(),
                    "{:?} has no option UCI_Chess960, and an opening is one of Chess960: {}",
                    self.tournament.specs[engine].text,
                    write_fen(opening)
                );
            }
        }
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
                Ending::TimeForfeit => player.recover(stop).is_ok(),
                _ => true,
            };
            self.players[engines[color]] = usable.then_some(player);
        }
        Ok(Some(game))
    }

    /// Takes the engine from its seat, starting it if needed; `None` if the tournament ended
    /// meanwhile.
    fn seat(&mut self, engine: usize) -> Result<Option<Player>> {
        if let Some(player) = self.players[engine].take() {
            return Ok(Some(player));
        }
        let Tournament { specs, stop, .. } = *self.tournament;
        match Player::start(&specs[engine], stop) {
            Err(error) if is_cancelled(&error) => Ok(None),
            started => started.map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cozy_chess::Board;

    use super::*;

    /// Injects a panic through the schedule; no real game is known to panic.
    #[test]
    fn a_worker_that_panics_ends_the_tournament() {
        let specs = ["material", "material"].map(|spec| spec.parse().unwrap());
        let opening = Board::startpos();
        let tournament = Tournament {
            specs: &specs,
            paces: &[Pace::Depth(1), Pace::Depth(1)],
            rules: Rules {
                margin: Duration::ZERO,
                resign: None,
                draw: None,
                tables: None,
                max_plies: 400,
            },
            done: HashSet::new(),
            concurrency: 2,
            stop: &AtomicBool::new(false),
        };
        let schedule = |number| {
            assert_ne!(number, 5, "a fault");
            Some(Pairing {
                number,
                engines: [0, 1],
                opening: &opening,
                options: [&[]; 2],
            })
        };
        // The schedule is endless: only the panic ends the tournament.
        let played = tournament.play(schedule, |_, _| Ok(ControlFlow::Continue(())));
        assert!(played.unwrap_err().to_string().contains("a defect"));
    }
}
