//! How far work has come: a bar on a terminal, plain lines elsewhere.

use std::time::{Duration, Instant};

pub use indicatif::FormattedDuration;
use indicatif::{ProgressBar, ProgressStyle};

/// Between two states of a bar: what is done at once may be long.
const BAR_EVERY: Duration = Duration::from_secs(1);
/// Between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// In which form a state is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Beside a bar, as its template's `msg`.
    Bar,
    /// As a line of its own.
    Line {
        /// How long the rest takes, at the mean pace so far.
        left: Option<Duration>,
    },
}

/// The display of some work, on standard error. Dropping it takes the bar away.
pub struct Progress {
    /// Hidden where no terminal shows it.
    bar: ProgressBar,
    /// What was behind when the work began.
    start: u64,
    began: Instant,
    shown: Instant,
}

impl Progress {
    /// Progress through `total`, if that is known, of which `start` is behind.
    /// A bar looks as indicatif's `template` says.
    ///
    /// # Panics
    /// If that is no template: the program made it.
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

    /// The same with a name, for the template's `prefix`.
    pub fn named(self, name: &str) -> Progress {
        self.bar.set_prefix(name.to_string());
        self
    }

    /// How long the work takes.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Whether a second has passed since a bar was shown, or ten since a line was.
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

    /// Shows that so much is behind, and what `text` says of it. A bar is always
    /// shown, a line only where it is due.
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

    /// Writes something else to the terminal, above the bar.
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
    fn a_line_is_due_every_ten_seconds_and_tells_what_is_left() {
        let mut progress = Progress::new("{msg}", Some(100), 20);
        progress
            .bar
            .set_draw_target(indicatif::ProgressDrawTarget::hidden());
        let after = |seconds| progress.began + Duration::from_secs(seconds);
        assert!(!progress.is_due_at(after(9)) && progress.is_due_at(after(10)));
        assert_eq!(progress.left(20, after(10)), None);
        let left = progress.left(40, after(10));
        assert_eq!(left, Some(Duration::from_secs(30)));
        progress.shown = after(10);
        assert!(!progress.is_due_at(after(19)));
    }
}
