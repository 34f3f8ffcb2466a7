//! Progress display of a run.

use std::time::Duration;

use host::{eta, rate, tell};

/// Positions trained on, and the time spent.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    samples: u64,
    waiting: Duration,
    computing: Duration,
}

impl Work {
    fn since(self, before: Work) -> Work {
        Work {
            samples: self.samples - before.samples,
            waiting: self.waiting - before.waiting,
            computing: self.computing - before.computing,
        }
    }

    fn seconds(self) -> f64 {
        (self.waiting + self.computing).as_secs_f64()
    }

    fn per_second(self) -> f64 {
        self.samples as f64 / self.seconds().max(1e-9)
    }

    /// Returns the time that `samples` positions take at the same pace.
    fn time_of(self, samples: u64) -> Duration {
        let seconds = samples as f64 / self.per_second();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// Progress bar on standard error.
pub struct Progress {
    display: host::Progress,
    /// Positions of all epochs.
    total: u64,
    /// Positions done before this process started.
    start: u64,
    /// Work of this process.
    work: Work,
    /// Work at the time of the last display.
    shown: Work,
}

impl Progress {
    /// Returns the display of a run over `total` positions in all epochs, `start` of them done
    /// already.
    pub fn new(total: u64, start: u64) -> Progress {
        let template = "{bar:24} {percent:>3} %  {msg}";
        Progress {
            display: host::Progress::new(template, Some(total), start),
            total,
            start,
            work: Work::default(),
            shown: Work::default(),
        }
    }

    /// Adds a step on `samples` positions, with the time spent waiting for its batch and computing
    /// it.
    pub fn step(&mut self, samples: usize, waiting: Duration, computing: Duration) {
        self.work.samples += samples as u64;
        self.work.waiting += waiting;
        self.work.computing += computing;
    }

    /// Returns whether the display should be updated.
    pub fn is_due(&self) -> bool {
        self.display.is_due()
    }

    /// Updates the display, with the epoch's mean loss so far and the learning rate.
    pub fn show(&mut self, epoch: u64, loss: f64, rate: f64) {
        let left = self.total - self.start - self.work.samples;
        let recent = self.work.since(self.shown);
        let state = state(recent, self.work, left);
        self.display.show(self.start + self.work.samples, |_| {
            format!("epoch {epoch}, loss {loss:.4}, learning rate {rate:.1e}, {state}")
        });
        self.shown = self.work;
    }

    /// Returns the positions done, and those of all epochs.
    pub fn positions(&self) -> (u64, u64) {
        (self.start + self.work.samples, self.total)
    }

    /// Returns the remaining training time at the pace of this process, without validation. `None`
    /// before the first step.
    pub fn left(&self) -> Option<Duration> {
        let (done, total) = self.positions();
        (self.work.samples > 0).then(|| self.work.time_of(total - done))
    }

    /// Prints a line above the bar.
    pub fn line(&self, text: &str) {
        self.display.suspend(|| tell(text));
    }
}

/// Formats speed and bottleneck of the recent work, and the remaining training time at the pace of
/// all work, without validation.
fn state(recent: Work, all: Work, left: u64) -> String {
    let waiting = 100.0 * recent.waiting.as_secs_f64() / recent.seconds().max(1e-9);
    format!(
        "{} samples/s, {waiting:.0} % waiting for data, {:.0} % computing, {}",
        rate(recent.per_second()),
        100.0 - waiting,
        eta(all.time_of(left))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_speed_bottleneck_and_eta() {
        let work = |samples, waiting, computing| Work {
            samples,
            waiting: Duration::from_secs(waiting),
            computing: Duration::from_secs(computing),
        };
        assert_eq!(
            state(work(6_000, 1, 3), work(10_000, 1, 9), 120_000),
            "1,500 samples/s, 25 % waiting for data, 75 % computing, ETA 00:02:00"
        );
    }
}
