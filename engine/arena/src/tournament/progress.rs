//! Progress bar of a match, ladder or suite.

use host::{Form, eta};

/// Progress bar over games or problems.
pub struct Progress(host::Progress);

impl Progress {
    /// Returns a bar for `total` items (`None` if unknown), with `before` of them done.
    pub fn new(total: Option<u64>, before: u64) -> Progress {
        let template = match total {
            Some(_) => {
                "{bar:24} {human_pos}/{human_len}  {msg}  {elapsed_precise}, ETA {eta_precise}"
            }
            None => "{spinner} {msg}  {elapsed_precise}",
        };
        Progress(host::Progress::new(template, total, before))
    }

    /// Returns a bar above a result of several lines.
    pub fn with_table(total: u64, before: u64) -> Progress {
        let template =
            "{bar:24} {human_pos}/{human_len}  {elapsed_precise}, ETA {eta_precise}\n{msg}";
        Progress(host::Progress::new(template, Some(total), before))
    }

    /// Shows the number of items done and the result so far.
    pub fn show(&mut self, done: u64, result: impl Fn(Form) -> String) {
        self.0.show(done, |form| match form {
            Form::Line { left: Some(left) } => format!("{}, {}", result(form), eta(left)),
            _ => result(form),
        });
    }

    /// Runs `write`, which may print above the bar.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }
}
