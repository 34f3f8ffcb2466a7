//! Parser of a line of Lichess's evaluation database. The database has hundreds of millions of
//! lines: nothing is copied, and unneeded parts (moves, all but the first variation) are skipped
//! unparsed.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::evaluated::EvaluatedLine;
use crate::position::Label;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    fen: Cow<'a, str>,
    evals: Best,
}

#[derive(Deserialize)]
struct LichessEval {
    pvs: First,
    #[serde(default)]
    knodes: u64,
    depth: u64,
}

#[derive(Clone, Copy, Deserialize)]
struct Score {
    cp: Option<i64>,
    mate: Option<i64>,
}

impl Score {
    fn label(self) -> Option<Label> {
        match (self.mate, self.cp) {
            (Some(moves), _) => Label::from_mate(moves),
            (None, cp) => cp.map(Label::from_centipawns),
        }
    }
}

/// First variation of an array.
struct First(Option<Score>);

/// Best evaluation of an array: the deepest, then the one with most nodes.
struct Best(Option<LichessEval>);

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<First, D::Error> {
        struct Pvs;
        impl<'de> Visitor<'de> for Pvs {
            type Value = First;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an array of variations")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut pvs: A) -> Result<First, A::Error> {
                let first = pvs.next_element()?;
                while pvs.next_element::<IgnoredAny>()?.is_some() {}
                Ok(First(first))
            }
        }
        deserializer.deserialize_seq(Pvs)
    }
}

impl<'de> Deserialize<'de> for Best {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Best, D::Error> {
        struct Evals;
        impl<'de> Visitor<'de> for Evals {
            type Value = Best;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an array of evaluations")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut evals: A) -> Result<Best, A::Error> {
                let rank = |e: &LichessEval| (e.depth, e.knodes);
                let mut best: Option<LichessEval> = None;
                while let Some(next) = evals.next_element::<LichessEval>()? {
                    let better = best.as_ref().is_none_or(|best| rank(&next) > rank(best));
                    if better && next.pvs.0.is_some() {
                        best = Some(next);
                    }
                }
                Ok(Best(best))
            }
        }
        deserializer.deserialize_seq(Evals)
    }
}

pub(super) fn parse(line: &[u8]) -> Option<EvaluatedLine<'_>> {
    let line: Line = serde_json::from_slice(line).ok()?;
    let best = line.evals.0;
    let score = best.as_ref().and_then(|best| best.pvs.0);
    Some(EvaluatedLine {
        fen: match line.fen {
            Cow::Borrowed(fen) => Cow::Borrowed(fen.as_bytes()),
            Cow::Owned(fen) => Cow::Owned(fen.into_bytes()),
        },
        label: score.and_then(Score::label),
        result: None,
        depth: best.map_or(0, |best| best.depth.min(255) as u8),
    })
}
