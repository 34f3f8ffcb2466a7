//! The sources of a dataset, each once, whole or in parts.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::input::{CHANGED, Node, PartRead, has_granules};
use crate::reading::{Damage, Finished};
use records::position::Month;
use records::selection::SourceCounts;

/// One source that was taken in, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEntry {
    /// The file's name, without its folders; `-` for standard input.
    pub name: String,
    /// Its size in (compressed) bytes.
    pub bytes: u64,
    /// The digest of those bytes, or of the part's. Format 3 has a plain SHA-256.
    #[serde(alias = "sha256")]
    pub digest: String,
    /// The digest of its first 16 KiB. Parts of sources that differ in this or in size are
    /// not of one source; of others the digests of their granules decide.
    #[serde(default)]
    pub head: String,
    /// The digests of its granules, by which its parts are known; none of a part, nor of
    /// a source that was taken in by a version that did not note them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) granules: Vec<Node>,
    /// Which part was taken in, while not all of them are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartEntry>,
    /// Why it could not be read to its end, if it could not.
    pub damage: Option<String>,
    /// What was read from it.
    pub tally: SourceCounts,
}

/// What is known of a part of a source, to join it with the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// What was read.
    #[serde(flatten)]
    pub read: PartRead,
    /// The damage in it.
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

    /// Nothing, if the source was read to its end.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        match &self.damage {
            None => Ok(()),
            Some(damage) => Err(Error::damaged(path, damage)),
        }
    }

    /// The first and the last month that it has labels of.
    pub fn months(&self) -> Option<(Month, Month)> {
        let months = &self.tally.months;
        let (first, _) = months.first_key_value()?;
        let (last, _) = months.last_key_value()?;
        Some((*first, *last))
    }

    /// The entry without the digests of granules, to be shown.
    pub fn outline(&self) -> SourceEntry {
        SourceEntry {
            granules: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns whether both may be of one source, as far as size and beginning tell.
    pub fn may_be_of(&self, other: &SourceEntry) -> bool {
        (self.bytes, &self.head) == (other.bytes, &other.head)
    }

    /// Returns whether both are the same source, or the same part that was read alike:
    /// what follows a part can damage its last frame.
    pub(crate) fn is_same(&self, other: &SourceEntry) -> bool {
        match (&self.part, &other.part) {
            (None, None) => self.digest == other.digest,
            (Some(part), Some(other_part)) => {
                self.may_be_of(other) && part == other_part && self.tally == other.tally
            }
            _ => false,
        }
    }

    /// Returns whether a whole source has a part, and all that was read of it: neither is
    /// damaged, and the source has the bytes of the part.
    pub(crate) fn has(&self, other: &SourceEntry) -> bool {
        let undamaged = self.damage.is_none() && other.damage.is_none();
        let part = other.part.as_ref().filter(|_| self.part.is_none());
        undamaged
            && self.may_be_of(other)
            && part.is_some_and(|part| part.read.is_within(&self.granules))
    }

    /// The bytes of the part, if it is one.
    fn range(&self) -> Option<&Range<u64>> {
        self.part.as_ref().map(|part| &part.read.range)
    }

    fn start(&self) -> u64 {
        self.range().map_or(0, |range| range.start)
    }

    /// Returns whether a source without damage has the bytes of a part, by the digests of
    /// their granules.
    pub(crate) fn has_granules(&self, range: &Range<u64>, granules: &[Node]) -> bool {
        match &self.part {
            Some(part) => part.read.is_of(range, granules),
            None => has_granules(&self.granules, granules, range.start),
        }
    }

    fn unfit(&self, why: String) -> Error {
        Error::UnfitParts {
            source_name: self.name.clone(),
            why,
        }
    }
}

/// The entry of the whole source with this digest.
pub(crate) fn with_digest<'a>(
    mut sources: impl Iterator<Item = &'a SourceEntry>,
    digest: &str,
) -> Option<&'a SourceEntry> {
    sources.find(|source| source.part.is_none() && source.digest == digest)
}

/// The entry that says all that another one does: of the same source or part, or of the
/// whole source that it is a part of.
pub(crate) fn with_content<'a>(
    mut sources: impl Iterator<Item = &'a SourceEntry>,
    entry: &SourceEntry,
) -> Option<&'a SourceEntry> {
    sources.find(|source| source.is_same(entry) || source.has(entry))
}

/// The entries that may have a part of a source that is about to be read, as far as can be
/// told without its digest; none if it is certainly new.
///
/// # Errors
/// [`Error::UnfitParts`] if there is a part that overlaps with it.
pub(crate) fn that_may_have<'a>(
    sources: impl Iterator<Item = &'a SourceEntry>,
    (bytes, head): (u64, &str),
    range: &Range<u64>,
) -> Result<Vec<&'a SourceEntry>, Error> {
    let mut candidates = Vec::new();
    for source in sources.filter(|source| (source.bytes, &*source.head) == (bytes, head)) {
        let other = source.range();
        if let Some(other) = other {
            check_cut(source, other, range)?;
        }
        // A damaged one is read again: it may have been mended.
        if source.damage.is_none() && other.is_none_or(|other| other == range) {
            candidates.push(source);
        }
    }
    Ok(candidates)
}

/// Checks that two parts of one source are the same, or apart.
fn check_cut(entry: &SourceEntry, one: &Range<u64>, other: &Range<u64>) -> Result<(), Error> {
    if one == other || one.end <= other.start || other.end <= one.start {
        return Ok(());
    }
    Err(entry.unfit(format!(
        "bytes {}-{} and {}-{} overlap; cut it into one number of parts, by one version of \
         `ingest`",
        one.start, one.end, other.start, other.end
    )))
}

/// The sources of some entries, each once and ordered by digest, in whatever order the
/// entries come. All parts of a source become the whole source where it is certain which
/// of them belong together; else they stay parts.
///
/// # Errors
/// [`Error::UnfitParts`].
pub(crate) fn union(
    entries: impl IntoIterator<Item = SourceEntry>,
) -> Result<Vec<SourceEntry>, Error> {
    let is_part = |entry: &SourceEntry| entry.part.is_some();
    let (parts, wholes) = entries.into_iter().partition(is_part);
    let (mut parts, mut wholes) = (united(parts), united(wholes));
    drop_known(&mut parts, &mut wholes);
    let joined = parts.chunk_by(SourceEntry::may_be_of).map(join);
    for Joined { whole, parts: used } in joined
        .collect::<Result<Vec<_>, Error>>()?
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

/// Rank of a source's name among several for the same content: the least is kept, so that the
/// order of builds does not show. A file's name comes before that of standard input.
pub(crate) fn name_rank(name: &str) -> (bool, &str) {
    (name == "-", name)
}

/// One entry of each content, with the first of its names, ordered by size, beginning and
/// place.
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

/// Drops the parts that whole sources have, and empty parts of such. A source is named by
/// its parts too.
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

/// A source that was put together, and its parts.
struct Joined {
    whole: SourceEntry,
    parts: Vec<SourceEntry>,
}

/// Puts a source together from parts that may be of several sources of one size and
/// beginning. Where that can be done in several ways, parts without damage decide; `None`
/// if they do not, or if parts are missing.
///
/// # Errors
/// [`Error::UnfitParts`] if all parts are there and do not fit.
fn join(entries: &[SourceEntry]) -> Result<Option<Joined>, Error> {
    let parts = entries
        .iter()
        .filter_map(|entry| Some((entry, entry.part.as_ref()?)));
    // A small source may have empty parts.
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

/// The ways to put a source together from parts that are ordered by their ranges, of which
/// several may differ: none if parts are missing, and no more than needed to tell whether
/// there are several.
///
/// # Errors
/// [`Error::UnfitParts`] if all parts are there and do not fit.
fn ways_to_join<'a>(parts: &[Part<'a>]) -> Result<Vec<Vec<Part<'a>>>, Error> {
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
    // Parts up to here, and where their frames end.
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
