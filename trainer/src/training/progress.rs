//! What a run shows while it runs.

use std::time::Duration;

use host::{FormattedDuration, tell};

/// Training that was done: positions, and the time they took.
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

    /// How long so many positions take at the same pace.
    fn time_of(self, samples: u64) -> Duration {
        let seconds = samples as f64 / self.per_second();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// The display of a run, on standard error.
pub struct Progress {
    display: host::Progress,
    /// Positions of the run, all epochs together.
    total: u64,
    /// Of these, done before this program was started.
    start: u64,
    /// Done since.
    work: Work,
    /// The work until a state was last shown.
    shown: Work,
}

impl Progress {
    /// For a run over so many positions, all epochs together, of which so many
    /// are done.
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

    /// A step on so many positions is done: for so long no batch was ready,
    /// and for so long it was computed.
    pub fn step(&mut self, samples: usize, waiting: Duration, computing: Duration) {
        self.work.samples += samples as u64;
        self.work.waiting += waiting;
        self.work.computing += computing;
    }

    /// Whether it is time to show a state.
    pub fn is_due(&self) -> bool {
        self.display.is_due()
    }

    /// Shows the state, with the epoch's mean loss so far and the learning
    /// rate.
    pub fn show(&mut self, epoch: u64, loss: f64, rate: f64) {
        let left = self.total - self.start - self.work.samples;
        let recent = self.work.since(self.shown);
        let state = state(recent, self.work, left);
        self.display.show(self.start + self.work.samples, |_| {
            format!("epoch {epoch}, loss {loss:.4}, learning rate {rate:.1e}, {state}")
        });
        self.shown = self.work;
    }

    /// Positions done, and those of the run, all epochs together.
    pub fn positions(&self) -> (u64, u64) {
        (self.start + self.work.samples, self.total)
    }

    /// How long the training takes still, if it goes on as since the program was
    /// started. The time of validation is not foreseen.
    pub fn left(&self) -> Option<Duration> {
        let (done, total) = self.positions();
        (self.work.samples > 0).then(|| self.work.time_of(total - done))
    }

    /// Prints a line above the bar.
    pub fn line(&self, text: &str) {
        self.display.suspend(|| tell(text));
    }
}

/// Speed and bottleneck of the recent work, and when the training ends if it
/// goes on as all the work did. The time of validation is not foreseen.
fn state(recent: Work, all: Work, left: u64) -> String {
    let waiting = 100.0 * recent.waiting.as_secs_f64() / recent.seconds().max(1e-9);
    let eta = all.time_of(left);
    format!(
        "{:.0} samples/s, {waiting:.0} % waiting for data, {:.0} % computing, ETA {}",
        recent.per_second(),
        100.0 - waiting,
        FormattedDuration(Duration::from_secs(eta.as_secs()))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_tells_speed_bottleneck_and_end() {
        let work = |samples, waiting, computing| Work {
            samples,
            waiting: Duration::from_secs(waiting),
            computing: Duration::from_secs(computing),
        };
        assert_eq!(
            state(work(6_000, 1, 3), work(10_000, 1, 9), 120_000),
            "1500 samples/s, 25 % waiting for data, 75 % computing, ETA 00:02:00"
        );
    }
}
