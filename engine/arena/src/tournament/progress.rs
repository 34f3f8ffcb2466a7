//! How far a match, a ladder or a suite is.

use host::{Form, FormattedDuration};

/// The display of games or problems.
pub struct Progress(host::Progress);

impl Progress {
    /// For so many, if their number is known, of which some are done.
    pub fn new(total: Option<u64>, before: u64) -> Progress {
        let template = match total {
            Some(_) => "{bar:24} {pos}/{len}  {msg}  {elapsed}, ETA {eta}",
            None => "{spinner} {msg}  {elapsed}",
        };
        Progress(host::Progress::new(template, total, before))
    }

    /// The same for a result of several lines, which stand below the bar.
    pub fn with_table(total: u64, before: u64) -> Progress {
        let template = "{bar:24} {pos}/{len}  {elapsed}, ETA {eta}\n{msg}";
        Progress(host::Progress::new(template, Some(total), before))
    }

    /// So many are done, with such a result.
    pub fn show(&mut self, done: u64, result: impl Fn(Form) -> String) {
        self.0.show(done, |form| match form {
            Form::Line { left: Some(left) } => {
                format!("{}, ETA {}", result(form), FormattedDuration(left))
            }
            _ => result(form),
        });
    }

    /// Writes something else to the terminal, above the bar.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }
}
