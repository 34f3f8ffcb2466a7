//! Records and datasets for tests.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use datasets::{Builder, Dataset, Filters, Label, Origin, Record};
use models::Architecture;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};

pub use features::playouts::games;

/// Locks `backward`, which tests must not call concurrently: in Burn 0.21 it also frees parts of
/// another thread's graph, so that gradients get lost
/// (https://github.com/tracel-ai/burn/issues/5573). The program itself trains on one thread.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A network small enough to train in no time.
pub const SMALL: Architecture = Architecture::hidden([64, 16, 16]);

fn board(fen: &str) -> Chess {
    let fen: Fen = fen.parse().expect("a FEN");
    fen.into_position(CastlingMode::Standard)
        .expect("a legal position")
}

/// Returns a position with a label in centipawns, White's view.
pub fn record(fen: &str, centipawns: i64) -> Record {
    Record::new(
        &board(fen),
        Label::from_centipawns(centipawns),
        Origin::default(),
    )
}

/// Returns a position with a mate as its label, White's view.
pub fn mated(fen: &str, moves: i64) -> Record {
    let label = Label::from_mate(moves).expect("not mate in 0");
    Record::new(&board(fen), label, Origin::default())
}

/// Returns the position with its material as the label, which a net can learn.
pub fn by_material(game: &Record) -> Record {
    let sign = if game.turn().is_white() { 1.0 } else { -1.0 };
    let centipawns = sign * 100.0 * features::material(game);
    record(&format!("{} 0 1", game.epd()), centipawns as i64)
}

/// Builds a dataset in `folder` from random games with `count` moves in all, labelled with
/// material, all of it in the training split.
pub fn dataset(folder: &Path, count: usize) -> Dataset {
    dataset_with(folder, count, 0)
}

/// Builds a dataset like [`dataset`], with some per cent of the positions held out.
pub fn dataset_with(folder: &Path, count: usize, validation_percent: u8) -> Dataset {
    let source = folder.join("positions.txt");
    let line = |record: &Record| format!("{} 0 1 | {} | 0.5\n", record.epd(), record.label());
    let records = games(count).into_iter().map(|game| by_material(&game));
    let text: String = records.map(|record| line(&record)).collect();
    fs::write(&source, text).expect("room for the positions");
    let path = folder.join("dataset");
    let filters = Filters {
        validation_percent,
        ..Filters::default()
    };
    let sources = [source];
    let mut builder = Builder::open(&path, filters.clone(), &sources).expect("a new dataset");
    let reading = builder.open_source(&sources[0]).expect("a file");
    let finished = reading.run(&filters, 1, |batch| builder.add(batch));
    builder.end_source("positions", finished.expect("positions"));
    builder.finish().expect("a sealed dataset");
    Dataset::open(&path).expect("a dataset")
}
