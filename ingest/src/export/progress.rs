//! How far an export has come: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const LINE_EVERY: Duration = Duration::from_secs(10);
const TEMPLATE: &str =
    "{prefix} {wide_bar} {human_pos}/{human_len} positions, {per_sec}, ETA {eta}";

/// Progress through so many positions.
pub struct Progress {
    name: String,
    total: u64,
    done: u64,
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
}

impl Progress {
    /// Progress of what is called `name` through `total` positions.
    pub fn new(name: String, total: u64) -> Progress {
        let bar = stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template(TEMPLATE).unwrap_or(ProgressStyle::default_bar());
            ProgressBar::new(total)
                .with_style(style)
                .with_prefix(name.clone())
        });
        let now = Instant::now();
        Progress {
            name,
            total,
            done: 0,
            bar,
            started: now,
            last_line: now,
        }
    }

    /// More positions are done.
    pub fn add(&mut self, positions: u64) {
        self.done += positions;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            let rate = self.rate();
            let left = self.total.saturating_sub(self.done) as f64 / rate;
            eprintln!(
                "{}: {} of {} positions, {rate:.0} positions/s, ETA {left:.0} s",
                self.name, self.done, self.total
            );
        }
    }

    /// Ends the display with a last line.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        eprintln!(
            "{}: {} positions in {:.1} s, {:.0} positions/s",
            self.name,
            self.done,
            self.started.elapsed().as_secs_f64(),
            self.rate()
        );
    }

    /// Positions a second.
    fn rate(&self) -> f64 {
        self.done as f64 / self.started.elapsed().as_secs_f64().max(1e-3)
    }
}
