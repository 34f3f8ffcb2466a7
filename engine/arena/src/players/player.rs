//! An engine at the board, in a process of its own or in this one.

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use engine::{DEFAULT_HASH_MIB, Evaluator};
use host::tell;
use uci_client::{Answer, Engine, EngineError, EvaluatorChoice, Library, StartError};

use crate::players::question::Question;
use crate::players::spec::{EngineSpec, Net, Program};

/// How long an engine that was too slow may take to come to its senses.
const GRACE: Duration = Duration::from_secs(2);

/// An engine that is ready to play.
pub enum Player {
    /// A program that speaks UCI.
    Process(Box<Engine>),
    /// The library, called directly.
    Library(Box<Library>),
}

impl Player {
    /// Starts an engine and sets its options.
    ///
    /// # Errors
    /// Where a program or net cannot be used, or the program does not speak UCI;
    /// `StartError::Cancelled` where `stop` was set meanwhile.
    pub fn start(spec: &EngineSpec, stop: &AtomicBool) -> Result<Player> {
        match &spec.program {
            Program::Command(setup) => {
                let engine = Engine::start(setup, stop, &mut |notice| tell(notice))?;
                Ok(Player::Process(Box::new(engine)))
            }
            Program::Net(net) => Ok(Player::Library(Box::new(library(net)?))),
        }
    }

    /// Whether it can play from positions of Chess960.
    pub fn plays_chess960(&self) -> bool {
        match self {
            Player::Process(engine) => engine.plays_chess960(),
            Player::Library(_) => true,
        }
    }

    /// Sets options, in order.
    ///
    /// # Errors
    /// Where a program lacks one or refuses its value. A net has none.
    pub fn set_options(&mut self, options: &[(String, String)]) -> Result<(), StartError> {
        match self {
            Player::Process(engine) => options
                .iter()
                .try_for_each(|(name, value)| engine.set_option(name, value)),
            Player::Library(_) => Ok(()),
        }
    }

    /// Prepares for a game.
    ///
    /// # Errors
    /// [`EngineError`] where the program does not get ready.
    pub fn new_game(&mut self, chess960: bool, stop: &AtomicBool) -> Result<(), EngineError> {
        match self {
            Player::Process(engine) => {
                engine.new_game(chess960);
                engine.ready(stop)
            }
            Player::Library(library) => {
                library.new_game();
                Ok(())
            }
        }
    }

    /// Sets up the position of the next [`Player::best_move`], as a `position`
    /// command has it.
    ///
    /// # Errors
    /// [`EngineError`] where the program does not take it in.
    pub fn set_position(&mut self, command: &str, stop: &AtomicBool) -> Result<(), EngineError> {
        match self {
            Player::Process(engine) => engine.position(command, stop),
            // It is asked with the position itself.
            Player::Library(_) => Ok(()),
        }
    }

    /// Asks for a move.
    ///
    /// # Errors
    /// [`EngineError`] where no answer came in time.
    pub fn best_move(&mut self, question: &Question) -> Result<Answer, EngineError> {
        match self {
            Player::Process(engine) => {
                let allowance = &question.allowance;
                engine.go(&allowance.go_command(), allowance.patience, question.stop)
            }
            Player::Library(library) => {
                let allowance = &question.allowance;
                let Question {
                    position,
                    chess960,
                    stop,
                    ..
                } = *question;
                let answer = library.answer(position, &allowance.limits(), chess960, stop);
                match answer.time < allowance.patience {
                    true => Ok(answer),
                    false => Err(EngineError::TimedOut),
                }
            }
        }
    }

    /// Calls off a search whose answer nobody waits for any more.
    ///
    /// # Errors
    /// [`EngineError`] where the program does not react.
    pub fn recover(&mut self, stop: &AtomicBool) -> Result<(), EngineError> {
        match self {
            Player::Process(engine) => engine.stop(GRACE, stop),
            Player::Library(_) => Ok(()),
        }
    }
}

/// Loads a net. Gives its file too, empty where material alone counts.
///
/// # Errors
/// Where it cannot be read or is refused.
pub fn load(net: &Net) -> Result<(Evaluator, Cow<'static, [u8]>)> {
    let loaded = net.evaluation.load();
    match &net.evaluation {
        EvaluatorChoice::File(path) if is_command(path) => loaded.with_context(|| {
            format!("{path:?} is taken for a net's file (a program would be cmd={path:?})")
        }),
        _ => Ok(loaded?),
    }
}

/// The library with a net.
///
/// # Errors
/// As [`load`], or if there is no memory for the transposition table.
pub fn library(net: &Net) -> Result<Library> {
    let (evaluator, _) = load(net)?;
    let hash = net.hash.unwrap_or(DEFAULT_HASH_MIB);
    Library::new(evaluator, hash, net.threads).context("hash=")
}

/// Whether a net's file looks like a program that was meant to be started.
fn is_command(path: &Path) -> bool {
    path.extension().is_none()
}

#[cfg(test)]
mod tests {
    use cozy_chess::Color;

    use super::*;
    use crate::players::pace::{Clocks, Pace};
    use engine::Position;

    /// It is waited for no longer than a program.
    #[test]
    fn a_net_that_does_not_answer_in_time_has_hung() {
        let stop = AtomicBool::new(false);
        let mut player = Player::start(&"material".parse().unwrap(), &stop).unwrap();
        let clocks = Clocks::new([Pace::Nodes(5_000_000); 2], Duration::ZERO);
        let mut allowance = clocks.allowance(Color::White);
        allowance.patience = Duration::from_millis(10);
        let answer = player.best_move(&Question {
            position: &Position::startpos(),
            allowance,
            chess960: false,
            stop: &stop,
        });
        assert_eq!(answer.unwrap_err(), EngineError::TimedOut);
    }
}
