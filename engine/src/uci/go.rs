//! The parameters of `go`.

use std::str::SplitAsciiWhitespace;
use std::time::Duration;

use cozy_chess::{Board, Color};

use super::UciError;
use crate::{ClockState, Limits, TimeBudget, parse_move};

/// What `go` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    infinite: bool,
    /// The search is for the position after the move that we expect, while the
    /// opponent still thinks: until `ponderhit` no clock of ours runs.
    pub ponder: bool,
    depth: Option<u64>,
    nodes: Option<u64>,
    mate: Option<u32>,
    movetime: Option<Duration>,
    /// By color; `None` where the GUI gave no time.
    remaining: [Option<Duration>; Color::NUM],
    increment: [Duration; Color::NUM],
    moves_to_go: Option<u64>,
    search_moves: Vec<String>,
}

impl Go {
    /// Whether the answer is owed only after `stop`: `infinite`, or no limit at all.
    pub fn is_infinite(&self) -> bool {
        self.infinite || (!self.has_sure_end() && self.mate.is_none())
    }

    /// Whether the search ends by itself, mate or no mate, ponderhit or none.
    pub fn is_bounded(&self) -> bool {
        self.has_sure_end() && !self.infinite && !self.ponder
    }

    fn has_sure_end(&self) -> bool {
        self.movetime.is_some() || self.is_clocked() || self.depth.is_some() || self.nodes.is_some()
    }

    fn is_clocked(&self) -> bool {
        self.remaining.iter().any(Option::is_some)
    }

    /// Whether a move from a book would do: the move is for a game, and any
    /// may be played.
    pub fn wants_any_move(&self) -> bool {
        !self.is_infinite() && !self.ponder && self.mate.is_none() && self.search_moves.is_empty()
    }

    /// The limits of a search of `board`. Moves of `searchmoves` that are
    /// illegal count for nothing; where none is left, all moves are searched.
    pub fn limits(&self, board: &Board, overhead: Duration) -> Limits {
        let moves = self.search_moves.iter();
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            time: self.time(board.side_to_move(), overhead),
            mate: self.mate,
            moves: moves
                .filter_map(|text| parse_move(board, text).ok())
                .collect(),
            ..Limits::default()
        }
    }

    fn time(&self, mover: Color, overhead: Duration) -> Option<TimeBudget> {
        if self.infinite {
            return None;
        }
        if let Some(time) = self.movetime {
            return Some(TimeBudget::fixed(time, overhead));
        }
        // A side without time in a game with clocks has none left.
        self.is_clocked().then(|| {
            let clock = ClockState {
                remaining: self.remaining[mover as usize].unwrap_or_default(),
                increment: self.increment[mover as usize],
                moves_to_go: self.moves_to_go,
            };
            TimeBudget::share(&clock, overhead)
        })
    }

    pub(super) fn parse(mut words: SplitAsciiWhitespace) -> Result<Go, UciError> {
        let mut go = Go::default();
        let (white, black) = (Color::White as usize, Color::Black as usize);
        let mut lists_moves = false;
        while let Some(word) = words.next() {
            let words = &mut words;
            match word {
                "infinite" => go.infinite = true,
                "ponder" => go.ponder = true,
                "depth" => go.depth = Some(number("depth", words)?),
                "nodes" => go.nodes = Some(number("nodes", words)?),
                "mate" => go.mate = Some(number("mate", words)?.min(u32::MAX.into()) as u32),
                "movestogo" => go.moves_to_go = Some(number("movestogo", words)?),
                "movetime" => go.movetime = Some(millis("movetime", words)?),
                "wtime" => go.remaining[white] = Some(millis("wtime", words)?),
                "btime" => go.remaining[black] = Some(millis("btime", words)?),
                "winc" => go.increment[white] = millis("winc", words)?,
                "binc" => go.increment[black] = millis("binc", words)?,
                "searchmoves" => {
                    lists_moves = true;
                    continue;
                }
                _ if lists_moves => {
                    go.search_moves.push(word.to_string());
                    continue;
                }
                // The protocol asks to skip what one does not know.
                _ => {}
            }
            lists_moves = false;
        }
        Ok(go)
    }
}

/// A number that a GUI may overdraw either way: negative is 0, too large is
/// the largest.
fn number(name: &'static str, words: &mut SplitAsciiWhitespace) -> Result<u64, UciError> {
    let value: i128 = words
        .next()
        .and_then(|word| word.parse().ok())
        .ok_or(UciError::BadGo(name))?;
    Ok(u64::try_from(value.max(0)).unwrap_or(u64::MAX))
}

fn millis(name: &'static str, words: &mut SplitAsciiWhitespace) -> Result<Duration, UciError> {
    number(name, words).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uci::{Command, DEFAULT_OVERHEAD};
    use cozy_chess::Move;

    fn go(line: &str) -> Go {
        match Command::parse(line) {
            Ok(Some(Command::Go(go))) => go,
            other => panic!("{other:?}"),
        }
    }

    fn black_to_move() -> Board {
        let mut board = Board::startpos();
        board.play("e2e4".parse().unwrap());
        board
    }

    #[test]
    fn the_clock_is_that_of_the_side_to_move() {
        let request = go("go wtime 60000 btime -5 winc 1000 binc 0 movestogo 10");
        assert!(request.is_bounded());
        let time = |board: &Board| request.limits(board, DEFAULT_OVERHEAD).time.unwrap();
        assert!(time(&Board::startpos()).hard > Duration::from_secs(5));
        assert!(time(&black_to_move()).hard <= Duration::from_millis(1));
        let only_white = go("go wtime 60000").limits(&black_to_move(), Duration::ZERO);
        assert!(only_white.time.unwrap().hard <= Duration::from_millis(1));
    }

    #[test]
    fn every_limit_is_read() {
        let request = go("go depth 7 nodes 99999999999999999999 movetime 50 mate 3");
        let limits = request.limits(&Board::startpos(), Duration::ZERO);
        assert_eq!((limits.depth, limits.nodes), (Some(7), Some(u64::MAX)));
        assert_eq!(limits.time.unwrap().hard, Duration::from_millis(50));
        assert_eq!((limits.mate, limits.lines), (Some(3), 1));
        let request = go("go searchmoves d2d4 e2e5 g1f3 depth 3 e2e4");
        let limits = request.limits(&Board::startpos(), Duration::ZERO);
        let moves: Vec<Move> = ["d2d4", "g1f3"].map(|text| text.parse().unwrap()).into();
        assert_eq!((limits.moves, limits.depth), (moves, Some(3)));
    }

    #[test]
    fn which_searches_end_by_themselves() {
        // Line, ends by itself, owes its answer only after stop, takes a book move.
        let cases = [
            ("go", false, true, false),
            ("go depth 3", true, false, true),
            ("go depth 3 infinite", false, true, false),
            ("go ponder wtime 1000 btime 1000", false, false, false),
            ("go mate 2", false, false, false),
            ("go mate 2 movetime 100", true, false, false),
            ("go depth 2 searchmoves e2e4", true, false, false),
            ("go wtime 1000 btime 1000", true, false, true),
        ];
        for (line, bounded, infinite, book) in cases {
            let go = go(line);
            assert_eq!(
                (go.is_bounded(), go.is_infinite(), go.wants_any_move()),
                (bounded, infinite, book),
                "{line}"
            );
        }
    }
}
