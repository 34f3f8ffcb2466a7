//! Parquet writer: a row per position, a row group per call of [`Table::write`]. `docs/export.md`
//! describes the columns.

use std::io::Write;
use std::sync::Arc;

use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::column::writer::ColumnWriterImpl;
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, FloatType, Int32Type};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::ColumnPath;
use bytes::Bytes;
use datasets::{GameResult, Manifest, Record, Split};
use rayon::prelude::*;

const SCHEMA: &str = "message position {
    required binary fen (string);
    optional int32 cp (integer(16, true));
    optional int32 mate (integer(16, true));
    optional float result;
    required int32 ply (integer(16, false));
    optional binary month (string);
    optional int32 depth (integer(8, false));
    required binary split (string);
}";

/// Parquet file in progress.
pub struct Table<W: Write + Send> {
    file: SerializedFileWriter<W>,
}

impl<W: Write + Send> Table<W> {
    /// Begins a file; its metadata carry the dataset's fingerprint.
    pub fn new(out: W, manifest: &Manifest) -> Result<Table<W>> {
        // FENs are nearly all distinct: a dictionary would outgrow them, and minimum and maximum
        // are useless.
        let fen = ColumnPath::from("fen");
        let fingerprint = KeyValue::new("kibitz.fingerprint".into(), manifest.fingerprint.clone());
        let properties = WriterProperties::builder()
            .set_created_by(manifest.tool.clone())
            .set_key_value_metadata(Some(vec![fingerprint]))
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_column_statistics_enabled(fen.clone(), EnabledStatistics::None)
            .set_column_dictionary_enabled(fen, false)
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        Ok(Table { file })
    }

    /// Writes blocks of records as one row group; none if they are empty.
    pub fn write(&mut self, split: Split, blocks: &[Vec<Record>]) -> Result<()> {
        if blocks.iter().all(Vec::is_empty) {
            return Ok(());
        }
        let fens: Vec<ByteArray> = blocks.par_iter().flat_map_iter(|b| fens(b)).collect();
        let rows: Vec<&Record> = blocks.iter().flatten().collect();
        let mut group = self.file.next_row_group()?;
        column::<ByteArrayType, _>(&mut group, |c| c.write_batch(&fens, None, None))?;
        optional::<Int32Type, _>(&mut group, &rows, |r| r.label().centipawns())?;
        optional::<Int32Type, _>(&mut group, &rows, |r| r.label().mate())?;
        optional::<FloatType, _>(&mut group, &rows, |r| r.result().map(white_score))?;
        let plies: Vec<i32> = rows.iter().map(|r| i32::from(r.ply())).collect();
        column::<Int32Type, _>(&mut group, |c| c.write_batch(&plies, None, None))?;
        optional::<ByteArrayType, _>(&mut group, &rows, month)?;
        optional::<Int32Type, _>(&mut group, &rows, |r| {
            (r.depth() > 0).then_some(r.depth().into())
        })?;
        let splits = vec![ByteArray::from(split_name(split)); rows.len()];
        column::<ByteArrayType, _>(&mut group, |c| c.write_batch(&splits, None, None))?;
        group.close().map(|_| ())
    }

    /// Writes the footer, without which the file cannot be read.
    pub fn finish(self) -> Result<()> {
        self.file.close().map(|_| ())
    }
}

/// Writes the next column of the schema.
fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<W>,
    write: impl FnOnce(&mut ColumnWriterImpl<T>) -> Result<usize>,
) -> Result<()> {
    let mut column = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("no such column".into()))?;
    write(column.typed::<T>())?;
    column.close()
}

/// Writes the next column, in which `None` becomes null.
fn optional<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<W>,
    rows: &[&Record],
    value: impl Fn(&Record) -> Option<T::T>,
) -> Result<()> {
    let values: Vec<Option<T::T>> = rows.iter().map(|record| value(record)).collect();
    let present: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    column::<T, W>(group, |c| c.write_batch(&values, Some(&present), None))
}

/// Returns the FENs of `records`, slices of one buffer.
fn fens(records: &[Record]) -> impl Iterator<Item = ByteArray> {
    let mut text = String::with_capacity(80 * records.len());
    let ends: Vec<usize> = records
        .iter()
        .map(|record| {
            record.write_fen(&mut text);
            text.len()
        })
        .collect();
    let text = Bytes::from(text);
    let mut start = 0;
    ends.into_iter()
        .map(move |end| text.slice(std::mem::replace(&mut start, end)..end).into())
}

fn white_score(result: GameResult) -> f32 {
    match result {
        GameResult::BlackWins => 0.0,
        GameResult::Draw => 0.5,
        GameResult::WhiteWins => 1.0,
    }
}

fn month(record: &Record) -> Option<ByteArray> {
    let month = record.month();
    month
        .calendar()
        .map(|_| ByteArray::from(month.to_string().into_bytes()))
}

fn split_name(split: Split) -> &'static str {
    match split {
        Split::Train => "train",
        Split::Validation => "validation",
    }
}
