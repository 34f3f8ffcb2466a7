//! The learning rate over a run.

/// A linear warm-up, then half a cosine down to nothing (Loshchilov and
/// Hutter, "SGDR", 2017).
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    peak: f64,
    warm_up: u64,
    steps: u64,
}

impl Schedule {
    /// As a net's metadata names it.
    pub const NAME: &str = "linear warm-up, cosine to zero";

    /// A run of `steps` steps, of which the first twentieth, at most 500,
    /// warm up to the rate `peak`.
    pub fn new(peak: f64, steps: u64) -> Schedule {
        Schedule {
            peak,
            warm_up: (steps / 20).clamp(1, 500),
            steps,
        }
    }

    /// Steps until the rate is at its peak.
    pub fn warm_up(&self) -> u64 {
        self.warm_up
    }

    /// The rate of a step, counted from 0.
    pub fn rate(&self, step: u64) -> f64 {
        if step < self.warm_up {
            return self.peak * (step + 1) as f64 / self.warm_up as f64;
        }
        let rest = (self.steps - self.warm_up).max(1);
        let done = (step - self.warm_up) as f64 / rest as f64;
        self.peak * 0.5 * (1.0 + (std::f64::consts::PI * done.min(1.0)).cos())
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
}
