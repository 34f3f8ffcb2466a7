//! Lambda-returns: labels that blend an evaluation with the later ones of its game.
//!
//! Sutton and Barto, "Reinforcement Learning" (2nd edition, 2018), chapter 12; Baxter, Tridgell and
//! Weaver, "TDLeaf(lambda)" (1998), for values given by a search: such a value already looks ahead,
//! so it replaces the value one step later in the book's return.

use crate::position::{GameResult, Label};

/// Slope of Lichess's winning-chances curve, per centipawn.
const K: f64 = 0.003_682_08;

/// Value of a position as White's and Black's share of a point, which add up to one. Both are kept:
/// `1 - share` loses digits for a share near one.
#[derive(Clone, Copy)]
struct Shares {
    white: f64,
    black: f64,
}

impl Shares {
    /// Returns the shares of a label. Centipawns follow Lichess's curve, with White's chances
    /// `2 / (1 + exp(-K cp)) - 1` as the difference of the shares; a mate counts as a win.
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

    /// Returns the shares as a label, to the nearest centipawn, clamped to the range of
    /// evaluations.
    fn label(self) -> Label {
        let centipawns = libm::log(self.white / self.black) / K;
        Label::from_centipawns(libm::round(centipawns) as i64)
    }
}

/// Lambda-returns of a game, computed backwards from its end, one for each evaluation:
///
/// `G(t) = (1 - w) V(t) + w G(t')`, `w = lambda^(t' - t)`,
///
/// where `V` is an evaluation as chances to win, `t` its ply, and `t'` the ply of the next
/// evaluation: plies without one count as if they had the evaluation before them. After the last
/// evaluation, `G` is the result of the game; if that is unknown, the last evaluation is its own
/// return.
pub(crate) struct Returns {
    lambda: f64,
    later: Option<(Shares, u32)>,
}

impl Returns {
    /// Starts at the end of a game: its result and last ply, or `None` if the result is unknown.
    pub(crate) fn new(lambda: f64, end: Option<(GameResult, u32)>) -> Returns {
        let later = end.map(|(result, ply)| (Shares::of_result(result), ply));
        Returns { lambda, later }
    }

    /// Returns the label for an evaluation at `ply`; call it from the last evaluation to the first.
    /// A mate is exact and stays unchanged.
    pub(crate) fn before(&mut self, label: Label, ply: u32) -> Label {
        let here = Shares::of_label(label);
        let shares = self.later.map_or(here, |(later, later_ply)| {
            // The result counts as one step after an evaluation of the last position.
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

    /// Returns the lambda-returns of labels given by ply.
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

    /// Expected values from Python 3 (`tests/reference/lambda_returns.py`):
    /// `w(c) = 2/(1+exp(-0.00368208*c))-1`, its inverse `round(log((1+g)/(1-g))/0.00368208)`, and
    /// the explicit sum rather than the recursion.
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

    /// Negated labels and result give negated returns.
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
