//! `engine bench`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use engine::{BENCH_POSITIONS, Engine, Limits, Position, Signals};

use super::files::embedded_evaluator;

/// Arguments of `engine bench`.
#[derive(Args)]
pub struct BenchArgs {
    /// Plies each position is searched
    #[arg(default_value_t = 10)]
    depth: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Searches every position afresh and prints nodes, time and speed.
pub fn run(args: &BenchArgs) -> Result<()> {
    let mut engine = Engine::new(embedded_evaluator()?);
    let limits = Limits {
        depth: Some(args.depth),
        ..Limits::default()
    };
    let stop = AtomicBool::new(false);
    let start = Instant::now();
    let mut nodes = 0;
    for (number, fen) in BENCH_POSITIONS.iter().enumerate() {
        let position = Position::from_fen(fen).context("bench position")?;
        let signals = Signals {
            stop: &stop,
            pondering: None,
            elapsed: &|| start.elapsed(),
        };
        engine.clear();
        let outcome = engine.search(&position, &limits, &signals, &mut |_| {});
        nodes += outcome.nodes;
        if !args.json {
            println!(
                "{:>2}/{} {:>9} nodes  {fen}",
                number + 1,
                BENCH_POSITIONS.len(),
                outcome.nodes
            );
        }
    }
    let time = start.elapsed();
    let nps = (nodes as f64 / time.as_secs_f64()) as u64;
    if args.json {
        let millis = time.as_millis() as u64;
        println!(
            "{}",
            serde_json::json!({ "nodes": nodes, "time_ms": millis, "nps": nps })
        );
    } else {
        println!("time {} ms", time.as_millis());
        println!("{nodes} nodes {nps} nps");
    }
    Ok(())
}
