//! Adjudication: resignations and draws by engine scores, results by endgame tables.

use std::fmt;
use std::str::FromStr;

use cozy_chess::{Board, Color};
use engine::{Tablebase, Wdl};
use uci_client::UciScore;

use crate::games::ending::Ending;
use crate::parameters;

/// Resign adjudication: a side loses after this many moves in a row with its own score this bad.
/// The opponent's score does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resign {
    moves: u16,
    /// Least deficit in centipawns.
    score: i32,
}

/// Draw adjudication: both sides score near zero for this many moves each in a row, without capture
/// or pawn move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    moves: u16,
    /// Greatest distance from zero in centipawns.
    score: i32,
    /// Move number from which a draw is called.
    from: u16,
}

impl FromStr for Resign {
    type Err = String;

    /// Parses `moves=4,score=600`.
    fn from_str(text: &str) -> Result<Resign, String> {
        match parameters::parse_all(text, ["moves", "score"])? {
            [0, _] => Err("moves must be 1 or more".to_string()),
            [moves, score] => Ok(Resign {
                moves,
                score: score.into(),
            }),
        }
    }
}

impl FromStr for Draw {
    type Err = String;

    /// Parses `moves=8,score=10,from=40`.
    fn from_str(text: &str) -> Result<Draw, String> {
        match parameters::parse_all(text, ["moves", "score", "from"])? {
            [0, ..] => Err("moves must be 1 or more".to_string()),
            [moves, score, from] => Ok(Draw {
                moves,
                score: score.into(),
                from,
            }),
        }
    }
}

/// Writes the form that `from_str` parses.
impl fmt::Display for Resign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "moves={},score={}", self.moves, self.score)
    }
}

/// Writes the form that `from_str` parses.
impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Draw { moves, score, from } = self;
        write!(f, "moves={moves},score={score},from={from}")
    }
}

/// Returns the score in centipawns; a mate exceeds any evaluation.
fn centipawns(score: UciScore) -> i32 {
    match score {
        UciScore::Centipawns(centipawns) => centipawns,
        UciScore::Mate(moves) if moves > 0 => i32::MAX,
        UciScore::Mate(_) => -i32::MAX,
    }
}

/// Returns the winner by the endgame tables (`Some(None)`: a draw), or `None` if they do not know
/// the result. Probes only after captures and pawn moves, since the tables assume a fifty-move
/// clock at zero.
pub fn probe(tables: &dyn Tablebase, board: &Board) -> Option<Option<Color>> {
    if board.halfmove_clock() != 0 || board.occupied().len() > tables.max_pieces() {
        return None;
    }
    let mover = board.side_to_move();
    Some(match tables.wdl(board)? {
        Wdl::Win => Some(mover),
        Wdl::Loss => Some(!mover),
        Wdl::BlessedLoss | Wdl::Draw | Wdl::CursedWin => None,
    })
}

/// Counters of one game for resign and draw adjudication.
pub struct Adjudicator {
    resign: Option<Resign>,
    draw: Option<Draw>,
    /// Moves in a row that the side scored as lost, by color.
    lost: [u16; 2],
    /// Plies in a row that were scored as level.
    level: u32,
}

impl Adjudicator {
    /// Returns an adjudicator before the first move.
    pub fn new(resign: Option<Resign>, draw: Option<Draw>) -> Adjudicator {
        Adjudicator {
            resign,
            draw,
            lost: [0; 2],
            level: 0,
        }
    }

    /// Counts the score that `mover` gave its move, which led to `board`. A move without a score
    /// ends both counts.
    pub fn hear(&mut self, mover: Color, score: Option<UciScore>, board: &Board) {
        let score = score.map(centipawns);
        let says = |holds: &dyn Fn(i32) -> bool| score.is_some_and(holds);
        let lost = (self.resign).is_some_and(|resign| says(&|score| score <= -resign.score));
        let level = (self.draw)
            .is_some_and(|draw| says(&|score| score.unsigned_abs() <= draw.score.unsigned_abs()));
        let count = &mut self.lost[mover as usize];
        *count = if lost { count.saturating_add(1) } else { 0 };
        let quiet = board.halfmove_clock() > 0;
        self.level = if level && quiet { self.level + 1 } else { 0 };
    }

    /// Returns winner and reason if the game is decided; `board` is the current position.
    pub fn verdict(&self, board: &Board) -> Option<(Option<Color>, Ending)> {
        if let Some(resign) = self.resign {
            let resigned = Color::ALL
                .into_iter()
                .find(|&color| self.lost[color as usize] >= resign.moves);
            if let Some(loser) = resigned {
                return Some((Some(!loser), Ending::Resignation));
            }
        }
        let agreed = self.draw.is_some_and(|draw| {
            self.level >= 2 * u32::from(draw.moves) && board.fullmove_number() >= draw.from
        });
        agreed.then_some((None, Ending::AgreedDraw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cozy_chess::Move;
    use engine::parse_fen;

    fn board(fen: &str) -> Board {
        parse_fen(fen).unwrap()
    }

    /// Tables that give every result, by the file of the mover's king.
    struct ByFile;

    impl Tablebase for ByFile {
        fn max_pieces(&self) -> u32 {
            3
        }

        fn wdl(&self, board: &Board) -> Option<Wdl> {
            let all = [
                Wdl::Loss,
                Wdl::BlessedLoss,
                Wdl::Draw,
                Wdl::CursedWin,
                Wdl::Win,
            ];
            let king = board.king(board.side_to_move());
            all.get(king.file() as usize).copied()
        }

        fn root_moves(&self, _: &Board) -> Option<(Wdl, Vec<Move>)> {
            None
        }
    }

    #[test]
    fn tables_decide_only_with_the_fifty_move_clock_at_zero() {
        let known = |fen: &str| probe(&ByFile, &board(fen));
        let (white, black) = (Some(Color::White), Some(Color::Black));
        assert_eq!(known("7k/8/8/8/8/8/4P3/K7 w - - 0 1"), Some(black));
        assert_eq!(known("4k3/8/8/8/8/8/7P/K7 b - - 0 1"), Some(black));
        assert_eq!(known("k7/8/8/8/8/8/7P/4K3 b - - 0 1"), Some(white));
        for file in ["1K6", "2K5", "3K4"] {
            let fen = format!("7k/8/8/8/8/8/7P/{file} w - - 0 1");
            assert_eq!(known(&fen), Some(None), "{fen}");
        }
        assert_eq!(known("7k/8/8/8/8/8/4P3/K7 w - - 1 1"), None);
        assert_eq!(known("7k/7p/8/8/8/8/4P3/K7 w - - 0 1"), None);
        assert_eq!(known("7k/8/8/8/8/8/4P3/6K1 w - - 0 1"), None);
    }

    #[test]
    fn a_side_resigns_by_its_own_scores() {
        let mut game = Adjudicator::new("moves=2,score=600".parse().ok(), None);
        let board = board("4k3/8/8/8/8/8/4P3/4K3 w - - 3 20");
        let says = UciScore::Centipawns;
        for (mover, score) in [
            (Color::Black, Some(says(-700))),
            (Color::White, Some(says(900))),
            (Color::Black, Some(says(-599))),
            (Color::White, Some(says(900))),
            (Color::Black, Some(says(-600))),
            (Color::Black, None),
            (Color::Black, Some(UciScore::Mate(-3))),
        ] {
            game.hear(mover, score, &board);
            assert_eq!(game.verdict(&board), None);
        }
        game.hear(Color::Black, Some(says(-600)), &board);
        assert_eq!(
            game.verdict(&board),
            Some((Some(Color::White), Ending::Resignation))
        );
    }

    #[test]
    fn a_draw_needs_both_sides_quiet_moves_and_the_move_number() {
        let mut game = Adjudicator::new(None, "moves=2,score=10,from=40".parse().ok());
        let late = board("4k3/8/8/8/8/8/4P3/4K3 w - - 3 40");
        let early = board("4k3/8/8/8/8/8/4P3/4K3 w - - 3 39");
        let zeroed = board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 40");
        let level = Some(UciScore::Centipawns(-10));
        let mut hear = |color, score, board: &Board| {
            game.hear(color, score, board);
            game.verdict(board)
        };
        let drawn = Some((None, Ending::AgreedDraw));
        assert_eq!(hear(Color::White, level, &late), None);
        assert_eq!(hear(Color::Black, level, &late), None);
        assert_eq!(
            hear(Color::White, Some(UciScore::Centipawns(11)), &late),
            None
        );
        for color in [Color::Black, Color::White, Color::Black] {
            assert_eq!(hear(color, level, &late), None);
        }
        assert_eq!(hear(Color::White, level, &early), None);
        assert_eq!(hear(Color::Black, level, &late), drawn);
        assert_eq!(hear(Color::White, level, &zeroed), None);
    }

    #[test]
    fn refuses_incomplete_rules() {
        let resign = "moves=4,score=600";
        assert_eq!(resign.parse::<Resign>().unwrap().to_string(), resign);
        let draw = "moves=8,score=10,from=40";
        assert_eq!(draw.parse::<Draw>().unwrap().to_string(), draw);
        for text in [
            "",
            "moves=4",
            "moves=4.5,score=1",
            "moves=4,score=1,moves=5",
            "moves=4,score=65536",
            "moves=0,score=1",
            "moves=4,score=x",
            "moves=4,score=-1",
        ] {
            assert!(text.parse::<Resign>().is_err(), "{text}");
        }
        assert!("moves=8,score=10".parse::<Draw>().is_err());
    }
}
