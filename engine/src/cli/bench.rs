//! `engine bench`.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use engine::{
    BENCH_DEPTH, BENCH_POSITIONS, BenchGames, Engine, Evaluator, MAX_BENCH_DEPTH, Tree, bench,
    features,
};
use host::print;
use models::{Accumulated, Accumulator, Kernel, QuantisedNetwork};
use serde::Serialize;

use super::at_least_one;
use super::files::{embedded_evaluator, embedded_networks, load_network};

/// Time to measure each figure of `--evaluations`.
const MEASURED: Duration = Duration::from_millis(200);

/// Arguments of `engine bench`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  engine bench                     the signature, and nodes a second
  engine bench --evaluations       how fast each instruction set evaluates")]
pub struct BenchArgs {
    /// Search depth per position, in plies
    #[arg(default_value_t = BENCH_DEPTH, value_parser = bench_depth)]
    depth: u64,
    /// Measure only the evaluation, on random games, with every kernel this machine supports; each
    /// figure is the fastest of many passes
    #[arg(long, conflicts_with = "depth")]
    evaluations: bool,
    /// Network to measure instead of the embedded one
    #[arg(
        short,
        long,
        alias = "model",
        value_name = "NET.safetensors",
        requires = "evaluations"
    )]
    net: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn bench_depth(text: &str) -> Result<u64, String> {
    match at_least_one(text)? {
        plies if plies <= MAX_BENCH_DEPTH => Ok(plies),
        _ => Err(format!("at most {MAX_BENCH_DEPTH} plies")),
    }
}

/// Runs the search or evaluation benchmark.
pub fn run(args: &BenchArgs) -> Result<()> {
    if args.evaluations {
        run_evaluations(args)
    } else {
        run_search(args)
    }
}

/// Runs the search benchmark and prints nodes, time and speed.
fn run_search(args: &BenchArgs) -> Result<()> {
    let mut printed = Ok(());
    let stop = AtomicBool::new(false);
    let done = search(embedded_evaluator()?, args.depth, &stop, |line| {
        if !args.json && printed.is_ok() {
            printed = print(&format!("{line}\n"));
        }
    });
    printed?;
    if args.json {
        print(&format!("{}\n", serde_json::to_string(&done)?))?;
    }
    Ok(())
}

/// Result of a search benchmark.
#[derive(Serialize)]
pub struct SearchBench {
    nodes: u64,
    time_ms: u64,
    nps: u64,
}

/// Searches all bench positions with empty tables. Calls `tell` with a line per position and two
/// lines of totals, which cover the positions before `stop` was set.
pub fn search(
    evaluator: Evaluator,
    depth: u64,
    stop: &AtomicBool,
    mut tell: impl FnMut(&str),
) -> SearchBench {
    let mut engine = Engine::new(evaluator);
    let start = Instant::now();
    let mut number = 0;
    let nodes = bench(&mut engine, depth, stop, |fen, nodes| {
        number += 1;
        let all = BENCH_POSITIONS.len();
        tell(&format!("{number:>2}/{all} {nodes:>9} nodes  {fen}"));
    });
    let time = start.elapsed();
    let nps = (nodes as f64 / time.as_secs_f64()) as u64;
    let time_ms = time.as_millis() as u64;
    tell(&format!("time {time_ms} ms"));
    tell(&format!("{nodes} nodes {nps} nps"));
    SearchBench {
        nodes,
        time_ms,
        nps,
    }
}

/// Result of an evaluation benchmark.
#[derive(Serialize)]
struct EvaluationBench {
    /// Number of positions in the games.
    positions: usize,
    /// Sum of their evaluations in centipawns, the same for every kernel.
    sum: i64,
    kernels: Vec<KernelSpeed>,
}

/// Speed of one kernel.
#[derive(Serialize)]
struct KernelSpeed {
    kernel: String,
    /// Moves played and evaluated incrementally, per second.
    incremental_per_s: f64,
    /// Positions evaluated from scratch, per second.
    from_nothing_per_s: f64,
    /// Time from accumulator to evaluation, in nanoseconds.
    dense_ns: f64,
}

fn run_evaluations(args: &BenchArgs) -> Result<()> {
    let network = match &args.net {
        Some(path) => load_network(path)?.1,
        None => embedded_networks()?.1,
    };
    let games = BenchGames::new();
    let mut sums = Vec::new();
    let mut kernels = Vec::new();
    for kernel in Kernel::available() {
        let (sum, speed) = measure(&games, network.clone().with_kernel(kernel));
        sums.push(sum);
        kernels.push(speed);
    }
    ensure!(
        sums.iter().all(|&sum| sum == sums[0]),
        "kernels disagree: their sums of evaluations are {sums:?}"
    );
    let evaluations = EvaluationBench {
        positions: games.boards().len(),
        sum: sums[0],
        kernels,
    };
    Ok(print(&match args.json {
        true => serde_json::to_string(&evaluations)? + "\n",
        false => table(&evaluations),
    })?)
}

/// Returns the sum of all evaluations, and the kernel's speed.
fn measure(games: &BenchGames, network: QuantisedNetwork) -> (i64, KernelSpeed) {
    let boards = games.boards();
    // Few enough accumulators to stay in the L1 cache.
    let few = boards.iter().step_by(boards.len() / 16);
    let accumulators: Vec<Vec<Accumulator>> = few
        .map(|board| {
            let views = network.architecture().inputs(&features(board)).into_iter();
            views.map(|inputs| network.accumulator(&inputs)).collect()
        })
        .collect();
    let dense = fastest(accumulators.len(), || {
        for views in &accumulators {
            black_box(network.evaluate(black_box(&Accumulated {
                own: &views[0],
                other: views.get(1),
                transient: &[],
                pieces: 32,
            })));
        }
    });
    let kernel = network.kernel().to_string();
    let evaluator = Evaluator::new(network);
    let mut tree = Tree::new(&evaluator);
    let sum = games.evaluate(&mut tree, &evaluator);
    let incremental = fastest(boards.len(), || {
        black_box(games.evaluate(&mut tree, &evaluator));
    });
    let from_nothing = fastest(boards.len(), || {
        for board in &boards {
            black_box(evaluator.evaluate_board(board));
        }
    });
    let speed = KernelSpeed {
        kernel,
        incremental_per_s: 1.0 / incremental,
        from_nothing_per_s: 1.0 / from_nothing,
        dense_ns: dense * 1e9,
    };
    (sum, speed)
}

/// Returns the seconds per item of the fastest pass; a pass processes `count` items.
fn fastest(count: usize, mut pass: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while start.elapsed() < MEASURED {
        let begin = Instant::now();
        pass();
        best = best.min(begin.elapsed().as_secs_f64());
    }
    best / count as f64
}

fn table(evaluations: &EvaluationBench) -> String {
    let mut text = "kernel       incremental/s  from nothing/s  dense layers\n".to_string();
    for speed in &evaluations.kernels {
        text += &format!(
            "{:<12} {:>11.2} M {:>13.2} M {:>10.0} ns\n",
            speed.kernel,
            speed.incremental_per_s / 1e6,
            speed.from_nothing_per_s / 1e6,
            speed.dense_ns
        );
    }
    text + &format!(
        "{} positions, the sum of their values is {} by every kernel\n",
        evaluations.positions, evaluations.sum
    )
}
