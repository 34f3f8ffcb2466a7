//! Self-play on all cores, written in the order of the games' numbers.
//!
//! Each worker has its own engine and plays one game at a time; the calling thread writes. The
//! bytes written depend only on the settings.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use host::archive;

use crate::players::player::library;
use crate::players::spec::Net;
use crate::selfplay::format::Format;
use crate::selfplay::game::{Game, Rules};
use crate::selfplay::settings::Settings;
use crate::selfplay::tally::Tally;

/// Games per frame: the work that an interruption can cost.
const FRAME_GAMES: u64 = 32;

/// Settings and counts of an output.
pub type Record = archive::ArchiveRecord<Settings, Tally>;
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
    number: u64,
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
    ) -> Result<(Record, Work)> {
        let mut output = Output {
            tally: archive.record().done.counts.clone(),
            archive,
            frame: Vec::new(),
            work: Work::default(),
        };
        let start = Instant::now();
        let next = AtomicU64::new(output.tally.games);
        let (sender, played) = channel();
        let done = thread::scope(|scope| {
            for _ in 0..self.concurrency {
                let (sender, next) = (sender.clone(), &next);
                let worker = thread::Builder::new().spawn_scoped(scope, move || {
                    let work = || self.work(next, &sender);
                    let ended = catch_unwind(AssertUnwindSafe(work));
                    let ended = ended.unwrap_or_else(|_| Err(anyhow!("a game panicked: a defect")));
                    if let Err(error) = ended {
                        // Sending fails if another worker failed before.
                        let _ = sender.send(Err(error));
                    }
                });
                if let Err(error) = worker {
                    self.stop.store(true, Ordering::Relaxed);
                    let games = self.concurrency;
                    return Err(error).context(format!("{games} games at a time are too many"));
                }
            }
            drop(sender);
            let mut early = BTreeMap::new();
            let written = (|| {
                if self.settings.is_enough(&output.tally) {
                    return Ok(());
                }
                for played in &played {
                    let played: Played = played?;
                    early.insert(played.number, played);
                    while let Some(played) = early.remove(&output.tally.games) {
                        output.push(&played)?;
                        output.work.time = start.elapsed();
                        show(&output.tally, &output.work);
                        if self.settings.is_enough(&output.tally) {
                            return Ok(());
                        }
                    }
                }
                Ok(())
            })();
            // Workers drop their unfinished games and return.
            self.stop.store(true, Ordering::Relaxed);
            written
        });
        output.work.time = start.elapsed();
        let enough = self.settings.is_enough(&output.tally);
        output.close(done, enough)
    }

    /// Plays games until none is left or `stop` is set.
    fn work(&self, next: &AtomicU64, sender: &Sender<Result<Played>>) -> Result<()> {
        let mut library = library(self.net)?;
        while !self.stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if self.settings.games.is_some_and(|games| number >= games) {
                break;
            }
            let Some(game) = self.rules.play(&mut library, number, self.stop)? else {
                break;
            };
            let bytes = self.format.write(&game, number, self.settings);
            let played = Played {
                number,
                game,
                bytes,
            };
            if sender.send(Ok(played)).is_err() {
                break;
            }
        }
        Ok(())
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
        let Played { game, bytes, .. } = played;
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
    fn close(mut self, done: Result<()>, enough: bool) -> Result<(Record, Work)> {
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
