//! Kibitz's engine in this process, which answers as a program would.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::{
    Engine, EvaluationKind, Evaluator, HashError, Limits, Outcome, Position, Report, ScoreBound,
    Signals, write_move,
};
use host::{ExitCode, FileError};
use models::{MAX_FILE_BYTES, NetError, QuantisedNetwork};
use thiserror::Error;

use crate::engine::Answer;
use crate::info::{Info, Score, Scored};

/// What a search in this process values positions by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluatorChoice {
    /// A network's file.
    File(PathBuf),
    /// The network compiled into this program.
    Embedded,
    /// Material alone.
    Material,
}

/// Why there is nothing to value positions by.
#[derive(Debug, Error)]
pub enum EvaluatorError {
    /// The network's file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] FileError),
    /// The file is no network that this program knows.
    #[error("network {path:?} refused")]
    Refused {
        /// The file as it was named.
        path: PathBuf,
        /// Why.
        source: NetError,
    },
    /// The program was built with a network that it does not know.
    #[error("the embedded network was refused; rebuild with another by KIBITZ_NET=FILE")]
    Embedded(#[from] NetError),
}

impl EvaluatorError {
    /// How a program ends for it.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            EvaluatorError::Unreadable(error) => error.exit_code(),
            EvaluatorError::Refused { .. } | EvaluatorError::Embedded(_) => ExitCode::Net,
        }
    }
}

impl EvaluatorChoice {
    /// `embedded`, `material`, or a network's file.
    pub fn named(text: &str) -> EvaluatorChoice {
        match text {
            "embedded" => EvaluatorChoice::Embedded,
            "material" => EvaluatorChoice::Material,
            path => EvaluatorChoice::File(path.into()),
        }
    }

    /// The network's file, which tells it from others; empty where material alone
    /// counts.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn bytes(&self) -> Result<Cow<'static, [u8]>, FileError> {
        Ok(match self {
            EvaluatorChoice::Embedded => engine::embedded_net().into(),
            EvaluatorChoice::Material => Cow::default(),
            EvaluatorChoice::File(path) => host::read(path, MAX_FILE_BYTES)?.into(),
        })
    }

    /// Loads the network. Gives its file too, as [`EvaluatorChoice::bytes`] does.
    ///
    /// # Errors
    /// [`EvaluatorError`].
    pub fn load(&self) -> Result<(Evaluator, Cow<'static, [u8]>), EvaluatorError> {
        let mut evaluator = Evaluator::embedded()?;
        let bytes = self.bytes()?;
        match self {
            EvaluatorChoice::Embedded => {}
            EvaluatorChoice::Material => evaluator.set_kind(EvaluationKind::Material),
            EvaluatorChoice::File(path) => {
                let network = QuantisedNetwork::from_bytes(&bytes);
                let refused = |source| EvaluatorError::Refused {
                    path: path.clone(),
                    source,
                };
                evaluator.set_network(network.map_err(refused)?);
            }
        }
        Ok((evaluator, bytes))
    }
}

/// The engine as a library.
pub struct Library {
    engine: Engine,
}

impl Library {
    /// An engine with a transposition table of so many MiB and so many threads.
    ///
    /// # Errors
    /// [`HashError`], if there is no memory for the table.
    pub fn new(evaluator: Evaluator, hash: usize, threads: usize) -> Result<Library, HashError> {
        let mut engine = Engine::new(evaluator);
        engine.set_hash(hash)?;
        engine.set_threads(threads);
        Ok(Library { engine })
    }

    /// Forgets the game before.
    pub fn new_game(&mut self) {
        self.engine.clear();
    }

    /// Searches within `limits`, or until `stop` is set; `report` gets every line of
    /// every iteration.
    pub fn search(
        &mut self,
        position: &Position,
        limits: &Limits,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&Report),
    ) -> Outcome {
        let start = Instant::now();
        let signals = Signals {
            stop,
            pondering: None,
            elapsed: &|| start.elapsed(),
        };
        self.engine.search(position, limits, &signals, report)
    }

    /// Searches, and answers. The score is the one that a program would have said
    /// last; the time is that of the call.
    pub fn answer(
        &mut self,
        position: &Position,
        limits: &Limits,
        chess960: bool,
        stop: &AtomicBool,
    ) -> Answer {
        let start = Instant::now();
        let mut info = Info::default();
        let outcome = self.search(position, limits, stop, &mut |report| {
            if report.rank == 1 {
                info.hear_score(Scored {
                    score: report.score.into(),
                    depth: Some(report.depth),
                    bound: report.bound != ScoreBound::Exact,
                });
            }
        });
        let time = start.elapsed();
        let best = outcome
            .best
            .map(|mv| write_move(position.board(), mv, chess960));
        Answer {
            best: best.unwrap_or_default(),
            time,
            info: Info {
                depth: Some(outcome.depth),
                nodes: Some(outcome.nodes),
                ..info
            },
        }
    }
}

/// As UCI would have said it.
impl From<engine::Score> for Score {
    fn from(score: engine::Score) -> Score {
        match score.moves_to_mate() {
            Some(moves) => Score::Mate(moves),
            None => Score::Centipawns(score.centipawns()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_what_uci_says() {
        for score in [
            engine::Score::mate_in(5),
            engine::Score::mated_in(4),
            engine::Score::from_centipawns(-31),
        ] {
            let mut heard = Info::default();
            heard.hear(&format!("depth 1 score {score}"));
            assert_eq!(heard.exact(), Some(score.into()));
        }
    }
}
