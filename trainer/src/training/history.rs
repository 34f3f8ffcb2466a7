//! History of a run: metrics of each finished epoch, sums of the current one, and the course of the
//! steps.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::report::course::Course;
use crate::report::metrics::{self, Epoch, Stretch};
use crate::training::learner::LearnedStep;

/// Sums over the current epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Positions trained on.
    pub samples: u64,
    /// Sum of the positions' losses.
    loss: f64,
    /// Number of steps with clipped gradients.
    pub clipped_steps: u64,
    /// Time spent waiting for batches.
    pub waiting_seconds: f64,
    /// Rest of the time.
    pub computing_seconds: f64,
}

impl Pass {
    /// Adds a step. Gradients longer than `clip_norm` count as clipped.
    pub fn add(&mut self, step: LearnedStep, clip_norm: f32) {
        self.samples += step.samples;
        self.loss += f64::from(step.loss) * step.samples as f64;
        self.clipped_steps += u64::from(step.gradient_norm > clip_norm);
    }

    /// Adds the time of a step.
    pub fn spend(&mut self, waiting: Duration, computing: Duration) {
        self.waiting_seconds += waiting.as_secs_f64();
        self.computing_seconds += computing.as_secs_f64();
    }

    /// Returns the mean loss; NaN before the first step.
    pub fn loss(&self) -> f64 {
        self.loss / self.samples as f64
    }

    /// Returns the training positions a second.
    pub fn samples_per_second(&self) -> f64 {
        self.samples as f64 / (self.waiting_seconds + self.computing_seconds)
    }
}

/// State of a run except its weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunHistory {
    /// Number of steps taken in all epochs.
    pub steps: u64,
    /// Finished epochs.
    pub epochs: Vec<Epoch>,
    /// Sums of the current epoch.
    pub pass: Pass,
    /// Metrics of the steps, thinned.
    pub course: Course,
    /// Duration of the whole run in seconds, interruptions excluded.
    pub seconds: f64,
}

impl RunHistory {
    /// Adds a finished epoch. Returns whether its net is the [best](metrics::best) so far.
    pub fn close(&mut self, epoch: Epoch) -> bool {
        self.epochs.push(epoch);
        self.pass = Pass::default();
        self.best().is_some_and(|best| best.epoch == epoch.epoch)
    }

    /// Adds steps, the last of which has the number `last` in the run. `time` is their waiting and
    /// computing time in all. Gradients longer than `clip_norm` count as clipped.
    pub fn take(&mut self, steps: &[LearnedStep], last: u64, time: [Duration; 2], clip_norm: f32) {
        let first = last + 1 - steps.len() as u64;
        let [waiting_seconds, computing_seconds] =
            time.map(|time| time.as_secs_f64() / steps.len() as f64);
        for (step, &measured) in (first..).zip(steps) {
            self.pass.add(measured, clip_norm);
            self.course.add(Stretch {
                step,
                steps: 1,
                positions: measured.samples,
                train_loss: f64::from(measured.loss),
                gradient_norm: f64::from(measured.gradient_norm),
                learning_rate: measured.learning_rate,
                waiting_seconds,
                computing_seconds,
            });
        }
    }

    /// Returns the epoch with the best net.
    pub fn best(&self) -> Option<&Epoch> {
        metrics::best(&self.epochs)
    }

    /// Returns the number of the current epoch, counted from 1.
    pub fn epoch(&self) -> u64 {
        self.epochs.len() as u64 + 1
    }
}
