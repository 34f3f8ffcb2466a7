//! How far work has come: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const LINE_EVERY: Duration = Duration::from_secs(10);

/// What progress is measured in.
#[derive(Clone, Copy)]
pub enum Unit {
    /// Compressed bytes of a source.
    Bytes,
    /// Positions of a dataset.
    Positions,
}

impl Unit {
    /// What a bar shows, with an end to come to or without.
    fn template(self, has_total: bool) -> &'static str {
        match (self, has_total) {
            (Unit::Bytes, true) => {
                "{prefix} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {msg}, ETA {eta}"
            }
            (Unit::Bytes, false) => "{prefix} {spinner} {bytes} {bytes_per_sec}, {msg}",
            (Unit::Positions, true) => {
                "{prefix} {wide_bar} {human_pos}/{human_len} positions, {msg}, ETA {eta}"
            }
            (Unit::Positions, false) => "{prefix} {spinner} {human_pos} positions, {msg}",
        }
    }

    fn text(self, amount: u64) -> String {
        match self {
            Unit::Bytes => format!("{} MB", amount / 1_000_000),
            Unit::Positions => format!("{amount} positions"),
        }
    }
}

/// Progress through something that has a name.
pub struct Progress {
    name: String,
    unit: Unit,
    total: Option<u64>,
    /// What was behind when the work began.
    start: u64,
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
}

impl Progress {
    /// Progress through so much, if that is known.
    pub fn new(name: &str, unit: Unit, total: Option<u64>) -> Progress {
        let bar = stderr().is_terminal().then(|| {
            let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
            let style = ProgressStyle::with_template(unit.template(total.is_some()))
                .unwrap_or(ProgressStyle::default_bar());
            bar.with_style(style).with_prefix(name.to_string())
        });
        let now = Instant::now();
        Progress {
            name: name.to_string(),
            unit,
            total,
            start: 0,
            bar,
            started: now,
            last_line: now,
        }
    }

    /// The same for work of which so much is behind.
    pub fn from(mut self, start: u64) -> Progress {
        self.start = start;
        if let Some(bar) = &self.bar {
            bar.set_position(start);
            bar.reset_eta();
        }
        self
    }

    /// Shows the state: how much is behind, and what `message` says after so
    /// many seconds.
    pub fn show(&mut self, done: u64, message: impl FnOnce(f64) -> String) {
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(message(seconds));
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            let eta = match self.total {
                Some(total) if done > self.start => {
                    let (left, here) = (total.saturating_sub(done), done - self.start);
                    format!(", ETA {:.0} s", seconds * left as f64 / here as f64)
                }
                _ => String::new(),
            };
            let (amount, message) = (self.unit.text(done), message(seconds));
            host::tell(format_args!("{}: {amount}, {message}{eta}", self.name));
        }
    }

    /// Ends the display with a last line: what was done.
    pub fn finish(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let seconds = self.started.elapsed().as_secs_f64();
        host::tell(format_args!("{}: {what} in {seconds:.1} s", self.name));
    }
}
