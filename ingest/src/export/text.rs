//! Lines of `FEN | cp | wdl`, White's point of view.

use std::fmt::Write;

use datasets::{GameResult, Record};

/// The lines of `records`. Mates are written as the label stores them,
/// ±(32000 - n), an unknown result as `?`.
pub fn encode(records: &[Record]) -> Vec<u8> {
    let mut text = String::with_capacity(96 * records.len());
    for record in records {
        record.write_fen(&mut text);
        let result = match record.result() {
            Some(GameResult::BlackWins) => "0.0",
            Some(GameResult::Draw) => "0.5",
            Some(GameResult::WhiteWins) => "1.0",
            None => "?",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, " | {} | {result}", record.label().raw());
    }
    text.into_bytes()
}
