//! Progress display of one source or export.

use host::{Form, eta, thousands};

/// Unit in which progress is measured.
#[derive(Clone, Copy)]
pub enum Unit {
    /// Compressed bytes of a source.
    Bytes,
    /// Positions of a dataset.
    Positions,
}

impl Unit {
    /// Returns the template of the progress bar, or of a spinner without a total.
    fn template(self, has_total: bool) -> &'static str {
        match (self, has_total) {
            (Unit::Bytes, true) => {
                "{prefix} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {msg}, ETA {eta_precise}"
            }
            (Unit::Bytes, false) => "{prefix} {spinner} {bytes} {bytes_per_sec}, {msg}",
            (Unit::Positions, true) => {
                "{prefix} {wide_bar} {human_pos}/{human_len} positions, {msg}, ETA {eta_precise}"
            }
            (Unit::Positions, false) => "{prefix} {spinner} {human_pos} positions, {msg}",
        }
    }

    fn text(self, amount: u64) -> String {
        match self {
            Unit::Bytes => format!("{} MB", thousands(amount / 1_000_000)),
            Unit::Positions => format!("{} positions", thousands(amount)),
        }
    }
}

/// Named progress display.
pub struct Progress {
    name: String,
    unit: Unit,
    display: host::Progress,
}

impl Progress {
    /// Starts a display from `start` of `total`; `None` if the total is unknown.
    pub fn new(name: &str, unit: Unit, total: Option<u64>, start: u64) -> Progress {
        let template = unit.template(total.is_some());
        Progress {
            name: name.to_string(),
            unit,
            display: host::Progress::new(template, total, start).named(name),
        }
    }

    /// Shows that `done` is finished; `message` gets the elapsed seconds.
    pub fn show(&mut self, done: u64, message: impl FnOnce(f64) -> String) {
        let seconds = self.display.seconds().max(1e-3);
        self.display.show(done, |form| match form {
            Form::Bar => message(seconds),
            Form::Line { left } => {
                let (name, amount) = (&self.name, self.unit.text(done));
                let eta = left.map(|left| format!(", {}", eta(left)));
                let eta = eta.unwrap_or_default();
                format!("{name}: {amount}, {}{eta}", message(seconds))
            }
        });
    }

    /// Ends the display with a last line: `what` and the elapsed time.
    pub fn finish(self, what: &str) {
        let seconds = self.display.seconds();
        drop(self.display);
        host::tell(format_args!("{}: {what} in {seconds:.1} s", self.name));
    }
}
