//! Sequential probability ratio test (SPRT): ends a match as soon as its result is clear enough.
//!
//! The test is the generalised one of Fishtest and fastchess (M. Van den Bergh,
//! <https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf>): over the five results of a pair,
//! it compares the likeliest distribution with the expected score of `elo1` to the likeliest with
//! that of `elo0`. Both are in logistic Elo, or in normalised Elo: then a test takes as many games
//! with any book and at any pace (M. Van den Bergh, "Normalized Elo", 2021).

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::parameters;
use crate::statistics::pentanomial::{Pentanomial, deviations_of_normalised, expected_score};

/// Unit of `elo0` and `elo1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Logistic Elo.
    Logistic,
    /// Normalised Elo, see [`Pentanomial::normalised_elo`].
    Normalised,
}

/// An SPRT: two hypotheses about the difference in Elo, and the error rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    /// Unit of `elo0` and `elo1`.
    model: Model,
    /// Difference in Elo under H0.
    elo0: f64,
    /// Difference in Elo under H1, above `elo0`.
    elo1: f64,
    /// Probability of accepting H1 if H0 is true (type I error).
    alpha: f64,
    /// Probability of accepting H0 if H1 is true (type II error).
    beta: f64,
}

/// Verdict of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// H0 accepted: the first engine does not reach `elo1`.
    AcceptedH0,
    /// H1 accepted: the first engine exceeds `elo0`.
    AcceptedH1,
    /// More games are needed.
    Undecided,
}

/// State of a test.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SprtState {
    /// Unit of `elo0` and `elo1`.
    model: Model,
    /// Difference in Elo under H0.
    elo0: f64,
    /// Difference in Elo under H1.
    elo1: f64,
    /// Log-likelihood ratio (LLR) of H1 to H0.
    llr: f64,
    /// Bound at and below which H0 is accepted.
    lower: f64,
    /// Bound at and above which H1 is accepted.
    upper: f64,
    /// Verdict so far.
    pub verdict: Verdict,
}

impl Sprt {
    /// Returns the state of the test after these pairs.
    pub fn state(&self, pairs: &Pentanomial) -> SprtState {
        let llr = self.log_likelihood_ratio(pairs);
        // Bounds of A. Wald, "Sequential Tests of Statistical Hypotheses", 1945.
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

    /// Parses `elo0=0,elo1=5`, with `alpha=0.05,beta=0.05,model=logistic` as the defaults.
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
        // Beyond these, expected scores are too near to 0 and 1 to compute with, or no distribution
        // has so many deviations.
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
            return Err("alpha and beta must be at least 0.0001 and below 0.5".to_string());
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

    /// Parses `model=logistic` or `model=normalised`.
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

/// Writes the form that `from_str` parses.
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

    /// Published values of fastchess (github.com/Disservin/fastchess, app/tests/sprt_test.cpp,
    /// "logistic pentanomial 1" and "2"), with the middle two of its six counts added.
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

    /// Published values of fastchess's "normalized pentanomial 1" and "2", which it holds to one
    /// per cent.
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
    fn a_reversed_result_negates_the_ratio() {
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
    fn refuses_invalid_tests() {
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
