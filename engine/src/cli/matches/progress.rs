//! How far a match or a ladder is: a bar on a terminal, now and then a line
//! elsewhere.

use std::time::{Duration, Instant};

use indicatif::{FormattedDuration, ProgressBar, ProgressStyle};

/// Between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The display of a tournament, on standard error.
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
    shown: Instant,
}

impl Progress {
    /// For so many games, if their number is known.
    pub fn new(games: Option<u64>) -> Progress {
        let (bar, template) = match games {
            Some(games) => (
                ProgressBar::new(games),
                "{bar:24} {pos}/{len}  {msg}  ETA {eta}",
            ),
            None => (ProgressBar::no_length(), "{spinner} {msg}  {elapsed}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress {
            bar,
            start: Instant::now(),
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
            let left = self.bar.length().map(|all| {
                self.start
                    .elapsed()
                    .mul_f64(all.saturating_sub(games) as f64 / games.max(1) as f64)
            });
            let eta = left.map(|left| format!(", ETA {}", FormattedDuration(left)));
            eprintln!("{}{}", result(), eta.unwrap_or_default());
        }
    }
}

/// What is printed next does not mix with the bar.
impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
