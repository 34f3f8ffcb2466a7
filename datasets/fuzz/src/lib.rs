//! Helpers shared by the fuzz targets: a scratch file in memory, and invariants of everything read.

use std::path::{Path, PathBuf};

use datasets::{
    Batch, Chunk, Error, Filters, GameTexts, Reading, Record, Source, SourceCounts, Transcript,
    games,
};
use records::position::packed_and_unpacked;
use tempfile::TempDir;

/// Scratch folder for the input of each execution, in memory where the system has `/dev/shm`.
pub struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// Creates the folder.
    ///
    /// # Panics
    /// If the folder cannot be created.
    pub fn new() -> Scratch {
        let memory = Path::new("/dev/shm");
        let base = match memory.is_dir() {
            true => memory.to_path_buf(),
            false => std::env::temp_dir(),
        };
        let folder = tempfile::tempdir_in(base).expect("a folder to write to");
        Scratch { folder }
    }

    /// Writes `bytes` to a file in the folder and returns its path.
    ///
    /// # Panics
    /// If the file cannot be written.
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

/// Result of reading a source.
#[derive(Debug, PartialEq, Eq)]
pub struct Read {
    /// Training positions in source order.
    pub train: Vec<Record>,
    /// Positions of held-out games, in source order.
    pub validation: Vec<Record>,
    /// Counts of games, labels and rejections.
    pub tally: SourceCounts,
    /// Whether damage was found.
    pub damaged: bool,
}

/// Reads a source on two threads and checks the invariants of any reading.
///
/// # Errors
/// Errors of opening or reading the source.
///
/// # Panics
/// If an invariant is violated.
pub fn read(path: &Path, filters: &Filters) -> Result<Read, Error> {
    let (mut train, mut validation, mut tally) = (Vec::new(), Vec::new(), SourceCounts::default());
    let reading = Reading::from(Source::open(path)?);
    let finished = reading.run(filters, 2, |batch: Batch| {
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

/// Checks that a record survives conversion to bytes and back.
///
/// # Panics
/// If it does not.
pub fn check_record(record: &Record) {
    assert_eq!(
        Record::from_bytes(*record.as_bytes()).as_ref(),
        Some(record)
    );
}

/// Checks that the counts are consistent, with `records` labels.
///
/// # Panics
/// If they are not.
pub fn check_tally(tally: &SourceCounts, records: u64) {
    assert_eq!(tally.labels, records);
    assert_eq!(tally.months.values().sum::<u64>(), tally.labels);
    assert!(tally.mates <= tally.labels);
    assert!(tally.games_kept <= tally.games_annotated);
    assert!(tally.games_annotated <= tally.games);
    let rated = tally.ratings.values().sum::<u64>() + tally.unrated;
    assert_eq!(rated, tally.games_kept);
}

/// Reads a source as `annotate` does and parses every game. Returns the text, and whether the
/// source was read to its end without an error.
///
/// # Errors
/// Errors of opening the source.
///
/// # Panics
/// If the games do not add up to the whole text.
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

/// Compresses each piece to a separate frame, as `pzstd` does.
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

/// Returns filters that accept every supported variant.
pub fn chess960() -> Filters {
    Filters {
        chess960: true,
        ..Filters::default()
    }
}
