//! The games file of a match, and how an interrupted match resumes.
//!
//! Beside FILE.pgn lies its record, FILE.pgn.jsonl. Its first line holds the settings of the match;
//! each further line counts a pair of games, with the size and digest of all games so far. Games
//! are written and synced before the record counts them, and the record before the match does.
//! Resuming truncates what a kill or a power cut left behind the last counted pair.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use host::durable;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::games::pgn::first_tag;
use crate::tournament::match_score::MatchScore;
use host::{Action, FileError};

/// Format version of the record.
const FORMAT: u32 = 1;

/// Settings that decide which games are played, by argument name.
pub type Settings = BTreeMap<String, String>;

/// Reasons to refuse a games file.
#[derive(Debug, Error)]
pub enum GamesError {
    /// The file has games.
    #[error(
        "{path:?} exists already; continue its match with --resume, replace it with --force, or give another --pgn"
    )]
    Exists { path: PathBuf },
    /// The file has games but no record.
    #[error(
        "{path:?} has no record beside it ({record:?}), so its match cannot be resumed; give another --pgn"
    )]
    NoRecord {
        path: PathBuf,
        /// Path of the missing record.
        record: PathBuf,
    },
    /// The file belongs to a match that can be resumed.
    #[error(
        "{path:?} belongs to a match that --resume continues; give another --pgn to --append to"
    )]
    HasRecord { path: PathBuf },
    /// The match has other settings.
    #[error(
        "{path:?} was begun with other settings: {difference}; give the same ones, or another --pgn"
    )]
    OtherSettings {
        path: PathBuf,
        /// First setting that differs, with both values.
        difference: String,
    },
    /// Games or record were changed.
    #[error("{path:?} is not as its match left it: {what}; remove it, or give another --pgn")]
    Changed { path: PathBuf, what: &'static str },
    /// Another process writes the file.
    #[error("{path:?} is in use by another match")]
    InUse { path: PathBuf },
    /// A pipe or a device, which cannot be resumed.
    #[error("{path:?} is a pipe or a device, which --resume cannot continue")]
    NoFile {
        /// Path as the user named it.
        path: PathBuf,
    },
}

/// Treatment of an output that holds games already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse it.
    Refuse,
    /// Continue it, if the same command began it.
    Resume,
    /// Replace it with the first new pair of games.
    Replace,
}

impl Existing {
    /// Returns the treatment of existing games: by `--resume` or `--force`, at most one of which is
    /// given, else [`Existing::Refuse`].
    pub fn of(resume: bool, force: bool) -> Existing {
        match (resume, force) {
            (_, true) => Existing::Replace,
            (true, false) => Existing::Resume,
            (false, false) => Existing::Refuse,
        }
    }
}

/// Beginning of the record's first line.
const FIRST_FIELD: &str = "{\"format\":";

/// First line of the record.
#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    settings: Settings,
}

/// A counted pair of games: one line of the record.
#[derive(Serialize, Deserialize)]
pub struct PlayedPair {
    /// Index in the schedule.
    pub number: usize,
    /// Score of the pair, from the view of its first engine.
    pub tally: MatchScore,
    /// Bytes of all games so far.
    bytes: u64,
    /// SHA-256 of these bytes, in hexadecimal.
    sha256: String,
}

/// The games of a match in progress.
pub struct GamesFile {
    path: PathBuf,
    games: File,
    /// `None` beside a pipe or a device, and for appended games.
    record: Option<Record>,
    /// First line of the new record, until the first pair replaces the games of an earlier match.
    replacing: Option<Head>,
}

struct Record {
    path: PathBuf,
    file: File,
    /// Bytes of the counted games, and their running digest.
    bytes: u64,
    digest: Sha256,
    /// Whether this match created the games file.
    made_games: bool,
}

impl GamesFile {
    /// Opens the games file of a match and returns it with the pairs played before. A file with
    /// games is treated as `existing` says.
    ///
    /// # Errors
    /// [`GamesError`] if the file is refused, [`FileError`] if it cannot be read or written.
    pub fn open(
        path: &Path,
        settings: Settings,
        existing: Existing,
    ) -> Result<(GamesFile, Vec<PlayedPair>)> {
        // A dangling link counts as an existing file.
        let made_games = fs::symlink_metadata(path).is_err();
        let there = fs::metadata(path).ok();
        if there.as_ref().is_some_and(|there| !there.is_file()) {
            return Ok((GamesFile::stream(path, existing)?, Vec::new()));
        }
        let size = there.as_ref().map_or(0, fs::Metadata::len);
        let record_path = record_of(path);
        match existing {
            Existing::Refuse if size > 0 => bail!(GamesError::Exists { path: path.into() }),
            Existing::Resume if size > 0 && !record_path.exists() => {
                bail!(no_record(path, record_path));
            }
            _ => {}
        }
        let writes = || FileError::to(Action::Write, &record_path);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&record_path).map_err(writes())?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                bail!(GamesError::InUse { path: path.into() });
            }
            // Some file systems have no locks.
            Err(fs::TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
            Err(fs::TryLockError::Error(error)) => bail!(writes()(error)),
        }
        // The lock is held: no other match writes from here on.
        let head = Head {
            format: FORMAT,
            settings,
        };
        if existing == Existing::Replace {
            let games = options.open(path);
            let replaced = GamesFile {
                path: path.into(),
                games: games.map_err(FileError::to(Action::Write, path))?,
                record: Some(Record {
                    path: record_path,
                    file,
                    bytes: 0,
                    digest: Sha256::new(),
                    made_games,
                }),
                replacing: Some(head),
            };
            return Ok((replaced, Vec::new()));
        }
        let size = fs::metadata(path).map_or(0, |there| there.len());
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(FileError::to(Action::Read, &record_path))?;
        let (pairs, whole) = match read_record(&record_path, &bytes)? {
            None if size > 0 => bail!(no_record(path, record_path)),
            None => (Vec::new(), 0),
            // Killed before its first game.
            Some(read) if size == 0 && read.pairs.is_empty() => (Vec::new(), 0),
            Some(_) if size == 0 => bail!(GamesError::Changed {
                path: record_path,
                what: "the games that it counts are gone",
            }),
            Some(_) if existing == Existing::Refuse => {
                bail!(GamesError::Exists { path: path.into() })
            }
            Some(read) => {
                if let Some(difference) = difference(&read.head.settings, &head.settings) {
                    let path = path.into();
                    bail!(GamesError::OtherSettings { path, difference });
                }
                (read.pairs, read.bytes)
            }
        };
        let games = options.open(path);
        let mut games = games.map_err(FileError::to(Action::Write, path))?;
        let digest = cut_off(&mut games, path, pairs.last(), size)?;
        let record = Record {
            bytes: pairs.last().map_or(0, |pair| pair.bytes),
            digest,
            made_games,
            path: record_path,
            file,
        };
        let mut opened = GamesFile {
            path: path.into(),
            games,
            record: Some(record),
            replacing: None,
        };
        opened.begin(&head, whole)?;
        Ok((opened, pairs))
    }

    /// Opens a file to append games to. They get no record, so their match cannot be resumed.
    ///
    /// # Errors
    /// [`GamesError::HasRecord`] if a resumable match writes to the file: it would take the games
    /// for torn. [`FileError`] if the file cannot be read or written.
    pub fn append_to(path: &Path) -> Result<GamesFile> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return GamesFile::stream(path, Existing::Refuse);
        }
        let file = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        if record_of(path).exists() || record_of(&file).exists() {
            bail!(GamesError::HasRecord { path: path.into() });
        }
        let mut options = File::options();
        let games = options.read(true).append(true).create(true).open(path);
        let mut games = games.map_err(FileError::to(Action::Write, path))?;
        let missing = missing_newlines(&mut games).map_err(FileError::to(Action::Read, path))?;
        let written = games.write_all(missing.as_bytes());
        written.map_err(FileError::to(Action::Write, path))?;
        Ok(GamesFile {
            path: path.into(),
            games,
            record: None,
            replacing: None,
        })
    }

    /// Opens a pipe or a device, which keeps no record.
    fn stream(path: &Path, existing: Existing) -> Result<GamesFile> {
        let games = File::options().write(true).open(path);
        let games = games.map_err(FileError::to(Action::Write, path))?;
        if existing == Existing::Resume {
            bail!(GamesError::NoFile { path: path.into() });
        }
        Ok(GamesFile {
            path: path.into(),
            games,
            record: None,
            replacing: None,
        })
    }

    /// Truncates the record to its whole lines, or writes its first line; syncs games and record.
    fn begin(&mut self, head: &Head, whole: u64) -> Result<(), FileError> {
        self.games
            .sync_all()
            .map_err(FileError::to(Action::Write, &self.path))?;
        let Some(record) = &mut self.record else {
            return Ok(());
        };
        let file = &mut record.file;
        (file.set_len(whole))
            .and_then(|()| file.seek(SeekFrom::Start(whole)).map(drop))
            .and_then(|()| match whole {
                0 => write_line(file, head),
                _ => file.sync_all(),
            })
            .and_then(|()| durable::sync_folder_of(&record.path))
            .map_err(FileError::to(Action::Write, &record.path))
    }

    /// Removes the games of an earlier match, if they are still to be replaced.
    fn replace(&mut self) -> Result<(), FileError> {
        let Some(head) = self.replacing.take() else {
            return Ok(());
        };
        let emptied = self.games.set_len(0).and_then(|()| self.games.rewind());
        emptied.map_err(FileError::to(Action::Write, &self.path))?;
        self.begin(&head, 0)
    }

    /// Appends the games of a pair. They are synced and counted when this returns.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn append(
        &mut self,
        number: usize,
        tally: &MatchScore,
        games: &str,
    ) -> Result<(), FileError> {
        self.replace()?;
        let written = self.games.write_all(games.as_bytes());
        // A pipe or a device cannot be synced.
        let written = written.and_then(|()| match self.games.metadata()?.is_file() {
            true => self.games.sync_data(),
            false => Ok(()),
        });
        written.map_err(FileError::to(Action::Write, &self.path))?;
        let Some(record) = &mut self.record else {
            return Ok(());
        };
        record.digest.update(games);
        record.bytes += games.len() as u64;
        let pair = PlayedPair {
            number,
            tally: tally.clone(),
            bytes: record.bytes,
            sha256: format!("{:x}", record.digest.clone().finalize()),
        };
        write_line(&mut record.file, &pair).map_err(FileError::to(Action::Write, &record.path))
    }

    /// Returns whether the match can be resumed from this file.
    pub fn is_resumable(&self) -> bool {
        self.record.is_some() && self.replacing.is_none()
    }
}

/// Removes the files of a match without games.
impl Drop for GamesFile {
    fn drop(&mut self) {
        let Some(record) = self.record.as_ref().filter(|record| record.bytes == 0) else {
            return;
        };
        // Best effort: an empty file does no harm.
        if self.replacing.is_none() {
            // A first pair may be torn.
            let _ = self.games.set_len(0);
        } else if record.file.metadata().is_ok_and(|record| record.len() > 0) {
            return;
        }
        let _ = fs::remove_file(&record.path);
        if record.made_games {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the path of a games file's record.
fn record_of(path: &Path) -> PathBuf {
    durable::with_suffix(path, ".jsonl")
}

/// Returns the newlines that the file lacks for an empty line behind its last game.
fn missing_newlines(games: &mut File) -> io::Result<&'static str> {
    let size = games.seek(SeekFrom::End(0))?;
    games.seek(SeekFrom::Start(size.saturating_sub(2)))?;
    let mut end = Vec::new();
    games.read_to_end(&mut end)?;
    Ok(match end[..] {
        [] | [b'\n', b'\n'] => "",
        [.., b'\n'] => "\n",
        _ => "\n\n",
    })
}

fn no_record(path: &Path, record: PathBuf) -> GamesError {
    GamesError::NoRecord {
        path: path.into(),
        record,
    }
}

/// Appends a line of JSON and syncs it.
fn write_line(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let line = serde_json::to_string(line)? + "\n";
    file.write_all(line.as_bytes())?;
    file.sync_data()
}

/// A parsed record.
struct ReadRecord {
    head: Head,
    pairs: Vec<PlayedPair>,
    /// Bytes of its whole lines.
    bytes: u64,
}

/// Parses a record without its torn last line, if any; `None` without a first line.
fn read_record(path: &Path, bytes: &[u8]) -> Result<Option<ReadRecord>, GamesError> {
    let changed = |what| GamesError::Changed {
        path: path.into(),
        what,
    };
    let end = bytes.iter().rposition(|&byte| byte == b'\n');
    let whole = &bytes[..end.map_or(0, |end| end + 1)];
    let text = String::from_utf8_lossy(whole);
    let mut lines = text.lines();
    let unreadable = || changed("it cannot be read");
    let Some(head) = lines.next() else {
        return match is_torn(bytes, FIRST_FIELD) {
            true => Ok(None),
            false => Err(unreadable()),
        };
    };
    let head: Head = serde_json::from_str(head).map_err(|_| unreadable())?;
    if head.format != FORMAT {
        return Err(changed("another version of this program began it"));
    }
    let pairs = lines.map(serde_json::from_str).collect::<Result<_, _>>();
    Ok(Some(ReadRecord {
        head,
        pairs: pairs.map_err(|_| unreadable())?,
        bytes: whole.len() as u64,
    }))
}

/// Describes the first setting that differs, if any.
pub fn difference(before: &Settings, now: &Settings) -> Option<String> {
    let names = before.keys().chain(now.keys());
    let different = |name: &&String| before.get(*name) != now.get(*name);
    let name = names.filter(different).min()?;
    let value = |settings: &Settings| {
        settings
            .get(name)
            .map_or("not given".to_string(), |value| value.to_string())
    };
    Some(format!("{name} was {}, now {}", value(before), value(now)))
}

/// Truncates the games after the last counted pair and digests the rest. Refuses anything there but
/// a torn pair.
fn cut_off(games: &mut File, path: &Path, last: Option<&PlayedPair>, size: u64) -> Result<Sha256> {
    let changed = |what| GamesError::Changed {
        path: path.into(),
        what,
    };
    let bytes = last.map_or(0, |pair| pair.bytes);
    if size < bytes {
        bail!(changed("games are missing"));
    }
    let mut digest = Sha256::new();
    let reads = || FileError::to(Action::Read, path);
    let mut reader = BufReader::new(&mut *games);
    io::copy(&mut reader.by_ref().take(bytes), &mut digest).map_err(reads())?;
    let is_same = |pair: &PlayedPair| format!("{:x}", digest.clone().finalize()) == pair.sha256;
    if !last.is_none_or(is_same) {
        bail!(changed("games are not those that were played"));
    }
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).map_err(reads())?;
    if !is_torn_pair(&rest) {
        bail!(changed("something else lies behind its games"));
    }
    (games.set_len(bytes))
        .and_then(|()| games.seek(SeekFrom::Start(bytes)).map(drop))
        .map_err(FileError::to(Action::Write, path))?;
    Ok(digest)
}

/// Returns whether bytes are the beginning of a pair of games.
fn is_torn_pair(bytes: &[u8]) -> bool {
    let (text, first) = (String::from_utf8_lossy(bytes), first_tag());
    is_torn(bytes, &first) && text.matches(&first).count() <= 2
}

/// Returns whether bytes are the beginning of a text that starts with `start`. Ignores zeros at the
/// end, which a power cut may leave.
fn is_torn(bytes: &[u8], start: &str) -> bool {
    let end = bytes.iter().rposition(|&byte| byte != 0);
    let bytes = &bytes[..end.map_or(0, |end| end + 1)];
    let shorter = bytes.len().min(start.len());
    bytes[..shorter] == start.as_bytes()[..shorter]
}
