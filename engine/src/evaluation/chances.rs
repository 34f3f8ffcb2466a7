//! WDL model: win, draw and loss probabilities of a score.

use cozy_chess::{Board, Piece};
use models::material;

use crate::evaluation::Score;
use crate::evaluation::features::model_piece;

/// Win, draw and loss probabilities in permille, from the side to move's point of view. They sum to
/// 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chances {
    /// Probability of a win.
    pub win: u16,
    /// Probability of a draw.
    pub draw: u16,
    /// Probability of a loss.
    pub loss: u16,
}

/// Score in centipawns with a win probability of one half: a polynomial of the material on the
/// board, relative to that at the start, highest power first. Fitted by `models/wdl.py`;
/// docs/engine.md names the games.
const HALF_WON: [f64; 4] = [-2175.4, 4719.0, -3410.3, 967.1];
/// Logistic scale: centipawns that multiply the odds of a win by `e`. A polynomial like
/// [`HALF_WON`].
const SPREAD: [f64; 4] = [-715.6, 1524.3, -1023.1, 308.1];
/// Material at the start, in centipawns.
const FULL: f64 = 8_000.0;

impl Chances {
    /// Returns the probabilities for `score`, the result of a search of `board`.
    pub fn of(score: Score, board: &Board) -> Chances {
        let certain = |win: u16| Chances {
            win,
            draw: 0,
            loss: 1000 - win,
        };
        if score.is_decided() {
            return certain(if score.is_win() { 1000 } else { 0 });
        }
        let model = WinModel::of(board);
        let chance = |score: f64| (1000.0 * model.win(score)).round() as u16;
        let score = f64::from(score.centipawns());
        let win = chance(score);
        let loss = chance(-score).min(1000 - win);
        Chances {
            win,
            draw: 1000 - win - loss,
            loss,
        }
    }
}

/// The probability of a win by score, for the material of a board.
#[derive(Clone, Copy)]
pub(crate) struct WinModel {
    half_won: f64,
    spread: f64,
}

impl WinModel {
    pub(crate) fn of(board: &Board) -> WinModel {
        let material = Piece::ALL.map(|piece| {
            material::centipawns(model_piece(piece)) * board.pieces(piece).len() as i32
        });
        // The fit covers material up to that of the start.
        let share = (f64::from(material.iter().sum::<i32>()) / FULL).min(1.0);
        let polynomial = |coefficients: [f64; 4]| {
            let horner = |sum, coefficient| sum * share + coefficient;
            coefficients.into_iter().fold(0.0, horner)
        };
        WinModel {
            half_won: polynomial(HALF_WON),
            spread: polynomial(SPREAD),
        }
    }

    /// Returns the probability of a win, given centipawns from the winner's point of view.
    fn win(self, centipawns: f64) -> f64 {
        1.0 / (1.0 + ((self.half_won - centipawns) / self.spread).exp())
    }

    /// Returns the expected result, from -1 (loss) to 1 (win), of a score.
    pub(crate) fn expected(self, score: Score) -> f64 {
        if score.is_decided() {
            return f64::from(score.centipawns().signum());
        }
        let centipawns = f64::from(score.centipawns());
        self.win(centipawns) - self.win(-centipawns)
    }

    /// Returns the score with an expected result: the inverse of [`WinModel::expected`].
    pub(crate) fn score(self, expected: f64) -> Score {
        let limit = Score::EVALUATION_LIMIT;
        let (mut low, mut high) = (-limit, limit);
        while low < high {
            // Rounds down, also below zero.
            let middle = (low + high).div_euclid(2);
            match self.expected(Score::from_centipawns(middle)) < expected {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Score::from_centipawns(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::parse_fen;

    #[test]
    fn wins_increase_with_the_score_and_the_sum_is_1000() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "8/5k2/3p2p1/2pP1p1p/2P2P1P/5KP1/8/8 w - - 0 1",
            "8/1k6/8/5p2/3R4/5K2/6P1/2r5 w - - 0 1",
            "rnbqkbnr/qqq1pppp/8/8/8/8/PPPPQQQQ/RNBQKBNR b - - 0 1",
        ] {
            let board = parse_fen(fen).unwrap();
            let chances = |centipawns| Chances::of(Score::from_centipawns(centipawns), &board);
            let mut before = chances(-20_000);
            assert_eq!((before.win, before.loss), (0, 1000), "{fen}");
            for centipawns in (-3_000..=3_000).step_by(10) {
                let (now, mirror) = (chances(centipawns), chances(-centipawns));
                assert_eq!(now.win + now.draw + now.loss, 1000, "{fen}: {now:?}");
                assert_eq!((now.win, now.loss), (mirror.loss, mirror.win), "{fen}");
                assert!(
                    now.win >= before.win && now.loss <= before.loss,
                    "{fen}: {now:?}"
                );
                before = now;
            }
            assert_eq!(chances(20_000).win, 1000, "{fen}");
            assert!(chances(0).draw > 300, "{fen}: {:?}", chances(0));
        }
        let board = Board::startpos();
        assert_eq!(Chances::of(Score::mate_in(3), &board).win, 1000);
        assert_eq!(Chances::of(Score::mated_in(4), &board).loss, 1000);
    }

    #[test]
    fn expected_results_and_scores_are_inverse() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "8/1k6/8/5p2/3R4/5K2/6P1/2r5 w - - 0 1",
        ] {
            let model = WinModel::of(&parse_fen(fen).unwrap());
            for centipawns in [-700, -250, -31, 0, 1, 18, 400, 900] {
                let score = Score::from_centipawns(centipawns);
                let expected = model.expected(score);
                assert_eq!(model.score(expected), score, "{fen}: {expected}");
            }
            assert_eq!(model.expected(Score::mate_in(3)), 1.0);
            assert_eq!(model.expected(-Score::tablebase_win(3)), -1.0);
        }
    }
}
