//! The sources of a dataset, without duplicates, whole or in parts.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::reading::{Damage, Finished};
use crate::source::{CHANGED, DigestNode, PartRead, SourceError, has_granules};
use crate::store::StoreError;
use records::position::Month;
use records::selection::SourceCounts;

/// Manifest entry of a source, or of a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEntry {
    /// File name without folders; `-` for standard input.
    pub name: String,
    /// Size of the whole source in (compressed) bytes.
    pub bytes: u64,
    /// Tree digest of the source or the part.
    pub digest: String,
    /// Tree digest of the first 16 KiB. Parts of one source have equal size and head; granule
    /// digests decide the rest.
    #[serde(default)]
    pub head: String,
    /// Granule digests of a whole source, to recognise its parts; empty for a part, and for a
    /// source added by an early version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) granules: Vec<DigestNode>,
    /// The part, until all parts are present; `None` for a whole source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartEntry>,
    /// Description of the damage; `None` if there was none.
    pub damage: Option<String>,
    /// Counts of what was read.
    pub tally: SourceCounts,
}

/// Manifest entry of one part of a source; parts are joined when all are present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// Result of reading the part.
    #[serde(flatten)]
    pub read: PartRead,
    /// Damage in the part.
    pub damage: Option<Damage>,
}

impl SourceEntry {
    pub(crate) fn new(name: &str, finished: Finished, tally: SourceCounts) -> SourceEntry {
        let Finished {
            bytes,
            digest,
            head,
            granules,
            part,
            damage,
        } = finished;
        SourceEntry {
            name: name.to_string(),
            bytes,
            digest,
            head,
            granules,
            damage: damage.as_ref().map(Damage::to_string),
            part: part.map(|read| PartEntry { read, damage }),
            tally,
        }
    }

    /// Returns `Ok(())` if the source is undamaged.
    ///
    /// # Errors
    /// [`SourceError::Damaged`].
    pub fn check(&self, path: &Path) -> Result<(), SourceError> {
        match &self.damage {
            None => Ok(()),
            Some(damage) => Err(SourceError::damaged(path, damage)),
        }
    }

    /// Returns the first and the last month with labels.
    pub fn months(&self) -> Option<(Month, Month)> {
        let months = &self.tally.months;
        let (first, _) = months.first_key_value()?;
        let (last, _) = months.last_key_value()?;
        Some((*first, *last))
    }

    /// Returns the entry without granule digests, for display.
    pub fn outline(&self) -> SourceEntry {
        SourceEntry {
            granules: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns whether size and head allow both to be of one source.
    pub fn may_be_of(&self, other: &SourceEntry) -> bool {
        (self.bytes, &self.head) == (other.bytes, &other.head)
    }

    /// Returns whether both are the same source, or the same part with the same result: bytes after
    /// a part can damage its last frame.
    pub(crate) fn is_same(&self, other: &SourceEntry) -> bool {
        match (&self.part, &other.part) {
            (None, None) => self.digest == other.digest,
            (Some(part), Some(other_part)) => {
                self.may_be_of(other) && part == other_part && self.tally == other.tally
            }
            _ => false,
        }
    }

    /// Returns whether this whole source covers the part `other`: neither is damaged, and the
    /// part's granules agree.
    pub(crate) fn has(&self, other: &SourceEntry) -> bool {
        let undamaged = self.damage.is_none() && other.damage.is_none();
        let part = other.part.as_ref().filter(|_| self.part.is_none());
        undamaged
            && self.may_be_of(other)
            && part.is_some_and(|part| part.read.is_within(&self.granules))
    }

    /// Byte range of a part; `None` for a whole source.
    fn range(&self) -> Option<&Range<u64>> {
        self.part.as_ref().map(|part| &part.read.range)
    }

    fn start(&self) -> u64 {
        self.range().map_or(0, |range| range.start)
    }

    /// Returns whether an undamaged source has these granules in `range`.
    pub(crate) fn has_granules(&self, range: &Range<u64>, granules: &[DigestNode]) -> bool {
        match &self.part {
            Some(part) => part.read.is_of(range, granules),
            None => has_granules(&self.granules, granules, range.start),
        }
    }

    fn unfit(&self, why: String) -> StoreError {
        StoreError::UnfitParts {
            source_name: self.name.clone(),
            why,
        }
    }
}

/// Returns the entry of the whole source with this digest.
pub(crate) fn with_digest<'a>(
    mut sources: impl Iterator<Item = &'a SourceEntry>,
    digest: &str,
) -> Option<&'a SourceEntry> {
    sources.find(|source| source.part.is_none() && source.digest == digest)
}

/// Returns the entry that covers `entry`: the same source or part, or the whole source of the part.
pub(crate) fn with_content<'a>(
    mut sources: impl Iterator<Item = &'a SourceEntry>,
    entry: &SourceEntry,
) -> Option<&'a SourceEntry> {
    sources.find(|source| source.is_same(entry) || source.has(entry))
}

/// Returns the entries that may cover a part about to be read, by size, head and range; empty if
/// the part is certainly new.
///
/// # Errors
/// [`StoreError::UnfitParts`] if another part overlaps with it.
pub(crate) fn that_may_have<'a>(
    sources: impl Iterator<Item = &'a SourceEntry>,
    (bytes, head): (u64, &str),
    range: &Range<u64>,
) -> Result<Vec<&'a SourceEntry>, StoreError> {
    let mut candidates = Vec::new();
    for source in sources.filter(|source| (source.bytes, &*source.head) == (bytes, head)) {
        let other = source.range();
        if let Some(other) = other {
            check_cut(source, other, range)?;
        }
        // A damaged source is read again, in case it was repaired.
        if source.damage.is_none() && other.is_none_or(|other| other == range) {
            candidates.push(source);
        }
    }
    Ok(candidates)
}

/// Checks that two parts of one source are equal or disjoint.
fn check_cut(entry: &SourceEntry, one: &Range<u64>, other: &Range<u64>) -> Result<(), StoreError> {
    if one == other || one.end <= other.start || other.end <= one.start {
        return Ok(());
    }
    Err(entry.unfit(format!(
        "bytes {}-{} and {}-{} overlap; cut it into one number of parts with one version of \
         `ingest`",
        one.start, one.end, other.start, other.end
    )))
}

/// Returns the distinct sources of some entries, ordered by digest, independent of the input order.
/// A complete set of parts becomes the whole source if the combination is unambiguous.
///
/// # Errors
/// [`StoreError::UnfitParts`].
pub(crate) fn union(
    entries: impl IntoIterator<Item = SourceEntry>,
) -> Result<Vec<SourceEntry>, StoreError> {
    let is_part = |entry: &SourceEntry| entry.part.is_some();
    let (parts, wholes) = entries.into_iter().partition(is_part);
    let (mut parts, mut wholes) = (united(parts), united(wholes));
    drop_known(&mut parts, &mut wholes);
    let joined = parts.chunk_by(SourceEntry::may_be_of).map(join);
    for Joined { whole, parts: used } in joined
        .collect::<Result<Vec<_>, StoreError>>()?
        .into_iter()
        .flatten()
    {
        parts.retain(|part| !used.iter().any(|used| used.is_same(part)));
        wholes.push(whole);
    }
    wholes = united(wholes);
    drop_known(&mut parts, &mut wholes);
    wholes.append(&mut parts);
    wholes.sort_by_cached_key(|entry| (entry.digest.clone(), entry.start()));
    Ok(wholes)
}

/// Sort key of a source's name. Among names of the same content the least is kept, which makes the
/// result independent of the order of builds; file names come before standard input.
pub(crate) fn name_rank(name: &str) -> (bool, &str) {
    (name == "-", name)
}

/// Deduplicates entries by content, keeping the first name; sorts them by size, head and offset.
fn united(mut entries: Vec<SourceEntry>) -> Vec<SourceEntry> {
    entries.sort_by_cached_key(|entry| {
        let source = (entry.bytes, entry.head.clone());
        let content = (entry.start(), entry.digest.clone(), entry.damage.clone());
        (
            source,
            content,
            entry.granules.is_empty(),
            entry.name.clone(),
        )
    });
    let mut united: Vec<SourceEntry> = Vec::new();
    for entry in entries {
        match united.iter_mut().find(|other| other.is_same(&entry)) {
            Some(other) if name_rank(&entry.name) < name_rank(&other.name) => {
                other.name = entry.name;
            }
            Some(_) => {}
            None => united.push(entry),
        }
    }
    united
}

/// Drops parts that whole sources cover, and empty parts of these. The whole source may take the
/// name of a part.
fn drop_known(parts: &mut Vec<SourceEntry>, wholes: &mut [SourceEntry]) {
    parts.retain(|part| {
        let is_empty = part.range().is_some_and(Range::is_empty);
        let has_it =
            |whole: &&mut SourceEntry| whole.has(part) || is_empty && whole.may_be_of(part);
        let Some(whole) = wholes.iter_mut().find(has_it) else {
            return true;
        };
        if name_rank(&part.name) < name_rank(&whole.name) {
            whole.name.clone_from(&part.name);
        }
        false
    });
}

/// A source joined from its parts.
struct Joined {
    whole: SourceEntry,
    parts: Vec<SourceEntry>,
}

/// Joins parts, possibly of several sources of equal size and head, to a source. If several
/// combinations exist, only undamaged parts are considered; `None` if that is still ambiguous or
/// parts are missing.
///
/// # Errors
/// [`StoreError::UnfitParts`] if all parts are present and do not fit.
fn join(entries: &[SourceEntry]) -> Result<Option<Joined>, StoreError> {
    let parts = entries
        .iter()
        .filter_map(|entry| Some((entry, entry.part.as_ref()?)));
    // Empty parts of a small source are not needed.
    let mut parts: Vec<Part> = parts
        .filter(|(_, part)| !part.read.range.is_empty())
        .collect();
    parts.sort_by_key(|(_, part)| (part.read.range.start, part.read.range.end));
    for pair in parts.windows(2) {
        check_cut(pair[0].0, &pair[0].1.read.range, &pair[1].1.read.range)?;
    }
    let mut ways = ways_to_join(&parts)?;
    if ways.len() > 1 {
        parts.retain(|(entry, _)| entry.damage.is_none());
        ways = ways_to_join(&parts)?;
    }
    let [parts] = &ways[..] else { return Ok(None) };
    let first = parts[0].0;
    let read = parts.iter().map(|(_, part)| &part.read);
    let (digest, granules) = PartRead::join(read, first.bytes).map_err(|why| first.unfit(why))?;
    let mut tally = SourceCounts::default();
    parts.iter().for_each(|(entry, _)| tally.add(&entry.tally));
    let damages = parts.iter().filter_map(|(_, part)| part.damage.clone());
    let names = parts.iter().map(|(entry, _)| &entry.name);
    let whole = SourceEntry {
        name: names
            .min_by_key(|name| name_rank(name))
            .cloned()
            .unwrap_or_default(),
        bytes: first.bytes,
        digest,
        head: first.head.clone(),
        granules,
        part: None,
        damage: Damage::joined(damages).map(|damage| damage.to_string()),
        tally,
    };
    let parts = parts.iter().map(|(entry, _)| (*entry).clone()).collect();
    Ok(Some(Joined { whole, parts }))
}

type Part<'a> = (&'a SourceEntry, &'a PartEntry);

/// Returns the combinations of parts, sorted by range, that form the source; several parts may
/// share a range. Empty if parts are missing. The search keeps at most two candidates per end,
/// enough to see whether there are several.
///
/// # Errors
/// [`StoreError::UnfitParts`] if all parts are present and do not fit.
fn ways_to_join<'a>(parts: &[Part<'a>]) -> Result<Vec<Vec<Part<'a>>>, StoreError> {
    let Some((first, _)) = parts.first() else {
        return Ok(Vec::new());
    };
    let ranges = || parts.chunk_by(|(_, a), (_, b)| a.read.range == b.read.range);
    let mut covered = 0;
    for rivals in ranges() {
        let range = &rivals[0].1.read.range;
        if range.start != covered {
            return Ok(Vec::new());
        }
        covered = range.end;
    }
    if covered != first.bytes {
        return Ok(Vec::new());
    }
    // Combinations up to the current range, with the end of their frames.
    let mut ways: Vec<(Vec<Part>, u64)> = vec![(Vec::new(), 0)];
    for rivals in ranges() {
        let mut longer: Vec<(Vec<Part>, u64)> = Vec::new();
        for ((way, end), &part) in ways
            .iter()
            .flat_map(|way| rivals.iter().map(move |part| (way, part)))
        {
            let Some(end) = part.1.read.frames_end(*end) else {
                continue;
            };
            if longer.iter().filter(|(_, other)| *other == end).count() < 2 {
                longer.push(([&way[..], &[part]].concat(), end));
            }
        }
        if longer.is_empty() {
            let (entry, part) = rivals[0];
            return Err(entry.unfit(part.read.misfit()));
        }
        ways = longer;
    }
    ways.retain(|(_, end)| *end == first.bytes);
    if ways.is_empty() {
        return Err(first.unfit(CHANGED.to_string()));
    }
    Ok(ways.into_iter().map(|(way, _)| way).collect())
}

#[cfg(test)]
mod tests;
