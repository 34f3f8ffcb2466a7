//! Common writer of all formats.

use std::io::{self, Write};

use datasets::{Manifest, Record, Split, write_viriformat};
use rayon::prelude::*;

use crate::export::format::Format;
use crate::export::{bullet, parquet, text};

/// Writer of one format.
pub enum Writer<W: Write + Send> {
    /// Concatenated rows without header or footer.
    Rows {
        /// Output of the rows.
        out: W,
        /// Encoder of one block.
        encode: fn(&[Record]) -> Vec<u8>,
    },
    /// File with its own structure.
    Table(parquet::Table<W>),
}

impl<W: Write + Send> Writer<W> {
    /// Begins an export.
    pub fn new(format: Format, out: W, manifest: &Manifest) -> io::Result<Writer<W>> {
        Ok(match format {
            Format::Bullet => Writer::Rows {
                out,
                encode: bullet::encode,
            },
            Format::Viriformat => Writer::Rows {
                out,
                encode: write_viriformat,
            },
            Format::Text => Writer::Rows {
                out,
                encode: text::encode,
            },
            Format::Parquet => Writer::Table(parquet::Table::new(out, manifest)?),
        })
    }

    /// Writes blocks of one split in their order, encoded on all cores.
    pub fn write(&mut self, split: Split, blocks: &[Vec<Record>]) -> io::Result<()> {
        match self {
            Writer::Rows { out, encode } => {
                let encoded: Vec<_> = blocks.par_iter().map(|block| encode(block)).collect();
                encoded.iter().try_for_each(|rows| out.write_all(rows))
            }
            Writer::Table(table) => Ok(table.write(split, blocks)?),
        }
    }

    /// Ends the export; `out` is not flushed.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Writer::Rows { .. } => Ok(()),
            Writer::Table(table) => Ok(table.finish()?),
        }
    }
}
