//! A net that plays in this process, through the library.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use models::{MAX_FILE_BYTES, QuantisedNetwork};

use anyhow::{Context, Result};
use engine::{Engine, EvaluationKind, Evaluator, Limits, Outcome, Position, Signals, write_move};
use uci_client::{Answer, Info, Score, Scored};

use crate::players::question::Question;
use crate::players::spec::{EvaluatorChoice, Net};

/// The library with one net.
pub struct Library {
    engine: Engine,
}

impl Library {
    /// Loads a net.
    ///
    /// # Errors
    /// Where the file is no net, or there is no memory for the table.
    pub fn start(net: &Net) -> Result<Library> {
        let mut evaluator = Evaluator::embedded()
            .context("the embedded network was refused; rebuild with another by KIBITZ_NET=FILE")?;
        match &net.evaluation {
            EvaluatorChoice::Embedded => {}
            EvaluatorChoice::Material => evaluator.set_kind(EvaluationKind::Material),
            EvaluatorChoice::File(path) => evaluator.set_network(load(path)?),
        }
        let mut engine = Engine::new(evaluator);
        if let Some(mebibytes) = net.hash {
            engine.set_hash(mebibytes).context("hash=")?;
        }
        engine.set_threads(net.threads);
        Ok(Library { engine })
    }

    /// Forgets the game before.
    pub fn new_game(&mut self) {
        self.engine.clear();
    }

    /// Searches within `limits`, or until `stop` is set.
    pub fn search(&mut self, position: &Position, limits: &Limits, stop: &AtomicBool) -> Outcome {
        let start = Instant::now();
        let signals = Signals {
            stop,
            pondering: None,
            elapsed: &|| start.elapsed(),
        };
        self.engine.search(position, limits, &signals, &mut |_| {})
    }

    /// Answers; the time is that of the call.
    pub fn best_move(&mut self, question: &Question) -> Answer {
        let start = Instant::now();
        let limits = question.allowance.limits();
        let outcome = self.search(question.position, &limits, question.stop);
        let time = start.elapsed();
        let board = question.position.board();
        let best = outcome
            .best
            .map(|mv| write_move(board, mv, question.chess960));
        Answer {
            best: best.unwrap_or_default(),
            time,
            info: Info {
                score: Some(Scored {
                    score: as_uci(outcome.score),
                    depth: Some(outcome.depth),
                    bound: false,
                }),
                depth: Some(outcome.depth),
                nodes: Some(outcome.nodes),
            },
        }
    }
}

/// Reads a network.
fn load(path: &Path) -> Result<QuantisedNetwork> {
    let bytes = host::read(path, MAX_FILE_BYTES)?;
    QuantisedNetwork::from_bytes(&bytes).with_context(|| format!("network {path:?} refused"))
}

/// A score of the library as UCI would have said it.
pub fn as_uci(score: engine::Score) -> Score {
    match score.moves_to_mate() {
        Some(moves) => Score::Mate(moves),
        None => Score::Centipawns(score.centipawns()),
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
            assert_eq!(heard.exact(), Some(as_uci(score)));
        }
    }
}
