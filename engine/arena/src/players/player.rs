//! A player: a UCI program in its own process, a net searched in this one, or a beginner.

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use engine::{DEFAULT_HASH_MIB, Evaluator, People, write_move};
use host::tell;
use uci_client::{
    Answer, EngineError, EngineProcess, EvaluatorChoice, Info, Library, PolicyChoice, StartError,
};

use crate::players::beginner::Beginner;
use crate::players::question::Question;
use crate::players::spec::{EngineSpec, Net, Program};

/// Time for an engine that exceeded its limit to answer `stop`.
const GRACE: Duration = Duration::from_secs(2);

/// A started engine.
pub enum Player {
    /// A UCI program.
    Process(Box<EngineProcess>),
    /// A net, searched by the engine library in this process.
    Library(Box<Library>),
    /// A player that does not search.
    Beginner(Beginner),
}

impl Player {
    /// Starts an engine and sets its options.
    ///
    /// # Errors
    /// If a program or net cannot be used, or the program does not speak UCI;
    /// `StartError::Cancelled` if `stop` was set meanwhile.
    pub fn start(spec: &EngineSpec, stop: &AtomicBool) -> Result<Player> {
        match &spec.program {
            Program::Command(setup) => {
                let engine = EngineProcess::start(setup, stop, &mut |notice| tell(notice))?;
                Ok(Player::Process(Box::new(engine)))
            }
            Program::Net(net) => Ok(Player::Library(Box::new(library(net)?))),
            Program::Beginner(beginner) => Ok(Player::Beginner(*beginner)),
        }
    }

    /// Returns whether the engine supports Chess960.
    pub fn plays_chess960(&self) -> bool {
        match self {
            Player::Process(engine) => engine.plays_chess960(),
            Player::Library(_) | Player::Beginner(_) => true,
        }
    }

    /// Sets options, in order. Only programs have any; others ignore them.
    ///
    /// # Errors
    /// If a program lacks an option or refuses its value.
    pub fn set_options(&mut self, options: &[(String, String)]) -> Result<(), StartError> {
        match self {
            Player::Process(engine) => options
                .iter()
                .try_for_each(|(name, value)| engine.set_option(name, value)),
            Player::Library(_) | Player::Beginner(_) => Ok(()),
        }
    }

    /// Prepares for a game.
    ///
    /// # Errors
    /// [`EngineError`] if the program does not become ready.
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
            Player::Beginner(_) => Ok(()),
        }
    }

    /// Sets up the position of the next [`Player::best_move`], given as a UCI `position` command.
    ///
    /// # Errors
    /// [`EngineError`] if the program fails to read it.
    pub fn set_position(&mut self, command: &str, stop: &AtomicBool) -> Result<(), EngineError> {
        match self {
            Player::Process(engine) => engine.position(command, stop),
            // `best_move` gets the position itself.
            Player::Library(_) | Player::Beginner(_) => Ok(()),
        }
    }

    /// Searches for the best move.
    ///
    /// # Errors
    /// [`EngineError`] if no answer came in time.
    pub fn best_move(&mut self, question: &Question) -> Result<Answer, EngineError> {
        match self {
            Player::Process(engine) => {
                let allowance = &question.allowance;
                engine.go(&allowance.go_command(), allowance.timeout, question.stop)
            }
            Player::Beginner(beginner) => {
                let board = question.position.board();
                let best = beginner.best_move(board);
                let best = best.map(|mv| write_move(board, mv, question.chess960));
                Ok(Answer {
                    best: best.unwrap_or_default(),
                    time: Duration::ZERO,
                    info: Info::default(),
                })
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
                match answer.time < allowance.timeout {
                    true => Ok(answer),
                    false => Err(EngineError::TimedOut),
                }
            }
        }
    }

    /// Stops a search that exceeded its limit, and discards its answer.
    ///
    /// # Errors
    /// [`EngineError`] if the program does not react.
    pub fn recover(&mut self, stop: &AtomicBool) -> Result<(), EngineError> {
        match self {
            Player::Process(engine) => engine.stop(GRACE, stop),
            Player::Library(_) | Player::Beginner(_) => Ok(()),
        }
    }
}

/// Loads a net and returns it with the bytes of its file, empty for material evaluation.
///
/// # Errors
/// If the file cannot be read or is refused.
pub fn load(net: &Net) -> Result<(Evaluator, Cow<'static, [u8]>)> {
    let loaded = net.evaluation.load();
    match &net.evaluation {
        EvaluatorChoice::File(path) if is_command(path) => loaded.with_context(|| {
            format!("{path:?} is taken for a net's file (a program would be cmd={path:?})")
        }),
        _ => Ok(loaded?),
    }
}

/// Returns an in-process engine with the net.
///
/// # Errors
/// If [`load`] fails, the policy is refused, or the transposition table cannot be allocated.
pub fn library(net: &Net) -> Result<Library> {
    let (evaluator, _) = load(net)?;
    let hash = net.hash.unwrap_or(DEFAULT_HASH_MIB);
    let library = Library::new(evaluator, hash, net.threads).context("hash=")?;
    Ok(match load_policy(net)? {
        Some((people, _)) => library.with_policy(people),
        None => library,
    })
}

/// Loads the policy of a net, if it has one, and returns it with the bytes of its file, empty for a
/// uniform one.
///
/// # Errors
/// If the file cannot be read or is refused.
pub fn load_policy(net: &Net) -> Result<Option<(People, Vec<u8>)>> {
    let policy = net.policy.as_ref().map(PolicyChoice::load);
    policy.transpose().context("policy=")
}

/// Returns whether a net's path looks like a program: it has no extension.
fn is_command(path: &Path) -> bool {
    path.extension().is_none()
}

#[cfg(test)]
mod tests {
    use cozy_chess::Color;

    use super::*;
    use crate::players::pace::{Clocks, Pace};
    use engine::Position;

    /// A net gets no more time than a program.
    #[test]
    fn a_net_without_an_answer_in_time_has_hung() {
        let stop = AtomicBool::new(false);
        let mut player = Player::start(&"material".parse().unwrap(), &stop).unwrap();
        let clocks = Clocks::new([Pace::Nodes(5_000_000); 2], Duration::ZERO);
        let mut allowance = clocks.allowance(Color::White);
        allowance.timeout = Duration::from_millis(10);
        let answer = player.best_move(&Question {
            position: &Position::startpos(),
            allowance,
            chess960: false,
            stop: &stop,
        });
        assert_eq!(answer.unwrap_err(), EngineError::TimedOut);
    }
}
