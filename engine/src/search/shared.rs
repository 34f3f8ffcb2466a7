//! What all threads of a search have in common.

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::endgame::{Tablebase, Wdl};
use crate::evaluation::Evaluator;
use crate::search::limits::Limits;
use crate::search::reductions::Reductions;
use crate::search::report::Signals;
use crate::search::transposition_table::TranspositionTable;

/// What all threads of a search have in common.
pub(crate) struct Shared<'a> {
    pub(super) evaluator: &'a Evaluator,
    pub(super) table: &'a TranspositionTable,
    pub(super) tablebase: Option<&'a dyn Tablebase>,
    pub(super) limits: &'a Limits,
    pub(super) signals: &'a Signals<'a>,
    pub(super) reductions: &'a Reductions,
    /// What the tablebase says of the root.
    pub(super) root_wdl: Option<Wdl>,
    /// Set by the first thread to end the others, and by any that panics.
    pub(super) halt: AtomicBool,
    /// Nodes and tablebase hits of all threads, as of their last looks.
    pub(super) nodes: AtomicU64,
    pub(super) tablebase_hits: AtomicU64,
}

impl<'a> Shared<'a> {
    pub(super) fn new(
        evaluator: &'a Evaluator,
        table: &'a TranspositionTable,
        tablebase: Option<&'a dyn Tablebase>,
        limits: &'a Limits,
        signals: &'a Signals<'a>,
        reductions: &'a Reductions,
    ) -> Shared<'a> {
        Shared {
            evaluator,
            table,
            tablebase,
            limits,
            signals,
            reductions,
            root_wdl: None,
            halt: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            tablebase_hits: AtomicU64::new(0),
        }
    }

    /// Whether a mate is all that is asked for: then nobody passes, since
    /// zugzwang is what many problems are about.
    pub(super) fn seeks_mate(&self) -> bool {
        self.limits.mate.is_some()
    }
}
