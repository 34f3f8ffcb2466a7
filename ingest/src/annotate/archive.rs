//! Output of annotation, and its progress through the sources: a `.pgn.zst` of many frames, or
//! plain `.pgn`.

use std::num::NonZero;
use std::path::Path;

use datasets::PartRead;
use host::archive::{self, ArchiveError, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::annotate::counts::AnnotationCounts;
use crate::annotate::error::Error;
use crate::annotate::feed::SourcePart;

/// Minimum text of a frame, some fifty games: the most work an interruption can cost.
const FRAME_BYTES: usize = 128 << 10;

/// Settings of an output, recorded in FILE.json. Only the same settings resume it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeBy {
    /// Identity of the engine.
    pub engine: String,
    /// UCI command that starts each search.
    pub go: String,
    /// UCI options that were set, in order.
    pub options: Vec<(String, String)>,
    /// Sampling interval: every N-th position of a game was evaluated.
    #[serde(default = "one")]
    pub every: NonZero<usize>,
    /// Positions queued in an engine.
    #[serde(default = "one")]
    pub ahead: NonZero<usize>,
    /// Whether games that had evaluations got new ones.
    pub replace: bool,
    /// Whether the output is zstd, rather than plain text.
    #[serde(default = "yes")]
    pub compressed: bool,
    /// Part of the source that was annotated; `None` if all of it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<SourcePart>,
}

/// Serde default of [`MadeBy::every`] and [`MadeBy::ahead`], for records without them.
fn one() -> NonZero<usize> {
    NonZero::<usize>::MIN
}

/// Serde default of [`MadeBy::compressed`], for records without it.
fn yes() -> bool {
    true
}

/// Progress up to which an output is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Bytes of the sources' text that were annotated.
    pub source_text: u64,
    /// SHA-256 of that text; empty for an output joined from parts.
    pub source_sha256: String,
    /// Counts over that text.
    pub tally: AnnotationCounts,
    /// Range and digests of an annotated part; `None` until it is finished, or without `--part`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartRead>,
}

/// Record of an output, stored in FILE.json.
pub type OutputRecord = archive::ArchiveRecord<MadeBy, Progress>;

/// Result of [`AnnotatedOutput::open`].
pub enum Opened {
    /// Output that was finished before with the same settings.
    Finished(Box<OutputRecord>),
    /// Output that needs more work.
    Begun(Box<AnnotatedOutput>),
}

/// Output in progress.
pub struct AnnotatedOutput {
    output: archive::Archive<MadeBy, Progress>,
    /// Text of the unfinished frame.
    text: Vec<u8>,
    /// Digest of the sources' text so far.
    source: Sha256,
    source_text: u64,
    tally: AnnotationCounts,
}

impl AnnotatedOutput {
    /// Begins or resumes an output. If `path` is a symbolic link, the files are made beside its
    /// target.
    ///
    /// # Errors
    /// [`Error`] if the output has other settings or is damaged, and [`datasets::StoreError`] if it
    /// is in use or cannot be written.
    pub fn open(path: &Path, made_by: MadeBy) -> anyhow::Result<Opened> {
        let compressed = made_by.compressed;
        let opened = archive::Archive::open(path, made_by, compressed);
        Ok(match opened.map_err(as_error)? {
            archive::OpenedArchive::Finished(record) => Opened::Finished(record),
            archive::OpenedArchive::Begun(output) => Opened::Begun(Box::new(AnnotatedOutput {
                tally: output.record().done.counts.tally.clone(),
                output: *output,
                text: Vec::new(),
                source: Sha256::new(),
                source_text: 0,
            })),
        })
    }

    /// Returns whether the output covers more of the sources than was skipped so far.
    pub fn is_behind(&self) -> bool {
        self.source_text < self.made().source_text
    }

    /// Returns the counts so far, including the unfinished frame.
    pub fn tally(&self) -> &AnnotationCounts {
        &self.tally
    }

    /// Hashes and counts source text that the output already covers, for [`Self::check_source`].
    pub fn pass_over(&mut self, text: &[u8]) {
        self.source.update(text);
        self.source_text += text.len() as u64;
    }

    /// Checks that the skipped text is what the output was made from.
    ///
    /// # Errors
    /// [`Error::OtherGames`] if it is not.
    pub fn check_source(&self) -> Result<(), Error> {
        let Progress {
            source_text,
            source_sha256,
            ..
        } = self.made();
        let same = *source_text == self.source_text
            && (*source_text == 0 || *source_sha256 == hex(&self.source));
        if same {
            return Ok(());
        }
        Err(Error::OtherGames {
            path: self.output.path().into(),
            bytes: *source_text,
        })
    }

    /// Appends one piece of the sources and its annotated text.
    ///
    /// # Errors
    /// [`datasets::StoreError::Unwritable`].
    pub fn push(
        &mut self,
        source: &[u8],
        text: &[u8],
        tally: &AnnotationCounts,
    ) -> anyhow::Result<()> {
        self.pass_over(source);
        self.tally.add(tally);
        if self.append(text)? {
            let progress = self.progress();
            self.output.count(progress).map_err(as_error)?;
        }
        Ok(())
    }

    /// Appends annotated text that the record does not count. Returns whether this ended a frame.
    ///
    /// # Errors
    /// [`datasets::StoreError::Unwritable`].
    pub fn append(&mut self, text: &[u8]) -> anyhow::Result<bool> {
        self.text.extend_from_slice(text);
        let full = self.text.len() >= FRAME_BYTES;
        if full {
            self.write_frame()?;
        }
        Ok(full)
    }

    /// Writes the last frame, records the range read of a part, and gives the output its name.
    ///
    /// # Errors
    /// [`datasets::StoreError::Unwritable`].
    pub fn finish(self, part: Option<PartRead>) -> anyhow::Result<OutputRecord> {
        let progress = self.progress();
        self.finish_as(Progress { part, ..progress })
    }

    /// Finishes like [`AnnotatedOutput::finish`], with progress counted by the caller.
    ///
    /// # Errors
    /// [`datasets::StoreError::Unwritable`].
    pub fn finish_as(mut self, progress: Progress) -> anyhow::Result<OutputRecord> {
        self.write_frame()?;
        self.output.finish(progress).map_err(as_error)
    }

    /// Writes the rest after the sources ended too early, so that FILE.part holds every game. The
    /// record does not count it: resuming makes the same frames as an uninterrupted run. Removes an
    /// output without any text.
    ///
    /// # Errors
    /// [`datasets::StoreError::Unwritable`].
    pub fn leave(mut self) -> anyhow::Result<()> {
        if *self.made() == Progress::default() && self.text.is_empty() {
            return self.output.remove().map_err(as_error);
        }
        self.write_frame()
    }

    fn write_frame(&mut self) -> anyhow::Result<()> {
        let text = std::mem::take(&mut self.text);
        self.output.append(&text).map_err(as_error)
    }

    /// Returns the recorded progress.
    fn made(&self) -> &Progress {
        &self.output.record().done.counts
    }

    fn progress(&self) -> Progress {
        Progress {
            source_text: self.source_text,
            source_sha256: hex(&self.source),
            tally: self.tally.clone(),
            part: None,
        }
    }
}

/// Converts an error to the one this program uses for the same cause.
pub fn as_error(error: ArchiveError) -> anyhow::Error {
    match error {
        ArchiveError::Locked { path } => datasets::StoreError::Locked { path }.into(),
        ArchiveError::File(error) => datasets::StoreError::from(error).into(),
        error => Error::Output(error).into(),
    }
}
