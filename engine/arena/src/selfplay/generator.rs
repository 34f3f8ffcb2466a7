//! Self-play on all cores, written in the order of the games' numbers.
//!
//! Each worker has its own engine and plays one game at a time; the calling thread writes. The
//! bytes written depend only on the settings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use host::{Workers, archive};

use crate::players::player::library;
use crate::players::spec::Net;
use crate::selfplay::format::Format;
use crate::selfplay::game::{Game, Rules};
use crate::selfplay::settings::Settings;
use crate::selfplay::tally::Tally;

/// Games per frame: the work that an interruption can cost.
const FRAME_GAMES: u64 = 32;

/// Games in flight per worker: enough that none waits for another's long game.
const WINDOW: usize = 64;

/// Settings and counts of an output.
pub type OutputRecord = archive::ArchiveRecord<Settings, Tally>;
/// An unfinished output.
pub type Archive = archive::Archive<Settings, Tally>;

/// Inputs of a run that generates an output.
pub struct Generator<'a> {
    pub net: &'a Net,
    /// Rules of the games.
    pub rules: &'a Rules,
    /// Settings of the output.
    pub settings: &'a Settings,
    /// Format of the output.
    pub format: Format,
    /// Games played at the same time.
    pub concurrency: usize,
    /// Ends the work when set; unfinished games do not count.
    pub stop: &'a AtomicBool,
}

/// Work of one run of the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Finished games.
    pub games: u64,
    /// Positions of these games.
    pub positions: u64,
    /// Nodes of these games.
    pub nodes: u64,
    /// Search time of these games, summed over all threads.
    pub searching: Duration,
    /// Wall-clock time.
    pub time: Duration,
}

/// A finished game.
struct Played {
    game: Game,
    bytes: Vec<u8>,
}

impl Generator<'_> {
    /// Continues an output until it has all games or `stop` is set, then finishes it. Calls `show`
    /// with the counts after each game. Removes an output without games.
    ///
    /// # Errors
    /// If the net cannot be loaded or the output cannot be written. Games that the record counts
    /// stay.
    pub fn run(
        &self,
        archive: Archive,
        mut show: impl FnMut(&Tally, &Work),
    ) -> Result<(OutputRecord, Work)> {
        let mut output = Output {
            tally: archive.record().done.counts.clone(),
            archive,
            frame: Vec::new(),
            work: Work::default(),
        };
        let start = Instant::now();
        let numbers = output.tally.games..self.settings.games.unwrap_or(u64::MAX);
        let numbers = numbers.take_while(|_| !self.stop.load(Ordering::Relaxed));
        let done = thread::scope(|scope| {
            let done = (|| {
                if self.settings.is_enough(&output.tally) {
                    return Ok(());
                }
                let games = self.concurrency;
                let workers = Workers {
                    threads: games,
                    least: games,
                    window: WINDOW * games,
                };
                let played = workers.start(scope, numbers, || self.worker());
                let played =
                    played.with_context(|| format!("{games} games at a time are too many"))?;
                for played in played {
                    let defect = |_| Err(anyhow!("a game panicked: a defect"));
                    let Some(played) = played.unwrap_or_else(defect)? else {
                        break;
                    };
                    output.push(&played)?;
                    output.work.time = start.elapsed();
                    show(&output.tally, &output.work);
                    if self.settings.is_enough(&output.tally) {
                        break;
                    }
                }
                Ok(())
            })();
            // Workers drop their unfinished games and return.
            self.stop.store(true, Ordering::Relaxed);
            done
        });
        output.work.time = start.elapsed();
        let enough = self.settings.is_enough(&output.tally);
        output.close(done, enough)
    }

    /// Returns a worker, which plays the game of a number; `None` if `stop` was set before its end.
    fn worker(&self) -> Result<impl FnMut(u64) -> Result<Option<Played>>> {
        let mut library = library(self.net)?;
        Ok(move |number| {
            let game = self.rules.play(&mut library, number, self.stop)?;
            Ok(game.map(|game| Played {
                bytes: self.format.write(&game, number, self.settings),
                game,
            }))
        })
    }
}

/// The output with its counts.
struct Output {
    archive: Archive,
    tally: Tally,
    /// The frame being filled.
    frame: Vec<u8>,
    work: Work,
}

impl Output {
    fn push(&mut self, played: &Played) -> Result<()> {
        let Played { game, bytes } = played;
        self.tally.add(game);
        self.work.games += 1;
        self.work.positions += game.searched.len() as u64;
        self.work.nodes += game.nodes;
        self.work.searching += game.searching;
        self.frame.extend_from_slice(bytes);
        if self.tally.games.is_multiple_of(FRAME_GAMES) {
            self.archive.append(&self.frame)?;
            self.frame.clear();
            self.archive.count(self.tally.clone())?;
        }
        Ok(())
    }

    /// Finishes the output, unless it has no game or failed. An interrupted output keeps its whole
    /// frames, so that it resumes to the same bytes; without one it keeps the games of its first.
    fn close(mut self, done: Result<()>, enough: bool) -> Result<(OutputRecord, Work)> {
        let record = self.archive.record().clone();
        let has_frames = record.done.counts.games > 0;
        match done {
            Ok(()) if enough || (!has_frames && self.tally.games > 0) => {
                self.archive.append(&self.frame)?;
                Ok((self.archive.finish(self.tally)?, self.work))
            }
            Ok(()) if has_frames => Ok((self.archive.finish(record.done.counts)?, self.work)),
            done => {
                if !has_frames {
                    self.archive.remove()?;
                }
                done.map(|()| (record, self.work))
            }
        }
    }
}
