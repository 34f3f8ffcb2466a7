//! A game between two players, and its referee.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cozy_chess::{Board, Color, Move};
use engine::{Position, Tablebase, is_chess960, parse_move, write_fen, write_move};
use uci_client::{EngineError, Info};

use crate::games::adjudication::{Adjudicator, Draw, Resign, probe};
use crate::games::ending::Ending;
use crate::players::pace::{Clocks, Pace};
use crate::players::player::Player;
use crate::players::question::Question;

/// Rules of all games of a match.
pub struct Rules {
    /// Time margin: lateness that is forgiven.
    pub margin: Duration,
    pub resign: Option<Resign>,
    pub draw: Option<Draw>,
    /// Endgame tables for adjudication, if any.
    pub tables: Option<Arc<dyn Tablebase>>,
    /// Plies after which a game is drawn.
    pub max_plies: usize,
}

/// A move with its time and the engine's report.
#[derive(Clone, Copy)]
pub struct Ply {
    pub mv: Move,
    /// Time the move took.
    pub time: Duration,
    /// Score, depth and nodes that the engine reported.
    pub info: Info,
}

/// A finished game.
pub struct Game {
    /// Starting position.
    pub opening: Board,
    /// Time controls, White's first.
    pub paces: [Pace; 2],
    /// Moves played.
    pub plies: Vec<Ply>,
    /// Winner; `None` for a draw.
    pub winner: Option<Color>,
    pub ending: Ending,
}

/// Reason to break off a game.
enum Break {
    Lost { ending: Ending, loser: Color },
    Stopped,
}

/// Winner (`None` for a draw) and reason.
type End = (Option<Color>, Ending);

/// Plays a game between `players`, White first; `None` if `stop` was set before its end.
pub fn play(
    opening: &Board,
    players: [&mut Player; 2],
    paces: [Pace; 2],
    rules: &Rules,
    stop: &AtomicBool,
) -> Option<Game> {
    let mut referee = Referee {
        chess960: is_chess960(opening),
        clocks: Clocks::new(paces, rules.margin),
        adjudicator: Adjudicator::new(rules.resign, rules.draw),
        command: format!("position fen {} moves", write_fen(opening)),
        position: Position::of(opening.clone()),
        plies: Vec::new(),
        rules,
        stop,
    };
    let (winner, ending) = match referee.play(players) {
        Ok(end) => end,
        Err(Break::Lost { ending, loser }) => (Some(!loser), ending),
        Err(Break::Stopped) => return None,
    };
    Some(Game {
        opening: opening.clone(),
        paces,
        plies: referee.plies,
        winner,
        ending,
    })
}

struct Referee<'a> {
    chess960: bool,
    clocks: Clocks,
    adjudicator: Adjudicator,
    /// UCI `position` command of the game so far.
    command: String,
    position: Position,
    plies: Vec<Ply>,
    rules: &'a Rules,
    stop: &'a AtomicBool,
}

impl Referee<'_> {
    fn play(&mut self, mut players: [&mut Player; 2]) -> Result<End, Break> {
        for (player, color) in players.iter_mut().zip(Color::ALL) {
            let ready = player.new_game(self.chess960, self.stop);
            ready.map_err(|failure| lost(failure, color))?;
        }
        loop {
            if let Some(end) = self.verdict() {
                return Ok(end);
            }
            let mover = self.position.board().side_to_move();
            self.play_move(players[mover as usize], mover)?;
        }
    }

    fn play_move(&mut self, player: &mut Player, mover: Color) -> Result<(), Break> {
        player
            .set_position(&self.command, self.stop)
            .map_err(|failure| lost(failure, mover))?;
        let answer = player.best_move(&Question {
            position: &self.position,
            allowance: self.clocks.allowance(mover),
            chess960: self.chess960,
            stop: self.stop,
        });
        // The end of the match may have cut the search short.
        if self.stop.load(Ordering::Relaxed) {
            return Err(Break::Stopped);
        }
        let answer = answer.map_err(|failure| match failure {
            EngineError::TimedOut if self.clocks.allowed(mover).is_some() => late(mover),
            _ => lost(failure, mover),
        })?;
        if !self.clocks.press(mover, answer.time) {
            return Err(late(mover));
        }
        let illegal = Break::Lost {
            ending: Ending::IllegalMove,
            loser: mover,
        };
        let board = self.position.board();
        let Ok(mv) = parse_move(board, &answer.best) else {
            return Err(illegal);
        };
        self.command.push(' ');
        (self.command).push_str(&write_move(board, mv, self.chess960));
        if self.position.play(mv).is_err() {
            return Err(illegal);
        }
        let (time, info) = (answer.time, answer.info);
        self.plies.push(Ply { mv, time, info });
        (self.adjudicator).hear(mover, info.exact(), self.position.board());
        Ok(())
    }

    /// Returns the result, or `None` while the game goes on. Checks the rules first, then endgame
    /// tables, engine scores, and length.
    fn verdict(&self) -> Option<End> {
        let board = self.position.board();
        let tables = self.rules.tables.as_deref();
        let too_long = (None, Ending::TooLong);
        let by_the_rules = |ending: engine::Ending| (ending.winner(), ending.into());
        (self.position.ending().map(by_the_rules))
            .or_else(|| Some((probe(tables?, board)?, Ending::Tablebase)))
            .or_else(|| self.adjudicator.verdict(board))
            .or_else(|| (self.plies.len() >= self.rules.max_plies).then_some(too_long))
    }
}

fn late(loser: Color) -> Break {
    Break::Lost {
        ending: Ending::TimeForfeit,
        loser,
    }
}

fn lost(failure: EngineError, loser: Color) -> Break {
    let ending = match failure {
        EngineError::Cancelled => return Break::Stopped,
        EngineError::Ended => Ending::Crash,
        EngineError::TimedOut => Ending::Hang,
    };
    Break::Lost { ending, loser }
}
