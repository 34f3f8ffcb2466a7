//! Learning-rate schedules.

use std::f64::consts::PI;

use clap::ValueEnum;
use serde::Deserialize;

/// Decay of the learning rate after its peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decay {
    /// Half a cosine to zero (Loshchilov and Hutter, "SGDR", 2017)
    Cosine,
    /// A straight line to zero
    Linear,
    /// No decay
    Constant,
}

/// Linear warm-up to the peak, then a [`Decay`].
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    peak: f64,
    decay: Decay,
    warm_up: u64,
    steps: u64,
    begin: u64,
}

impl Schedule {
    /// Returns a cosine schedule over `steps` steps with the peak `peak`. The first twentieth of
    /// the steps, at most 500, warms up.
    pub fn new(peak: f64, steps: u64) -> Schedule {
        Schedule {
            peak,
            decay: Decay::Cosine,
            warm_up: (steps / 20).clamp(1, 500),
            steps,
            begin: 0,
        }
    }

    /// Returns the schedule with another decay.
    pub fn with_decay(self, decay: Decay) -> Schedule {
        Schedule { decay, ..self }
    }

    /// Returns the schedule with another number of warm-up steps.
    pub fn with_warm_up(self, warm_up: u64) -> Schedule {
        Schedule { warm_up, ..self }
    }

    /// Returns the schedule shifted to start after `begin` steps of a longer run.
    pub fn begun_after(self, begin: u64) -> Schedule {
        Schedule { begin, ..self }
    }

    /// Returns the schedule's name in a net's metadata.
    pub fn name(&self) -> &'static str {
        match self.decay {
            Decay::Cosine => "linear warm-up, cosine to zero",
            Decay::Linear => "linear warm-up, linear to zero",
            Decay::Constant => "linear warm-up, constant",
        }
    }

    /// Returns the number of warm-up steps.
    pub fn warm_up(&self) -> u64 {
        self.warm_up
    }

    /// Returns the rate of a step of the run, counted from 0.
    pub fn rate(&self, step: u64) -> f64 {
        let step = step.saturating_sub(self.begin);
        if step < self.warm_up {
            return self.peak * (step + 1) as f64 / self.warm_up as f64;
        }
        let rest = self.steps.saturating_sub(self.warm_up).max(1);
        let done = ((step - self.warm_up) as f64 / rest as f64).min(1.0);
        match self.decay {
            Decay::Cosine => self.peak * 0.5 * (1.0 + (PI * done).cos()),
            Decay::Linear => self.peak * (1.0 - done),
            Decay::Constant => self.peak,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rises_to_the_peak_and_falls_to_nothing() {
        let schedule = Schedule::new(1e-3, 1000);
        assert_eq!(schedule.rate(0), 1e-3 / 50.0);
        assert_eq!(schedule.rate(49), 1e-3);
        assert_eq!(schedule.rate(50), 1e-3);
        assert!((schedule.rate(525) - 0.5e-3).abs() < 1e-12, "half way down");
        assert!(schedule.rate(999) < 1e-8);
        assert!((51..1000).all(|step| schedule.rate(step) < schedule.rate(step - 1)));
    }

    #[test]
    fn a_run_of_one_step_has_a_rate() {
        assert_eq!(Schedule::new(0.1, 1).rate(0), 0.1);
        assert_eq!(Schedule::new(0.1, 1).rate(7), 0.0);
    }

    #[test]
    fn shifted_schedule_has_the_same_rates() {
        let (first, later) = (
            Schedule::new(0.1, 40),
            Schedule::new(0.1, 40).begun_after(60),
        );
        assert!((0..40).all(|step| later.rate(60 + step) == first.rate(step)));
    }

    #[test]
    fn decay_and_warm_up_can_be_chosen() {
        let of = |decay, warm_up| {
            let schedule = Schedule::new(1.0, 100).with_decay(decay);
            schedule.with_warm_up(warm_up)
        };
        let linear = of(Decay::Linear, 20);
        assert_eq!(
            [9, 19, 20, 60].map(|step| linear.rate(step)),
            [0.5, 1.0, 1.0, 0.5]
        );
        let constant = of(Decay::Constant, 4);
        assert_eq!(
            [0, 3, 4, 99].map(|step| constant.rate(step)),
            [0.25, 1.0, 1.0, 1.0]
        );
        assert_eq!(of(Decay::Cosine, 0).rate(0), 1.0, "no warm-up");
        // Longer than the run, so that the peak is never reached.
        assert_eq!(of(Decay::Cosine, 200).rate(99), 0.5);
    }
}
