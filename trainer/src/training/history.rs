//! What a run has measured: one entry an epoch, the sums of the epoch it is in,
//! and its course from step to step.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::report::course::{Course, Stretch};
use crate::report::curves::Point;
use crate::training::learner::Measured;
use crate::training::validation::Validation;

/// An epoch that was run to its end: a line of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counted from 1.
    pub epoch: u64,
    /// At its first step.
    pub learning_rate: f64,
    /// Mean over its positions, each before the step of its batch.
    pub train_loss: f64,
    /// Steps whose gradient was too long and was shortened.
    pub clipped_steps: u64,
    /// The rounded net on the held-out games.
    pub validation: Option<Validation>,
    /// Training alone.
    pub samples_per_second: f64,
    /// Of the training, time in which no batch was ready.
    pub waiting_seconds: f64,
    /// Of the training, the rest.
    pub computing_seconds: f64,
}

impl Epoch {
    /// What the smaller of which is better.
    fn rank(&self) -> Option<f64> {
        self.validation.map(|validation| validation.judged)
    }

    /// Time of its training.
    pub fn seconds(&self) -> f64 {
        self.waiting_seconds + self.computing_seconds
    }

    /// Positions that it trained on.
    fn positions(&self) -> u64 {
        (self.samples_per_second * self.seconds()).round() as u64
    }

    /// The epoch of so many in words; `kept` where its net is the best so far.
    pub fn line(&self, epochs: u64, kept: bool) -> String {
        let held_out = self.validation.map(|v| {
            let net = v.figures.net;
            let show = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.4}"));
            format!(
                "; held-out games: loss {:.4}, winchance {}, clamp10 {}, sign accuracy {}",
                v.loss,
                show(net.winchance),
                show(net.clamp10),
                show(net.sign_accuracy)
            )
        });
        let clipped = match self.clipped_steps {
            0 => String::new(),
            steps => format!("; {steps} gradients clipped"),
        };
        format!(
            "epoch {}/{epochs}: training loss {:.4}{}; {:.0} samples/s, {:.0} % of the time \
             waiting for data{clipped}{}",
            self.epoch,
            self.train_loss,
            held_out.unwrap_or_default(),
            self.samples_per_second,
            100.0 * self.waiting_seconds / self.seconds(),
            if kept { "; kept" } else { "" }
        )
    }
}

/// The epoch that is being run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Positions that were trained on.
    pub samples: u64,
    /// Sum of their losses.
    loss: f64,
    /// Steps whose gradient was shortened.
    pub clipped_steps: u64,
    /// Time in which no batch was ready.
    pub waiting_seconds: f64,
    /// The rest of the time.
    pub computing_seconds: f64,
}

impl Pass {
    /// Takes in a step; gradients longer than `clip_norm` were shortened.
    pub fn add(&mut self, step: Measured, clip_norm: f32) {
        self.samples += step.samples;
        self.loss += f64::from(step.loss) * step.samples as f64;
        self.clipped_steps += u64::from(step.gradient_norm > clip_norm);
    }

    /// Takes in the time of a step.
    pub fn spend(&mut self, waiting: Duration, computing: Duration) {
        self.waiting_seconds += waiting.as_secs_f64();
        self.computing_seconds += computing.as_secs_f64();
    }

    /// The mean loss; not a number before the first step.
    pub fn loss(&self) -> f64 {
        self.loss / self.samples as f64
    }

    /// Positions a second.
    pub fn samples_per_second(&self) -> f64 {
        self.samples as f64 / (self.waiting_seconds + self.computing_seconds)
    }
}

/// All of a run but its weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Steps that were taken, over all epochs.
    pub steps: u64,
    /// Epochs that were run to their end.
    pub epochs: Vec<Epoch>,
    /// Of these, the place of the one whose net was kept.
    best: Option<usize>,
    /// The epoch after them.
    pub pass: Pass,
    /// From the first step to the last that was looked at.
    pub course: Course,
    /// Time of the whole run, interruptions left out.
    pub seconds: f64,
}

impl History {
    /// Takes in an epoch that has ended. Returns whether its net is the best
    /// so far: of the smallest winchance on held-out games, or where no game is
    /// held out the last.
    pub fn close(&mut self, epoch: Epoch) -> bool {
        let better = match (epoch.rank(), self.best().and_then(Epoch::rank)) {
            (Some(rank), Some(best)) => rank < best,
            _ => true,
        };
        if better {
            self.best = Some(self.epochs.len());
        }
        self.epochs.push(epoch);
        self.pass = Pass::default();
        better
    }

    /// Takes in the steps up to the number `last` in the run, which together waited
    /// and computed for so long. Gradients longer than `clip_norm` were shortened.
    pub fn take(&mut self, steps: &[Measured], last: u64, time: [Duration; 2], clip_norm: f32) {
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

    /// The epochs as they are drawn.
    pub fn points(&self) -> Vec<Point> {
        let mut positions = 0;
        let points = self.epochs.iter().map(|epoch| {
            positions += epoch.positions();
            Point {
                epoch: epoch.epoch,
                positions,
                train: epoch.train_loss,
                validation: epoch.validation.map(|v| v.loss),
            }
        });
        points.collect()
    }

    /// The loss of material on the held-out games, once an epoch has ended.
    pub fn material(&self) -> Option<f64> {
        let last = self.epochs.last()?;
        last.validation.map(|v| v.material_loss)
    }

    /// The epoch whose net was kept.
    pub fn best(&self) -> Option<&Epoch> {
        self.best.and_then(|best| self.epochs.get(best))
    }

    /// The number of the epoch that is being run, from 1.
    pub fn epoch(&self) -> u64 {
        self.epochs.len() as u64 + 1
    }
}
