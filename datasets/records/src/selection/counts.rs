//! What was read from a source, and what was left out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::games::Cut;
use crate::position::Month;

/// Why something in a source was left out. Each is counted; what several
/// reasons would leave out counts for the first that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// A game without any `[%eval`.
    Unannotated,
    /// An annotated game, or a bare position, of another variant.
    Variant,
    /// An annotated game whose FEN tag is no legal position.
    BadFen,
    /// An annotated game whose tags cannot be trusted: a quote in one is not escaped, or a
    /// tag of the start position is unreadable or announced and missing.
    BadTags,
    /// A game cut at an illegal or ambiguous move; what came before was kept.
    IllegalMove,
    /// A game cut at a word that is no move in any spelling that is read; likewise.
    UnreadableMove,
    /// A game cut at a null move, as which nothing is played; likewise.
    NullMove,
    /// A game whose text breaks off or cannot be parsed; what came before was
    /// kept.
    MalformedGame,
    /// Text of more than 16 MiB without the start of a game.
    OversizedGame,
    /// An `[%eval` that cannot be read.
    MalformedEval,
    /// An `[%eval` before the first move, which labels nothing that was
    /// played.
    EvalBeforeFirstMove,
    /// An evaluation of a mate or a stalemate.
    FinishedPosition,
    /// A second `[%eval` after one move.
    SecondEval,
    /// A line of a source of bare positions that cannot be read.
    MalformedLine,
    /// A line of such a source whose position is not legal.
    IllegalPosition,
    /// An annotated game with a bot, where they are filtered out.
    Bot,
    /// An annotated game that ended in a filtered way.
    Termination,
    /// An annotated game of another speed than those asked for, or of none.
    OtherSpeed,
    /// An annotated game of another month than those asked for, or of none.
    OtherMonth,
    /// An annotated game of a month that is known for wrong evaluations,
    /// where they are filtered out.
    BadMonth,
    /// An annotated game with a player who has no rating, where ratings are
    /// filtered.
    Unrated,
    /// An annotated game with a player rated outside the range.
    RatingOutOfRange,
    /// A label of a position before the lowest ply.
    EarlyPly,
    /// A label of too low a depth, or of none.
    LowDepth,
    /// A label that is a mate, where they are filtered out.
    Mate,
    /// A label outside the range of evaluations.
    EvalOutOfRange,
    /// A label of a position in check, or from which a capture or a promotion
    /// was played, where only quiet ones are kept.
    NotQuiet,
    /// A label between every N-th.
    Thinned,
}

impl SkipReason {
    /// Whether games are counted, or pieces of text that could hold some;
    /// otherwise evaluations are.
    pub fn counts_games(self) -> bool {
        use SkipReason::*;
        match self {
            Unannotated | Variant | BadTags | BadFen | OversizedGame => true,
            IllegalMove | UnreadableMove | NullMove | MalformedGame => true,
            Bot | Termination | OtherSpeed | OtherMonth | BadMonth => true,
            Unrated | RatingOutOfRange => true,
            MalformedEval | EvalBeforeFirstMove | FinishedPosition | SecondEval => false,
            MalformedLine | IllegalPosition => false,
            EarlyPly | LowDepth | Mate | EvalOutOfRange | NotQuiet | Thinned => false,
        }
    }
}

/// What was read from a source, and what was left out. Every field adds up
/// over sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceCounts {
    /// Games seen.
    pub games: u64,
    /// Games with at least one `[%eval`.
    pub games_annotated: u64,
    /// Games that gave at least one labelled position.
    pub games_kept: u64,
    /// Labelled positions, before duplicates are merged.
    pub labels: u64,
    /// Labels that are mates.
    pub mates: u64,
    /// Plies of kept games that had no label, the last one aside.
    pub gaps: u64,
    /// Labels by the month their game was played in.
    pub months: BTreeMap<Month, u64>,
    /// Kept games by the mean of both ratings: the lower ends of bins of
    /// [`SourceCounts::RATING_BIN`].
    pub ratings: BTreeMap<u16, u64>,
    /// Kept games with a player who has no rating.
    pub unrated: u64,
    /// How often something was left out, by reason.
    pub skipped: BTreeMap<SkipReason, u64>,
    /// Where games were cut, an example of each reason: the first in the order of text, so
    /// that it does not depend on the order of sources.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub examples: BTreeMap<SkipReason, String>,
}

impl SourceCounts {
    /// Width of a bin of ratings.
    pub const RATING_BIN: u16 = 100;

    /// Counts one thing left out.
    pub fn skip(&mut self, reason: SkipReason) {
        self.skip_many(reason, 1);
    }

    /// Counts several things left out for one reason.
    pub fn skip_many(&mut self, reason: SkipReason, count: u64) {
        if count > 0 {
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    /// Counts a game that was cut, and keeps it as an example.
    pub(crate) fn cut(&mut self, cut: Cut) {
        self.skip(cut.reason);
        self.keep_example(cut);
    }

    /// Keeps an example of a cut that is counted already.
    pub(crate) fn keep_example(&mut self, Cut { reason, example }: Cut) {
        match self.examples.get_mut(&reason) {
            Some(kept) if *kept <= example => {}
            Some(kept) => *kept = example,
            None => drop(self.examples.insert(reason, example)),
        }
    }

    /// Counts a kept game by the mean of its players' ratings.
    pub(crate) fn rating(&mut self, mean: Option<u16>) {
        match mean {
            Some(mean) => {
                *self
                    .ratings
                    .entry(mean - mean % Self::RATING_BIN)
                    .or_default() += 1
            }
            None => self.unrated += 1,
        }
    }

    /// Adds another tally to this one.
    pub fn add(&mut self, other: &SourceCounts) {
        self.games += other.games;
        self.games_annotated += other.games_annotated;
        self.games_kept += other.games_kept;
        self.labels += other.labels;
        self.mates += other.mates;
        self.gaps += other.gaps;
        self.unrated += other.unrated;
        add_counts(&mut self.months, &other.months);
        add_counts(&mut self.ratings, &other.ratings);
        add_counts(&mut self.skipped, &other.skipped);
        for (&reason, example) in &other.examples {
            let example = example.clone();
            self.keep_example(Cut { reason, example });
        }
    }
}

fn add_counts<K: Ord + Copy>(to: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (&key, count) in from {
        *to.entry(key).or_default() += count;
    }
}
