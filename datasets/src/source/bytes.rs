//! Compressed bytes of a source: a file, a URL or standard input, with read-ahead, digests and the
//! decoder of their compression.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;

use crate::source::SourceError;
use crate::source::address::url;
use crate::source::ahead::Ahead;
use crate::source::digest::{DigestNode, LEAF_BYTES, TreeDigest};
use crate::source::frames::{self, Frames};
use crate::source::http::HttpReader;
use crate::source::meter::Metered;

/// Stored bytes of a source, not decompressed.
pub(crate) type Bytes = Metered<Ahead<Box<dyn Read + Send>>>;

/// Decoder of a source, by its compression.
pub(crate) enum Decoder {
    Zstd(Frames<Bytes>),
    Gzip(MultiGzDecoder<Bytes>),
    Bzip2(MultiBzDecoder<Bytes>),
    Plain(Bytes),
}

impl Decoder {
    /// Chooses the decoder by the first bytes: zstd (any number of frames, also with skippable ones
    /// between as Lichess writes them), gzip, bzip2, or plain text.
    pub(crate) fn open(mut bytes: Bytes) -> io::Result<Decoder> {
        let magic = bytes.fill_buf()?;
        Ok(match magic {
            _ if magic.starts_with(&frames::MAGIC) || frames::is_skippable(magic) => {
                Decoder::Zstd(Frames::new(bytes, u64::MAX))
            }
            [0x1F, 0x8B, ..] => Decoder::Gzip(MultiGzDecoder::new(bytes)),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Decoder::Bzip2(MultiBzDecoder::new(bytes)),
            _ => Decoder::Plain(bytes),
        })
    }

    /// Returns the compressed bytes; `None` if they were lost to an error.
    pub(crate) fn bytes(&mut self) -> Option<&mut Bytes> {
        match self {
            Decoder::Zstd(frames) => frames.input(),
            Decoder::Gzip(decoder) => Some(decoder.get_mut()),
            Decoder::Bzip2(decoder) => Some(decoder.get_mut()),
            Decoder::Plain(bytes) => Some(bytes),
        }
    }
}

/// A source opened at its beginning.
pub(crate) struct OpenedBytes {
    pub(crate) bytes: Bytes,
    /// Size in bytes; `None` if unknown.
    pub(crate) size: Option<u64>,
    /// Tree digest of the first 16 KiB.
    pub(crate) head: String,
}

/// Opens a source at its beginning.
pub(crate) fn open_bytes(path: &Path) -> Result<OpenedBytes, SourceError> {
    let (raw, size) = open_raw(path, 0)?;
    let mut ahead = Ahead::new(raw);
    let head = ahead.peek(LEAF_BYTES as usize);
    let head = head.map_err(SourceError::unreadable(path))?;
    let mut digest = TreeDigest::behind(0, 0);
    digest.update(&head[..head.len().min(LEAF_BYTES as usize)]);
    Ok(OpenedBytes {
        bytes: Metered::new(ahead),
        size,
        head: digest.root(),
    })
}

/// Opens a byte range of a source of `bytes` bytes.
pub(crate) fn open_bytes_of(
    path: &Path,
    range: Range<u64>,
    bytes: u64,
) -> Result<Bytes, SourceError> {
    let (raw, _) = open_raw(path, range.start)?;
    Ok(Metered::of_part(Ahead::new(raw), range, bytes))
}

/// Opens a source at byte `start`, which must be 0 for standard input. Returns its size in bytes
/// too, if known.
fn open_raw(path: &Path, start: u64) -> Result<(Box<dyn Read + Send>, Option<u64>), SourceError> {
    let unreadable = || SourceError::unreadable(path);
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin()), None));
    }
    if let Some(url) = url(path) {
        let mut reader = HttpReader::open(url).map_err(unreadable())?;
        reader.seek(start);
        let size = reader.len();
        return Ok((Box::new(reader), size));
    }
    let mut file = File::open(path).map_err(|error| {
        let is_url = path.to_string_lossy().contains("://");
        unreadable()(match error.kind() {
            io::ErrorKind::NotFound if is_url => {
                io::Error::other("only URLs with http://, https:// and s3:// are read")
            }
            _ => error,
        })
    })?;
    let metadata = file.metadata().map_err(unreadable())?;
    if metadata.is_dir() {
        return Err(unreadable()(io::Error::other(
            "is a folder, expected a file",
        )));
    }
    if start > 0 {
        file.seek(SeekFrom::Start(start)).map_err(unreadable())?;
    }
    Ok((Box::new(file), metadata.is_file().then_some(metadata.len())))
}

/// Returns the tree digest of a file, hexadecimal.
///
/// # Errors
/// [`SourceError::Unreadable`].
pub fn digest_of(path: &Path) -> Result<String, SourceError> {
    let mut bytes = open_bytes(path)?.bytes;
    io::copy(&mut bytes, &mut io::sink()).map_err(SourceError::unreadable(path))?;
    Ok(bytes.prefix().digest)
}

/// Returns the granule digests of a byte range of a source of `bytes` bytes.
///
/// # Errors
/// [`SourceError::Unreadable`], [`SourceError::Interrupted`].
pub(crate) fn granules_of(
    path: &Path,
    part: Range<u64>,
    bytes: u64,
) -> Result<Vec<DigestNode>, SourceError> {
    let mut opened = open_bytes_of(path, part.clone(), bytes)?;
    let within = &mut (&mut opened).take(part.end - part.start);
    io::copy(within, &mut io::sink()).map_err(SourceError::unreadable(path))?;
    Ok(opened.granules())
}
