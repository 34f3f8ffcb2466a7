//! Counts of games, labels and skipped items of a source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::position::Month;

/// Reason that a game, position or label was skipped. Items to which several reasons apply are
/// counted for the first one found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// A game without any `[%eval`.
    Unannotated,
    /// An annotated game, or a bare position, of another variant.
    Variant,
    /// An annotated game with an illegal position in its FEN tag.
    BadFen,
    /// An annotated game with ambiguous tags: an unescaped quote, or a start-position tag that is
    /// unreadable or announced but missing.
    BadTags,
    /// A game cut at an illegal or ambiguous move; earlier positions were kept.
    IllegalMove,
    /// A game cut at a word that is not a move in any known spelling; earlier positions were kept.
    UnreadableMove,
    /// A game cut at a null move; earlier positions were kept.
    NullMove,
    /// A game with truncated or unparsable text; earlier positions were kept.
    MalformedGame,
    /// Text of more than 16 MiB without the start of a game.
    OversizedGame,
    /// An unreadable `[%eval`, or a position without a score.
    MalformedEval,
    /// An `[%eval` before the first move, which labels no played position.
    EvalBeforeFirstMove,
    /// An evaluation of a mate or a stalemate.
    FinishedPosition,
    /// A second `[%eval` after one move.
    SecondEval,
    /// An unreadable line of a source of bare positions.
    MalformedLine,
    /// A line of bare positions with an illegal position.
    IllegalPosition,
    /// An annotated game with a bot, if bots are filtered out.
    Bot,
    /// An annotated game that ended in a filtered way.
    Termination,
    /// An annotated game of a speed not asked for, or of unknown speed.
    OtherSpeed,
    /// An annotated game of a month not asked for, or of unknown month.
    OtherMonth,
    /// An annotated game of a month with many wrong evaluations
    /// ([`Filters::BAD_MONTHS`](crate::selection::Filters::BAD_MONTHS)), if those are filtered out.
    BadMonth,
    /// An annotated game with an unrated player, if ratings are filtered.
    Unrated,
    /// An annotated game with a player rated outside the range.
    RatingOutOfRange,
    /// A label of a position before the lowest ply.
    EarlyPly,
    /// A label of too low or unknown depth.
    LowDepth,
    /// A label that is a mate, if mates are filtered out.
    Mate,
    /// A label outside the range of evaluations.
    EvalOutOfRange,
    /// A label of a position in check, or from which a capture or promotion was played, if only
    /// quiet positions are kept.
    NotQuiet,
    /// A label dropped by keeping one position in N.
    Thinned,
    /// A game without any move, where moves are kept.
    NoMoves,
    /// An unreadable `[%visits`; the move played was kept.
    MalformedVisits,
}

impl SkipReason {
    /// Returns whether the reason counts games, or text that could hold games; otherwise it counts
    /// evaluations.
    pub fn counts_games(self) -> bool {
        use SkipReason::*;
        match self {
            Unannotated | Variant | BadTags | BadFen | OversizedGame => true,
            IllegalMove | UnreadableMove | NullMove | MalformedGame => true,
            Bot | Termination | OtherSpeed | OtherMonth | BadMonth => true,
            Unrated | RatingOutOfRange | NoMoves => true,
            MalformedEval | EvalBeforeFirstMove | FinishedPosition | SecondEval => false,
            MalformedLine | IllegalPosition | MalformedVisits => false,
            EarlyPly | LowDepth | Mate | EvalOutOfRange | NotQuiet | Thinned => false,
        }
    }
}

/// Counts of what was read and skipped in a source. Every field is additive over sources. In a
/// dataset of moves, labels are moves, and every game with a move counts as annotated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceCounts {
    /// Games read.
    pub games: u64,
    /// Games with at least one `[%eval`.
    pub games_annotated: u64,
    /// Games with at least one labelled position kept.
    pub games_kept: u64,
    /// Labelled positions, before duplicates are merged.
    pub labels: u64,
    /// Labels that are mates.
    pub mates: u64,
    /// Plies of kept games without a label, except the last.
    pub gaps: u64,
    /// Labels by the month their game was played in.
    pub months: BTreeMap<Month, u64>,
    /// Kept games by the mean of both ratings: lower ends of bins of width
    /// [`SourceCounts::RATING_BIN`].
    pub ratings: BTreeMap<u16, u64>,
    /// Kept games with an unrated player.
    pub unrated: u64,
    /// Skipped items, by reason.
    pub skipped: BTreeMap<SkipReason, u64>,
    /// An example of a cut game for each reason: the alphabetically first, so that it does not
    /// depend on the order of sources.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub examples: BTreeMap<SkipReason, String>,
}

impl SourceCounts {
    /// Width of a rating bin.
    pub const RATING_BIN: u16 = 100;

    /// Counts one skipped item.
    pub fn skip(&mut self, reason: SkipReason) {
        self.skip_many(reason, 1);
    }

    /// Counts several items skipped for one reason.
    pub fn skip_many(&mut self, reason: SkipReason, count: u64) {
        if count > 0 {
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    /// Keeps an example of a game that was cut and counted.
    pub(crate) fn keep_example(&mut self, reason: SkipReason, example: String) {
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

    /// Adds the counts of `other`.
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
            self.keep_example(reason, example.clone());
        }
    }
}

fn add_counts<K: Ord + Copy>(to: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (&key, count) in from {
        *to.entry(key).or_default() += count;
    }
}
