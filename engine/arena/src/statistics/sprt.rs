//! The sequential probability ratio test: a match ends as soon as its result
//! is clear enough.
//!
//! The test is the generalised one of Fishtest and fastchess (M. Van den Bergh,
//! <https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf>): among all
//! distributions over the five results of a pair, the likeliest under "the
//! expected score is that of `elo1`" against the likeliest under `elo0`. Both
//! are in logistic Elo, or in normalised Elo: then a test takes as many games with any
//! book and at any pace (M. Van den Bergh, "Normalized Elo", 2021).

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::parameters;
use crate::statistics::pentanomial::{Pentanomial, deviations_of_normalised, expected_score};

/// What a difference is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Logistic Elo.
    Logistic,
    /// Normalised Elo, see [`Pentanomial::normalised_elo`].
    Normalised,
}

/// Two hypotheses about a difference in Elo, and how often the test may be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    /// What `elo0` and `elo1` are.
    model: Model,
    /// H0: the difference is this.
    elo0: f64,
    /// H1: the difference is this, more than `elo0`.
    elo1: f64,
    /// How likely H1 may be accepted where H0 is true.
    alpha: f64,
    /// How likely H0 may be accepted where H1 is true.
    beta: f64,
}

/// How a test stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The first engine does not reach `elo1`.
    AcceptedH0,
    /// The first engine exceeds `elo0`.
    AcceptedH1,
    /// More games are needed.
    Undecided,
}

/// A test in numbers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SprtState {
    /// What `elo0` and `elo1` are.
    model: Model,
    /// H0.
    elo0: f64,
    /// H1.
    elo1: f64,
    /// The logarithm of the likelihood ratio, H1 to H0.
    llr: f64,
    /// At and below this H0 is accepted.
    lower: f64,
    /// At and above this H1 is accepted.
    upper: f64,
    /// How the test stands.
    pub verdict: Verdict,
}

impl Sprt {
    /// How the test stands after these pairs.
    pub fn state(&self, pairs: &Pentanomial) -> SprtState {
        let llr = self.log_likelihood_ratio(pairs);
        // A. Wald, "Sequential Tests of Statistical Hypotheses", 1945.
        let lower = (self.beta / (1.0 - self.alpha)).ln();
        let upper = ((1.0 - self.beta) / self.alpha).ln();
        let verdict = match llr {
            _ if llr <= lower => Verdict::AcceptedH0,
            _ if llr >= upper => Verdict::AcceptedH1,
            _ => Verdict::Undecided,
        };
        SprtState {
            model: self.model,
            elo0: self.elo0,
            elo1: self.elo1,
            llr,
            lower,
            upper,
            verdict,
        }
    }

    fn log_likelihood_ratio(&self, pairs: &Pentanomial) -> f64 {
        if pairs.pairs() == 0 {
            return 0.0;
        }
        let [under0, under1] = [self.elo0, self.elo1].map(|elo| match self.model {
            Model::Logistic => pairs.likeliest(expected_score(elo)),
            Model::Normalised => pairs.likeliest_above(deviations_of_normalised(elo)),
        });
        let terms = (pairs.counts().into_iter().zip(under0).zip(under1))
            .map(|((count, before), after)| count * (after / before).ln());
        terms.sum()
    }
}

impl FromStr for Sprt {
    type Err = String;

    /// `elo0=0,elo1=5`, and `alpha=0.05,beta=0.05,model=normalised` where others are wanted.
    fn from_str(text: &str) -> Result<Sprt, String> {
        let (models, numbers): (Vec<&str>, Vec<&str>) = text
            .split(',')
            .partition(|part| part.trim().starts_with("model="));
        let model = match models[..] {
            [] => Model::Logistic,
            [one] => one.parse()?,
            _ => return Err("model= is given twice".to_string()),
        };
        let [elo0, elo1, alpha, beta] = parameters::parse(
            &numbers.join(","),
            ["elo0", "elo1", "alpha", "beta"],
            "number",
        )?;
        let (elo0, elo1) = elo0.zip(elo1).ok_or("elo0 and elo1 are needed")?;
        let [alpha, beta] = [alpha, beta].map(|risk| risk.unwrap_or(0.05));
        // Beyond, expected scores are too near to 0 and 1 to compute with, or no
        // distribution has so many deviations.
        let most = match model {
            Model::Logistic => 1000.0,
            Model::Normalised => 200.0,
        };
        if !(-most <= elo0 && elo0 < elo1 && elo1 <= most) {
            return Err(format!("elo0 must be less than elo1, both within {most}"));
        }
        if ![alpha, beta]
            .iter()
            .all(|risk| (0.0001..0.5).contains(risk))
        {
            return Err("alpha and beta lie between 0.0001 and 0.5".to_string());
        }
        Ok(Sprt {
            model,
            elo0,
            elo1,
            alpha,
            beta,
        })
    }
}

impl FromStr for Model {
    type Err = String;

    /// `model=normalised`.
    fn from_str(text: &str) -> Result<Model, String> {
        match text.trim() {
            "model=logistic" => Ok(Model::Logistic),
            "model=normalised" | "model=normalized" => Ok(Model::Normalised),
            _ => Err(format!(
                "{text:?} is neither model=logistic nor model=normalised"
            )),
        }
    }
}

/// As it is read.
impl fmt::Display for Sprt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sprt {
            model,
            elo0,
            elo1,
            alpha,
            beta,
        } = self;
        write!(f, "elo0={elo0},elo1={elo1},alpha={alpha},beta={beta}")?;
        match model {
            Model::Logistic => Ok(()),
            Model::Normalised => f.write_str(",model=normalised"),
        }
    }
}

impl fmt::Display for SprtState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::AcceptedH0 => "H0 accepted",
            Verdict::AcceptedH1 => "H1 accepted",
            Verdict::Undecided => "undecided",
        };
        let elo = match self.model {
            Model::Logistic => "Elo",
            Model::Normalised => "normalised Elo",
        };
        write!(
            f,
            "LLR {:.2} [{:.2}, {:.2}], {verdict} (H0: {elo} {}, H1: {elo} {})",
            self.llr, self.lower, self.upper, self.elo0, self.elo1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sprt(text: &str) -> Sprt {
        text.parse().unwrap()
    }

    /// The published values of fastchess (github.com/Disservin/fastchess,
    /// app/tests/sprt_test.cpp, "logistic pentanomial 1" and "2"), the middle
    /// two of its six counts added.
    #[test]
    fn likelihood_ratios_equal_those_of_fastchess() {
        let published = [
            ("elo0=0.5,elo1=2.5", [223, 9863, 21279, 10037, 246], -3.07),
            ("elo0=0,elo1=2", [871, 26175, 55983, 26678, 821], -4.98),
        ];
        for (test, pairs, expected) in published {
            let state = sprt(test).state(&Pentanomial(pairs));
            assert!((state.llr - expected).abs() < 0.005, "{state:?}");
            assert_eq!(state.verdict, Verdict::AcceptedH0);
            assert!((state.lower + 2.94).abs() < 0.005 && (state.upper - 2.94).abs() < 0.005);
        }
    }

    /// The same of its "normalized pentanomial 1" and "2", which it holds to one per cent.
    #[test]
    fn normalised_likelihood_ratios_equal_those_of_fastchess() {
        let published = [
            ("elo0=0,elo1=2", [365, 16618, 36229, 16974, 390], 2.25),
            ("elo0=-1.75,elo1=0.25", [127, 4883, 10712, 5150, 104], 3.01),
        ];
        for (test, pairs, expected) in published {
            let text = format!("{test},model=normalised");
            let state = sprt(&text).state(&Pentanomial(pairs));
            assert!((state.llr - expected).abs() < 0.01 * expected, "{state:?}");
            assert!(sprt(&text).to_string().ends_with(",model=normalised"));
        }
    }

    #[test]
    fn turning_the_result_around_turns_the_test_around() {
        let test = sprt("elo0=-5,elo1=5,alpha=0.05,beta=0.1");
        let mut counts = [3, 20, 60, 31, 9];
        let forth = test.state(&Pentanomial(counts)).llr;
        counts.reverse();
        assert!((forth + test.state(&Pentanomial(counts)).llr).abs() < 1e-9 && forth > 0.0);
        assert_eq!(test.state(&Pentanomial::default()).llr, 0.0);
    }

    #[test]
    fn one_sided_results_decide_too() {
        for test in ["elo0=0, elo1=10", "elo0=0, elo1=10, model=normalised"] {
            let test = sprt(test);
            let swept = test.state(&Pentanomial([0, 0, 0, 0, 300]));
            assert_eq!(swept.verdict, Verdict::AcceptedH1, "{swept:?}");
            let lost = test.state(&Pentanomial([300, 0, 0, 0, 0]));
            assert_eq!(lost.verdict, Verdict::AcceptedH0, "{lost:?}");
        }
        let drawn = sprt("elo0=0, elo1=10").state(&Pentanomial([0, 0, 20_000, 0, 0]));
        assert_eq!(drawn.verdict, Verdict::AcceptedH0, "{drawn:?}");
        for most in ["elo0=-200,elo1=200", "elo0=199,elo1=200"] {
            let state = sprt(&format!("{most},model=normalised"));
            assert!(state.state(&Pentanomial([1, 2, 3, 4, 5])).llr.is_finite());
        }
    }

    #[test]
    fn refuses_what_is_no_test() {
        for text in [
            "",
            "elo0=0",
            "elo0=5,elo1=5",
            "elo0=0,elo1=5,gamma=1",
            "elo0=0,elo1=x",
            "elo0=0,elo1=NaN",
            "elo0=0,elo1=5,alpha=0",
            "elo0=0,elo1=5000",
            "elo0=0,elo1=300,model=normalised",
            "elo0=0,elo1=5,model=bayesian",
            "elo0=0,elo1=5,model=logistic,model=logistic",
        ] {
            assert!(text.parse::<Sprt>().is_err(), "{text}");
        }
    }
}
