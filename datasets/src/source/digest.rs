//! Merkle tree hashes (RFC 6962, SHA-256): parts of the data can be digested separately and joined.
//! Leaves of a source have 16 KiB.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bytes of a leaf; the last leaf of a source may be shorter.
pub(crate) const LEAF_BYTES: u64 = 1 << 14;

/// Maximum granules of a source. The manifest keeps their nodes, so that parts of a source, which
/// are cut between granules, can be compared with the whole.
const GRANULES: u64 = 512;

/// Returns the lowest node level at which `bytes` bytes have at most [`GRANULES`] nodes.
pub(crate) fn granule_level(bytes: u64) -> u32 {
    let leaves = bytes.div_ceil(LEAF_BYTES);
    leaves
        .div_ceil(GRANULES)
        .next_power_of_two()
        .trailing_zeros()
}

/// Returns the granule size of a source of `bytes` bytes; the last may be shorter.
pub(crate) fn granule_bytes(bytes: u64) -> u64 {
    LEAF_BYTES << granule_level(bytes)
}

/// Domain separation: hashed before the content of a leaf, and before the children of a node.
pub(crate) const LEAF: [u8; 1] = [0];
const NODE: [u8; 1] = [1];

/// Tree node over `2^level` leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestNode {
    level: u32,
    #[serde(with = "hexadecimal")]
    hash: [u8; 32],
}

impl DigestNode {
    fn leaf(leaf: Sha256) -> DigestNode {
        let hash = leaf.finalize().into();
        DigestNode { level: 0, hash }
    }

    /// Joins two adjacent nodes of one level.
    fn over(left: &DigestNode, right: &DigestNode) -> DigestNode {
        let digest = Sha256::new().chain_update(NODE);
        let digest = digest.chain_update(left.hash).chain_update(right.hash);
        DigestNode {
            level: left.level.max(right.level) + 1,
            hash: digest.finalize().into(),
        }
    }

    /// Number of leaves; `None` if the level is impossibly high.
    fn leaves(&self) -> Option<u64> {
        (self.level < 48).then(|| 1 << self.level)
    }
}

/// Tree over a range of leaves.
#[derive(Clone, Debug)]
pub(crate) struct DigestTree {
    /// Number of leaves up to the end of the range, counted from the start of the whole.
    leaves: u64,
    /// Maximal complete nodes of the range, from left to right.
    nodes: Vec<DigestNode>,
    /// Maximum level of a node.
    top: u32,
}

impl DigestTree {
    /// Creates an empty range after `leaves` leaves.
    pub(crate) fn behind(leaves: u64) -> DigestTree {
        DigestTree::up_to(u32::MAX, leaves)
    }

    /// Creates an empty range whose nodes are joined up to level `top`.
    fn up_to(top: u32, leaves: u64) -> DigestTree {
        DigestTree {
            leaves,
            nodes: Vec::new(),
            top,
        }
    }

    /// Appends a leaf: the hash of [`LEAF`] and its bytes.
    pub(crate) fn push_leaf(&mut self, leaf: Sha256) {
        self.push(DigestNode::leaf(leaf));
    }

    /// Appends a node, and joins it with nodes to its left where the tree of the whole does.
    fn push(&mut self, mut node: DigestNode) {
        self.leaves += node.leaves().unwrap_or_default();
        while let Some(left) = self.nodes.last() {
            let both = 2 << node.level;
            let is_top = node.level >= self.top;
            if is_top || left.level != node.level || !self.leaves.is_multiple_of(both) {
                // The last leaf may be an only child, which stays unjoined.
                break;
            }
            node = DigestNode::over(left, &node);
            self.nodes.pop();
        }
        self.nodes.push(node);
    }

    /// Appends adjacent nodes.
    fn with(mut self, nodes: Vec<DigestNode>) -> DigestTree {
        nodes.into_iter().for_each(|node| self.push(node));
        self
    }

    /// Returns the maximal complete nodes of the range, from left to right.
    pub(crate) fn into_nodes(self) -> Vec<DigestNode> {
        self.nodes
    }

    /// Returns the root hash of the range, hexadecimal.
    pub(crate) fn into_root(mut self) -> String {
        let Some(mut root) = self.nodes.pop() else {
            return hex(&Sha256::digest([]));
        };
        while let Some(left) = self.nodes.pop() {
            root = DigestNode::over(&left, &root);
        }
        hex(&root.hash)
    }
}

/// Incremental tree digest of a byte range that begins at a leaf.
#[derive(Clone, Debug)]
pub(crate) struct TreeDigest {
    /// Tree of the range up to granule nodes.
    granules: DigestTree,
    /// Leaves before the range.
    before: u64,
    /// The incomplete leaf, and its bytes so far.
    leaf: Sha256,
    leaf_bytes: u64,
}

impl TreeDigest {
    /// Creates the digest of a range that begins at byte `bytes`, with granules of level `level`,
    /// raised when the range turns out to need more than [`GRANULES`].
    pub(crate) fn behind(bytes: u64, level: u32) -> TreeDigest {
        let before = bytes / LEAF_BYTES;
        TreeDigest {
            granules: DigestTree::up_to(level, before),
            before,
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
        let leaf = DigestNode::leaf(std::mem::take(&mut self.leaf));
        self.push(leaf);
    }

    fn push(&mut self, leaf: DigestNode) {
        self.granules.push(leaf);
        if self.granules.leaves > GRANULES << self.granules.top {
            let larger = DigestTree::up_to(self.granules.top + 1, self.before);
            self.granules = larger.with(std::mem::take(&mut self.granules.nodes));
        }
    }

    /// Returns the granule nodes of the range, from left to right; an incomplete last granule may
    /// have several nodes.
    pub(crate) fn granules(&self) -> Vec<DigestNode> {
        let mut ended = self.clone();
        if ended.leaf_bytes > 0 {
            ended.end_leaf();
        }
        ended.granules.into_nodes()
    }

    /// Returns the root hash of the range, hexadecimal.
    pub(crate) fn root(&self) -> String {
        DigestTree::behind(self.before)
            .with(self.granules())
            .into_root()
    }
}

/// Returns the granule nodes of a source of `bytes` bytes from the nodes of its parts in order;
/// empty if those are coarser than granules.
pub(crate) fn granules_of<'a>(
    nodes: impl Iterator<Item = &'a DigestNode>,
    bytes: u64,
) -> Vec<DigestNode> {
    let level = granule_level(bytes);
    let mut tree = DigestTree::up_to(level, 0);
    for node in nodes {
        if node.level > level {
            return Vec::new();
        }
        tree.push(node.clone());
    }
    tree.into_nodes()
}

/// Returns whether `stretch` equals the granules of `source` from byte `behind` on.
pub(crate) fn has_granules(source: &[DigestNode], stretch: &[DigestNode], behind: u64) -> bool {
    let mut before = 0;
    let start = source.iter().position(|node| {
        let is_start = before == behind / LEAF_BYTES;
        before += node.leaves().unwrap_or_default();
        is_start
    });
    let rest = start.map(|start| &source[start..]);
    !stretch.is_empty() && rest.is_some_and(|rest| rest.starts_with(stretch))
}

/// Joins the nodes of consecutive parts to the root hash of `leaves` leaves; `None` if any lack.
pub(crate) fn joined<'a>(
    nodes: impl Iterator<Item = &'a DigestNode>,
    leaves: u64,
) -> Option<String> {
    let mut tree = DigestTree::behind(0);
    for node in nodes {
        node.leaves()?;
        tree.push(node.clone());
    }
    (tree.leaves == leaves).then(|| tree.into_root())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Serialises a hash as hexadecimal text.
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
            return Err(D::Error::custom("not a SHA-256"));
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

    /// Recursive definition of RFC 6962.
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
    fn digest_is_the_rfc_6962_tree_for_any_parts() {
        let leaf = LEAF_BYTES as usize;
        let all: Vec<u8> = (0..leaf * 23).map(|i| (i * i / 251) as u8).collect();
        for bytes in [1, 77, leaf - 1, leaf, leaf + 1]
            .into_iter()
            .chain((2..23).flat_map(|n| [n * leaf, n * leaf + 5]))
        {
            let text = &all[..bytes];
            let leaves: Vec<&[u8]> = text.chunks(leaf).collect();
            let expected = hex(&by_definition(&leaves));
            let mut whole = TreeDigest::behind(0, 0);
            text.chunks(10_007).for_each(|piece| whole.update(piece));
            assert_eq!(whole.root(), expected, "{bytes} bytes");
            for parts in 1..=9 {
                let cut = |part: usize| (leaves.len() * part / parts * leaf).min(bytes);
                let nodes = |part| {
                    let mut digest = TreeDigest::behind(cut(part) as u64, 9);
                    digest.update(&text[cut(part)..cut(part + 1)]);
                    digest.granules()
                };
                let nodes: Vec<DigestNode> = (0..parts).flat_map(nodes).collect();
                let json = serde_json::to_string(&nodes).unwrap();
                let nodes: Vec<DigestNode> = serde_json::from_str(&json).unwrap();
                let joined_parts = joined(nodes.iter(), leaves.len() as u64);
                assert_eq!(joined_parts, Some(expected.clone()), "{bytes} in {parts}");
                assert_eq!(joined(nodes[1..].iter(), leaves.len() as u64), None);
            }
        }
    }
    /// Granules are independent of how the source is read: size known or not, whole or in parts.
    #[test]
    fn granules_identify_stretches() {
        let leaf = |number: u64| DigestNode {
            level: 0,
            hash: Sha256::digest(number.to_le_bytes()).into(),
        };
        let digest = |leaves: std::ops::Range<u64>, level: u32| {
            let mut digest = TreeDigest::behind(leaves.start * LEAF_BYTES, level);
            for number in leaves {
                digest.push(leaf(number));
            }
            digest
        };
        for leaves in [1, 511, 512, 513, 1024, 1025, 2051, 7777] {
            let bytes = leaves * LEAF_BYTES - 7;
            let level = granule_level(bytes);
            let whole = digest(0..leaves, 0);
            let granules = whole.granules();
            assert_eq!(granules, digest(0..leaves, level).granules(), "{leaves}");
            assert!(granules.len() as u64 <= GRANULES + u64::from(level));
            let granule = granule_bytes(bytes) / LEAF_BYTES;
            for parts in [2, 3, 7] {
                let cut = |part: u64| {
                    let granules = leaves.div_ceil(granule);
                    (granules * part / parts * granule).min(leaves)
                };
                let stretch = |part| digest(cut(part)..cut(part + 1), level).granules();
                let all: Vec<DigestNode> = (0..parts).flat_map(stretch).collect();
                assert_eq!(granules_of(all.iter(), bytes), granules);
                assert_eq!(joined(all.iter(), leaves), Some(whole.root()));
                for part in (0..parts).filter(|&part| cut(part) < cut(part + 1)) {
                    let behind = cut(part) * LEAF_BYTES;
                    let mut stretch = stretch(part);
                    assert!(has_granules(&granules, &stretch, behind));
                    let moved = behind + LEAF_BYTES;
                    assert!(leaves <= 1 || !has_granules(&granules, &stretch, moved));
                    stretch[0].hash[0] ^= 1;
                    assert!(!has_granules(&granules, &stretch, behind));
                }
            }
        }
        let coarse = digest(0..1024, 9).granules();
        assert_eq!(granules_of(coarse.iter(), 1024 * LEAF_BYTES), []);
    }
}
