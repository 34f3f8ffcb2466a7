//! Digests of a kind that parts of something can be digested for apart, and joined:
//! the Merkle tree hash of RFC 6962, by SHA-256. That of a source is over leaves of
//! 16 KiB.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bytes of a leaf. The last leaf of a source may have less.
pub(crate) const LEAF_BYTES: u64 = 1 << 14;

/// What is hashed before a leaf, and before two nodes, so that one is not taken
/// for the other.
pub(crate) const LEAF: [u8; 1] = [0];
const NODE: [u8; 1] = [1];

/// A node of a tree, over `2^level` leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    level: u32,
    #[serde(with = "hexadecimal")]
    hash: [u8; 32],
}

impl Node {
    /// The node over two of one level that stand side by side.
    fn over(left: &Node, right: &Node) -> Node {
        let digest = Sha256::new().chain_update(NODE);
        let digest = digest.chain_update(left.hash).chain_update(right.hash);
        Node {
            level: left.level.max(right.level) + 1,
            hash: digest.finalize().into(),
        }
    }

    /// Leaves under it; `None` where nothing can have so many.
    fn leaves(&self) -> Option<u64> {
        (self.level < 48).then(|| 1 << self.level)
    }
}

/// The tree over a stretch of leaves.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// Leaves before what comes next, those before the stretch too.
    leaves: u64,
    /// The largest nodes over the stretch, from left to right.
    nodes: Vec<Node>,
}

impl Tree {
    /// A stretch that begins behind so many leaves.
    pub(crate) fn behind(leaves: u64) -> Tree {
        Tree {
            leaves,
            nodes: Vec::new(),
        }
    }

    /// Adds the leaf that stands next. It is the digest of [`LEAF`] and its bytes.
    pub(crate) fn push_leaf(&mut self, leaf: Sha256) {
        let hash = leaf.finalize().into();
        self.push(Node { level: 0, hash });
    }

    /// Adds the node that stands next, and joins it with those to its left as far
    /// as the tree of the whole does.
    fn push(&mut self, mut node: Node) {
        self.leaves += node.leaves().unwrap_or_default();
        while let Some(left) = self.nodes.last() {
            let both = 2 << node.level;
            if left.level != node.level || !self.leaves.is_multiple_of(both) {
                // The last leaf may be an only child: then it is left alone.
                break;
            }
            node = Node::over(left, &node);
            self.nodes.pop();
        }
        self.nodes.push(node);
    }

    /// The largest nodes over the stretch, from left to right.
    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    /// The digest of the stretch, hexadecimal.
    pub(crate) fn into_root(mut self) -> String {
        let Some(mut root) = self.nodes.pop() else {
            return hex(&Sha256::digest([]));
        };
        while let Some(left) = self.nodes.pop() {
            root = Node::over(&left, &root);
        }
        hex(&root.hash)
    }
}

/// The digest of a stretch of a source that begins with a leaf.
#[derive(Clone, Debug)]
pub(crate) struct TreeDigest {
    tree: Tree,
    /// The leaf that is not whole yet, and its bytes so far.
    leaf: Sha256,
    leaf_bytes: u64,
}

impl TreeDigest {
    /// A stretch that begins behind so many bytes.
    pub(crate) fn behind(bytes: u64) -> TreeDigest {
        TreeDigest {
            tree: Tree::behind(bytes / LEAF_BYTES),
            leaf: Sha256::new(),
            leaf_bytes: 0,
        }
    }

    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let missing = (LEAF_BYTES - self.leaf_bytes) as usize;
            let (now, rest) = bytes.split_at(missing.min(bytes.len()));
            if self.leaf_bytes == 0 {
                self.leaf.update(LEAF);
            }
            self.leaf.update(now);
            self.leaf_bytes += now.len() as u64;
            if self.leaf_bytes == LEAF_BYTES {
                self.end_leaf();
            }
            bytes = rest;
        }
    }

    fn end_leaf(&mut self) {
        self.leaf_bytes = 0;
        self.tree.push_leaf(std::mem::take(&mut self.leaf));
    }

    /// The tree over the stretch.
    fn into_tree(mut self) -> Tree {
        if self.leaf_bytes > 0 {
            self.end_leaf();
        }
        self.tree
    }

    /// The largest nodes over the stretch, from left to right.
    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.into_tree().into_nodes()
    }

    /// The digest of the stretch, hexadecimal.
    pub(crate) fn root(&self) -> String {
        self.clone().into_tree().into_root()
    }
}

/// The digest of so many leaves, of the nodes of its parts in their order; `None` if
/// they are not all of it.
pub(crate) fn joined<'a>(nodes: impl Iterator<Item = &'a Node>, leaves: u64) -> Option<String> {
    let mut tree = Tree::behind(0);
    for node in nodes {
        node.leaves()?;
        tree.push(node.clone());
    }
    (tree.leaves == leaves).then(|| tree.into_root())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A hash in JSON.
mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(hash: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::hex(hash))
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(from)?;
        let mut hash = [0; 32];
        let digits = text.as_bytes();
        if digits.len() != 2 * hash.len() {
            return Err(D::Error::custom("no SHA-256"));
        }
        for (byte, pair) in hash.iter_mut().zip(digits.chunks(2)) {
            let pair = str::from_utf8(pair).map_err(D::Error::custom)?;
            *byte = u8::from_str_radix(pair, 16).map_err(D::Error::custom)?;
        }
        Ok(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As RFC 6962 defines it.
    fn by_definition(leaves: &[&[u8]]) -> [u8; 32] {
        match leaves {
            [leaf] => Sha256::digest([&LEAF[..], leaf].concat()).into(),
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                let (left, right) = (by_definition(left), by_definition(right));
                Sha256::digest([&NODE[..], &left, &right].concat()).into()
            }
        }
    }

    #[test]
    fn a_digest_is_the_tree_of_rfc_6962_however_it_is_cut_into_parts() {
        let leaf = LEAF_BYTES as usize;
        let all: Vec<u8> = (0..leaf * 23).map(|i| (i * i / 251) as u8).collect();
        for bytes in [1, 77, leaf - 1, leaf, leaf + 1]
            .into_iter()
            .chain((2..23).flat_map(|n| [n * leaf, n * leaf + 5]))
        {
            let text = &all[..bytes];
            let leaves: Vec<&[u8]> = text.chunks(leaf).collect();
            let expected = hex(&by_definition(&leaves));
            let mut whole = TreeDigest::behind(0);
            text.chunks(10_007).for_each(|piece| whole.update(piece));
            assert_eq!(whole.root(), expected, "{bytes} bytes");
            for parts in 1..=9 {
                let cut = |part: usize| (leaves.len() * part / parts * leaf).min(bytes);
                let nodes = |part| {
                    let mut digest = TreeDigest::behind(cut(part) as u64);
                    digest.update(&text[cut(part)..cut(part + 1)]);
                    digest.into_nodes()
                };
                let nodes: Vec<Node> = (0..parts).flat_map(nodes).collect();
                let json = serde_json::to_string(&nodes).unwrap();
                let nodes: Vec<Node> = serde_json::from_str(&json).unwrap();
                let joined_parts = joined(nodes.iter(), leaves.len() as u64);
                assert_eq!(joined_parts, Some(expected.clone()), "{bytes} in {parts}");
                assert_eq!(joined(nodes[1..].iter(), leaves.len() as u64), None);
            }
        }
    }
}
