//! What a run shows while it runs: a bar on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The display of a run, on standard error.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// For a run over so many samples, all epochs together.
    pub fn new(samples: u64) -> Progress {
        // indicatif draws nothing where standard error is no terminal.
        let bar = ProgressBar::with_draw_target(Some(samples), ProgressDrawTarget::stderr());
        let template = "{bar:24} {percent:>3} %  {msg}  {per_sec}  ETA {eta}";
        let style = ProgressStyle::with_template(template).expect("a template of this file");
        bar.set_style(style.with_key(
            "per_sec",
            |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
                // A display that cannot be written to is not worth an error.
                let _ = write!(out, "{:.0} samples/s", state.per_sec());
            },
        ));
        Progress { bar }
    }

    /// So many samples more are done.
    pub fn advance(&self, samples: usize) {
        self.bar.inc(samples as u64);
    }

    /// Shows the epoch's mean loss so far, and the learning rate.
    pub fn show(&self, loss: f64, rate: f64) {
        self.bar
            .set_message(format!("loss {loss:.4}  rate {rate:.1e}"));
    }

    /// Prints a line above the bar.
    pub fn line(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
