//! Search of the engine's move in `engine play`.

use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cozy_chess::{Board, Color, Move, util};
use engine::{
    Engine, Handicap, Limits, People, Position, Report, Score, ScoreBound, Signals, Strength,
    TimeBudget, write_move,
};
use host::thousands;

/// Limits of the engine's thinking.
#[derive(Clone)]
pub struct Effort {
    pub level: Option<Handicap>,
    /// People to play like, and their rating; replaces `level`.
    pub people: Option<(Rc<People>, u32)>,
    /// Depth limit in plies; replaces `time`.
    pub depth: Option<u64>,
    pub time: Duration,
}

/// Searches, calls `say` with a line per depth, and returns the line to play.
pub fn think(
    engine: &mut Engine,
    position: &Position,
    effort: &Effort,
    stop: &AtomicBool,
    say: impl Fn(&str),
) -> Vec<Move> {
    let mut limits = Limits {
        depth: effort.depth,
        time: match effort.depth {
            Some(_) => None,
            None => Some(TimeBudget::fixed(effort.time, Duration::ZERO)),
        },
        ..Limits::default()
    };
    let person = effort.people.as_ref();
    let person = person.map(|(people, elo)| people.person(*elo));
    let strength = Strength::new(person, effort.level);
    strength.apply(&mut limits);
    let start = Instant::now();
    let signals = Signals {
        stop,
        pondering: None,
        elapsed: &|| start.elapsed(),
    };
    let board = position.board();
    let outcome = engine.search(position, &limits, &signals, &mut |report| {
        if report.rank == 1 && report.bound == ScoreBound::Exact {
            say(&depth_line(report, board));
        }
    });
    let line = strength.choose(board, &outcome.lines, fastrand::f64());
    match (strength, line) {
        (Strength::Person(person), Some(line)) => {
            let percent = 100.0 * person.probability(board, line.pv[0]);
            let (rating, played) = (person.elo(), sans(board, &line.pv[..1]));
            say(&format!(
                "{percent:.0} % of people rated {rating} would play {played}"
            ));
        }
        (Strength::Handicap(handicap), Some(line)) => {
            let near = handicap.near(&outcome.lines);
            if near > 1 {
                let [played, best] =
                    [line, &outcome.lines[0]].map(|line| sans(board, &line.pv[..1]));
                let margin = handicap.margin();
                say(&format!(
                    "{played} is one of {near} moves within {margin} centipawns of {best}, \
                     and this level plays any"
                ));
            }
        }
        _ => {}
    }
    match line {
        Some(line) => line.pv.clone(),
        None => outcome.best.into_iter().collect(),
    }
}

/// Formats a report, such as `d3  +0.30   5,012n  -> e2e4  e4 e5 Nf3`.
fn depth_line(report: &Report, board: &Board) -> String {
    let nodes = format!("{}n", thousands(report.nodes));
    let best = report.pv.first().map(|&mv| write_move(board, mv, false));
    format!(
        "{:<3} {:>6} {nodes:>8}  -> {}  {}",
        format!("d{}", report.depth),
        white_view(report.score, board.side_to_move()),
        best.unwrap_or_default(),
        sans(board, report.pv)
    )
}

/// Formats a score in pawns from White's point of view; `#5` if White mates in five, `#-5` if Black
/// does.
fn white_view(score: Score, mover: Color) -> String {
    let score = if mover == Color::White { score } else { -score };
    match score.plies_to_mate() {
        Some(plies) if score > Score::DRAW => format!("#{}", plies.div_ceil(2)),
        Some(plies) => format!("#-{}", plies.div_ceil(2)),
        None => format!("{:+.2}", f64::from(score.centipawns()) / 100.0),
    }
}

fn sans(board: &Board, pv: &[Move]) -> String {
    let mut board = board.clone();
    let mut words = Vec::new();
    for &mv in pv {
        words.push(util::display_san_move(&board, mv).to_string());
        board.play_unchecked(mv);
    }
    words.join(" ")
}
