//! Parameters of `go`.

use std::iter::Peekable;
use std::str::SplitAsciiWhitespace;
use std::time::Duration;

use cozy_chess::{Board, Color, Move};

use crate::board::parse_move;
use crate::search::{ClockState, Limits, TimeBudget};
use crate::uci::error::{UciError, short};

/// Maximum number of errors reported for one `go`.
const MOST_COMPLAINTS: usize = 8;

/// A parsed `go` command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    infinite: bool,
    /// Whether to ponder: the position is the one after the expected move, and the clock starts at
    /// `ponderhit`.
    pub ponder: bool,
    depth: Option<u64>,
    nodes: Option<u64>,
    mate: Option<u32>,
    movetime: Option<Duration>,
    /// Time left by colour; `None` if not given.
    remaining: [Option<Duration>; Color::NUM],
    increment: [Duration; Color::NUM],
    moves_to_go: Option<u64>,
    search_moves: Vec<String>,
}

impl Go {
    /// Returns whether `bestmove` must wait for `stop`: `infinite`, or no limit at all.
    pub fn is_infinite(&self) -> bool {
        self.infinite || (!self.has_sure_end() && self.mate.is_none())
    }

    /// Returns whether the search surely ends by itself, without `stop` or `ponderhit`.
    pub fn is_bounded(&self) -> bool {
        self.has_sure_end() && !self.infinite && !self.ponder
    }

    fn has_sure_end(&self) -> bool {
        self.movetime.is_some() || self.is_clocked() || self.depth.is_some() || self.nodes.is_some()
    }

    fn is_clocked(&self) -> bool {
        self.remaining.iter().any(Option::is_some)
    }

    /// Returns whether a book move will do: the search is for a game move, without restrictions.
    pub fn wants_any_move(&self) -> bool {
        !self.is_infinite() && !self.ponder && self.mate.is_none() && self.search_moves.is_empty()
    }

    /// Returns the limits of a search of `board`, and the errors in `searchmoves`. Illegal moves
    /// are ignored; if none is left, all moves are searched.
    pub fn limits(&self, board: &Board, overhead: Duration) -> (Limits, Vec<UciError>) {
        let (moves, wrong) = self.moves(board);
        let limits = Limits {
            depth: self.depth,
            nodes: self.nodes,
            time: self.time(board.side_to_move(), overhead),
            mate: self.mate,
            moves,
            ..Limits::default()
        };
        (limits, wrong)
    }

    fn moves(&self, board: &Board) -> (Vec<Move>, Vec<UciError>) {
        let mut moves = Vec::new();
        let mut wrong = Vec::new();
        for text in &self.search_moves {
            match parse_move(board, text) {
                Ok(mv) => moves.push(mv),
                Err(error) => complain(&mut wrong, UciError::SearchMove(error)),
            }
        }
        if moves.is_empty() && !wrong.is_empty() {
            wrong.push(UciError::NoSearchMove);
        }
        (moves, wrong)
    }

    fn time(&self, mover: Color, overhead: Duration) -> Option<TimeBudget> {
        if self.infinite {
            return None;
        }
        if let Some(time) = self.movetime {
            return Some(TimeBudget::fixed(time, overhead));
        }
        // In a game with clocks, a side without a time has none left.
        self.is_clocked().then(|| {
            let clock = ClockState {
                remaining: self.remaining[mover as usize].unwrap_or_default(),
                increment: self.increment[mover as usize],
                moves_to_go: self.moves_to_go,
            };
            TimeBudget::share(&clock, overhead)
        })
    }

    /// Parses the words after `go`. Always yields a search; faulty words are ignored and reported.
    pub(super) fn read(words: SplitAsciiWhitespace) -> (Go, Vec<UciError>) {
        let mut go = Go::default();
        let mut wrong = Vec::new();
        let mut unread_limit = false;
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            match word {
                "infinite" => go.infinite = true,
                "ponder" => go.ponder = true,
                "searchmoves" => {
                    while let Some(text) = words.next_if(|word| !is_parameter(word)) {
                        go.search_moves.push(text.to_string());
                    }
                }
                _ => match NUMBERS.into_iter().find(|&name| name == word) {
                    Some(name) => match number(&mut words) {
                        Ok(number) => go.set(name, number),
                        Err(found) => {
                            unread_limit |= LIMITS.contains(&name);
                            complain(&mut wrong, UciError::BadGo { name, found });
                        }
                    },
                    // The protocol requires unknown words to be skipped.
                    None => complain(&mut wrong, UciError::UnknownGo(short(word))),
                },
            }
        }
        // Search one ply if a limit was given but is unreadable: an infinite search would block the
        // GUI.
        if unread_limit && !go.infinite && go.mate.is_none() && !go.has_sure_end() {
            go.depth = Some(1);
            complain(&mut wrong, UciError::NoLimitLeft);
        }
        (go, wrong)
    }

    /// Sets one of [`NUMBERS`].
    fn set(&mut self, name: &str, number: u64) {
        let (white, black) = (Color::White as usize, Color::Black as usize);
        let millis = Duration::from_millis(number);
        match name {
            "depth" => self.depth = Some(number),
            "nodes" => self.nodes = Some(number),
            "mate" => self.mate = Some(u32::try_from(number).unwrap_or(u32::MAX)),
            "movestogo" => self.moves_to_go = Some(number),
            "movetime" => self.movetime = Some(millis),
            "wtime" => self.remaining[white] = Some(millis),
            "btime" => self.remaining[black] = Some(millis),
            "winc" => self.increment[white] = millis,
            "binc" => self.increment[black] = millis,
            _ => {}
        }
    }
}

/// Parameters with a number.
const NUMBERS: [&str; 9] = [
    "depth",
    "nodes",
    "mate",
    "movestogo",
    "movetime",
    "wtime",
    "btime",
    "winc",
    "binc",
];

/// Parameters of [`NUMBERS`] that limit a search by themselves.
const LIMITS: [&str; 6] = ["depth", "nodes", "mate", "movetime", "wtime", "btime"];

fn is_parameter(word: &str) -> bool {
    NUMBERS.contains(&word) || ["infinite", "ponder", "searchmoves"].contains(&word)
}

/// Parses the next word as a number and drops its fraction, which some GUIs send. Clamps negative
/// numbers to 0 and large ones to `u64::MAX`. Otherwise returns the word, or `None` if there is
/// none before the next parameter.
fn number(words: &mut Peekable<SplitAsciiWhitespace>) -> Result<u64, Option<String>> {
    let word = words.next_if(|word| !is_parameter(word)).ok_or(None)?;
    if let Ok(whole) = word.parse::<i128>() {
        return Ok(u64::try_from(whole.max(0)).unwrap_or(u64::MAX));
    }
    let number: Option<f64> = word.parse().ok().filter(|number: &f64| number.is_finite());
    // The cast saturates.
    number
        .map(|number| number as u64)
        .ok_or_else(|| Some(short(word)))
}

/// Appends an error, up to the maximum number.
fn complain(wrong: &mut Vec<UciError>, error: UciError) {
    if wrong.len() < MOST_COMPLAINTS {
        wrong.push(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uci::{Command, DEFAULT_OVERHEAD};

    /// Returns the command and the number of errors.
    fn read(line: &str) -> (Go, usize) {
        match Command::read(line) {
            (Some(Command::Go(go)), wrong) => (go, wrong.len()),
            other => panic!("{other:?}"),
        }
    }

    fn go(line: &str) -> Go {
        let (go, wrong) = read(line);
        assert_eq!(wrong, 0, "{line}");
        go
    }

    fn limits(go: &Go, board: &Board) -> Limits {
        go.limits(board, Duration::ZERO).0
    }

    fn black_to_move() -> Board {
        let mut board = Board::startpos();
        board.play("e2e4".parse().unwrap());
        board
    }

    #[test]
    fn uses_the_clock_of_the_side_to_move() {
        let request = go("go wtime 60000 btime -5 winc 1000 binc 0 movestogo 10");
        assert!(request.is_bounded());
        let time = |board: &Board| request.limits(board, DEFAULT_OVERHEAD).0.time.unwrap();
        assert!(time(&Board::startpos()).hard > Duration::from_secs(5));
        assert!(time(&black_to_move()).hard <= Duration::from_millis(1));
        let only_white = limits(&go("go wtime 60000"), &black_to_move());
        assert!(only_white.time.unwrap().hard <= Duration::from_millis(1));
    }

    #[test]
    fn parses_every_limit() {
        let request = go("go depth 7 nodes 99999999999999999999 movetime 50 mate 3");
        let limits = limits(&request, &Board::startpos());
        assert_eq!((limits.depth, limits.nodes), (Some(7), Some(u64::MAX)));
        assert_eq!(limits.time.unwrap().hard, Duration::from_millis(50));
        assert_eq!((limits.mate, limits.lines), (Some(3), 1));
    }

    #[test]
    fn ignores_illegal_searchmoves() {
        let start = Board::startpos();
        let request = go("go searchmoves d2d4 e2e5 g1f3 depth 3");
        let (limits, wrong) = request.limits(&start, Duration::ZERO);
        let moves: Vec<Move> = ["d2d4", "g1f3"].map(|text| text.parse().unwrap()).into();
        assert_eq!((limits.moves, limits.depth), (moves, Some(3)));
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        let (limits, wrong) = go("go searchmoves e2e5 zz").limits(&start, Duration::ZERO);
        assert!(limits.moves.is_empty());
        assert_eq!(wrong.last(), Some(&UciError::NoSearchMove));
        assert_eq!(wrong.len(), 3, "{wrong:?}");
    }

    #[test]
    fn faulty_words_leave_the_rest() {
        let cases = [
            ("go wtime abc btime 60000", "go btime 60000", 1),
            ("go wtime btime 60000", "go btime 60000", 1),
            ("go movetime 1.5 depth 3", "go movetime 1 depth 3", 0),
            ("go wtime 1000.5 btime 9e2", "go wtime 1000 btime 900", 0),
            ("go wtime -0.5", "go wtime 0", 0),
            ("go depth inf", "go depth 1", 2),
            ("go depth", "go depth 1", 2),
            ("go wtime abc btime x winc 5", "go depth 1 winc 5", 3),
            ("go ponder movetime x", "go ponder depth 1", 2),
            ("go mate x infinite", "go infinite", 1),
            ("go nodes x mate 3", "go mate 3", 1),
            ("go winc x", "go", 1),
            ("go dpeth 5", "go", 2),
            (
                "go nodes 7 searchmoves e2e4 depth",
                "go nodes 7 searchmoves e2e4",
                1,
            ),
            ("go depth 3 whatever infinite", "go depth 3 infinite", 1),
        ];
        for (line, same, complaints) in cases {
            assert_eq!(read(line), (go(same), complaints), "{line}");
        }
        let (_, wrong) = read(&format!("go {}", "x ".repeat(100_000)));
        assert_eq!(wrong, MOST_COMPLAINTS);
    }

    #[test]
    fn classifies_searches_by_their_end() {
        // Columns: line, bounded, infinite, accepts a book move.
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
