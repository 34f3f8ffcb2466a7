//! Records for tests.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use datasets::{Builder, Dataset, Filters, Label, Origin, Record};
use models::Architecture;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};

pub use inputs::playouts::games;

use crate::input::position;

/// For tests that call `backward`, which take turns: in Burn 0.21 it also frees
/// what another thread's loss is made of, and parts of that one's gradients are
/// lost (https://github.com/tracel-ai/burn/issues/5573). The program itself trains
/// on one thread.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A network that is trained in no time.
pub const SMALL: Architecture = Architecture::hidden([64, 16, 16]);

fn board(fen: &str) -> Chess {
    let fen: Fen = fen.parse().expect("a FEN");
    fen.into_position(CastlingMode::Standard)
        .expect("a legal position")
}

/// A position with a label in centipawns, White's view.
pub fn record(fen: &str, centipawns: i64) -> Record {
    Record::new(
        &board(fen),
        Label::from_centipawns(centipawns),
        Origin::default(),
    )
}

/// A position with a mate as its label, White's view.
pub fn mated(fen: &str, moves: i64) -> Record {
    let label = Label::from_mate(moves).expect("not mate in 0");
    Record::new(&board(fen), label, Origin::default())
}

/// The position with its material as the label: what can be learned.
pub fn by_material(game: &Record) -> Record {
    let sign = if game.turn().is_white() { 1.0 } else { -1.0 };
    let centipawns = sign * 100.0 * position::material(game);
    record(&format!("{} 0 1", game.epd()), centipawns as i64)
}

/// A dataset in `folder` of the positions of so many moves of random games, all
/// of them on the training side; the labels are material.
pub fn dataset(folder: &Path, count: usize) -> Dataset {
    dataset_with(folder, count, 0)
}

/// The same with so many hundredths of the positions held out.
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
