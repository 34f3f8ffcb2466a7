//! Random openings that are roughly equal, for `genfens`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use cozy_chess::Board;
use engine::uci::GenFens;
use engine::{Engine, Limits, Position, Signals, parse_fen, random_moves};
use fastrand::Rng;

/// Random plies from the standard start; every other opening has one more, so that either side is
/// to move.
const FROM_START: usize = 8;
/// Random plies from a book position, which is an opening already.
const FROM_BOOK: usize = 4;
/// Maximum evaluation of an opening, in centipawns for either side.
const EVEN: i32 = 300;
/// Nodes of that evaluation's search: some five plies.
const NODES: u64 = 2_000;
/// Consecutive failed draws before giving up.
const TRIES: usize = 1_000;
/// Maximum book size in bytes, far above any real book.
const MAX_BYTES: u64 = 4 << 30;

/// Calls `take` with the requested number of openings, or until it returns false or `stop` is set.
/// Equal seeds give equal openings.
///
/// # Errors
/// If the book cannot be read, or no even opening is found.
pub fn generate(
    engine: &mut Engine,
    asked: &GenFens,
    stop: &AtomicBool,
    mut take: impl FnMut(&Board) -> bool,
) -> Result<()> {
    let book = match asked.book.clone() {
        None => None,
        // Opening a named pipe blocks until it has a writer.
        Some(path) => match host::unless_stopped(stop, move || read(&path)) {
            Some(book) => Some(book?),
            None => return Ok(()),
        },
    };
    let is_stopped = || stop.load(Ordering::Relaxed);
    let lines: Vec<&str> = book.iter().flat_map(|text| text.lines()).collect();
    let mut random = Rng::with_seed(asked.seed);
    engine.clear();
    for _ in 0..asked.count {
        let mut tries = (0..TRIES).take_while(|_| !is_stopped());
        let opening = tries.find_map(|_| draw(engine, &lines, &mut random));
        match (opening, &asked.book) {
            (Some(opening), _) if take(&opening) => {}
            (Some(_), _) => break,
            (None, _) if is_stopped() => break,
            (None, Some(book)) => bail!("no even opening was found in book {book:?}"),
            (None, None) => bail!("no even opening was found"),
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    let bytes = host::read(path, MAX_BYTES)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Draws an opening from a random line, or from the standard start without lines; `None` if the
/// game ends or the opening is not even.
fn draw(engine: &mut Engine, lines: &[&str], random: &mut Rng) -> Option<Board> {
    let (start, plies) = match lines {
        [] => (Board::startpos(), FROM_START),
        lines => (parse_fen(random.choice(lines)?).ok()?, FROM_BOOK),
    };
    let plies = plies + random.usize(..2);
    let moves = random_moves(&start, plies, &mut |count| random.usize(..count))?;
    let mut position = Position::of(start);
    for mv in moves {
        position.play(mv).ok()?;
    }
    let limits = Limits {
        nodes: Some(NODES),
        ..Limits::default()
    };
    let signals = Signals {
        stop: &AtomicBool::new(false),
        pondering: None,
        elapsed: &|| Duration::ZERO,
    };
    let score = (engine.search(&position, &limits, &signals, &mut |_| {})).score;
    let even = score.centipawns().abs() <= EVEN;
    even.then(|| position.board().clone())
}
