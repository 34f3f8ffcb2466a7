//! Values of positions: expected results, by scores relative to that of the root.

use crate::evaluation::Score;
use crate::evaluation::chances::WinModel;

/// Score from which on a root counts as decided, in centipawns.
const DECIDED: i32 = 150;
/// Step of [`Values::shift`], in centipawns, and the change of the root's score for which it stays.
const STEP: i32 = 100;

/// The scale of values. In a game that is nearly won or lost all moves have the same expected
/// result; so that the search still prefers the better ones, scores are then taken relative to the
/// root's, and a draw is no longer in the middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Values {
    /// Score that counts as even, in centipawns, for the root's side to move.
    shift: i32,
    /// Value of a draw, for the root's side to move.
    draw: f64,
}

impl Values {
    /// Returns the scale for a root with a score, near that of the last search with `shift`.
    pub(super) fn of_root(score: Score, model: WinModel, last: Option<i32>) -> Values {
        let score = score.centipawns().clamp(-5_000, 5_000);
        let beyond = score - score.clamp(-DECIDED, DECIDED);
        let shift = match last {
            Some(last) if (beyond - last).abs() <= STEP => last,
            _ => beyond / STEP * STEP,
        };
        let draw = model.expected(Score::DRAW - shift);
        Values { shift, draw }
    }

    /// Returns the score that counts as even, in centipawns, for the root's side to move.
    pub(super) fn shift(self) -> i32 {
        self.shift
    }

    /// Returns the value of a score for the side to move `ply` plies from the root.
    pub(super) fn of(self, score: Score, model: WinModel, ply: usize) -> f64 {
        match score.is_decided() {
            true => self.proven(score, ply),
            false => model.expected(Score::from_centipawns(
                score.centipawns() - sign(ply) * self.shift,
            )),
        }
    }

    /// Returns the value of a proven score for the side to move `ply` plies from the root.
    pub(super) fn proven(self, score: Score, ply: usize) -> f64 {
        match score {
            Score::DRAW => f64::from(sign(ply)) * self.draw,
            _ => f64::from(score.centipawns().signum()),
        }
    }

    /// Returns the score of a value for the root's side to move.
    pub(super) fn score(self, value: f64, model: WinModel) -> Score {
        Score::from_centipawns(model.score(value).centipawns() + self.shift)
    }
}

/// Returns 1 if the root's side is to move `ply` plies from the root, else -1.
fn sign(ply: usize) -> i32 {
    1 - 2 * (ply % 2) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::parse_fen;

    fn model() -> WinModel {
        WinModel::of(&parse_fen("8/8/8/4k3/8/8/8/KQ6 w - - 0 1").unwrap())
    }

    fn centipawns(score: i32) -> Score {
        Score::from_centipawns(score)
    }

    #[test]
    fn even_games_have_their_expected_result() {
        for root in [-150, 0, 150] {
            let values = Values::of_root(centipawns(root), model(), None);
            assert_eq!(values.shift(), 0);
            assert_eq!(values.proven(Score::DRAW, 0), 0.0);
            let value = values.of(centipawns(80), model(), 3);
            assert_eq!(value, model().expected(centipawns(80)));
            assert_eq!(values.score(value, model()), centipawns(80));
        }
    }

    #[test]
    fn won_games_tell_better_moves_apart() {
        let values = Values::of_root(centipawns(1100), model(), None);
        assert_eq!(values.shift(), 900);
        let value = |score| values.of(centipawns(score), model(), 2);
        assert!(value(1200) > value(1100) + 0.05);
        assert_eq!(values.score(value(1100), model()), centipawns(1100));
        // The opponent sees the opposite; a draw is nearly a loss for the winner.
        let theirs = values.of(centipawns(-1200), model(), 3);
        assert!((theirs + value(1200)).abs() < 1e-9);
        assert_eq!(
            values.proven(Score::DRAW, 0),
            model().expected(centipawns(-900))
        );
        assert_eq!(
            values.proven(Score::DRAW, 1),
            -values.proven(Score::DRAW, 0)
        );
        assert_eq!(values.proven(Score::mated_in(4), 1), -1.0);
        // Small changes of the root keep the scale, and with it the tree.
        assert_eq!(
            Values::of_root(centipawns(1130), model(), Some(900)).shift(),
            900
        );
        assert_eq!(
            Values::of_root(centipawns(1290), model(), Some(900)).shift(),
            1100
        );
    }
}
