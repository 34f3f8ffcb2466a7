//! An engine at the board, in a process of its own or in this one.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use engine::Position;
use thiserror::Error;

use super::library::Library;
use super::pace::Allowance;
use super::process::Process;
use super::spec::{EngineSpec, Program};
use super::thought::Thought;

/// Why an engine gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Silence {
    /// Its output ended.
    #[error("it ended")]
    Crashed,
    /// It still runs, but the time is up.
    #[error("it does not answer")]
    Late,
    /// The match is over.
    #[error("the match is over")]
    Stopped,
}

/// What an engine is asked.
pub struct Question<'a> {
    /// Where it is to move.
    pub position: &'a Position,
    /// The same as a `position` command.
    pub command: &'a str,
    /// What it is given for the move.
    pub allowance: Allowance,
    /// Whether castling is written as king takes rook.
    pub chess960: bool,
    /// Set when nobody waits for answers any more.
    pub stop: &'a AtomicBool,
}

/// What it answers.
pub struct Answer {
    /// The move as UCI writes it; legal or not.
    pub text: String,
    /// From the question to the answer, as its opponent sees it.
    pub time: Duration,
    /// What it said of the move.
    pub thought: Thought,
}

/// An engine that is ready to play.
pub enum Player {
    /// A program that speaks UCI.
    Process(Process),
    /// The library, called directly.
    Library(Box<Library>),
}

impl Player {
    /// Starts an engine and sets its options.
    ///
    /// # Errors
    /// Where a program or net cannot be used, or the program does not speak UCI.
    pub fn start(spec: &EngineSpec) -> Result<Player> {
        Ok(match &spec.program {
            Program::Command(command) => Player::Process(Process::start(command)?),
            Program::Net(net) => Player::Library(Box::new(Library::start(net)?)),
        })
    }

    /// Prepares for a game.
    ///
    /// # Errors
    /// [`Silence`] where the program does not get ready.
    pub fn new_game(&mut self, chess960: bool) -> Result<(), Silence> {
        match self {
            Player::Process(process) => process.new_game(chess960),
            Player::Library(library) => {
                library.new_game();
                Ok(())
            }
        }
    }

    /// Asks for a move.
    ///
    /// # Errors
    /// [`Silence`] where no answer came in time.
    pub fn best_move(&mut self, question: &Question) -> Result<Answer, Silence> {
        match self {
            Player::Process(process) => process.best_move(question),
            Player::Library(library) => Ok(library.best_move(question)),
        }
    }

    /// Calls off a search whose answer nobody waits for any more.
    ///
    /// # Errors
    /// [`Silence`] where the program does not react.
    pub fn recover(&mut self) -> Result<(), Silence> {
        match self {
            Player::Process(process) => process.recover(),
            Player::Library(_) => Ok(()),
        }
    }
}
