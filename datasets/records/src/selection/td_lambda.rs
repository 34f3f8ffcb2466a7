//! Lambda of TD(lambda) labels.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Weight of the rest of the game in a label, 0 to 1: 0 keeps the evaluations, 1 replaces them by
/// the result of the game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct TdLambda(f64);

// The value is never NaN.
impl Eq for TdLambda {}

impl TdLambda {
    /// Returns whether lambda is above 0, so that labels change.
    pub fn is_on(self) -> bool {
        self.0 > 0.0
    }

    /// Returns lambda, from 0 to 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for TdLambda {
    type Error = &'static str;

    fn try_from(lambda: f64) -> Result<TdLambda, &'static str> {
        match lambda {
            0.0..=1.0 => Ok(TdLambda(lambda)),
            _ => Err("give a number from 0 to 1, such as 0.7"),
        }
    }
}

impl From<TdLambda> for f64 {
    fn from(lambda: TdLambda) -> f64 {
        lambda.0
    }
}

impl fmt::Display for TdLambda {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TdLambda {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<TdLambda, &'static str> {
        TdLambda::try_from(text.parse().unwrap_or(f64::NAN))
    }
}
