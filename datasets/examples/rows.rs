//! Prints every labelled position of a PGN source:
//! `cargo run --example rows -- FILE.pgn.zst`.

use std::io::Write;

use datasets::read_labelled;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: rows FILE")?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut written = Ok(());
    read_labelled(path.as_ref(), |record| {
        let (epd, label) = (record.epd(), record.label());
        let row = writeln!(out, "{epd}\t{label}\t{}\t{}", record.ply(), record.depth());
        written = std::mem::replace(&mut written, Ok(())).and(row);
    })?;
    Ok(written?)
}
