//! Join of a source's annotated parts into what annotating the whole source makes.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Result;
use datasets::{PartOf, PartRead};
use host::archive::{changes, open_finished};

use crate::annotate::archive::{AnnotatedOutput, MadeBy, Opened, OutputRecord, Progress, as_error};
use crate::annotate::error::{Error, JoinError};
use crate::annotate::feed::SourcePart;

/// Annotated part, open for reading.
pub struct Part {
    path: PathBuf,
    file: File,
    record: OutputRecord,
    source: SourcePart,
    read: PartRead,
}

impl Part {
    fn open(path: &Path) -> Result<Part> {
        let (file, record): (File, OutputRecord) = open_finished(path).map_err(as_error)?;
        let whole = || Error::from(JoinError::Whole { path: path.into() });
        Ok(Part {
            path: path.into(),
            file,
            source: record.made_by.part.clone().ok_or_else(whole)?,
            read: record.done.counts.part.clone().ok_or_else(whole)?,
            record,
        })
    }

    /// Returns the settings of the joined output.
    fn made_by(&self, compressed: bool) -> MadeBy {
        MadeBy {
            part: None,
            compressed,
            ..self.record.made_by.clone()
        }
    }

    /// Checks that the part may be joined with another.
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

    /// Returns the size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.record.done.bytes
    }

    /// Calls `each` with every game in turn.
    fn games(&self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let unreadable = |error| datasets::SourceError::Unreadable {
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
        // An empty line after a line of moves ends a game.
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

/// Opens the outputs of all parts of one source, and sorts them.
///
/// # Errors
/// [`JoinError`] if they are not all its parts, and those of [`open_finished`].
pub fn open(paths: &[PathBuf]) -> Result<Vec<Part>> {
    let parts = paths.iter().map(|path| Part::open(path));
    Ok(in_order(parts.collect::<Result<_>>()?).map_err(Error::from)?)
}

/// Sorts parts after checking that they are all parts of one source.
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

/// Joins parts from [`open`] into one output; calls `each` with the bytes of finished parts.
/// Returns the record at once if the output is finished already.
///
/// # Errors
/// [`JoinError::Begun`], those of [`AnnotatedOutput::open`], and those of `each`, which stop the
/// join; the next call starts over.
pub fn join(
    parts: &[Part],
    out: &Path,
    compressed: bool,
    mut each: impl FnMut(u64) -> Result<()>,
) -> Result<OutputRecord> {
    let made_by = parts[0].made_by(compressed);
    let mut archive = match AnnotatedOutput::open(out, made_by)? {
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
