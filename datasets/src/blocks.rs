//! How records are packed into the blocks of a sealed dataset.

use std::io;

use zstd::bulk::{Compressor, Decompressor};

use crate::Record;

/// Records in a block: 128 KiB, large enough to compress and to read in one
/// go, small enough that a shuffle has many of them.
pub(crate) const BLOCK_RECORDS: usize = 4096;

/// zstd's level. Higher ones gain under one byte in twenty.
const LEVEL: i32 = 1;

/// Packs records into blocks.
pub(crate) struct Packer(Compressor<'static>);

impl Packer {
    pub(crate) fn new() -> io::Result<Packer> {
        Compressor::new(LEVEL).map(Packer)
    }

    /// The block of up to [`BLOCK_RECORDS`] records.
    pub(crate) fn pack(&mut self, records: &[Record]) -> io::Result<Vec<u8>> {
        self.0.compress(Record::bytes_of(records))
    }
}

/// Unpacks blocks.
pub(crate) struct Unpacker {
    decompressor: Decompressor<'static>,
    /// An unpacked block: kept, since a new one costs more than the unpacking.
    bytes: Vec<u8>,
}

impl Unpacker {
    pub(crate) fn new() -> io::Result<Unpacker> {
        Ok(Unpacker {
            decompressor: Decompressor::new()?,
            bytes: Vec::with_capacity(BLOCK_RECORDS * Record::BYTES),
        })
    }

    /// Appends a block's records.
    pub(crate) fn unpack(&mut self, block: &[u8], records: &mut Vec<Record>) -> io::Result<()> {
        self.decompressor
            .decompress_to_buffer(block, &mut self.bytes)?;
        let (chunks, rest) = self.bytes.as_chunks::<{ Record::BYTES }>();
        if !rest.is_empty() {
            return Err(io::Error::other("it has a torn record"));
        }
        records.extend(chunks.iter().map(|&bytes| Record::from_trusted(bytes)));
        Ok(())
    }
}
