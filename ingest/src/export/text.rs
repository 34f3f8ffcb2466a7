//! Text lines `FEN | cp | wdl`, from White's point of view.

use datasets::Record;

/// Returns the lines of `records`, as [`Record::write_line`] writes them.
pub fn encode(records: &[Record]) -> Vec<u8> {
    let mut text = String::with_capacity(96 * records.len());
    for record in records {
        record.write_line(&mut text);
    }
    text.into_bytes()
}
