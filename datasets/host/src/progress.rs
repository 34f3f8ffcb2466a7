//! Progress display: a bar on a terminal, plain lines elsewhere.

use std::time::{Duration, Instant};

pub use indicatif::FormattedDuration;
use indicatif::{ProgressBar, ProgressStyle};

/// Interval between updates of a bar; also its tick, as one step of the work may take long.
const BAR_EVERY: Duration = Duration::from_secs(1);
/// Interval between plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Display form of a progress text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Message beside a bar, for its template's `msg`.
    Bar,
    /// Separate line.
    Line {
        /// Estimated time to completion at the mean pace so far; `None` before any progress, or if
        /// the total is unknown.
        left: Option<Duration>,
    },
}

/// Formats an estimated time to completion as all displays show it: `ETA 00:01:30`. In the template
/// of a bar it is `ETA {eta_precise}`.
pub fn eta(left: Duration) -> String {
    format!("ETA {}", FormattedDuration(left))
}

/// Progress display on standard error. The bar is cleared on drop.
pub struct Progress {
    /// Hidden unless standard error is a terminal.
    bar: ProgressBar,
    /// Position at the start of this run.
    start: u64,
    began: Instant,
    shown: Instant,
}

impl Progress {
    /// Starts a display at position `start` of `total`; `None` if the total is unknown. `template`
    /// is indicatif's template of the bar.
    ///
    /// # Panics
    /// If `template` is invalid.
    pub fn new(template: &str, total: Option<u64>, start: u64) -> Progress {
        let style = ProgressStyle::with_template(template).expect("a template of the program");
        let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let bar = bar.with_style(style);
        bar.set_position(start);
        bar.reset_eta();
        if !bar.is_hidden() {
            bar.enable_steady_tick(BAR_EVERY);
        }
        let now = Instant::now();
        Progress {
            bar,
            start,
            began: now,
            shown: now,
        }
    }

    /// Sets the name shown by the template's `prefix`.
    pub fn named(self, name: &str) -> Progress {
        self.bar.set_prefix(name.to_string());
        self
    }

    /// Returns the seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Returns whether an update is due: every second for a bar, every ten seconds for lines.
    pub fn is_due(&self) -> bool {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&self, now: Instant) -> bool {
        let every = match self.bar.is_hidden() {
            true => LINE_EVERY,
            false => BAR_EVERY,
        };
        now - self.shown >= every
    }

    /// Updates the position and the text: a bar always, a line only when due.
    pub fn show(&mut self, done: u64, text: impl FnOnce(Form) -> String) {
        self.bar.set_position(done);
        let now = Instant::now();
        if !self.bar.is_hidden() {
            self.bar.set_message(text(Form::Bar));
        } else if self.is_due_at(now) {
            let left = self.left(done, now);
            crate::tell(text(Form::Line { left }));
        } else {
            return;
        }
        self.shown = now;
    }

    fn left(&self, done: u64, now: Instant) -> Option<Duration> {
        let here = done.checked_sub(self.start).filter(|&here| here > 0)?;
        let left = self.bar.length()?.saturating_sub(done);
        let seconds = (now - self.began).as_secs_f64() * left as f64 / here as f64;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// Runs `write`, which may print to the terminal, with the bar hidden.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_due_every_ten_seconds_with_the_time_left() {
        let mut progress = Progress::new("{msg}", Some(100), 20);
        progress
            .bar
            .set_draw_target(indicatif::ProgressDrawTarget::hidden());
        let after = |seconds| progress.began + Duration::from_secs(seconds);
        assert!(!progress.is_due_at(after(9)) && progress.is_due_at(after(10)));
        assert_eq!(progress.left(20, after(10)), None);
        let left = progress.left(40, after(10));
        assert_eq!(left, Some(Duration::from_secs(30)));
        assert_eq!(eta(Duration::from_millis(30_900)), "ETA 00:00:30");
        progress.shown = after(10);
        assert!(!progress.is_due_at(after(19)));
    }
}
