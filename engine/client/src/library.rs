//! Kibitz's engine in this process, with the interface of an engine process.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::{
    Engine, EvaluationKind, Evaluator, HashError, Limits, Outcome, People, Position, Priors,
    Report, RootNoise, ScoreBound, Signals, VisitedMove, write_move,
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

/// Policy of searches by PUCT in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyChoice {
    /// Policy file.
    File(PathBuf),
    /// All legal moves alike.
    Uniform,
}

impl PolicyChoice {
    /// Parses `uniform`, or the path of a policy file.
    pub fn named(text: &str) -> PolicyChoice {
        match text {
            "uniform" => PolicyChoice::Uniform,
            path => PolicyChoice::File(path.into()),
        }
    }

    /// Loads the policy. Also returns its file, which identifies it; empty for a uniform one.
    ///
    /// # Errors
    /// [`EvaluatorError`].
    pub fn load(&self) -> Result<(People, Vec<u8>), EvaluatorError> {
        let PolicyChoice::File(path) = self else {
            return Ok((People::uniform(), Vec::new()));
        };
        let bytes = host::read(path, MAX_FILE_BYTES)?;
        let people = People::from_bytes(&bytes).map_err(|source| EvaluatorError::Refused {
            path: path.clone(),
            source,
        })?;
        Ok((people, bytes))
    }
}

/// Kibitz's engine as a library.
pub struct Library {
    engine: Engine,
    /// Source of the priors of searches by PUCT; `None` to search by alpha-beta.
    people: Option<People>,
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
        let people = None;
        Ok(Library { engine, people })
    }

    /// Returns the engine that searches by PUCT, with a policy's priors.
    pub fn with_policy(self, people: People) -> Library {
        let people = Some(people);
        Library { people, ..self }
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
        self.search_with_noise(position, limits, None, stop, report)
    }

    /// Searches as [`Library::search`], by PUCT with noise on the priors of the root; alpha-beta
    /// ignores the noise.
    pub fn search_with_noise(
        &mut self,
        position: &Position,
        limits: &Limits,
        noise: Option<RootNoise>,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&Report),
    ) -> Outcome {
        let start = Instant::now();
        let signals = Signals {
            stop,
            pondering: None,
            elapsed: &|| start.elapsed(),
        };
        let engine = &mut self.engine;
        // A search for a mate has to end where there is none.
        let people = self.people.as_ref().filter(|_| limits.mate.is_none());
        match people.map(People::strongest) {
            Some(person) => {
                let priors = Priors { person, noise };
                engine.search_puct(priors, position, limits, &signals, report)
            }
            None => engine.search(position, limits, &signals, report),
        }
    }

    /// Returns the moves of the last search by PUCT, the most visited first.
    pub fn visited_moves(&self) -> Vec<VisitedMove> {
        self.engine.visited_moves()
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
