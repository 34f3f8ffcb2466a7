//! Evaluated positions of one game, and the filters that need the game: quiet moves,
//! lambda-returns. `collector.rs` thins out the rows of any kind.

use shakmaty::{Chess, Move, Position};

use crate::games::returns::Returns;
use crate::games::{Collector, Ending};
use crate::position::{
    EvalComment, GameResult, Label, Origin, Record, parse_eval, parse_match_score,
};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts, Split, Tags};

#[derive(Default)]
pub(crate) struct Evaluations {
    positions: Vec<Evaluated>,
    /// Plies played so far.
    plies: u32,
    unlabelled_plies: u64,
    /// Whether the game has an evaluation, readable or not.
    annotated: bool,
}

struct Evaluated {
    record: Record,
    /// Plies played before the position.
    ply: u32,
    /// Passed the filters.
    kept: bool,
}

impl Collector for Evaluations {
    type Row = Record;

    const NOTHING: SkipReason = SkipReason::Unannotated;

    fn has_any(&self) -> bool {
        self.annotated
    }

    fn score(
        &mut self,
        position: &Chess,
        score: Option<Label>,
        origin: Origin,
        filters: &Filters,
        tally: &mut SourceCounts,
    ) {
        match score {
            Some(label) => self.add(Record::new(position, label, origin), filters, tally),
            None => tally.skip(SkipReason::MalformedEval),
        }
    }

    fn comment(
        &mut self,
        comment: &[u8],
        position: &Chess,
        tags: &Tags,
        filters: &Filters,
        tally: &mut SourceCounts,
    ) {
        let mut eval = parse_eval(comment);
        if eval == EvalComment::Absent {
            eval = parse_match_score(comment, !position.turn());
        }
        self.annotated |= eval != EvalComment::Absent;
        let (label, depth) = match eval {
            EvalComment::Absent => return,
            EvalComment::Malformed => return tally.skip(SkipReason::MalformedEval),
            EvalComment::Eval { label, depth } => (label, depth),
        };
        if self.plies == 0 {
            return tally.skip(SkipReason::EvalBeforeFirstMove);
        }
        if self.has_latest() {
            return tally.skip(SkipReason::SecondEval);
        }
        let origin = Origin {
            result: tags.fair_result(),
            month: tags.month,
            depth,
            tactical: false,
        };
        self.add(Record::new(position, label, origin), filters, tally);
    }

    /// Marks the position if the move is a capture or a promotion; it then fails the `quiet`
    /// filter.
    fn play(&mut self, _: &Chess, m: Move, _: &Tags, filters: &Filters, tally: &mut SourceCounts) {
        let plies = self.plies;
        match self.positions.last_mut().filter(|last| last.ply == plies) {
            Some(last) if m.is_capture() || m.is_promotion() => {
                last.record.set_tactical();
                if filters.quiet && last.kept {
                    last.kept = false;
                    tally.skip(SkipReason::NotQuiet);
                }
            }
            // The start position needs no label and is not a gap.
            None if plies > 0 => self.unlabelled_plies += 1,
            _ => {}
        }
        self.plies += 1;
    }

    /// Applies lambda-returns and thinning.
    fn finish(
        mut self,
        board: &Chess,
        id: impl FnOnce() -> GameId,
        ending: Ending,
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnOnce(GameId, &[Record]),
    ) {
        // Only the last position can be finished: a move was played from every other one.
        if self.has_latest() && board.legal_moves().is_empty() {
            let finished = self.positions.pop();
            if finished.is_some_and(|finished| finished.kept) {
                tally.skip(SkipReason::FinishedPosition);
            }
        }
        if !self.positions.iter().any(|evaluated| evaluated.kept) {
            return;
        }
        let id = id();
        // Validation games keep their evaluations, regardless of training targets.
        if filters.td_lambda.is_on() && id.split(filters.validation_percent) == Split::Train {
            self.look_ahead(filters.td_lambda.get(), ending.result);
        }
        let kept = self.positions.iter().filter(|evaluated| evaluated.kept);
        let mut records: Vec<Record> = kept.map(|evaluated| evaluated.record).collect();
        ending.admit(&mut records, id, filters, tally);
        if records.is_empty() {
            return;
        }
        let mates = records.iter().filter(|r| r.label().mate().is_some());
        tally.mates += mates.count() as u64;
        tally.gaps += self.unlabelled_plies;
        each(id, &records);
    }
}

impl Evaluations {
    /// Returns whether the current position has an evaluation.
    fn has_latest(&self) -> bool {
        self.positions
            .last()
            .is_some_and(|last| last.ply == self.plies)
    }

    /// Adds the current position.
    fn add(&mut self, record: Record, filters: &Filters, tally: &mut SourceCounts) {
        let rejected = filters.reject_position(&record);
        if let Some(reason) = rejected {
            tally.skip(reason);
        }
        self.positions.push(Evaluated {
            record,
            ply: self.plies,
            kept: rejected.is_none(),
        });
    }

    /// Replaces each evaluation by its lambda-return.
    fn look_ahead(&mut self, lambda: f64, result: Option<GameResult>) {
        let mut returns = Returns::new(lambda, result.map(|result| (result, self.plies)));
        for Evaluated { record, ply, .. } in self.positions.iter_mut().rev() {
            *record = record.with_label(returns.before(record.label(), *ply));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::games::read_games;
    use crate::selection::{Filters, SourceCounts, TdLambda};

    fn with(lambda: f64, filters: Filters) -> Filters {
        Filters {
            td_lambda: TdLambda::try_from(lambda).unwrap(),
            validation_percent: 0,
            ..filters
        }
    }

    /// Returns the labels of a game that pass the filters.
    fn labels(filters: &Filters, tags: &str, moves: &str) -> (String, SourceCounts) {
        let (mut labels, mut tally) = (Vec::new(), SourceCounts::default());
        let text = format!("[Event \"x\"]\n{tags}\n\n{moves}\n");
        read_games(text.as_bytes(), filters, &mut tally, |_, records| {
            labels.extend(records.iter().map(|record| record.label().to_string()));
        });
        (labels.join(" "), tally)
    }

    const MOVES: &str = "1. e4 { [%eval 0.3] } e5 2. Nf3 { [%eval 1] } Nc6 { [%eval -2] } \
                         3. Nxe5 { [%eval 0.5] } ";

    #[test]
    fn returns_use_only_fair_results_of_whole_games() {
        let one = with(1.0, Filters::default());
        for (tags, end, wanted) in [
            ("[Result \"0-1\"]", "0-1", "-30000 -30000 -30000 -30000"),
            ("[Result \"1/2-1/2\"]", "1/2-1/2", "0 0 0 0"),
            ("[Result \"*\"]", "*", "50 50 50 50"),
            (
                "[Result \"0-1\"]\n[Termination \"Time forfeit\"]",
                "0-1",
                "50 50 50 50",
            ),
            // The result does not apply when the moves break off.
            ("[Result \"0-1\"]", "Ke5 0-1", "50 50 50 50"),
            ("[Result \"0-1\"]", "Sf6 0-1", "50 50 50 50"),
            ("[Result \"0-1\"]", "-- 0-1", "50 50 50 50"),
            ("[Result \"0-1\"]", "\n\nQe7 0-1", "50 50 50 50"),
            ("[Result \"0-1\"]", "", "-30000 -30000 -30000 -30000"),
            (
                "[Result \"0-1\"]",
                "\n[White \"b\"]\n\n1. d4 *",
                "-30000 -30000 -30000 -30000",
            ),
        ] {
            let found = labels(&one, tags, &format!("{MOVES}{end}")).0;
            assert_eq!(found, wanted, "{tags} {end}");
        }
    }

    #[test]
    fn filters_judge_raw_evaluations_and_returns_use_all() {
        let strict = Filters {
            quiet: true,
            min_ply: 2,
            max_eval: Some(150),
            ..Filters::default()
        };
        let moves = format!("{MOVES}1-0");
        for filters in [Filters::default(), strict] {
            let plain = with(0.0, filters.clone());
            let (all, before) = labels(&plain, "[Result \"1-0\"]", &moves);
            let (returns, after) = labels(&with(0.5, filters), "[Result \"1-0\"]", &moves);
            assert_eq!(before, after);
            assert_ne!(all, returns);
            assert_eq!(all.split(' ').count(), returns.split(' ').count());
        }
        // Filtered evaluations still count in the returns; an evaluation of a mated position does
        // not.
        let half = |filters| labels(&with(0.5, filters), "[Result \"1-0\"]", &moves).0;
        let late = Filters {
            min_ply: 5,
            ..Filters::default()
        };
        let all = half(Filters::default());
        assert_eq!(half(late), all.rsplit(' ').next().unwrap());
        let mate = "1. f3 { [%eval -1] } e5 2. g4 { [%eval #-1] } Qh4# { [%eval 9] } 0-1";
        let half = with(0.5, Filters::default());
        let (found, tally) = labels(&half, "[Result \"0-1\"]", mate);
        assert_eq!(found, "-221 #-1");
        assert_eq!(tally.labels, 2);
    }
}
