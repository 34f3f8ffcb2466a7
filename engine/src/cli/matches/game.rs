//! One game and its referee.

use std::fmt;
use std::time::Duration;

use cozy_chess::{Board, Color, Move};
use engine::{
    Position, has_legal_move, insufficient_material, is_chess960, parse_move, write_fen, write_move,
};
use serde::Serialize;

use super::Pace;
use super::player::{Player, Silence};

/// Games that reach this many plies are drawn.
const MAX_PLIES: usize = 400;
/// How long an engine may think when no clock runs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What both engines play under.
pub struct Rules {
    /// What they get for a move.
    pub pace: Pace,
    /// How late a move may come.
    pub margin: Duration,
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Checkmate.
    Checkmate,
    /// Stalemate.
    Stalemate,
    /// A position stood three times.
    Repetition,
    /// A hundred plies without capture or pawn move.
    FiftyMoves,
    /// Neither side can mate.
    InsufficientMaterial,
    /// Drawn for its length.
    TooLong,
    /// The loser's clock ran out.
    TimeForfeit,
    /// The loser's move was illegal or no move.
    IllegalMove,
    /// The loser's program ended.
    Crash,
    /// The loser's program did not answer, though no clock ran.
    Hang,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ending::Checkmate => "checkmate",
            Ending::Stalemate => "stalemate",
            Ending::Repetition => "repetition",
            Ending::FiftyMoves => "fifty moves",
            Ending::InsufficientMaterial => "insufficient material",
            Ending::TooLong => "too long",
            Ending::TimeForfeit => "time forfeit",
            Ending::IllegalMove => "illegal move",
            Ending::Crash => "crash",
            Ending::Hang => "hang",
        })
    }
}

/// A finished game.
pub struct Game {
    /// The position it began from.
    pub opening: Board,
    /// Its moves.
    pub moves: Vec<Move>,
    /// Who won, `None` for a draw.
    pub winner: Option<Color>,
    /// Why it ended.
    pub ending: Ending,
}

struct Loss {
    ending: Ending,
    loser: Color,
}

/// Plays a game between `players`, White first.
pub fn play(opening: &Board, players: &mut [Player; 2], rules: &Rules) -> Game {
    let mut moves = Vec::new();
    let (winner, ending) = match play_moves(opening, players, rules, &mut moves) {
        Ok(end) => end,
        Err(loss) => (Some(!loss.loser), loss.ending),
    };
    Game {
        opening: opening.clone(),
        moves,
        winner,
        ending,
    }
}

fn play_moves(
    opening: &Board,
    players: &mut [Player; 2],
    rules: &Rules,
    moves: &mut Vec<Move>,
) -> Result<(Option<Color>, Ending), Loss> {
    let chess960 = is_chess960(opening);
    for (player, color) in players.iter_mut().zip(Color::ALL) {
        player
            .new_game(chess960)
            .map_err(|silence| lost(silence, color))?;
    }
    let mut clocks = Clocks::new(rules);
    let mut position = Position::of(opening.clone());
    let mut command = format!("position fen {} moves", write_fen(opening));
    loop {
        if let Some(end) = verdict(&position, moves.len()) {
            return Ok(end);
        }
        let mover = position.board().side_to_move();
        let player = &mut players[mover as usize];
        let (text, time) = player
            .best_move(&command, &clocks.go_command(), clocks.patience(mover))
            .map_err(|silence| clocks.lost(silence, mover))?;
        clocks.press(mover, time)?;
        let illegal = Loss {
            ending: Ending::IllegalMove,
            loser: mover,
        };
        let Ok(mv) = parse_move(position.board(), &text) else {
            return Err(illegal);
        };
        command.push(' ');
        command.push_str(&write_move(position.board(), mv, chess960));
        if position.play(mv).is_err() {
            return Err(illegal);
        }
        moves.push(mv);
    }
}

/// How the game stands by the rules, `None` while it goes on.
fn verdict(position: &Position, plies: usize) -> Option<(Option<Color>, Ending)> {
    let board = position.board();
    if !has_legal_move(board) {
        let mated = !board.checkers().is_empty();
        let winner = mated.then_some(!board.side_to_move());
        return Some((
            winner,
            if mated {
                Ending::Checkmate
            } else {
                Ending::Stalemate
            },
        ));
    }
    let draws = [
        (insufficient_material(board), Ending::InsufficientMaterial),
        (position.occurrences() >= 3, Ending::Repetition),
        (board.halfmove_clock() >= 100, Ending::FiftyMoves),
        (plies >= MAX_PLIES, Ending::TooLong),
    ];
    draws
        .into_iter()
        .find(|draw| draw.0)
        .map(|(_, ending)| (None, ending))
}

fn lost(silence: Silence, loser: Color) -> Loss {
    let ending = match silence {
        Silence::Crashed => Ending::Crash,
        Silence::Late => Ending::Hang,
    };
    Loss { ending, loser }
}

struct Clocks<'a> {
    rules: &'a Rules,
    /// By color; only used where a clock runs.
    remaining: [Duration; 2],
}

impl Clocks<'_> {
    fn new(rules: &Rules) -> Clocks<'_> {
        let base = match rules.pace {
            Pace::Clock { base, .. } => base,
            _ => Duration::ZERO,
        };
        Clocks {
            rules,
            remaining: [base; 2],
        }
    }

    fn go_command(&self) -> String {
        match self.rules.pace {
            Pace::Depth(depth) => format!("go depth {depth}"),
            Pace::Nodes(nodes) => format!("go nodes {nodes}"),
            Pace::MoveTime(time) => format!("go movetime {}", time.as_millis()),
            Pace::Clock { increment, .. } => {
                let [white, black] = self.remaining.map(|time| time.as_millis());
                let increment = increment.as_millis();
                format!("go wtime {white} btime {black} winc {increment} binc {increment}")
            }
        }
    }

    /// The time for this move, `None` where no clock runs.
    fn allowed(&self, mover: Color) -> Option<Duration> {
        match self.rules.pace {
            Pace::Depth(_) | Pace::Nodes(_) => None,
            Pace::MoveTime(time) => Some(time),
            Pace::Clock { .. } => Some(self.remaining[mover as usize]),
        }
    }

    fn patience(&self, mover: Color) -> Duration {
        self.allowed(mover)
            .map_or(PATIENCE, |allowed| allowed + self.rules.margin)
    }

    fn lost(&self, silence: Silence, mover: Color) -> Loss {
        match silence {
            Silence::Late if self.allowed(mover).is_some() => Loss {
                ending: Ending::TimeForfeit,
                loser: mover,
            },
            _ => lost(silence, mover),
        }
    }

    /// Takes the time off the mover's clock. Lateness within the margin is forgiven.
    fn press(&mut self, mover: Color, time: Duration) -> Result<(), Loss> {
        if self
            .allowed(mover)
            .is_some_and(|allowed| time > allowed + self.rules.margin)
        {
            return Err(Loss {
                ending: Ending::TimeForfeit,
                loser: mover,
            });
        }
        if let Pace::Clock { increment, .. } = self.rules.pace {
            let clock = &mut self.remaining[mover as usize];
            *clock = clock.saturating_sub(time) + increment;
        }
        Ok(())
    }
}
