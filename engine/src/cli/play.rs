//! `engine play`: a game in a terminal.

mod game_record;
mod input;
mod thinking;

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use cozy_chess::{Board, Color, Move};
use engine::{Engine, Level, MAX_ELO, MIN_ELO, write_fen};
use host::{ExitCode, FileError, StopSignal, print};

use super::diagram::{DiagramStyle, diagram};
use super::files::{embedded_evaluator, load_policy};
use super::lines::{InputLine, read_lines};
use super::{at_least_one, fen_argument};
use game_record::GameRecord;
use input::Input;
use thinking::{Effort, think};

/// Interval between two checks for signals.
const TICK: Duration = Duration::from_millis(100);

const EXAMPLES: &str = "\
Examples:
  engine play                                  you are White, the engine thinks a second a move
  engine play --level easy --color black
  engine play --policy policy.safetensors --elo 1800
  engine play --depth 8 --fen \"8/8/8/4k3/8/3K4/3P4/8 w - - 0 1\"
  printf 'e4\\nhint\\npgn\\n' | engine play --depth 4 --ascii

Moves are read in SAN (e4, Nf3, exd5, O-O, e8=Q) or UCI notation (e2e4, e7e8q);
`help` lists the other commands. While thinking, the engine prints for each
depth the score in pawns from White's point of view (#5: White mates in five),
the nodes, the move and the line:
  d3  +0.30   5,012n  -> e2e4  e4 e5 Nf3";

const HELP: &str = "\
moves   e4, Nf3, exd5, O-O, e8=Q, or e2e4, e7e8q
undo    take back your last move and the answer to it
hint    what the engine would play
flip    turn the board
board   draw the board
fen     the position as FEN
pgn     the game as PGN
help    this
quit    leave";

/// Arguments of `engine play`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlayArgs {
    /// Side you play
    #[arg(long, value_name = "SIDE", default_value = "white")]
    color: Side,
    /// Engine strength: easy, medium or hard (default: full strength)
    #[arg(long)]
    level: Option<Level>,
    /// Play like people, by a policy of `trainer fit --policy`
    #[arg(long, value_name = "POLICY.safetensors", conflicts_with = "level")]
    policy: Option<PathBuf>,
    /// Rating of the people to play like
    #[arg(long, value_name = "RATING", default_value_t = 1500, requires = "policy",
          value_parser = clap::value_parser!(u32).range(i64::from(MIN_ELO)..=i64::from(MAX_ELO)))]
    elo: u32,
    /// Thinking time per move in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = at_least_one)]
    movetime: u64,
    /// Search depth in plies, instead of a time
    #[arg(long, value_name = "PLIES", conflicts_with = "movetime", value_parser = at_least_one)]
    depth: Option<u64>,
    /// Position to start from (default: the standard start)
    #[arg(long, value_parser = fen_argument)]
    fen: Option<Board>,
    /// Draw the board in ASCII letters
    #[arg(long)]
    ascii: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Side {
    White,
    Black,
}

/// Runs games, continued by `undo`, until `quit`, the end of input, or a stop signal, after which
/// the game is printed as PGN.
pub fn run(args: &PlayArgs) -> Result<ExitCode> {
    let human = match args.color {
        Side::White => Color::White,
        Side::Black => Color::Black,
    };
    let stop = StopSignal::listen().context("cannot listen to signals")?;
    stop.end_soon().context("cannot start a thread")?;
    let mut table = Table {
        engine: Engine::new(embedded_evaluator()?),
        record: GameRecord::new(args.fen.clone().unwrap_or_default()),
        human,
        effort: Effort {
            level: args.level.map(Into::into),
            people: match &args.policy {
                Some(path) => Some((Rc::new(load_policy(path)?), args.elo)),
                None => None,
            },
            depth: args.depth,
            time: Duration::from_millis(args.movetime),
        },
        style: DiagramStyle {
            ascii: args.ascii,
            flipped: human == Color::Black,
        },
        stop,
    };
    // Bounded: input typed ahead waits in the pipe.
    let (sender, lines) = mpsc::sync_channel(100);
    thread::Builder::new()
        .spawn(move || read_lines(io::stdin().lock(), |line| sender.send(line).is_ok()))
        .context("cannot start a thread")?;
    table.show()?;
    loop {
        table.answer()?;
        table.prompt()?;
        match table.next_line(&lines)? {
            Some(line) if table.obey(&line)?.is_continue() => {}
            _ => break,
        }
    }
    table.leave()
}

/// State of the game and its display.
struct Table {
    engine: Engine,
    record: GameRecord,
    human: Color,
    effort: Effort,
    style: DiagramStyle,
    stop: StopSignal,
}

impl Table {
    /// Plays the engine's move if it is its turn.
    fn answer(&mut self) -> Result<(), FileError> {
        let mover = self.record.position().board().side_to_move();
        if self.record.ending().is_some() || mover == self.human {
            return Ok(());
        }
        let effort = self.effort.clone();
        match self.think(&effort) {
            Some(mv) if !self.stop.is_asked() => self.play(mv),
            _ => Ok(()),
        }
    }

    /// Returns the engine's choice; prints a line per depth.
    fn think(&mut self, effort: &Effort) -> Option<Move> {
        // A failed print must not end the game.
        let say = |line: &str| print(&format!("{line}\n")).unwrap_or_default();
        let position = self.record.position();
        let line = think(&mut self.engine, position, effort, self.stop.flag(), say);
        line.first().copied()
    }

    fn play(&mut self, mv: Move) -> Result<(), FileError> {
        print(&format!("{}\n", self.record.play(mv)))?;
        self.show()
    }

    /// Prints the board, and the result if the game is over.
    fn show(&self) -> Result<(), FileError> {
        let board = diagram(self.record.position().board(), self.style);
        let verdict = self.record.verdict();
        let verdict = verdict.map(|verdict| format!("{verdict}\n\n"));
        print(&format!("\n{board}\n\n{}", verdict.unwrap_or_default()))
    }

    /// Prints a prompt if the input is a terminal.
    fn prompt(&self) -> Result<(), FileError> {
        if !io::stdin().is_terminal() {
            return Ok(());
        }
        let mover = match self.record.position().board().side_to_move() {
            _ if self.record.ending().is_some() => "The game is over",
            Color::White => "White",
            Color::Black => "Black",
        };
        print(&format!("{mover}> "))
    }

    /// Returns the next line; `None` at the end of input and after a stop signal.
    fn next_line(&self, lines: &Receiver<InputLine>) -> Result<Option<String>> {
        while !self.stop.is_asked() {
            match lines.recv_timeout(TICK) {
                Ok(InputLine::Text(line)) => return Ok(Some(line)),
                Ok(InputLine::TooLong) => print("That line is too long.\n")?,
                Ok(InputLine::Failed(error)) => return Err(error.into()),
                Ok(InputLine::End) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        Ok(None)
    }

    fn obey(&mut self, line: &str) -> Result<ControlFlow<()>, FileError> {
        match Input::read(line, self.record.position().board()) {
            Input::Nothing => {}
            Input::Quit => return Ok(ControlFlow::Break(())),
            Input::Move(_) if self.record.ending().is_some() => {
                print("The game is over: undo, pgn or quit.\n")?;
            }
            Input::Move(mv) => self.play(mv)?,
            Input::Undo => self.undo()?,
            Input::Hint => self.hint()?,
            Input::Flip => {
                self.style.flipped = !self.style.flipped;
                self.show()?;
            }
            Input::Board => self.show()?,
            Input::Fen => {
                let fen = write_fen(self.record.position().board());
                print(&format!("{fen}\n"))?;
            }
            Input::Pgn => print(&format!("\n{}", self.record.pgn(self.human)))?,
            Input::Help => print(&format!("{HELP}\n"))?,
            Input::Unknown(reason) => print(&format!("{reason}\n"))?,
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Goes back to the human's last turn.
    fn undo(&mut self) -> Result<(), FileError> {
        if self.record.undo(self.human) {
            self.show()
        } else {
            print("There is no move of yours to take back.\n")
        }
    }

    fn hint(&mut self) -> Result<(), FileError> {
        let effort = Effort {
            level: None,
            people: None,
            ..self.effort.clone()
        };
        match self.think(&effort) {
            Some(mv) => print(&format!("hint: {}\n", self.record.san(mv))),
            None => print("There is no move.\n"),
        }
    }

    /// Returns the exit code. After a signal, prints the game first so that it is not lost.
    fn leave(&self) -> Result<ExitCode> {
        if !self.stop.is_asked() {
            return Ok(ExitCode::Done);
        }
        // Ignore errors: the terminal may be closed.
        let _ = print(&format!("\n{}", self.record.pgn(self.human)));
        Ok(self.stop.exit_code())
    }
}
