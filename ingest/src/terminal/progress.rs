//! How far work has come.

use host::Form;

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
    display: host::Progress,
}

impl Progress {
    /// Progress through so much, if that is known, of which `start` is behind.
    pub fn new(name: &str, unit: Unit, total: Option<u64>, start: u64) -> Progress {
        let template = unit.template(total.is_some());
        Progress {
            name: name.to_string(),
            unit,
            display: host::Progress::new(template, total, start).named(name),
        }
    }

    /// Shows the state: how much is behind, and what `message` says after so
    /// many seconds.
    pub fn show(&mut self, done: u64, message: impl FnOnce(f64) -> String) {
        let seconds = self.display.seconds().max(1e-3);
        self.display.show(done, |form| match form {
            Form::Bar => message(seconds),
            Form::Line { left } => {
                let (name, amount) = (&self.name, self.unit.text(done));
                let eta = left.map(|left| format!(", ETA {:.0} s", left.as_secs_f64()));
                let eta = eta.unwrap_or_default();
                format!("{name}: {amount}, {}{eta}", message(seconds))
            }
        });
    }

    /// Ends the display with a last line: what was done.
    pub fn finish(self, what: &str) {
        let seconds = self.display.seconds();
        drop(self.display);
        host::tell(format_args!("{}: {what} in {seconds:.1} s", self.name));
    }
}
