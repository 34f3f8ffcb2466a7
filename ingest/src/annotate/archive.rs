//! The output of annotating, and how far into the sources it is: a `.pgn.zst` of
//! many frames, or the same text as a plain `.pgn`.

use std::num::NonZero;
use std::path::Path;

use datasets::PartRead;
use host::archive::{self, ArchiveError, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::annotate::counts::AnnotationCounts;
use crate::annotate::error::Error;
use crate::annotate::feed::SourcePart;

/// A frame closes with the game that takes its text past this. Some fifty
/// games: the work that an interruption can cost.
const FRAME_BYTES: usize = 128 << 10;

/// What makes an output. An output is gone on with only by the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeBy {
    /// What the engine calls itself.
    pub engine: String,
    /// The UCI command that starts each search.
    pub go: String,
    /// Options set, in order.
    pub options: Vec<(String, String)>,
    /// Of so many positions of a game one was evaluated.
    #[serde(default = "one")]
    pub every: NonZero<usize>,
    /// Positions that an engine was sent before it had answered.
    #[serde(default = "one")]
    pub ahead: NonZero<usize>,
    /// Whether games that had evaluations got new ones.
    pub replace: bool,
    /// Whether it is zstd, or plain text.
    #[serde(default = "yes")]
    pub compressed: bool,
    /// Which part of its source it has, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<SourcePart>,
}

/// What records that say nothing of it mean by [`MadeBy::every`] and
/// [`MadeBy::ahead`].
fn one() -> NonZero<usize> {
    NonZero::<usize>::MIN
}

/// What records that say nothing of it mean by [`MadeBy::compressed`].
fn yes() -> bool {
    true
}

/// Up to where an output is whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Bytes of the sources' text that are in it.
    pub source_text: u64,
    /// SHA-256 of that text; empty where the output was joined from parts.
    pub source_sha256: String,
    /// What was counted in it.
    pub tally: AnnotationCounts,
    /// What was read of a source of which a part was to be read, at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartRead>,
}

/// FILE.json.
pub type Record = archive::Record<MadeBy, Progress>;

/// What [`Archive::open`] found.
pub enum Opened {
    /// The output is there, whole, and was made by the same.
    Finished(Box<Record>),
    /// There is work to do.
    Begun(Box<Archive>),
}

/// An output that is being made.
pub struct Archive {
    output: archive::Archive<MadeBy, Progress>,
    /// The frame that is being filled.
    text: Vec<u8>,
    /// The digest of the sources' text, up to here.
    source: Sha256,
    source_text: u64,
    tally: AnnotationCounts,
}

impl Archive {
    /// Begins an output, or goes on with one. Where `path` is a link, it stays
    /// one: all is made beside the file that it leads to.
    ///
    /// # Errors
    /// [`Error`] if the output was made by something else or is damaged, and
    /// [`datasets::Error`] if it is in use or cannot be written.
    pub fn open(path: &Path, made_by: MadeBy) -> anyhow::Result<Opened> {
        let compressed = made_by.compressed;
        let opened = archive::Archive::open(path, made_by, compressed);
        Ok(match opened.map_err(as_error)? {
            archive::Opened::Finished(record) => Opened::Finished(record),
            archive::Opened::Begun(output) => Opened::Begun(Box::new(Archive {
                tally: output.record().done.counts.tally.clone(),
                output: *output,
                text: Vec::new(),
                source: Sha256::new(),
                source_text: 0,
            })),
        })
    }

    /// Whether the output has more of the sources than was passed over.
    pub fn is_behind(&self) -> bool {
        self.source_text < self.made().source_text
    }

    /// What was counted so far, what is not sealed yet included.
    pub fn tally(&self) -> &AnnotationCounts {
        &self.tally
    }

    /// Takes in text of the sources that is in the output already.
    pub fn pass_over(&mut self, text: &[u8]) {
        self.source.update(text);
        self.source_text += text.len() as u64;
    }

    /// Whether what was passed over is what the output was made from.
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

    /// Adds one piece of the sources, and what became of it.
    ///
    /// # Errors
    /// [`datasets::Error::Unwritable`].
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

    /// Adds a game, or what became of a piece of the sources, that the record does not
    /// count. Tells whether a frame ends with it.
    ///
    /// # Errors
    /// [`datasets::Error::Unwritable`].
    pub fn append(&mut self, text: &[u8]) -> anyhow::Result<bool> {
        self.text.extend_from_slice(text);
        let full = self.text.len() >= FRAME_BYTES;
        if full {
            self.write_frame()?;
        }
        Ok(full)
    }

    /// Writes what is left and gives the output its name. Of a part of a source, that is
    /// told what was read of it.
    ///
    /// # Errors
    /// [`datasets::Error::Unwritable`].
    pub fn finish(self, part: Option<PartRead>) -> anyhow::Result<Record> {
        let progress = self.progress();
        self.finish_as(Progress { part, ..progress })
    }

    /// The same, with a record that was not counted here.
    ///
    /// # Errors
    /// [`datasets::Error::Unwritable`].
    pub fn finish_as(mut self, progress: Progress) -> anyhow::Result<Record> {
        self.write_frame()?;
        self.output.finish(progress).map_err(as_error)
    }

    /// Writes what is left, where the sources end too early: FILE.part then
    /// holds every game. The record does not count it, so that going on makes
    /// the same frames as one go. Where there is nothing, nothing is left.
    ///
    /// # Errors
    /// [`datasets::Error::Unwritable`].
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

    /// Up to where the record says the output is whole.
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

/// As this program says it of all its files.
pub fn as_error(error: ArchiveError) -> anyhow::Error {
    match error {
        ArchiveError::Locked { path } => datasets::Error::Locked { path }.into(),
        ArchiveError::File(error) => datasets::Error::from(error).into(),
        error => Error::Output(error).into(),
    }
}
