//! Filters that decide which games and positions enter a dataset.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::position::{Month, Record, Speed};
use crate::selection::tags::Tags;
use crate::selection::{SkipReason, TdLambda, Termination};

/// Filters of the games and positions of a dataset. A dataset keeps the filters it was made with,
/// and accepts no more data with others.
///
/// The default filters keep every labelled position of every legal standard game: a label is an
/// engine's judgement of the position, regardless of who played, how fast, or how the game ended.
/// In JSON, filters that are off are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filters {
    /// Percentage of games held out for validation.
    pub validation_percent: u8,
    /// Accept Chess960 games too.
    pub chess960: bool,
    /// Lowest rating of either player. If this or [`Filters::max_rating`] is set, games with an
    /// unrated player are skipped.
    #[serde(skip_serializing_if = "is_default")]
    pub min_rating: Option<u16>,
    /// Highest rating of either player.
    #[serde(skip_serializing_if = "is_default")]
    pub max_rating: Option<u16>,
    /// Accepted speeds; empty accepts all. If set, games of unknown speed are skipped.
    #[serde(skip_serializing_if = "is_default")]
    pub speeds: BTreeSet<Speed>,
    /// First accepted month. If this or [`Filters::to_month`] is set, games of unknown month are
    /// skipped.
    #[serde(skip_serializing_if = "is_default")]
    pub from_month: Option<Month>,
    /// Last accepted month.
    #[serde(skip_serializing_if = "is_default")]
    pub to_month: Option<Month>,
    /// Skip games of [`Filters::BAD_MONTHS`].
    #[serde(skip_serializing_if = "is_default")]
    pub skip_bad_months: bool,
    /// Skip games with a bot.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_bots: bool,
    /// Skip games that ended in one of these ways.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_terminations: BTreeSet<Termination>,
    /// Lowest ply of a position, counted as in FEN: 0 is White's first move.
    #[serde(skip_serializing_if = "is_default")]
    pub min_ply: u16,
    /// Keep only quiet positions: not in check, and the move played is neither a capture nor a
    /// promotion. (A PGN does not give the best move; the last position of a game has no move and
    /// passes.)
    #[serde(skip_serializing_if = "is_default")]
    pub quiet: bool,
    /// Smallest evaluation in centipawns, by magnitude. Does not apply to mates.
    #[serde(skip_serializing_if = "is_default")]
    pub min_eval: u16,
    /// Largest evaluation in centipawns, by magnitude. Does not apply to mates.
    #[serde(skip_serializing_if = "is_default")]
    pub max_eval: Option<u16>,
    /// Skip labels that are mates.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_mates: bool,
    /// Lowest depth of an evaluation in plies; an unknown depth is 0.
    #[serde(skip_serializing_if = "is_default")]
    pub min_depth: u8,
    /// Keep one in this many of the positions of a game that pass the other filters, from a start
    /// that depends on the identity of the game.
    #[serde(skip_serializing_if = "is_default")]
    pub every: Option<NonZeroUsize>,
    /// Largest number of positions in the dataset.
    #[serde(skip_serializing_if = "is_default")]
    pub max_positions: Option<u64>,
    /// Lambda of the returns that replace evaluations of training games. Filters apply to the
    /// original evaluations.
    #[serde(skip_serializing_if = "is_default")]
    pub td_lambda: TdLambda,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Filters {
    /// Holds out one game in twenty: enough to measure on, little to lose.
    fn default() -> Filters {
        Filters {
            validation_percent: 5,
            chess960: false,
            min_rating: None,
            max_rating: None,
            speeds: BTreeSet::new(),
            from_month: None,
            to_month: None,
            skip_bad_months: false,
            skip_bots: false,
            skip_terminations: BTreeSet::new(),
            min_ply: 0,
            quiet: false,
            min_eval: 0,
            max_eval: None,
            skip_mates: false,
            min_depth: 0,
            every: None,
            max_positions: None,
            td_lambda: TdLambda::default(),
        }
    }
}

impl Filters {
    /// Months, as year and month, in which Lichess's analysis gave many wrong evaluations of
    /// standard games. Lichess leaves the same three out of its table of evaluations.
    pub const BAD_MONTHS: [(u32, u32); 3] = [(2016, 12), (2020, 7), (2020, 8)];

    /// Returns the reason to skip a game by its tags; `None` to keep it.
    pub(crate) fn reject_game(&self, tags: &Tags) -> Option<SkipReason> {
        first_that_holds([
            (self.skip_bots && tags.bot, SkipReason::Bot),
            (self.is_other_termination(tags), SkipReason::Termination),
            (self.is_other_speed(tags), SkipReason::OtherSpeed),
            (self.is_other_month(tags.month), SkipReason::OtherMonth),
            (self.is_bad_month(tags.month), SkipReason::BadMonth),
            (self.is_unrated(tags), SkipReason::Unrated),
            (self.is_other_rating(tags), SkipReason::RatingOutOfRange),
        ])
    }

    /// Returns the reason to skip a labelled position by itself; `None` to keep it. `Evaluations`
    /// applies the filters that need the game: the move played from the position, and thinning.
    pub fn reject_position(&self, record: &Record) -> Option<SkipReason> {
        let size = record.label().centipawns().map(i32::unsigned_abs);
        let outside = size.is_some_and(|size| {
            size < u32::from(self.min_eval) || self.max_eval.is_some_and(|max| size > max.into())
        });
        first_that_holds([
            (record.ply() < self.min_ply, SkipReason::EarlyPly),
            (record.depth() < self.min_depth, SkipReason::LowDepth),
            (self.skip_mates && size.is_none(), SkipReason::Mate),
            (outside, SkipReason::EvalOutOfRange),
            (self.quiet && record.in_check(), SkipReason::NotQuiet),
        ])
    }

    fn is_other_termination(&self, tags: &Tags) -> bool {
        tags.termination
            .is_some_and(|termination| self.skip_terminations.contains(&termination))
    }

    fn is_other_speed(&self, tags: &Tags) -> bool {
        !self.speeds.is_empty() && tags.speed.is_none_or(|speed| !self.speeds.contains(&speed))
    }

    fn is_other_month(&self, month: Month) -> bool {
        let filtered = self.from_month.is_some() || self.to_month.is_some();
        let early = month == Month::default() || self.from_month.is_some_and(|from| month < from);
        filtered && (early || self.to_month.is_some_and(|to| month > to))
    }

    fn is_bad_month(&self, month: Month) -> bool {
        self.skip_bad_months
            && month
                .calendar()
                .is_some_and(|month| Self::BAD_MONTHS.contains(&month))
    }

    fn is_unrated(&self, tags: &Tags) -> bool {
        let filtered = self.min_rating.is_some() || self.max_rating.is_some();
        filtered && tags.ratings().is_none()
    }

    fn is_other_rating(&self, tags: &Tags) -> bool {
        tags.ratings().is_some_and(|(white, black)| {
            self.min_rating.is_some_and(|min| white.min(black) < min)
                || self.max_rating.is_some_and(|max| white.max(black) > max)
        })
    }
}

fn first_that_holds<const N: usize>(reasons: [(bool, SkipReason); N]) -> Option<SkipReason> {
    let mut reasons = reasons.into_iter();
    reasons.find_map(|(holds, reason)| holds.then_some(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_omits_defaults_and_round_trips() {
        let json = |filters: &Filters| serde_json::to_string(filters).unwrap();
        assert_eq!(
            json(&Filters::default()),
            r#"{"validation_percent":5,"chess960":false}"#
        );
        let filters = Filters {
            min_rating: Some(1800),
            speeds: [Speed::Rapid, Speed::Blitz].into(),
            to_month: Some(Month::new(2020, 12)),
            skip_terminations: [Termination::TimeForfeit].into(),
            every: NonZeroUsize::new(4),
            ..Filters::default()
        };
        assert_eq!(
            json(&filters),
            r#"{"validation_percent":5,"chess960":false,"min_rating":1800,"speeds":["blitz","rapid"],"to_month":"2020-12","skip_terminations":["time-forfeit"],"every":4}"#
        );
        assert_eq!(
            serde_json::from_str::<Filters>(&json(&filters)).unwrap(),
            filters
        );
    }

    #[test]
    fn unknown_tags_are_skipped_only_if_filtered() {
        let unknown = Tags::default();
        let (filters, month) = (Filters::default(), Some(Month::new(2020, 1)));
        assert_eq!(filters.reject_game(&unknown), None);
        for (filters, reason) in [
            (
                Filters {
                    max_rating: Some(9999),
                    ..filters.clone()
                },
                SkipReason::Unrated,
            ),
            (
                Filters {
                    speeds: [Speed::Blitz].into(),
                    ..filters.clone()
                },
                SkipReason::OtherSpeed,
            ),
            (
                Filters {
                    to_month: month,
                    ..filters.clone()
                },
                SkipReason::OtherMonth,
            ),
            (
                Filters {
                    from_month: month,
                    ..filters.clone()
                },
                SkipReason::OtherMonth,
            ),
        ] {
            assert_eq!(filters.reject_game(&unknown), Some(reason));
        }
    }

    #[test]
    fn bad_months_are_skipped_on_request() {
        let tags = |year, month| Tags {
            month: Month::new(year, month),
            ..Tags::default()
        };
        let filters = Filters {
            skip_bad_months: true,
            ..Filters::default()
        };
        assert_eq!(
            filters.reject_game(&tags(2020, 7)),
            Some(SkipReason::BadMonth)
        );
        assert_eq!(filters.reject_game(&tags(2020, 9)), None);
        assert_eq!(Filters::default().reject_game(&tags(2020, 7)), None);
    }
}
