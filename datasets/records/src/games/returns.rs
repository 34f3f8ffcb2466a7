//! What the rest of a game says of its positions: lambda-returns.
//!
//! Sutton and Barto, "Reinforcement Learning" (2nd edition, 2018), chapter 12;
//! Baxter, Tridgell and Weaver, "TDLeaf(lambda)" (1998), for values that a
//! search gives: such a value looks ahead by itself, and so takes the place of
//! the value one step later in the book's return.

use crate::position::{GameResult, Label};

/// Of Lichess's chances to win, for each centipawn.
const K: f64 = 0.003_682_08;

/// What a position is worth, as White's share of a point and Black's, which
/// add up to one. Both are kept: one less a share near one would lose digits.
#[derive(Clone, Copy)]
struct Shares {
    white: f64,
    black: f64,
}

impl Shares {
    /// Of an evaluation in centipawns by Lichess's curve, where White's chances
    /// are `2 / (1 + exp(-K cp)) - 1`, which is the difference of the shares.
    /// All of it for a mate.
    fn of_label(label: Label) -> Shares {
        match (label.centipawns(), label.mate()) {
            (Some(centipawns), _) => {
                let x = K * f64::from(centipawns);
                Shares {
                    white: 1.0 / (1.0 + libm::exp(-x)),
                    black: 1.0 / (1.0 + libm::exp(x)),
                }
            }
            (None, mate) => Shares::of_result(match mate {
                Some(..0) => GameResult::BlackWins,
                _ => GameResult::WhiteWins,
            }),
        }
    }

    fn of_result(result: GameResult) -> Shares {
        let (white, black) = match result {
            GameResult::WhiteWins => (1.0, 0.0),
            GameResult::Draw => (0.5, 0.5),
            GameResult::BlackWins => (0.0, 1.0),
        };
        Shares { white, black }
    }

    fn mixed(self, other: Shares, weight: f64) -> Shares {
        Shares {
            white: (1.0 - weight) * self.white + weight * other.white,
            black: (1.0 - weight) * self.black + weight * other.black,
        }
    }

    /// To the nearest centipawn, in the range of evaluations.
    fn label(self) -> Label {
        let centipawns = libm::log(self.white / self.black) / K;
        Label::from_centipawns(libm::round(centipawns) as i64)
    }
}

/// The returns of a game from its end to its beginning, one for each of its
/// evaluations:
///
/// `G(t) = (1 - w) V(t) + w G(t')`, `w = lambda^(t' - t)`,
///
/// where `V` is an evaluation as chances to win, `t` its ply, and `t'` that of
/// the evaluation after it: plies without one count as if they had that before
/// them. Behind the last evaluation, `G` is the game's result. Where that is
/// unknown, the last evaluation stands for itself.
pub(crate) struct Returns {
    lambda: f64,
    later: Option<(Shares, u32)>,
}

impl Returns {
    /// Of a game that ended with this result at a ply; `None` if it is not
    /// known.
    pub(crate) fn new(lambda: f64, end: Option<(GameResult, u32)>) -> Returns {
        let later = end.map(|(result, ply)| (Shares::of_result(result), ply));
        Returns { lambda, later }
    }

    /// The return of the evaluation before those that were given so far. A mate
    /// stays: it is exact.
    pub(crate) fn before(&mut self, label: Label, ply: u32) -> Label {
        let here = Shares::of_label(label);
        let shares = self.later.map_or(here, |(later, later_ply)| {
            // The result comes one step after an evaluation of the last position.
            let steps = later_ply.saturating_sub(ply).max(1);
            here.mixed(later, libm::pow(self.lambda, f64::from(steps)))
        });
        self.later = Some((shares, ply));
        label.mate().map_or_else(|| shares.label(), |_| label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use GameResult::{BlackWins, Draw, WhiteWins};

    /// Labels by ply, and what they become.
    fn returns(
        lambda: f64,
        end: Option<(GameResult, u32)>,
        evaluations: &[(u32, &str)],
    ) -> Vec<String> {
        let mut returns = Returns::new(lambda, end);
        let labels = evaluations.iter().rev().map(|&(ply, text)| {
            let label = match text.strip_prefix('#') {
                Some(moves) => Label::from_mate(moves.parse().unwrap()).unwrap(),
                None => Label::from_centipawns(text.parse().unwrap()),
            };
            returns.before(label, ply).to_string()
        });
        let mut labels: Vec<String> = labels.collect();
        labels.reverse();
        labels
    }

    /// By Python 3, with `w(c) = 2/(1+exp(-0.00368208*c))-1`, its inverse
    /// `round(log((1+g)/(1-g))/0.00368208)`, and the sum over all that follows,
    /// not the recursion: `tests/reference/lambda_returns.py`.
    #[test]
    fn returns_equal_pythons() {
        for line in include_str!("../../../../tests/data/lambda_returns.tsv").lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [lambda, end, evaluations, wanted] = fields[..] else {
                panic!("{line}")
            };
            let end = end.split_once('@').map(|(result, ply)| {
                let result = match result {
                    "1-0" => WhiteWins,
                    "0-1" => BlackWins,
                    _ => Draw,
                };
                (result, ply.parse().unwrap())
            });
            let evaluations: Vec<(u32, &str)> = evaluations
                .split(' ')
                .map(|evaluation| evaluation.split_once(':').unwrap())
                .map(|(ply, label)| (ply.parse().unwrap(), label))
                .collect();
            let found = returns(lambda.parse().unwrap(), end, &evaluations);
            assert_eq!(found.join(" "), wanted, "{line}");
        }
    }

    #[test]
    fn every_evaluation_comes_back_from_its_shares() {
        for centipawns in -30_000..=30_000 {
            let label = Label::from_centipawns(centipawns);
            assert_eq!(Shares::of_label(label).label(), label);
        }
    }

    #[test]
    fn the_ends_of_lambda_are_the_evaluation_and_the_result() {
        let game = [(1, "30"), (2, "-500"), (5, "#3"), (6, "30000"), (9, "0")];
        let same = ["30", "-500", "#3", "30000", "0"];
        for end in [None, Some((WhiteWins, 12)), Some((Draw, 9))] {
            assert_eq!(returns(0.0, end, &game), same);
        }
        for (result, all) in [(WhiteWins, "30000"), (Draw, "0"), (BlackWins, "-30000")] {
            assert_eq!(
                returns(1.0, Some((result, 10)), &game),
                [all, all, "#3", all, all]
            );
        }
        assert_eq!(returns(1.0, None, &game[..2]), ["-500", "-500"]);
    }

    /// As the labels of the colours' twin are.
    #[test]
    fn the_colours_are_alike() {
        let game = [(1, "30"), (2, "-500"), (5, "1234"), (6, "9000"), (9, "-1")];
        let mirrored = [(1, "-30"), (2, "500"), (5, "-1234"), (6, "-9000"), (9, "1")];
        let white = returns(0.7, Some((WhiteWins, 10)), &game);
        let black = returns(0.7, Some((BlackWins, 10)), &mirrored);
        let negated = |text: &String| (-text.parse::<i32>().unwrap()).to_string();
        assert_eq!(white.iter().map(negated).collect::<Vec<_>>(), black);
    }
}
