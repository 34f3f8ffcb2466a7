//! Quantisation error: the engine's integer inference against the net's floats.

use std::fmt;

use datasets::Record;
use models::{Feature, NetError, Network, QuantisedNetwork};
use serde::Serialize;

/// Difference of integer and float inference. JSON has the fields of one of the variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Integers {
    /// Differences over all positions, mates included.
    Measured(Difference),
    /// The net cannot be quantised, and the engine refuses it.
    Refused {
        /// Reason of the refusal.
        refused: String,
    },
}

/// Distances in centipawns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Difference {
    /// Number of positions.
    pub positions: u64,
    /// Mean distance; `None` without positions.
    pub mean: Option<f64>,
    /// Largest distance.
    pub largest: f64,
    /// Position of the largest distance: the first four fields of its FEN.
    pub largest_at: Option<String>,
}

/// Accumulates [`Integers`] position by position.
#[derive(Debug)]
pub struct IntegersTally {
    network: Result<QuantisedNetwork, NetError>,
    sum: f64,
    difference: Difference,
}

impl IntegersTally {
    /// Quantises a network.
    pub fn new(network: &Network) -> IntegersTally {
        IntegersTally {
            network: QuantisedNetwork::new(network),
            sum: 0.0,
            difference: Difference::default(),
        }
    }

    /// Returns the engine's value in centipawns; `None` if it refuses the net.
    pub fn value(&self, features: &[Feature]) -> Option<i32> {
        let network = self.network.as_ref().ok()?;
        Some(network.evaluate_features(features))
    }

    /// Adds a position: the float value in pawns, and [`IntegersTally::value`].
    pub fn add(&mut self, record: &Record, pawns: f32, centipawns: Option<i32>) {
        let Some(centipawns) = centipawns else { return };
        let distance = (f64::from(centipawns) - 100.0 * f64::from(pawns)).abs();
        self.sum += distance;
        self.difference.positions += 1;
        if distance > self.difference.largest || self.difference.largest_at.is_none() {
            self.difference.largest = distance;
            self.difference.largest_at = Some(record.epd());
        }
    }

    /// Returns the difference so far.
    pub fn integers(&self) -> Integers {
        match &self.network {
            Err(error) => Integers::Refused {
                refused: error.to_string(),
            },
            Ok(_) => {
                let count = self.difference.positions;
                Integers::Measured(Difference {
                    mean: (count > 0).then(|| self.sum / count as f64),
                    ..self.difference.clone()
                })
            }
        }
    }
}

impl fmt::Display for Integers {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Integers::Refused { refused } => write!(f, "refused: {refused}"),
            Integers::Measured(Difference {
                positions,
                mean: Some(mean),
                largest,
                largest_at: Some(place),
            }) => write!(
                f,
                "{mean:.2} centipawns from the net on average over {} positions, {largest:.1} \
                 at most ({place})",
                host::thousands(*positions)
            ),
            Integers::Measured(_) => f.write_str("not measured, without positions"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::games;
    use models::Architecture;

    #[test]
    fn mean_and_largest_by_hand() {
        let mut tally = IntegersTally::new(&Network::random(Architecture::ARTICLE, 1));
        let records = games(3);
        for (record, centipawns) in records.iter().zip([101, 95, 100]) {
            tally.add(record, 1.0, Some(centipawns));
        }
        let Integers::Measured(found) = tally.integers() else {
            panic!("refused")
        };
        assert_eq!(
            (found.positions, found.mean, found.largest),
            (3, Some(2.0), 5.0)
        );
        assert_eq!(found.largest_at, Some(records[1].epd()));
    }

    #[test]
    fn refused_nets_give_a_reason() {
        let mut layers = Network::random(Architecture::ARTICLE, 1).layers().to_vec();
        layers[1].weight[0] = 100.0;
        let mut tally = IntegersTally::new(&Network::new(Architecture::ARTICLE, layers));
        let value = tally.value(&[]);
        tally.add(&games(1)[0], 1.0, value);
        match tally.integers() {
            Integers::Refused { refused } => assert!(refused.contains("layer 1"), "{refused}"),
            Integers::Measured(found) => panic!("{found:?}"),
        }
    }
}
