//! `engine play`: a game in a terminal.

mod input;
mod record;
mod thinking;

use std::io::{self, BufRead, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use cozy_chess::{Board, Color, Move};
use engine::{Engine, Level, write_fen};

use super::diagram::{Style, diagram};
use super::fen_argument;
use super::files::embedded_evaluator;
use input::Input;
use record::Record;
use thinking::{Effort, think};

const EXAMPLES: &str = "\
Examples:
  engine play                                  you are White, the engine thinks a second a move
  engine play --level easy --color black
  engine play --depth 8 --fen \"8/8/8/4k3/8/3K4/3P4/8 w - - 0 1\"
  printf 'e4\\nhint\\npgn\\n' | engine play --depth 4 --ascii

Moves are read as SAN (e4, Nf3, exd5, O-O, e8=Q) or as UCI writes them (e2e4,
e7e8q); `help` lists the other words. While it thinks, the engine says for each
depth the value from White's view in pawns (#5: White mates in five), the
nodes, the move and the line:
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
    /// Your side
    #[arg(long, value_name = "SIDE", default_value = "white")]
    color: Side,
    /// How weakly the engine plays: easy, medium or hard; by default as well as it can
    #[arg(long)]
    level: Option<Level>,
    /// Milliseconds the engine thinks about a move
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    movetime: u64,
    /// Plies the engine looks ahead, however long it takes
    #[arg(long, value_name = "PLIES", conflicts_with = "movetime")]
    depth: Option<u64>,
    /// Position to begin from
    #[arg(long, value_parser = fen_argument)]
    fen: Option<Board>,
    /// Draw the board in letters
    #[arg(long)]
    ascii: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Side {
    White,
    Black,
}

/// Plays a game, or more of one after `undo`, until `quit` or the end of the input.
pub fn run(args: &PlayArgs) -> Result<()> {
    let human = match args.color {
        Side::White => Color::White,
        Side::Black => Color::Black,
    };
    let mut table = Table {
        engine: Engine::new(embedded_evaluator()?),
        record: Record::new(args.fen.clone().unwrap_or_default()),
        human,
        effort: Effort {
            level: args.level.map(Into::into),
            depth: args.depth,
            time: Duration::from_millis(args.movetime),
        },
        style: Style {
            ascii: args.ascii,
            flipped: human == Color::Black,
        },
    };
    table.show();
    let mut lines = io::stdin().lock().lines();
    loop {
        table.answer();
        table.prompt()?;
        let Some(line) = lines.next() else {
            return Ok(());
        };
        if table.obey(&line?).is_break() {
            return Ok(());
        }
    }
}

/// The board, the clockless opponent and the score sheet.
struct Table {
    engine: Engine,
    record: Record,
    human: Color,
    effort: Effort,
    style: Style,
}

impl Table {
    /// The engine's move, if it is its turn.
    fn answer(&mut self) {
        let mover = self.record.position().board().side_to_move();
        if self.record.ending().is_some() || mover == self.human {
            return;
        }
        let say = |line: &str| println!("{line}");
        let line = think(&mut self.engine, self.record.position(), &self.effort, say);
        if let Some(&mv) = line.first() {
            self.play(mv);
        }
    }

    fn play(&mut self, mv: Move) {
        println!("{}", self.record.play(mv));
        self.show();
    }

    /// The board, and the result where there is one.
    fn show(&self) {
        println!(
            "\n{}\n",
            diagram(self.record.position().board(), self.style)
        );
        if let Some(verdict) = self.record.verdict() {
            println!("{verdict}\n");
        }
    }

    /// Asks for a move where somebody looks.
    fn prompt(&self) -> io::Result<()> {
        if !io::stdin().is_terminal() {
            return Ok(());
        }
        let mover = match self.record.position().board().side_to_move() {
            _ if self.record.ending().is_some() => "The game is over",
            Color::White => "White",
            Color::Black => "Black",
        };
        print!("{mover}> ");
        io::stdout().flush()
    }

    fn obey(&mut self, line: &str) -> ControlFlow<()> {
        match Input::read(line, self.record.position().board()) {
            Input::Nothing => {}
            Input::Quit => return ControlFlow::Break(()),
            Input::Move(_) if self.record.ending().is_some() => {
                println!("The game is over: undo, pgn or quit.");
            }
            Input::Move(mv) => self.play(mv),
            Input::Undo => self.undo(),
            Input::Hint => self.hint(),
            Input::Flip => {
                self.style.flipped = !self.style.flipped;
                self.show();
            }
            Input::Board => self.show(),
            Input::Fen => println!("{}", write_fen(self.record.position().board())),
            Input::Pgn => print!("\n{}", self.record.pgn(self.human)),
            Input::Help => println!("{HELP}"),
            Input::Unknown(reason) => println!("{reason}"),
        }
        ControlFlow::Continue(())
    }

    /// Back to the human's last turn.
    fn undo(&mut self) {
        if self.record.undo(self.human) {
            self.show();
        } else {
            println!("There is no move of yours to take back.");
        }
    }

    fn hint(&mut self) {
        let effort = Effort {
            level: None,
            ..self.effort.clone()
        };
        let say = |line: &str| println!("{line}");
        let line = think(&mut self.engine, self.record.position(), &effort, say);
        match line.first() {
            Some(&mv) => println!("hint: {}", self.record.san(mv)),
            None => println!("There is no move."),
        }
    }
}
