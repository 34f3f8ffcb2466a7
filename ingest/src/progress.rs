//! How far a source has been read: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const LINE_EVERY: Duration = Duration::from_secs(10);

/// Progress through one source.
pub struct Progress {
    name: String,
    total_bytes: Option<u64>,
    /// Bytes that were behind when the work began.
    start: u64,
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
}

impl Progress {
    /// Progress through a source of so many compressed bytes, if known.
    pub fn new(name: &str, total_bytes: Option<u64>) -> Progress {
        let bar = stderr().is_terminal().then(|| {
            let (bar, template) = match total_bytes {
                Some(total) => (
                    ProgressBar::new(total),
                    "{prefix} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {msg}, ETA {eta}",
                ),
                None => (
                    ProgressBar::no_length(),
                    "{prefix} {spinner} {bytes} {bytes_per_sec}, {msg}",
                ),
            };
            let style =
                ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_bar());
            bar.with_style(style).with_prefix(name.to_string())
        });
        let now = Instant::now();
        Progress {
            name: name.to_string(),
            total_bytes,
            start: 0,
            bar,
            started: now,
            last_line: now,
        }
    }

    /// The same for work that goes on `start` bytes into the source.
    pub fn from(mut self, start: u64) -> Progress {
        self.start = start;
        if let Some(bar) = &self.bar {
            bar.set_position(start);
            bar.reset_eta();
        }
        self
    }

    /// Shows the state: compressed bytes read, games and labels found.
    pub fn update(&mut self, bytes: u64, games: u64, labels: u64) {
        self.show(bytes, |seconds| {
            let rate = games as f64 / seconds;
            format!("{games} games, {rate:.0} games/s, {labels} labels")
        });
    }

    /// Shows the state: compressed bytes read, and what `message` says after
    /// so many seconds.
    pub fn show(&mut self, bytes: u64, message: impl FnOnce(f64) -> String) {
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
            bar.set_message(message(seconds));
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            let eta = match self.total_bytes {
                Some(total) if bytes > self.start => {
                    let (left, done) = (total.saturating_sub(bytes), bytes - self.start);
                    format!(", ETA {:.0} s", seconds * left as f64 / done as f64)
                }
                _ => String::new(),
            };
            let (megabytes, message) = (bytes / 1_000_000, message(seconds));
            eprintln!("{}: {megabytes} MB, {message}{eta}", self.name);
        }
    }

    /// Ends the display with a last line.
    pub fn finish(&self, games: u64, labels: u64) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let seconds = self.started.elapsed().as_secs_f64();
        eprintln!(
            "{}: {games} games, {labels} labels in {seconds:.1} s",
            self.name
        );
    }
}
