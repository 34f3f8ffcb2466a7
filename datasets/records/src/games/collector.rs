//! Rows of one game, collected move by move, independent of the game's format.

use std::num::NonZeroUsize;

use shakmaty::{Chess, Move};

use crate::position::{GameResult, Label, Origin, Row};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts, Tags};

/// Collector of the rows of a game.
pub(crate) trait Collector: Default {
    /// Row that a position or a move becomes.
    type Row: Row;

    /// Skip reason of a game without an evaluation or a move.
    const NOTHING: SkipReason;

    /// Returns whether an evaluation, or a move, was read; filtered ones count.
    fn has_any(&self) -> bool;

    /// Takes the score of the current position from a packed format; `None` for "no score".
    fn score(
        &mut self,
        position: &Chess,
        score: Option<Label>,
        origin: Origin,
        filters: &Filters,
        tally: &mut SourceCounts,
    );

    /// Reads a comment of a PGN at the current position.
    fn comment(
        &mut self,
        comment: &[u8],
        position: &Chess,
        tags: &Tags,
        filters: &Filters,
        tally: &mut SourceCounts,
    );

    /// Takes the move played from the current position.
    fn play(
        &mut self,
        position: &Chess,
        m: Move,
        tags: &Tags,
        filters: &Filters,
        tally: &mut SourceCounts,
    );

    /// Ends the game at `board`: counts its rows and passes them to `each`. Does nothing if no row
    /// is left.
    fn finish(
        self,
        board: &Chess,
        id: impl FnOnce() -> GameId,
        ending: Ending,
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnOnce(GameId, &[Self::Row]),
    );
}

/// Facts about a game that are known at its end.
pub(crate) struct Ending<'a> {
    /// Result of the moves that were read; `None` if unknown.
    pub(crate) result: Option<GameResult>,
    pub(crate) tags: &'a Tags,
}

impl Ending<'_> {
    /// Thins out the rows of a game that passed the other filters, and counts the rest.
    pub(crate) fn admit<R>(
        &self,
        rows: &mut Vec<R>,
        id: GameId,
        filters: &Filters,
        tally: &mut SourceCounts,
    ) {
        if let Some(every) = filters.every {
            let thinned = thin_out(rows, every, id.sampling_start(every));
            tally.skip_many(SkipReason::Thinned, thinned);
        }
        if rows.is_empty() {
            return;
        }
        let labels = rows.len() as u64;
        tally.games_kept += 1;
        tally.labels += labels;
        *tally.months.entry(self.tags.month).or_default() += labels;
        tally.rating(self.tags.mean_rating());
    }
}

/// Keeps one row in `every`, beginning with the one at `start`. Returns the number removed.
fn thin_out<R>(rows: &mut Vec<R>, every: NonZeroUsize, start: usize) -> u64 {
    let all = rows.len();
    let mut index = 0..all;
    rows.retain(|_| index.next().is_some_and(|index| index % every == start));
    (all - rows.len()) as u64
}
