//! Measures how many held-out moves of people are foretold: by a policy, by `Style=human` with it,
//! by `UCI_Elo`, and by the engine at fixed nodes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use cozy_chess::{Board, Move};
use datasets::{Dataset, MoveRecord, Split};
use engine::{Engine, Evaluator, Handicap, Limits, Outcome, People, Position, Signals};
use models::RatingBand;
use records::hash::Random;

/// Measures how many held-out moves of people are foretold, by rating.
///
/// Columns: the likeliest move of the policy; its move with `Style=human`; the move with `UCI_Elo`
/// at the mover's rating; the best move at 1 node and at 1,000.
#[derive(Parser)]
#[command(after_help = "Example:
  cargo run --release -p tests --bin foretold -- 2013-02.moves policy.safetensors --moves 1000")]
struct Arguments {
    /// Dataset of moves
    dataset: PathBuf,
    /// Policy
    policy: PathBuf,
    /// Moves a rating band; bands with fewer are left out
    #[arg(long, default_value_t = 1000)]
    moves: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const COLUMNS: [&str; 7] = [
    "policy",
    "human",
    "UCI_Elo",
    "1 node",
    "1,000 nodes",
    "30 playouts",
    "300 playouts",
];

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let bytes = std::fs::read(&arguments.policy)?;
    let people = People::from_bytes(&bytes);
    let people = people.with_context(|| arguments.policy.display().to_string())?;
    let dataset: Dataset<MoveRecord> = Dataset::open_rows(&arguments.dataset)?;
    let mut by_band: BTreeMap<RatingBand, Vec<MoveRecord>> = BTreeMap::new();
    for block in dataset.blocks(Split::Validation)? {
        for record in block? {
            let moves = by_band.entry(RatingBand::of(record.rating())).or_default();
            if record.rating().is_some() && moves.len() < arguments.moves {
                moves.push(record);
            }
        }
    }
    by_band.retain(|_, moves| moves.len() == arguments.moves);
    let mut rows = Vec::new();
    for (band, moves) in by_band {
        let foretold = count(&people, &moves)?;
        let shares = foretold.map(|count| count as f64 / moves.len() as f64);
        rows.push((band.to_string(), shares));
    }
    if arguments.json {
        let rows = rows.iter().map(|(band, shares)| {
            let shares = COLUMNS
                .into_iter()
                .map(str::to_string)
                .zip(shares.map(Into::into));
            let shares: serde_json::Map<String, serde_json::Value> = shares.collect();
            serde_json::json!({ "rating": band, "foretold": shares })
        });
        println!("{}", serde_json::Value::from_iter(rows));
        return Ok(());
    }
    print!("{:16}", "rating");
    COLUMNS.iter().for_each(|name| print!("{name:>14}"));
    println!();
    for (band, shares) in rows {
        print!("{band:16}");
        shares
            .iter()
            .for_each(|share| print!("{:>12.1} %", 100.0 * share));
        println!();
    }
    Ok(())
}

/// Returns how many of the moves each column foretells.
fn count(people: &People, moves: &[MoveRecord]) -> Result<[usize; COLUMNS.len()]> {
    let mut engine = Engine::new(Evaluator::embedded()?);
    let mut random = Random::new([1]);
    let mut foretold = [0; COLUMNS.len()];
    for record in moves {
        let elo = u32::from(record.rating().expect("of a band"));
        let position = Position::from_fen(&format!("{} 0 1", record.position().epd()))?;
        let board = position.board();
        let person = people.person(elo);
        let mut guard = Limits::default();
        person.apply(&mut guard);
        let handicap = Handicap::of_elo(elo);
        let mut weakened = Limits::default();
        handicap.apply(&mut weakened);
        let of_nodes = |nodes| Limits {
            nodes: Some(nodes),
            ..Limits::default()
        };
        let draw = (random.bits() >> 40) as f64 / f64::from(1 << 24);
        let signals = Signals {
            stop: &AtomicBool::new(false),
            pondering: None,
            elapsed: &|| Duration::ZERO,
        };
        let mut search = |limits: &Limits| -> Outcome {
            engine.clear();
            engine.search(&position, limits, &signals, &mut |_| {})
        };
        let first = |line: Option<&engine::Line>| line.map(|line| line.pv[0]);
        let likeliest = person.moves(board).into_iter();
        let likeliest = likeliest
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(mv, _)| mv);
        let mut chosen: [Option<Move>; COLUMNS.len()] = [
            likeliest,
            first(person.choose(board, &search(&guard).lines, draw)),
            first(handicap.choose(&search(&weakened).lines, draw)),
            search(&of_nodes(1)).best,
            search(&of_nodes(1000)).best,
            None,
            None,
        ];
        for (slot, nodes) in chosen.iter_mut().rev().zip([300, 30]) {
            engine.clear();
            let limits = of_nodes(nodes);
            let outcome = engine.search_puct(person, &position, &limits, &signals, &mut |_| {});
            *slot = outcome.best;
        }
        let played = record.uci().to_string();
        for (count, mv) in foretold.iter_mut().zip(chosen) {
            *count += usize::from(mv.is_some_and(|mv| is_move(board, mv, &played)));
        }
    }
    Ok(foretold)
}

/// Returns whether a move is that in UCI notation, castling as the king's move to its rook.
fn is_move(board: &Board, mv: Move, uci: &str) -> bool {
    engine::write_move(board, mv, true) == uci
}
