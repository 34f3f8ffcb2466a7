//! How far labels look ahead.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The weight of what follows an evaluation in its game: 0 leaves evaluations
/// as they are, 1 puts the game's result in their place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct TdLambda(f64);

// It is never NaN.
impl Eq for TdLambda {}

impl TdLambda {
    /// Whether labels change at all.
    pub fn is_on(self) -> bool {
        self.0 > 0.0
    }

    /// The number, from 0 to 1.
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
