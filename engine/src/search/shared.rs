//! State shared by all threads of a search.

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::endgame::{Tablebase, Wdl};
use crate::evaluation::Evaluator;
use crate::search::limits::Limits;
use crate::search::reductions::Reductions;
use crate::search::report::Signals;
use crate::search::transposition_table::TranspositionTable;

/// State shared by all threads of a search.
pub(crate) struct Shared<'a> {
    pub(super) evaluator: &'a Evaluator,
    pub(super) table: &'a TranspositionTable,
    pub(super) tablebase: Option<&'a dyn Tablebase>,
    pub(super) limits: &'a Limits,
    pub(super) signals: &'a Signals<'a>,
    pub(super) reductions: &'a Reductions,
    /// Tablebase result of the root.
    pub(super) root_wdl: Option<Wdl>,
    /// Stops all threads; set by the first one at its end, and by any that panics.
    pub(super) halt: AtomicBool,
    /// Nodes and tablebase hits of all threads, updated at their periodic checks.
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

    /// Returns whether this is a mate search. Null moves are then disabled, since many problems are
    /// about zugzwang.
    pub(super) fn seeks_mate(&self) -> bool {
        self.limits.mate.is_some()
    }
}
