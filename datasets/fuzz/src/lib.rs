//! What the targets share: a file in memory, and what must hold of everything
//! that is read from one.

use std::path::{Path, PathBuf};

use datasets::{
    Chunk, Error, Filters, GameTexts, Reading, Record, Source, SourceCounts, Transcript, games,
};
use records::position::packed_and_unpacked;
use tempfile::TempDir;

/// A file that is written anew for each input, on a file system in memory.
pub struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// Makes the folder it lies in.
    ///
    /// # Panics
    /// If the system does not let it.
    pub fn new() -> Scratch {
        let memory = Path::new("/dev/shm");
        let base = match memory.is_dir() {
            true => memory.to_path_buf(),
            false => std::env::temp_dir(),
        };
        let folder = tempfile::tempdir_in(base).expect("a folder to write to");
        Scratch { folder }
    }

    /// The file, with this content.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).expect("the file is written");
        path
    }
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch::new()
    }
}

/// What reading a source gave.
#[derive(Debug, PartialEq, Eq)]
pub struct Read {
    /// Positions to train on, in the order of the source.
    pub train: Vec<Record>,
    /// Those of held-out games.
    pub validation: Vec<Record>,
    /// What was counted.
    pub tally: SourceCounts,
    /// Whether the source was damaged.
    pub damaged: bool,
}

/// Reads a source on two threads, and checks what must hold of any.
///
/// # Errors
/// Those of the reading.
///
/// # Panics
/// If something does not hold.
pub fn read(path: &Path, filters: &Filters) -> Result<Read, Error> {
    let (mut train, mut validation, mut tally) = (Vec::new(), Vec::new(), SourceCounts::default());
    let reading = Reading::from(Source::open(path)?);
    let finished = reading.run(filters, 2, |batch| {
        tally.add(&batch.tally);
        train.extend(batch.train);
        validation.extend(batch.validation);
        Ok(())
    })?;
    let size = std::fs::metadata(path).map(|file| file.len());
    assert_eq!(Some(finished.bytes), size.ok());
    for records in [&train, &validation] {
        records.iter().for_each(check_record);
        let unpacked = packed_and_unpacked(records).expect("the blocks are whole");
        assert_eq!(&unpacked, records);
    }
    check_tally(&tally, (train.len() + validation.len()) as u64);
    Ok(Read {
        train,
        validation,
        tally,
        damaged: finished.damage.is_some(),
    })
}

/// # Panics
/// If the store would not give the record back as it is.
pub fn check_record(record: &Record) {
    assert_eq!(
        Record::from_bytes(*record.as_bytes()).as_ref(),
        Some(record)
    );
}

/// # Panics
/// If the counts do not add up, or not to so many records.
pub fn check_tally(tally: &SourceCounts, records: u64) {
    assert_eq!(tally.labels, records);
    assert_eq!(tally.months.values().sum::<u64>(), tally.labels);
    assert!(tally.mates <= tally.labels);
    assert!(tally.games_kept <= tally.games_annotated);
    assert!(tally.games_annotated <= tally.games);
    let rated = tally.ratings.values().sum::<u64>() + tally.unrated;
    assert_eq!(rated, tally.games_kept);
}

/// The text of a source as `annotate` gets it, every game read by it, and
/// whether it was whole.
///
/// # Errors
/// Those of opening it.
///
/// # Panics
/// If the games are not the whole text.
pub fn transcribe(path: &Path) -> Result<(Vec<u8>, bool), Error> {
    let (mut texts, mut all) = (GameTexts::open(path)?, Vec::new());
    loop {
        match texts.next_chunk() {
            Ok(Some(Chunk::Games(text))) => {
                let mut length = 0;
                for game in games(&text) {
                    length += game.len();
                    let _ = Transcript::read(game);
                }
                assert_eq!(length, text.len());
                all.extend_from_slice(&text);
            }
            Ok(Some(Chunk::Oversized)) => {}
            Ok(None) => return Ok((all, true)),
            Err(_) => return Ok((all, false)),
        }
    }
}

/// The text as `pzstd` packs it, in one frame for each piece.
///
/// # Panics
/// If zstd fails.
pub fn pack(pieces: &[&[u8]]) -> Vec<u8> {
    let mut file = Vec::new();
    for piece in pieces {
        let frame = zstd::bulk::compress(piece, 1).expect("zstd packs any text");
        file.extend_from_slice(&[0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0]);
        file.extend_from_slice(&(frame.len() as u32).to_le_bytes());
        file.extend_from_slice(&frame);
    }
    file
}

/// Filters that take every variant that can be read.
pub fn chess960() -> Filters {
    Filters {
        chess960: true,
        ..Filters::default()
    }
}
