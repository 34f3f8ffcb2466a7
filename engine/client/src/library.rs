//! Kibitz's engine in this process, with the interface of an engine process.

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

use crate::engine_process::Answer;
use crate::info::{Info, Scored, UciScore};

/// Evaluator of searches in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluatorChoice {
    /// Network file.
    File(PathBuf),
    /// Network compiled into this program.
    Embedded,
    /// Material count only.
    Material,
}

/// Failure to load an evaluator.
#[derive(Debug, Error)]
pub enum EvaluatorError {
    /// Unreadable network file.
    #[error(transparent)]
    Unreadable(#[from] FileError),
    /// File that is not a valid network.
    #[error("network {path:?} refused")]
    Refused {
        /// File as named by the user.
        path: PathBuf,
        /// Reason.
        source: NetError,
    },
    /// Invalid embedded network.
    #[error("the embedded network was refused; rebuild with another by KIBITZ_NET=FILE")]
    Embedded(#[from] NetError),
}

impl EvaluatorError {
    /// Returns the exit code of a program that fails with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            EvaluatorError::Unreadable(error) => error.exit_code(),
            EvaluatorError::Refused { .. } | EvaluatorError::Embedded(_) => ExitCode::Net,
        }
    }
}

impl EvaluatorChoice {
    /// Parses `embedded`, `material`, or the path of a network file.
    pub fn named(text: &str) -> EvaluatorChoice {
        match text {
            "embedded" => EvaluatorChoice::Embedded,
            "material" => EvaluatorChoice::Material,
            path => EvaluatorChoice::File(path.into()),
        }
    }

    /// Returns the contents of the network file, which identify the evaluator; empty for material.
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

    /// Loads the evaluator. Also returns its file, like [`EvaluatorChoice::bytes`].
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

/// Kibitz's engine as a library.
pub struct Library {
    engine: Engine,
}

impl Library {
    /// Creates an engine with a transposition table of `hash` MiB.
    ///
    /// # Errors
    /// [`HashError`] if the table cannot be allocated.
    pub fn new(evaluator: Evaluator, hash: usize, threads: usize) -> Result<Library, HashError> {
        let mut engine = Engine::new(evaluator);
        engine.set_hash(hash)?;
        engine.set_threads(threads);
        Ok(Library { engine })
    }

    /// Starts another game: clears the state of earlier searches.
    pub fn new_game(&mut self) {
        self.engine.clear();
    }

    /// Searches within `limits`, or until `stop` is set; `report` receives every line of every
    /// iteration.
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

    /// Searches and returns the answer. Its score is the last one that an engine process would have
    /// reported, its time that of the call.
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

/// Converts a score to the form of UCI.
impl From<engine::Score> for UciScore {
    fn from(score: engine::Score) -> UciScore {
        match score.moves_to_mate() {
            Some(moves) => UciScore::Mate(moves),
            None => UciScore::Centipawns(score.centipawns()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_match_their_uci_text() {
        for score in [
            engine::Score::mate_in(5),
            engine::Score::mated_in(4),
            engine::Score::from_centipawns(-31),
        ] {
            let mut info = Info::default();
            info.hear(&format!("depth 1 score {score}"));
            assert_eq!(info.exact(), Some(score.into()));
        }
    }
}
