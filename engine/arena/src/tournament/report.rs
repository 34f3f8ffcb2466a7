//! Report of a match, as text and JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use host::{rate, thousands};
use serde::Serialize;

use crate::games::ending::Ending;
use crate::statistics::pentanomial::{EloInterval, Pentanomial};
use crate::statistics::sprt::SprtState;
use crate::tournament::match_score::{Averages, Conduct, MatchScore};

/// Summary of a match, from the first engine's view.
#[derive(Serialize)]
pub struct Summary<'a> {
    engines: &'a [String],
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    /// The first engine's share of the points.
    score: f64,
    /// Logistic Elo; null if one side made every point.
    elo: f64,
    /// 95 % interval of `elo`; infinite ends are null.
    elo_interval: [f64; 2],
    /// Null if all pairs had the same result.
    normalised_elo: Option<f64>,
    /// Likelihood of superiority (LOS) of the first engine, 0 to 1.
    los: f64,
    draw_ratio: f64,
    /// Pairs by the first engine's half points, 0 to 4.
    pairs: Pentanomial,
    /// Pairs won per pair lost.
    pairs_ratio: Option<f64>,
    sprt: Option<SprtState>,
    endings: &'a BTreeMap<Ending, u64>,
    /// Losses by engine: illegal moves, on time, by crashes, by hangs.
    illegal_moves: [u64; 2],
    time_losses: [u64; 2],
    crashes: [u64; 2],
    hangs: [u64; 2],
    averages: [Averages; 2],
}

impl<'a> Summary<'a> {
    /// Sums up a match between two engines.
    pub fn new(names: &'a [String], tally: &'a MatchScore, sprt: Option<SprtState>) -> Summary<'a> {
        let elo = tally.pairs.elo();
        let count = |of: fn(&Conduct) -> u64| [of(&tally.conduct[0]), of(&tally.conduct[1])];
        Summary {
            engines: names,
            games: tally.games(),
            wins: tally.wins,
            draws: tally.draws,
            losses: tally.losses,
            score: tally.pairs.score().0,
            elo: elo.value,
            elo_interval: [elo.low, elo.high],
            normalised_elo: tally.pairs.normalised_elo(),
            los: tally.pairs.superiority(),
            draw_ratio: tally.draws as f64 / tally.games().max(1) as f64,
            pairs: tally.pairs,
            pairs_ratio: tally.pairs.ratio(),
            sprt,
            endings: &tally.endings,
            illegal_moves: count(|conduct| conduct.illegal_moves),
            time_losses: count(|conduct| conduct.time_losses),
            crashes: count(|conduct| conduct.crashes),
            hangs: count(|conduct| conduct.hangs),
            averages: tally.conduct.map(|conduct| conduct.averages()),
        }
    }

    /// Returns the summary as text.
    pub fn table(&self, tally: &MatchScore) -> String {
        let [first, second] = self.engines else {
            return String::new();
        };
        let mut text = format!("{first} against {second}: {}\n", line(tally));
        if tally.games() == 0 {
            return text;
        }
        let _ = writeln!(text, "Elo {}", show(tally.pairs.elo()));
        let normalised = match tally.pairs.normalised_elo() {
            Some(elo) => format!("{elo:+.1}"),
            None => "unknown, as all pairs ended alike".to_string(),
        };
        let los = 100.0 * self.los;
        let _ = writeln!(text, "normalised Elo {normalised}, LOS {los:.1} %");
        let _ = writeln!(
            text,
            "pairs {:?}, won to lost {}, draws {:.1} %",
            self.pairs.0,
            number(self.pairs_ratio, 2),
            100.0 * self.draw_ratio
        );
        if let Some(sprt) = &self.sprt {
            let _ = writeln!(text, "SPRT {sprt}");
        }
        let endings = self.endings.iter();
        let endings: Vec<String> = endings
            .map(|(why, &count)| format!("{why} {}", thousands(count)))
            .collect();
        let _ = writeln!(text, "endings: {}", endings.join(", "));
        text + &self.conduct()
    }

    fn conduct(&self) -> String {
        let width = self.engines.iter().map(|name| name.chars().count()).max();
        let width = width.unwrap_or_default();
        let mut text = format!(
            "{:width$}  time losses  illegal  crashes  hangs  depth      nodes        nps  ms/move\n",
            ""
        );
        for (i, name) in self.engines.iter().enumerate() {
            let averages = &self.averages[i];
            let _ = writeln!(
                text,
                "{name:width$}  {:>11}  {:>7}  {:>7}  {:>5}  {:>5}  {:>9}  {:>9}  {:>7}",
                self.time_losses[i],
                self.illegal_moves[i],
                self.crashes[i],
                self.hangs[i],
                number(averages.depth, 1),
                whole(averages.nodes),
                whole(averages.nps),
                number(averages.move_ms, 1),
            );
        }
        text
    }
}

/// Returns wins, draws, losses and score on one line.
pub fn line(tally: &MatchScore) -> String {
    if tally.games() == 0 {
        return "no game was played to its end".to_string();
    }
    format!(
        "{} games: +{} ={} -{}, {:.1} %",
        thousands(tally.games()),
        thousands(tally.wins),
        thousands(tally.draws),
        thousands(tally.losses),
        100.0 * tally.pairs.score().0
    )
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_string(), |value| format!("{value:.decimals$}"))
}

fn whole(value: Option<f64>) -> String {
    value.map_or("-".to_string(), rate)
}

/// Formats a difference in Elo with its 95 % interval.
pub fn show(elo: EloInterval) -> String {
    let EloInterval { value, low, high } = elo;
    format!("{value:+.1}, from {low:+.1} to {high:+.1} (95 %)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_an_interval() {
        let show = |pairs| show(Pentanomial(pairs).elo());
        let even = show([0, 0, 1, 0, 0]);
        assert_eq!(even, "+0.0, from -375.7 to +375.7 (95 %)");
        let swept = show([0, 0, 0, 0, 1]);
        assert_eq!(swept, "+inf, from -233.5 to +inf (95 %)");
    }

    #[test]
    fn normalised_elo_has_no_interval() {
        let mut tally = MatchScore {
            wins: 3,
            draws: 1,
            ..MatchScore::default()
        };
        tally.pairs.0 = [0, 0, 0, 1, 1];
        let names = ["a".to_string(), "b".to_string()];
        let text = Summary::new(&names, &tally, None).table(&tally);
        assert!(text.contains("normalised Elo +737.0, LOS "), "{text}");
        tally.pairs.0 = [0, 0, 2, 0, 0];
        let text = Summary::new(&names, &tally, None).table(&tally);
        assert!(
            text.contains("normalised Elo unknown, as all pairs"),
            "{text}"
        );
    }

    #[test]
    fn an_infinite_end_is_null() {
        let mut tally = MatchScore::default();
        tally.pairs.0[4] = 1;
        let names = ["a".to_string(), "b".to_string()];
        let json = serde_json::to_value(Summary::new(&names, &tally, None)).unwrap();
        assert!(json["elo"].is_null() && json["elo_interval"][1].is_null());
        assert!(json["elo_interval"][0].as_f64() < Some(-200.0), "{json}");
    }
}
