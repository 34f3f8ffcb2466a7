//! SPSA: simultaneous perturbation stochastic approximation.
//!
//! Spall, "Multivariate stochastic approximation using a simultaneous perturbation gradient
//! approximation" (1992), with the gains of his "Implementation of the simultaneous perturbation
//! algorithm for stochastic optimization" (1998), set by their final values as in fishtest and
//! OpenBench. In iteration `k` of `N`, from 1, all parameters are perturbed at once, each by
//! `c = C_end (N / k)^0.101` up or down. The two opposite vectors play two games; with their result
//! `r`, won games less lost ones, the parameter moves by `R c r` towards the better side, where
//! `R = R_end C_end^2 ((A + N) / (A + k))^0.602 / c^2` and `A = N / 10`.

use std::fmt;
use std::str::FromStr;

use fastrand::Rng;

const ALPHA: f64 = 0.602;
const GAMMA: f64 = 0.101;
/// `A` as a share of all iterations.
const STABILITY: f64 = 0.1;
/// Least perturbation: a smaller one of a whole number often changes nothing.
const MIN_PERTURBATION: f64 = 0.5;

/// A tuned option with whole numbers as values. Its text is OpenBench's input of SPSA:
/// `name, int, value, min, max, C_end, R_end`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name of the engine's option.
    pub name: String,
    /// Start value.
    pub start: i32,
    /// Least value.
    pub min: i32,
    /// Greatest value.
    pub max: i32,
    /// Perturbation in the last iteration.
    pub c_end: f64,
    /// Step after a game won in the last iteration, as a share of `c_end`.
    pub r_end: f64,
}

impl FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Parameter, String> {
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        let [name, kind, numbers @ ..] = &fields[..] else {
            return Err(wanted(text));
        };
        if *kind == "float" {
            return Err(format!("{name} is no whole number: only int can be tuned"));
        }
        let numbers: Option<Vec<f64>> = numbers.iter().map(|text| text.parse().ok()).collect();
        let Some([start, min, max, c_end, r_end]) = numbers.as_deref() else {
            return Err(wanted(text));
        };
        let whole = |number: &f64| number.fract() == 0.0 && number.abs() <= f64::from(i32::MAX);
        if name.is_empty() || *kind != "int" || ![start, min, max].into_iter().all(whole) {
            return Err(wanted(text));
        }
        if !(min <= start && start <= max) {
            return Err(format!("{name}: the value must be from {min} to {max}"));
        }
        if !(c_end.is_finite() && *c_end >= MIN_PERTURBATION && r_end.is_finite() && *r_end > 0.0) {
            return Err(format!(
                "{name}: C_end must be {MIN_PERTURBATION} or more, R_end above 0"
            ));
        }
        Ok(Parameter {
            name: name.to_string(),
            start: *start as i32,
            min: *min as i32,
            max: *max as i32,
            c_end: *c_end,
            r_end: *r_end,
        })
    }
}

fn wanted(text: &str) -> String {
    format!("{text:?} is not \"name, int, value, min, max, C_end, R_end\"")
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parameter {
            name,
            start,
            min,
            max,
            c_end,
            r_end,
        } = self;
        write!(f, "{name}, int, {start}, {min}, {max}, {c_end}, {r_end}")
    }
}

/// An SPSA run, determined by its inputs and the results.
pub struct Spsa {
    /// Tuned parameters.
    pub parameters: Vec<Parameter>,
    /// Current values, in the same order.
    pub values: Vec<f64>,
    iterations: u64,
    seed: u64,
}

impl Spsa {
    /// Returns a run of `iterations` iterations, before the first.
    pub fn new(parameters: Vec<Parameter>, iterations: u64, seed: u64) -> Spsa {
        let start = parameters.iter().map(|parameter| parameter.start.into());
        Spsa {
            values: start.collect(),
            parameters,
            iterations,
            seed,
        }
    }

    /// Returns the two vectors of an iteration, counted from 0, around the current values.
    /// Fractions are rounded up or down at random (stochastic rounding), so that small
    /// perturbations act on average.
    pub fn rivals(&self, iteration: u64) -> [Vec<i32>; 2] {
        let perturbations = self.perturbations(iteration);
        let side = |sign: f64| {
            let values = self.parameters.iter().zip(&self.values).zip(&perturbations);
            let value = |((parameter, value), random): ((&Parameter, &f64), &Perturbation)| {
                let change = sign * random.direction * self.change(parameter, iteration);
                let rounded = (value + change + random.rounding).floor() as i32;
                rounded.clamp(parameter.min, parameter.max)
            };
            values.map(value).collect()
        };
        [side(1.0), side(-1.0)]
    }

    /// Moves the values by the result of an iteration: games won by the first vector less those
    /// lost.
    pub fn learn(&mut self, iteration: u64, result: i8) {
        let perturbations = self.perturbations(iteration);
        let all = self.iterations as f64;
        let stability = STABILITY * all;
        let decay = ((stability + all) / (stability + iteration as f64 + 1.0)).powf(ALPHA);
        for (i, parameter) in self.parameters.iter().enumerate() {
            let gain = parameter.r_end * parameter.c_end.powi(2) * decay;
            let step = gain / self.change(parameter, iteration) * f64::from(result);
            let value = self.values[i] + step * perturbations[i].direction;
            self.values[i] = value.clamp(parameter.min.into(), parameter.max.into());
        }
    }

    /// Returns `c`, the size of the perturbation.
    fn change(&self, parameter: &Parameter, iteration: u64) -> f64 {
        let left = self.iterations as f64 / (iteration + 1) as f64;
        (parameter.c_end * left.powf(GAMMA)).max(MIN_PERTURBATION)
    }

    /// Returns the perturbations of an iteration, drawn from the seed and its number alone.
    fn perturbations(&self, iteration: u64) -> Vec<Perturbation> {
        let mut seeds = Rng::with_seed(self.seed);
        let mut random = Rng::with_seed(seeds.u64(..) ^ iteration);
        let perturbation = |_: &Parameter| Perturbation {
            direction: if random.bool() { 1.0 } else { -1.0 },
            rounding: random.f64(),
        };
        self.parameters.iter().map(perturbation).collect()
    }
}

/// Random part of a parameter's perturbation.
struct Perturbation {
    /// 1 up, -1 down, for the first vector.
    direction: f64,
    /// Addend before rounding down, 0 to 1.
    rounding: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(text: &str) -> Parameter {
        text.parse().unwrap()
    }

    #[test]
    fn parses_inputs_of_openbench() {
        let text = "RAZOR_MARGIN, int, 263, 50, 800, 40, 0.002";
        assert_eq!(parameter(text).to_string(), text);
        assert_eq!(parameter("A,int,-3.0,-9,9,0.5,1").start, -3);
        for wrong in [
            "",
            "A, int, 1, 0, 2, 1",
            "A, float, 1, 0, 2, 1, 0.002",
            "A, int, 3, 0, 2, 1, 0.002",
            "A, int, 1.5, 0, 2, 1, 0.002",
            "A, int, 1, 0, 2, 0.4, 0.002",
            "A, int, 1, 0, 2, 1, 0",
            "A, int, 1, 0, 2, NaN, 0.002",
            "A, int, 1, 0, 2, 1, 0.002, 7",
            ", int, 1, 0, 2, 1, 0.002",
        ] {
            assert!(wrong.parse::<Parameter>().is_err(), "{wrong}");
        }
    }

    /// In the last iteration the perturbation is `C_end`, and a won game moves a parameter by
    /// `R_end` of it.
    #[test]
    fn the_last_iteration_has_the_requested_gains() {
        let mut spsa = Spsa::new(vec![parameter("A, int, 100, 0, 200, 20, 0.002")], 1000, 3);
        let [plus, minus] = spsa.rivals(999).map(|values| values[0]);
        assert_eq!((plus - minus).abs(), 40);
        spsa.learn(999, 1);
        let moved = spsa.values[0] - 100.0;
        assert!((moved.abs() - 0.04).abs() < 1e-12, "{moved}");
        assert_eq!(moved > 0.0, plus > minus);
        // The first perturbation is larger.
        let [plus, minus] = spsa.rivals(0).map(|values| values[0]);
        assert!((plus - minus).abs() > 75);
    }

    #[test]
    fn vectors_stay_within_bounds_and_are_right_on_average() {
        let numbers = [
            "A, int, 3, 0, 6, 0.7, 0.002",
            "B, int, 1, 0, 200, 20, 0.002",
        ];
        let mut spsa = Spsa::new(numbers.map(parameter).to_vec(), 20_000, 5);
        spsa.values = vec![3.25, 0.5];
        let (mut sum, mut plus_sides) = (0, 0);
        for iteration in 0..20_000 {
            let [plus, minus] = spsa.rivals(iteration);
            assert!(plus[1].min(minus[1]) == 0 && plus[0].max(minus[0]) <= 6);
            sum += plus[0] + minus[0];
            plus_sides += i32::from(plus[1] > minus[1]);
        }
        let mean = f64::from(sum) / 40_000.0;
        assert!((mean - 3.25).abs() < 0.02, "{mean}");
        assert!((9_700..10_300).contains(&plus_sides), "{plus_sides}");
    }

    /// The probability of a win follows the difference of two values on a quadratic bowl; half of
    /// the games are drawn.
    #[test]
    fn finds_the_bottom_of_a_noisy_bowl() {
        let numbers = [
            "A, int, 100, 0, 400, 15, 0.002",
            "B, int, 60, 0, 100, 6, 0.002",
            "C, int, 5000, 0, 9000, 400, 0.002",
        ];
        let best = [190.0, 30.0, 3400.0];
        let parameters = numbers.map(parameter).to_vec();
        let mut spsa = Spsa::new(parameters, 20_000, 11);
        let mut random = Rng::with_seed(17);
        for iteration in 0..20_000 {
            let worth = spsa.rivals(iteration).map(|values| -> f64 {
                let places = values.iter().zip(best).zip(&spsa.parameters);
                // 3 Elo for each squared `C_end` from the bottom.
                let off = places.map(|((&at, best), p)| (f64::from(at) - best) / p.c_end);
                off.map(|off| -3.0 * off * off).sum()
            });
            let expected = 1.0 / (1.0 + 10f64.powf((worth[1] - worth[0]) / 400.0));
            let mut game = || match random.f64() {
                chance if chance < 0.5 => 0,
                _ if random.f64() < expected => 1,
                _ => -1,
            };
            let result = game() + game();
            spsa.learn(iteration, result);
        }
        for ((value, best), parameter) in spsa.values.iter().zip(best).zip(&spsa.parameters) {
            let off = (value - best).abs() / parameter.c_end;
            assert!(off < 1.0, "{}: {value}, not {best}", parameter.name);
        }
    }
}
