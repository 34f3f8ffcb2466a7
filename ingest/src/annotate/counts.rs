//! Counts of annotated and omitted games.

use std::collections::BTreeMap;

use datasets::SkipReason;
use serde::{Deserialize, Serialize};
use uci_client::EngineError;

/// Counts over the source games.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnotationCounts {
    /// Games written.
    pub games: u64,
    /// Games written that had evaluations and kept them.
    pub kept: u64,
    /// Positions evaluated.
    pub positions: u64,
    /// Evaluated positions with a mate score.
    pub mates: u64,
    /// Positions left without an evaluation after the engine failed twice.
    pub unanswered: u64,
    /// Searches in which the engine exited.
    pub crashes: u64,
    /// Searches that timed out.
    pub timeouts: u64,
    /// Searches that ended without a score or with an illegal move.
    pub bad_answers: u64,
    /// Games left out or cut, by reason.
    pub skipped: BTreeMap<SkipReason, u64>,
}

impl AnnotationCounts {
    /// Counts a search that failed.
    pub fn fail(&mut self, failure: EngineError) {
        match failure {
            EngineError::Ended => self.crashes += 1,
            EngineError::TimedOut => self.timeouts += 1,
            EngineError::Cancelled => {}
        }
    }

    /// Counts a game that was left out or cut.
    pub fn skip(&mut self, reason: SkipReason) {
        *self.skipped.entry(reason).or_default() += 1;
    }

    /// Adds other counts to these.
    pub fn add(&mut self, other: &AnnotationCounts) {
        self.games += other.games;
        self.kept += other.kept;
        self.positions += other.positions;
        self.mates += other.mates;
        self.unanswered += other.unanswered;
        self.crashes += other.crashes;
        self.timeouts += other.timeouts;
        self.bad_answers += other.bad_answers;
        for (&reason, count) in &other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
    }
}
