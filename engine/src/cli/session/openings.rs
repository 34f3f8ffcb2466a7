//! Random openings in which neither side has won yet.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Result, bail};
use cozy_chess::Board;
use engine::uci::GenFens;
use engine::{Engine, Limits, Position, Signals, parse_fen, random_moves};
use fastrand::Rng;

/// Random plies from the start of a game; one more in every other opening, so that either
/// side is to move.
const FROM_START: usize = 8;
/// As many from a position of a book, which is an opening already.
const FROM_BOOK: usize = 4;
/// How far from equal the engine may find an opening, in centipawns.
const EVEN: i32 = 300;
/// Nodes for that: some five plies.
const NODES: u64 = 2_000;
/// Openings looked at in vain, one after the other, before there seem to be none.
const TRIES: usize = 1_000;
/// Far more than any file of openings has.
const MAX_BYTES: u64 = 4 << 30;

/// Gives `take` as many openings as are asked for, or until it says no; the same seed
/// gives the same.
///
/// # Errors
/// Where the book cannot be read, or no opening is found in it.
pub fn generate(
    engine: &mut Engine,
    asked: &GenFens,
    mut take: impl FnMut(&Board) -> bool,
) -> Result<()> {
    let book = asked.book.as_deref().map(read).transpose()?;
    let lines: Vec<&str> = book.iter().flat_map(|text| text.lines()).collect();
    let mut random = Rng::with_seed(asked.seed);
    engine.clear();
    for _ in 0..asked.count {
        let opening = (0..TRIES).find_map(|_| draw(engine, &lines, &mut random));
        match (opening, &asked.book) {
            (Some(opening), _) if take(&opening) => {}
            (Some(_), _) => break,
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

/// An opening from one of these lines, or the start where there are none; `None` where it
/// is no opening, or not even.
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
