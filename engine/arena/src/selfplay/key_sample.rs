//! Share of duplicate positions, estimated from a sample of their keys, since a record has no room
//! for all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Maximum distinct keys in the sample. A share of duplicates of 5 % is then known to half a per
/// cent.
const MAX_KEYS: usize = 4096;

/// Keys with their counts, of all keys that end with at least `zeros` zero bits. Every key is kept
/// while there are few; the sample does not depend on their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct KeySample {
    /// Zero bits that a key must end with.
    zeros: u32,
    counts: BTreeMap<u64, u64>,
}

impl KeySample {
    /// Adds a position's key.
    pub fn add(&mut self, key: u64) {
        if key.trailing_zeros() < self.zeros {
            return;
        }
        *self.counts.entry(key).or_default() += 1;
        while self.counts.len() > MAX_KEYS {
            self.zeros += 1;
            (self.counts).retain(|key, _| key.trailing_zeros() >= self.zeros);
        }
    }

    /// Returns the share of keys that had occurred before, from 0 to 1.
    pub fn duplicates(&self) -> f64 {
        let all: u64 = self.counts.values().sum();
        (all - self.counts.len() as u64) as f64 / all.max(1) as f64
    }

    /// Returns whether every key was kept.
    pub fn is_exact(&self) -> bool {
        self.zeros == 0
    }
}

/// Formats as `ZEROS KEY KEY*COUNT ...`, keys in hexadecimal.
impl From<KeySample> for String {
    fn from(sample: KeySample) -> String {
        let mut text = sample.zeros.to_string();
        for (key, count) in sample.counts {
            text += &match count {
                1 => format!(" {key:x}"),
                _ => format!(" {key:x}*{count}"),
            };
        }
        text
    }
}

impl TryFrom<String> for KeySample {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<KeySample, Self::Error> {
        let (zeros, keys) = text.split_once(' ').unwrap_or((&text, ""));
        let count = |word: &str| {
            let (key, count) = word.split_once('*').unwrap_or((word, "1"));
            Ok((u64::from_str_radix(key, 16)?, count.parse()?))
        };
        Ok(KeySample {
            zeros: zeros.parse()?,
            counts: keys
                .split_whitespace()
                .map(count)
                .collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn few_keys_are_counted_exactly() {
        let mut sample = KeySample::default();
        for key in [7, 7, 8, 9, 7] {
            sample.add(key);
        }
        assert!(sample.is_exact());
        assert!((sample.duplicates() - 0.4).abs() < 1e-12);
        assert_eq!(KeySample::default().duplicates(), 0.0);
    }

    #[test]
    fn many_keys_are_estimated_well_in_any_order() {
        let mut random = fastrand::Rng::with_seed(5);
        let known: Vec<u64> = (0..50_000).map(|_| random.u64(..)).collect();
        // Some keys come often, most once.
        let draw = |random: &mut fastrand::Rng| match random.u32(..10) {
            0 => known[random.usize(..known.len())],
            _ => random.u64(..),
        };
        let mut keys: Vec<u64> = (0..300_000).map(|_| draw(&mut random)).collect();
        let sample = |keys: &[u64]| {
            let mut sample = KeySample::default();
            keys.iter().for_each(|&key| sample.add(key));
            sample
        };
        let before = sample(&keys);
        let distinct: HashSet<u64> = keys.iter().copied().collect();
        let share = 1.0 - distinct.len() as f64 / keys.len() as f64;
        assert!(!before.is_exact() && before.counts.len() > MAX_KEYS / 3);
        let estimate = before.duplicates();
        assert!((estimate - share).abs() < 0.01, "{estimate} {share}");
        random.shuffle(&mut keys);
        assert_eq!(sample(&keys), before);
        // A sample that was written and read again continues alike.
        let (first, rest) = keys.split_at(100_000);
        let text = serde_json::to_string(&sample(first)).unwrap();
        let mut read: KeySample = serde_json::from_str(&text).unwrap();
        rest.iter().for_each(|&key| read.add(key));
        assert_eq!(read, before);
    }
}
