//! Nodes of the tree. All threads share them, and change them by atomics alone.

use std::mem::size_of;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI16, AtomicI64, AtomicU32, Ordering::Relaxed};

use cozy_chess::Move;

use super::noise::RootNoise;
use crate::evaluation::Score;

/// A result of 1 (a win) in the fixed-point sums of results, whose order then does not matter.
const ONE: f64 = (1u64 << 30) as f64;

/// [`Node::proof`] of a node that is not proven.
const UNPROVEN: i16 = i16::MIN;

/// A legal move and the policy's probability that it is played.
pub(super) type Prior = (Move, f32);

/// A position of the tree. Results and values are from the point of view of its side to move.
pub(super) struct Node {
    visits: AtomicU32,
    /// Playouts that have passed this node and not returned: each counts as a loss of the side that
    /// moved here ("virtual loss"), so that other threads try other moves.
    pending: AtomicU32,
    /// Sum of the results, in units of [`ONE`].
    results: AtomicI64,
    /// Proven score, with mates counted from this node.
    proof: AtomicI16,
    /// Legal moves, the likeliest first; none where the rules end the game. Set by the first visit.
    priors: OnceLock<Box<[Prior]>>,
    /// Children form a list in the order of the priors: as all moves without a visit have the same
    /// value, the likeliest of them comes next.
    first_child: OnceLock<Box<Node>>,
    next_sibling: OnceLock<Box<Node>>,
}

impl Default for Node {
    fn default() -> Node {
        Node {
            visits: AtomicU32::new(0),
            pending: AtomicU32::new(0),
            results: AtomicI64::new(0),
            proof: AtomicI16::new(UNPROVEN),
            priors: OnceLock::new(),
            first_child: OnceLock::new(),
            next_sibling: OnceLock::new(),
        }
    }
}

impl Node {
    /// Returns the number of finished playouts through this node.
    pub(super) fn visits(&self) -> u32 {
        self.visits.load(Relaxed)
    }

    /// Returns the number of playouts under way through this node.
    pub(super) fn pending(&self) -> u32 {
        self.pending.load(Relaxed)
    }

    /// Returns the sum of the results.
    pub(super) fn results(&self) -> f64 {
        self.results.load(Relaxed) as f64 / ONE
    }

    /// Returns the mean result; `None` without a visit.
    pub(super) fn mean(&self) -> Option<f64> {
        let visits = self.visits();
        (visits > 0).then(|| self.results() / f64::from(visits))
    }

    /// Returns the proven score, with mates counted from this node.
    pub(super) fn proof(&self) -> Option<Score> {
        match self.proof.load(Relaxed) {
            UNPROVEN => None,
            bits => Some(Score::from_bits(bits)),
        }
    }

    pub(super) fn prove(&self, score: Score) {
        self.proof.store(score.to_bits(), Relaxed);
    }

    /// Begins a playout through this node.
    pub(super) fn enter(&self) {
        self.pending.fetch_add(1, Relaxed);
    }

    /// Ends a playout through this node with a result; `None` if it was aborted.
    pub(super) fn leave(&self, result: Option<f64>) {
        if let Some(result) = result {
            self.results.fetch_add((result * ONE) as i64, Relaxed);
            self.visits.fetch_add(1, Relaxed);
        }
        self.pending.fetch_sub(1, Relaxed);
    }

    /// Returns the legal moves, the likeliest first; `None` before the first visit has ended.
    pub(super) fn priors(&self) -> Option<&[Prior]> {
        self.priors.get().map(|priors| &**priors)
    }

    /// Stores the legal moves, the likeliest first, and returns the memory that they take, in
    /// bytes.
    pub(super) fn expand(&self, priors: Box<[Prior]>) -> usize {
        let bytes = size_of_val(&*priors);
        match self.priors.set(priors) {
            Ok(()) => bytes,
            // Another thread was faster, and has found the same.
            Err(_) => 0,
        }
    }

    /// Mixes noise into the priors, if there are any. Moves with a node stay in front.
    pub(super) fn add_noise(&mut self, noise: RootNoise) {
        let children = self.children().count();
        if let Some(priors) = self.priors.get_mut() {
            noise.mix(priors, children);
        }
    }

    /// Returns the moves that have a node, with it, in the order of the priors.
    pub(super) fn children(&self) -> impl Iterator<Item = (&Prior, &Node)> {
        let priors = self.priors().unwrap_or_default();
        let first = self.first_child.get();
        let nodes = std::iter::successors(first, |node| node.next_sibling.get());
        priors.iter().zip(nodes.map(|node| &**node))
    }

    /// Returns the node of the first move without one, behind the `last` with one, and the memory
    /// that it takes, in bytes.
    pub(super) fn add_child<'a>(&'a self, last: Option<&'a Node>) -> (&'a Node, usize) {
        let slot = match last {
            Some(last) => &last.next_sibling,
            None => &self.first_child,
        };
        let mut bytes = 0;
        let node = slot.get_or_init(|| {
            bytes = size_of::<Node>();
            Box::default()
        });
        (node, bytes)
    }

    /// Removes the children, and returns them with their moves.
    pub(super) fn take_children(&mut self) -> Vec<(Move, Box<Node>)> {
        let mut next = self.first_child.take();
        let nodes = std::iter::from_fn(|| {
            let mut node = next.take()?;
            next = node.next_sibling.take();
            Some(node)
        });
        let moves = self.priors.get().into_iter().flatten().map(|(mv, _)| *mv);
        moves.zip(nodes).collect()
    }

    /// Forgets draws in the tree below: by repetition they depend on the root. Aborted playouts
    /// leave nothing.
    pub(super) fn forget_draws(&mut self) {
        let mut rest = vec![self];
        while let Some(node) = rest.pop() {
            if node.proof() == Some(Score::DRAW) {
                node.proof = AtomicI16::new(UNPROVEN);
                if node.priors().is_some_and(<[Prior]>::is_empty) {
                    node.priors = OnceLock::new();
                }
            }
            rest.extend(node.first_child.get_mut().map(|node| &mut **node));
            rest.extend(node.next_sibling.get_mut().map(|node| &mut **node));
        }
    }

    /// Returns the memory of the tree below, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let mut bytes = 0;
        let mut rest = vec![self];
        while let Some(node) = rest.pop() {
            bytes += size_of::<Node>() + size_of_val(node.priors().unwrap_or_default());
            rest.extend(node.first_child.get().map(|node| &**node));
            rest.extend(node.next_sibling.get().map(|node| &**node));
        }
        bytes
    }
}

/// Drops the tree without recursion, which long lines and lists would take too far.
impl Drop for Node {
    fn drop(&mut self) {
        let links = |node: &mut Node| [node.first_child.take(), node.next_sibling.take()];
        let mut rest: Vec<Box<Node>> = links(self).into_iter().flatten().collect();
        while let Some(mut node) = rest.pop() {
            rest.extend(links(&mut node).into_iter().flatten());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(node: &Node, moves: &[&str]) {
        let priors = moves.iter().map(|mv| (mv.parse().unwrap(), 0.5));
        node.expand(priors.collect());
    }

    #[test]
    fn draws_are_forgotten_and_wins_are_not() {
        let mut root = Node::default();
        expand(&root, &["e2e4", "d2d4"]);
        let (drawn, _) = root.add_child(None);
        expand(drawn, &[]);
        drawn.prove(Score::DRAW);
        let (lost, _) = root.add_child(Some(drawn));
        expand(lost, &[]);
        lost.prove(Score::mated_in(0));
        root.forget_draws();
        let children: Vec<&Node> = root.children().map(|(_, child)| child).collect();
        assert!(children[0].proof().is_none() && children[0].priors().is_none());
        assert!(children[1].proof().is_some() && children[1].priors().is_some());
    }

    #[test]
    fn children_are_taken_in_their_order() {
        let mut root = Node::default();
        expand(&root, &["e2e4", "d2d4", "c2c4"]);
        let (first, _) = root.add_child(None);
        first.enter();
        first.leave(Some(0.5));
        root.add_child(Some(first));
        assert!(root.add_child(Some(first)).1 == 0, "it is there");
        assert_eq!(root.bytes(), 3 * size_of::<Node>() + 3 * size_of::<Prior>());
        let taken = root.take_children();
        let moves: Vec<String> = taken.iter().map(|(mv, _)| mv.to_string()).collect();
        assert_eq!(moves, ["e2e4", "d2d4"]);
        assert_eq!((taken[0].1.visits(), taken[0].1.mean()), (1, Some(0.5)));
        assert_eq!(root.children().count(), 0);
    }

    /// Recursion would overflow the stack.
    #[test]
    fn long_lines_and_lists_are_dropped() {
        let root = Node::default();
        let mut last = &root;
        for _ in 0..200_000 {
            last = last.add_child(None).0;
        }
        let (mut sibling, _) = root.add_child(None);
        for _ in 0..200_000 {
            sibling = last.add_child(Some(sibling)).0;
        }
    }
}
