//! How far a match or a ladder is: a bar on a terminal, now and then a line
//! elsewhere.

use std::time::{Duration, Instant};

use host::tell;
use indicatif::{FormattedDuration, ProgressBar, ProgressStyle};

/// Between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Between two looks of a bar: games may be long.
const TICK: Duration = Duration::from_secs(1);

/// The display of a tournament, on standard error.
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
    /// Games of an earlier run, which took none of this one's time.
    before: u64,
    shown: Instant,
}

impl Progress {
    /// For so many games, if their number is known, of which some are played.
    pub fn new(games: Option<u64>, before: u64) -> Progress {
        let (bar, template) = match games {
            Some(games) => (
                ProgressBar::new(games),
                "{bar:24} {pos}/{len}  {msg}  {elapsed}, ETA {eta}",
            ),
            None => (ProgressBar::no_length(), "{spinner} {msg}  {elapsed}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_position(before);
        bar.reset_eta();
        if !bar.is_hidden() {
            bar.enable_steady_tick(TICK);
        }
        Progress {
            bar,
            start: Instant::now(),
            before,
            shown: Instant::now(),
        }
    }

    /// So many games are done, with such a result.
    pub fn show(&mut self, games: u64, result: impl Fn() -> String) {
        self.bar.set_position(games);
        if !self.bar.is_hidden() {
            self.bar.set_message(result());
        } else if self.shown.elapsed() >= LINE_EVERY {
            self.shown = Instant::now();
            let eta = self
                .left(games)
                .map(|left| format!(", ETA {}", FormattedDuration(left)));
            tell(result() + &eta.unwrap_or_default());
        }
    }

    /// How long the rest takes, at the pace of this run.
    fn left(&self, games: u64) -> Option<Duration> {
        let played = games.saturating_sub(self.before).max(1);
        let left = self.bar.length()?.saturating_sub(games);
        let seconds = self.start.elapsed().as_secs_f64() * left as f64 / played as f64;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

/// What is printed next does not mix with the bar.
impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
