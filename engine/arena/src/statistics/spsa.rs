//! Simultaneous perturbation stochastic approximation.
//!
//! Spall, "Multivariate stochastic approximation using a simultaneous perturbation
//! gradient approximation" (1992), with the gains of his "Implementation of the
//! simultaneous perturbation algorithm for stochastic optimization" (1998), set as
//! fishtest and OpenBench do: by what they are to be at the end. In iteration `k` of `N`,
//! from 1, a parameter is changed by `c = C_end (N / k)^0.101` up or down, all at once.
//! Two games are played between both vectors; with their result `r`, won games less
//! lost ones, the parameter moves by `R c r` towards the better side, where
//! `R = R_end C_end^2 ((A + N) / (A + k))^0.602 / c^2` and `A = N / 10`.

use std::fmt;
use std::str::FromStr;

use fastrand::Rng;

const ALPHA: f64 = 0.602;
const GAMMA: f64 = 0.101;
/// `A` as a share of all iterations.
const STABILITY: f64 = 0.1;
/// A smaller change of a whole number is often none.
const LEAST_CHANGE: f64 = 0.5;

/// A whole number that is tuned. Its text is OpenBench's input of SPSA:
/// `name, int, value, min, max, C_end, R_end`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The engine's option.
    pub name: String,
    /// Where it begins.
    pub start: i32,
    /// The least it may be.
    pub min: i32,
    /// The most.
    pub max: i32,
    /// By how much the last games change it.
    pub c_end: f64,
    /// How much of that it learns from them.
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
        if !(c_end.is_finite() && *c_end >= LEAST_CHANGE && r_end.is_finite() && *r_end > 0.0) {
            return Err(format!(
                "{name}: C_end must be {LEAST_CHANGE} or more, R_end above 0"
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

/// A run: everything in it follows from what it is made of and from the results.
pub struct Spsa {
    /// What is tuned.
    pub parameters: Vec<Parameter>,
    /// How far each is, in the same order.
    pub values: Vec<f64>,
    iterations: u64,
    seed: u64,
}

impl Spsa {
    /// A run of so many iterations, before the first.
    pub fn new(parameters: Vec<Parameter>, iterations: u64, seed: u64) -> Spsa {
        let start = parameters.iter().map(|parameter| parameter.start.into());
        Spsa {
            values: start.collect(),
            parameters,
            iterations,
            seed,
        }
    }

    /// The two vectors that play in an iteration, counted from 0, around the present
    /// values. What lies between two whole numbers is rounded up or down by chance, as
    /// likely as it is near, so that small changes are felt on average.
    pub fn rivals(&self, iteration: u64) -> [Vec<i32>; 2] {
        let chances = self.chances(iteration);
        let side = |sign: f64| {
            let values = self.parameters.iter().zip(&self.values).zip(&chances);
            let value = |((parameter, value), chance): ((&Parameter, &f64), &Chance)| {
                let change = sign * chance.direction * self.change(parameter, iteration);
                let rounded = (value + change + chance.rounding).floor() as i32;
                rounded.clamp(parameter.min, parameter.max)
            };
            values.map(value).collect()
        };
        [side(1.0), side(-1.0)]
    }

    /// Learns from the result of an iteration: games that the first vector won less those
    /// that it lost.
    pub fn learn(&mut self, iteration: u64, result: i8) {
        let chances = self.chances(iteration);
        let all = self.iterations as f64;
        let stability = STABILITY * all;
        let decay = ((stability + all) / (stability + iteration as f64 + 1.0)).powf(ALPHA);
        for (i, parameter) in self.parameters.iter().enumerate() {
            let gain = parameter.r_end * parameter.c_end.powi(2) * decay;
            let step = gain / self.change(parameter, iteration) * f64::from(result);
            let value = self.values[i] + step * chances[i].direction;
            self.values[i] = value.clamp(parameter.min.into(), parameter.max.into());
        }
    }

    /// `c`.
    fn change(&self, parameter: &Parameter, iteration: u64) -> f64 {
        let left = self.iterations as f64 / (iteration + 1) as f64;
        (parameter.c_end * left.powf(GAMMA)).max(LEAST_CHANGE)
    }

    /// What chance says in an iteration: it depends on seed and number alone.
    fn chances(&self, iteration: u64) -> Vec<Chance> {
        let mut seeds = Rng::with_seed(self.seed);
        let mut random = Rng::with_seed(seeds.u64(..) ^ iteration);
        let chance = |_: &Parameter| Chance {
            direction: if random.bool() { 1.0 } else { -1.0 },
            rounding: random.f64(),
        };
        self.parameters.iter().map(chance).collect()
    }
}

/// What chance says of a parameter.
struct Chance {
    /// 1 or -1.
    direction: f64,
    /// From 0 to 1.
    rounding: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(text: &str) -> Parameter {
        text.parse().unwrap()
    }

    #[test]
    fn inputs_are_those_of_openbench() {
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

    /// At the end the change is `C_end`, and a game won moves a parameter by `R_end` of it.
    #[test]
    fn the_last_iteration_has_the_gains_that_were_asked_for() {
        let mut spsa = Spsa::new(vec![parameter("A, int, 100, 0, 200, 20, 0.002")], 1000, 3);
        let [plus, minus] = spsa.rivals(999).map(|values| values[0]);
        assert_eq!((plus - minus).abs(), 40);
        spsa.learn(999, 1);
        let moved = spsa.values[0] - 100.0;
        assert!((moved.abs() - 0.04).abs() < 1e-12, "{moved}");
        assert_eq!(moved > 0.0, plus > minus);
        // Before, both are larger.
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

    /// The probability of winning follows the difference of two values on a bowl; games
    /// are drawn often, as in chess.
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
                // So many Elo for each C_end from the bottom, squared.
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
