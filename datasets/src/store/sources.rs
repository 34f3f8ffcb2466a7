//! The sources of a dataset, each once, whole or in parts.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::input::PartRead;
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
    /// The digest of its first 16 KiB: with the size, what parts of one source have
    /// in common.
    #[serde(default)]
    pub head: String,
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
            part,
            damage,
        } = finished;
        SourceEntry {
            name: name.to_string(),
            bytes,
            digest,
            head,
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

    /// Whether both are of one source, as far as their beginnings tell.
    fn is_of(&self, bytes: u64, head: &str) -> bool {
        self.bytes == bytes && self.head == head
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

/// The entry that has a part of a source already: that of the part, or of the
/// whole source.
///
/// # Errors
/// [`Error::UnfitParts`] if there is a part that overlaps with it.
pub(crate) fn with_part<'a>(
    mut sources: impl Iterator<Item = &'a SourceEntry>,
    (bytes, head): (u64, &str),
    range: &std::ops::Range<u64>,
) -> Result<Option<&'a SourceEntry>, Error> {
    sources
        .find_map(|source| {
            let other = match &source.part {
                _ if !source.is_of(bytes, head) => return None,
                None => return Some(Ok(source)),
                Some(part) => &part.read.range,
            };
            let overlap = range.start < other.end && other.start < range.end;
            if range == other {
                return Some(Ok(source));
            }
            overlap.then(|| {
                Err(source.unfit(format!(
                    "bytes {}-{} and {}-{} overlap; cut it into one number of parts",
                    other.start, other.end, range.start, range.end
                )))
            })
        })
        .transpose()
}

/// Adds a source or a part of one, unless it is there. Once all parts of a source are
/// there, the whole source takes their place.
///
/// # Errors
/// [`Error::UnfitParts`].
pub(crate) fn add(sources: &mut Vec<SourceEntry>, entry: SourceEntry) -> Result<(), Error> {
    let known = match &entry.part {
        None => with_digest(sources.iter(), &entry.digest),
        Some(part) => {
            let source = (entry.bytes, &*entry.head);
            with_part(sources.iter(), source, &part.read.range)?
        }
    };
    if let Some(known) = known {
        if known.part.is_some() && known.digest != entry.digest {
            return Err(entry.unfit("one was read twice, and was another each time".to_string()));
        }
        return Ok(());
    }
    let is_part = entry.part.is_some();
    let (bytes, head) = (entry.bytes, entry.head.clone());
    let is_part_of_it = |source: &SourceEntry| source.part.is_some() && source.is_of(bytes, &head);
    if !is_part {
        sources.retain(|source| !is_part_of_it(source));
    }
    sources.push(entry);
    if is_part {
        let parts: Vec<&SourceEntry> = sources.iter().filter(|s| is_part_of_it(s)).collect();
        if let Some(whole) = whole(parts)? {
            sources.retain(|source| !is_part_of_it(source));
            return add(sources, whole);
        }
    }
    let start = |source: &SourceEntry| source.part.as_ref().map(|part| part.read.range.start);
    sources.sort_by(|a, b| (&a.digest, start(a)).cmp(&(&b.digest, start(b))));
    Ok(())
}

/// The source that these are the parts of, if they are all of it.
fn whole(entries: Vec<&SourceEntry>) -> Result<Option<SourceEntry>, Error> {
    let parts = entries
        .iter()
        .filter_map(|entry| Some((*entry, entry.part.as_ref()?)));
    let mut parts: Vec<(&SourceEntry, &PartEntry)> = parts.collect();
    // A small source may have empty parts.
    parts.retain(|(_, part)| !part.read.range.is_empty());
    parts.sort_by_key(|(_, part)| part.read.range.start);
    let Some(&(first, _)) = parts.first() else {
        return Ok(None);
    };
    let read = parts.iter().map(|(_, part)| &part.read);
    let digest = PartRead::whole(read, first.bytes).map_err(|why| first.unfit(why))?;
    let Some(digest) = digest else {
        return Ok(None);
    };
    let mut tally = SourceCounts::default();
    parts.iter().for_each(|(entry, _)| tally.add(&entry.tally));
    let damages = parts.iter().filter_map(|(_, part)| part.damage.clone());
    let names = parts.iter().map(|(entry, _)| &entry.name);
    Ok(Some(SourceEntry {
        name: names.min().cloned().unwrap_or_default(),
        bytes: first.bytes,
        digest,
        head: first.head.clone(),
        part: None,
        damage: Damage::joined(damages).map(|damage| damage.to_string()),
        tally,
    }))
}

#[cfg(test)]
mod tests;
