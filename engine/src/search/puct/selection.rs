//! Choice of a node's move: in a playout by PUCT, at the end by visits.

use std::cmp::Reverse;

use cozy_chess::Move;

use super::node::{Node, Prior};
use crate::evaluation::Score;
use crate::search::params::{
    PUCT_BASE, PUCT_EXPLORATION, PUCT_EXPLORATION_GROWTH, PUCT_URGENCY_LOSS, Tunable,
};

/// A move that a playout plays next.
pub(super) enum Choice<'a> {
    /// A move with a node.
    Visited(&'a Prior, &'a Node),
    /// The first move without a node, and the last node before it.
    New(&'a Prior, Option<&'a Node>),
}

/// Returns the score of a node's move by the proof of its child.
pub(super) fn seen_by_parent(child: Score) -> Score {
    let score = -child;
    match (score.is_win(), score.is_loss()) {
        (true, _) => score - 1,
        (_, true) => score + 1,
        _ => score,
    }
}

/// Returns a parameter given in hundredths.
pub(super) fn hundredths(tunable: &Tunable) -> f64 {
    f64::from(tunable.get()) / 100.0
}

/// Returns the move of a node that a playout plays next; `None` if it has none.
pub(super) fn choose(node: &Node) -> Option<Choice<'_>> {
    let priors = node.priors()?;
    let visits = f64::from(node.visits() + node.pending());
    let growth = hundredths(&PUCT_EXPLORATION_GROWTH) * (visits / PUCT_BASE).ln_1p();
    let exploration = (hundredths(&PUCT_EXPLORATION) + growth) * visits.max(1.0).sqrt();
    let mut best = None;
    let mut most = f64::NEG_INFINITY;
    let mut expected = 0.0;
    let mut last = None;
    let mut count = 0;
    for (prior, child) in node.children() {
        count += 1;
        last = Some(child);
        expected += f64::from(prior.1);
        let proof = child.proof().map(seen_by_parent);
        if proof.is_some_and(Score::is_loss) {
            continue;
        }
        let pending = f64::from(child.pending());
        let visits = f64::from(child.visits()) + pending;
        // Another thread's first visit may not have begun.
        let mean = -(child.results() + pending) / visits.max(1.0);
        let urgency = mean + exploration * f64::from(prior.1) / (1.0 + visits);
        if urgency > most {
            (best, most) = (Some(Choice::Visited(prior, child)), urgency);
        }
    }
    if let Some(prior) = priors.get(count) {
        let value =
            node.mean().unwrap_or_default() - hundredths(&PUCT_URGENCY_LOSS) * expected.sqrt();
        if value + exploration * f64::from(prior.1) > most {
            return Some(Choice::New(prior, last));
        }
    }
    // All moves lose: any will do.
    best.or_else(|| {
        let (prior, child) = node.children().next()?;
        Some(Choice::Visited(prior, child))
    })
}

/// Returns the proof of a node by those of its children; `None` if it has none. A win needs one
/// move, all else all of them.
pub(super) fn proof(node: &Node) -> Option<Score> {
    let moves = node.priors()?.len();
    let scores = node
        .children()
        .map(|(_, child)| child.proof().map(seen_by_parent));
    let mut proven = 0;
    let mut best = -Score::INFINITE;
    for score in scores.flatten() {
        proven += 1;
        best = best.max(score);
    }
    (best.is_win() || proven == moves && moves > 0).then_some(best)
}

/// Returns the moves with a node, the one to play first: proven wins, the shortest first; then by
/// visits; then proven losses, the longest first.
pub(super) fn ranked(node: &Node) -> Vec<(Move, &Node)> {
    let mut moves: Vec<(Move, &Node)> = node
        .children()
        .map(|((mv, _), child)| (*mv, child))
        .collect();
    moves.sort_by_key(|(_, child)| {
        let proof = child.proof().map(seen_by_parent);
        let decided = proof.filter(|score| score.is_decided());
        Reverse((decided.unwrap_or(Score::DRAW), child.visits()))
    });
    moves
}

/// Returns the line of the moves to play.
pub(super) fn line(node: &Node) -> Vec<Move> {
    let mut line = Vec::new();
    let mut node = node;
    while let Some(&(mv, child)) = ranked(node).first()
        && (child.visits() > 0 || child.proof().is_some())
    {
        line.push(mv);
        node = child;
    }
    line
}
