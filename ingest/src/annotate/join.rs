//! The annotated parts of a source, joined to what annotating all of it makes.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Result;
use datasets::{PartOf, PartRead};
use host::archive::{changes, open_finished};

use crate::annotate::archive::{Archive, MadeBy, Opened, Progress, Record, as_error};
use crate::annotate::error::Error;
use crate::annotate::feed::SourcePart;

/// Why outputs are not joined. Each message is one line that names them.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// An output has all of its sources.
    #[error("{path}: not made with --part", path = path.display())]
    Whole {
        /// The output.
        path: PathBuf,
    },
    /// Two outputs have parts of different sources.
    #[error("{path}: part of another source than {other}", path = path.display(), other = other.display())]
    OtherSource {
        /// One output.
        path: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// Two outputs were made with different settings.
    #[error(
        "{path}: made with other settings than {other} ({changes})",
        path = path.display(), other = other.display()
    )]
    OtherSettings {
        /// One output.
        path: PathBuf,
        /// The other.
        other: PathBuf,
        /// What [`changes`] tells of the settings of the first.
        changes: String,
    },
    /// A source was cut into several numbers of parts.
    #[error(
        "{path}: part {part}, but {other} is part {other_part}: annotate one number of parts",
        path = path.display(), other = other.display()
    )]
    OtherCut {
        /// One output.
        path: PathBuf,
        /// Its part.
        part: PartOf,
        /// The other output.
        other: PathBuf,
        /// Its part.
        other_part: PartOf,
    },
    /// A part is there twice.
    #[error(
        "{path}: part {part}, as {other} is: give each part once",
        path = path.display(), other = other.display()
    )]
    Twice {
        /// One output.
        path: PathBuf,
        /// Its part.
        part: PartOf,
        /// The other output.
        other: PathBuf,
    },
    /// Parts are missing.
    #[error("{path} is part {part}; missing: {missing}", path = path.display())]
    Missing {
        /// An output that is there.
        path: PathBuf,
        /// Its part.
        part: PartOf,
        /// Which are not.
        missing: String,
    },
    /// Parts were read of what was not the same source.
    #[error("{path}: does not fit the other parts: {why}", path = path.display())]
    Unfit {
        /// The output of the first part.
        path: PathBuf,
        /// Why not, and what to do.
        why: String,
    },
    /// The output was begun by annotating.
    #[error(
        "{path}: begun by `ingest annotate`; finish it with that, or give another --out",
        path = path.display()
    )]
    Begun {
        /// The output.
        path: PathBuf,
    },
}

/// A part that was annotated, open to read.
pub struct Part {
    path: PathBuf,
    file: File,
    record: Record,
    source: SourcePart,
    read: PartRead,
}

impl Part {
    fn open(path: &Path) -> Result<Part> {
        let (file, record): (File, Record) = open_finished(path).map_err(as_error)?;
        let whole = || Error::from(JoinError::Whole { path: path.into() });
        Ok(Part {
            path: path.into(),
            file,
            source: record.made_by.part.clone().ok_or_else(whole)?,
            read: record.done.counts.part.clone().ok_or_else(whole)?,
            record,
        })
    }

    /// What would have made all of it, in a file that is compressed or not.
    fn made_by(&self, compressed: bool) -> MadeBy {
        MadeBy {
            part: None,
            compressed,
            ..self.record.made_by.clone()
        }
    }

    /// Whether it may be joined with another.
    fn check_like(&self, other: &Part) -> Result<(), JoinError> {
        let (path, other_path) = (self.path.clone(), other.path.clone());
        let (source, other_source) = (&self.source, &other.source);
        if (source.bytes, &source.head) != (other_source.bytes, &other_source.head) {
            return Err(JoinError::OtherSource {
                path,
                other: other_path,
            });
        }
        let (found, wanted) = (other.made_by(true), self.made_by(true));
        if found != wanted {
            return Err(JoinError::OtherSettings {
                path,
                other: other_path,
                changes: changes(&found, &wanted),
            });
        }
        if source.part.of() != other_source.part.of() {
            return Err(JoinError::OtherCut {
                path,
                part: source.part,
                other: other_path,
                other_part: other_source.part,
            });
        }
        Ok(())
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.record.done.bytes
    }

    /// Hands its games to `each`, one after another.
    fn games(&self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let unreadable = |error| datasets::Error::Unreadable {
            path: self.path.clone(),
            error,
        };
        let compressed = self.record.made_by.compressed && self.bytes() > 0;
        let mut text: Box<dyn BufRead> = match compressed {
            true => {
                let decoder = zstd::Decoder::new(&self.file).map_err(unreadable)?;
                Box::new(BufReader::new(decoder))
            }
            false => Box::new(BufReader::new(&self.file)),
        };
        let mut game = Vec::new();
        // A game's moves are one line, and an empty one ends it.
        let mut has_moves = false;
        loop {
            let start = game.len();
            if text.read_until(b'\n', &mut game).map_err(unreadable)? == 0 {
                return each(&game);
            }
            match &game[start..] {
                b"\n" if has_moves => {
                    each(&game)?;
                    game.clear();
                    has_moves = false;
                }
                line => has_moves |= !matches!(line, [b'\n' | b'[', ..]),
            }
        }
    }
}

/// Opens outputs that are all parts of one source, and puts them into their order.
///
/// # Errors
/// [`JoinError`] if they are not, and what [`open_finished`] says.
pub fn open(paths: &[PathBuf]) -> Result<Vec<Part>> {
    let parts = paths.iter().map(|path| Part::open(path));
    Ok(in_order(parts.collect::<Result<_>>()?).map_err(Error::from)?)
}

/// All parts of one source, in their order.
fn in_order(mut parts: Vec<Part>) -> Result<Vec<Part>, JoinError> {
    let Some(first) = parts.first() else {
        return Ok(parts);
    };
    for part in &parts[1..] {
        part.check_like(first)?;
    }
    let of = |wanted: PartOf| parts.iter().filter(move |part| part.source.part == wanted);
    let mut missing = Vec::new();
    for wanted in first.source.part.all() {
        let mut found = of(wanted);
        let Some(part) = found.next() else {
            missing.push(wanted.to_string());
            continue;
        };
        if let Some(other) = found.next() {
            return Err(JoinError::Twice {
                path: other.path.clone(),
                part: wanted,
                other: part.path.clone(),
            });
        }
    }
    if !missing.is_empty() {
        return Err(JoinError::Missing {
            path: first.path.clone(),
            part: first.source.part,
            missing: missing.join(", "),
        });
    }
    parts.sort_by_key(|part| part.source.part);
    let read = parts.iter().map(|part| &part.read);
    let digest = PartRead::whole(read, parts[0].source.bytes);
    let unfit = |why: String| JoinError::Unfit {
        path: parts[0].path.clone(),
        why,
    };
    let digest = digest.map_err(unfit)?;
    digest.ok_or_else(|| unfit("they do not cover it".to_string()))?;
    Ok(parts)
}

/// Joins parts that [`open`] gave to an output of all their games; `each` is told how
/// many bytes of them are done. It may be there already.
///
/// # Errors
/// [`JoinError::Begun`], what [`Archive::open`] says, and those of `each`, which stop
/// the joining: begun again, it begins anew.
pub fn join(
    parts: &[Part],
    out: &Path,
    compressed: bool,
    mut each: impl FnMut(u64) -> Result<()>,
) -> Result<Record> {
    let made_by = parts[0].made_by(compressed);
    let mut archive = match Archive::open(out, made_by)? {
        Opened::Finished(record) => return Ok(*record),
        Opened::Begun(archive) if archive.is_behind() => {
            let begun = JoinError::Begun { path: out.into() };
            return Err(Error::from(begun).into());
        }
        Opened::Begun(archive) => archive,
    };
    let mut progress = Progress::default();
    let mut done = 0;
    for part in parts {
        part.games(|game| {
            archive.append(game)?;
            each(done)
        })?;
        done += part.bytes();
        let counts = &part.record.done.counts;
        progress.source_text += counts.source_text;
        progress.tally.add(&counts.tally);
    }
    archive.finish_as(progress)
}
