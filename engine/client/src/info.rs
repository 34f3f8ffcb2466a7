//! Parser of the output lines of a UCI engine.

use std::str::SplitAsciiWhitespace;

use crate::options::{EngineOption, printable};

/// A score from the side to move's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UciScore {
    /// Centipawns.
    Centipawns(i32),
    /// Moves to mate, negative if the side to move is mated.
    Mate(i32),
}

/// A score with its depth and bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scored {
    /// The score.
    pub score: UciScore,
    /// Depth in the same line, in plies.
    pub depth: Option<u32>,
    /// The score is only a bound: the search failed high or low.
    pub bound: bool,
}

/// Last reported figures of a search, for its best move; `None` if not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Last exact score, or else the last bound.
    pub score: Option<Scored>,
    /// Last depth, in plies.
    pub depth: Option<u32>,
    /// Last node count.
    pub nodes: Option<u64>,
}

impl Info {
    /// Returns the last exact score.
    pub fn exact(&self) -> Option<UciScore> {
        let exact = self.score.filter(|scored| !scored.bound);
        exact.map(|scored| scored.score)
    }

    /// Updates the figures from the text after `info`. Ignores lines about other moves than the
    /// best one.
    pub fn hear(&mut self, text: &str) {
        let (mut info, mut score, mut depth, mut bound) = (*self, None, None, false);
        let mut words = text.split_ascii_whitespace();
        while let Some(word) = words.next() {
            match word {
                // Moves or free text follow.
                "pv" | "string" => break,
                "depth" => depth = number(&mut words).or(depth),
                "nodes" => info.nodes = number(&mut words).or(info.nodes),
                "multipv" if number(&mut words) != Some(1u32) => return,
                "score" => score = read_score(&mut words).or(score),
                "lowerbound" | "upperbound" => bound = true,
                _ => {}
            }
        }
        info.depth = depth.or(info.depth);
        if let Some(score) = score {
            info.hear_score(Scored {
                score,
                depth,
                bound,
            });
        }
        *self = info;
    }

    /// Updates the score of the best move.
    pub(crate) fn hear_score(&mut self, scored: Scored) {
        if self.score.is_none_or(|known| known.bound || !scored.bound) {
            self.score = Some(scored);
        }
    }
}

fn number<T: std::str::FromStr>(words: &mut SplitAsciiWhitespace) -> Option<T> {
    words.next()?.parse().ok()
}

fn read_score(words: &mut SplitAsciiWhitespace) -> Option<UciScore> {
    match words.next()? {
        "cp" => number(words).map(UciScore::Centipawns),
        "mate" => number(words).map(UciScore::Mate),
        _ => None,
    }
}

/// An output line that the client uses.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Name(String),
    Option(EngineOption),
    UciOk,
    ReadyOk,
    /// Text of an `info string`.
    Said(String),
    BestMove {
        /// The move as written; empty if the line has none.
        best: String,
        info: Info,
    },
}

/// Line-by-line parser of engine output.
#[derive(Default)]
pub(crate) struct Parser {
    info: Info,
}

impl Parser {
    pub fn read(&mut self, line: &str) -> Option<Event> {
        let line = line.trim();
        let (command, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let rest = rest.trim_start();
        match command {
            "id" => rest
                .strip_prefix("name ")
                .map(|name| Event::Name(printable(name.trim()))),
            "option" => EngineOption::read(rest).map(Event::Option),
            "uciok" => Some(Event::UciOk),
            "readyok" => {
                self.info = Info::default();
                Some(Event::ReadyOk)
            }
            "info" => match rest.strip_prefix("string ") {
                Some(said) => Some(Event::Said(printable(said))),
                None => {
                    self.info.hear(rest);
                    None
                }
            },
            "bestmove" => {
                let best = rest.split_ascii_whitespace().next();
                Some(Event::BestMove {
                    best: best.unwrap_or_default().to_string(),
                    info: std::mem::take(&mut self.info),
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> Vec<Event> {
        let mut parser = Parser::default();
        text.lines().filter_map(|line| parser.read(line)).collect()
    }

    fn info(score: Option<(UciScore, u32, bool)>, depth: u32, nodes: Option<u64>) -> Info {
        Info {
            score: score.map(|(score, depth, bound)| Scored {
                score,
                depth: Some(depth),
                bound,
            }),
            depth: Some(depth),
            nodes,
        }
    }

    #[test]
    fn reads_a_handshake() {
        let hash = EngineOption::read("name Hash type spin default 16");
        let clear = EngineOption::read("name Clear Hash type button");
        assert_eq!(
            events(
                "Stockfish 15.1 by the Stockfish developers\nid name Stockfish\u{1b}15.1\nid author x\n\
                 option name Clear Hash type button\r\noption name Hash type spin default 16\nuciok"
            ),
            [
                Event::Name("Stockfish 15.1".to_string()),
                Event::Option(clear.unwrap()),
                Event::Option(hash.unwrap()),
                Event::UciOk,
            ]
        );
    }

    #[test]
    fn the_last_exact_score_of_the_best_variation_counts() {
        let found = events(
            "info depth 9 seldepth 12 multipv 1 score cp 21 nodes 5 pv e2e4\n\
             info depth 10 multipv 1 score cp -7 wdl 1 2 3 nodes 9 pv d2d4 score cp 1\n\
             info depth 11 multipv 1 score cp 40 lowerbound nodes 12 pv e2e4\n\
             info depth 11 multipv 2 score cp 900 nodes 99 pv a2a3\n\
             info depth 12 currmove e2e4\nnoise\n\
             bestmove d2d4 ponder d7d5",
        );
        let best = |best: &str, info| Event::BestMove {
            best: best.to_string(),
            info,
        };
        let mut heard = info(Some((UciScore::Centipawns(-7), 10, false)), 12, Some(12));
        assert_eq!(heard.exact(), Some(UciScore::Centipawns(-7)));
        assert_eq!(found, [best("d2d4", heard)]);
        heard = info(Some((UciScore::Mate(-2), 3, true)), 3, None);
        assert_eq!(heard.exact(), None);
        assert_eq!(
            events("info depth 3 score mate -2 upperbound\nbestmove a1a2"),
            [best("a1a2", heard)]
        );
        assert_eq!(events("bestmove"), [best("", Info::default())]);
    }

    #[test]
    fn text_after_string_is_not_parsed() {
        let said = |text: &str| Event::Said(text.to_string());
        assert_eq!(
            events("info string score cp 7 depth 99\ninfo depth 1 string nodes 3\nbestmove e2e4"),
            [
                said("score cp 7 depth 99"),
                Event::BestMove {
                    best: "e2e4".to_string(),
                    info: info(None, 1, None)
                }
            ]
        );
    }

    #[test]
    fn info_before_readyok_is_discarded() {
        assert_eq!(
            events("info depth 9 score cp 21\nreadyok\nbestmove e2e4"),
            [
                Event::ReadyOk,
                Event::BestMove {
                    best: "e2e4".to_string(),
                    info: Info::default()
                }
            ]
        );
    }
}
