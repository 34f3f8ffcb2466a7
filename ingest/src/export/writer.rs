//! One way to write all formats.

use std::io::{self, Write};

use datasets::{Manifest, Record, Split, write_viriformat};
use rayon::prelude::*;

use crate::export::format::Format;
use crate::export::{bullet, parquet, text};

/// A format's writer.
pub enum Writer<W: Write + Send> {
    /// One row after another, and nothing else.
    Rows {
        /// Where they go.
        out: W,
        /// One block's rows.
        encode: fn(&[Record]) -> Vec<u8>,
    },
    /// A file with a structure of its own.
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

    /// Writes blocks of one side, encoded on all cores, in their order.
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
