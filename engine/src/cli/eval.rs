//! `engine eval`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use cozy_chess::{Board, Color};
use engine::{EMBEDDED_NET, EvaluationKind, Evaluator, features, write_fen};
use serde::Serialize;

use super::{fen_argument, files};

/// Arguments of `engine eval`.
#[derive(Args)]
pub struct EvalArgs {
    /// Position
    #[arg(value_parser = fen_argument)]
    fen: Board,
    /// Network, by default the embedded one
    #[arg(long, value_name = "NET.safetensors")]
    model: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A value in centipawns from both views.
#[derive(Serialize)]
struct Views {
    mover: f32,
    white: f32,
}

#[derive(Serialize)]
struct Values {
    fen: String,
    /// What the engine plays with.
    quantised: Views,
    /// The same network in floats.
    float: Views,
    material: Views,
}

/// Prints the static value of a position, in centipawns.
pub fn run(args: &EvalArgs) -> Result<()> {
    let (float, quantised) = match &args.model {
        Some(path) => files::load_network(path)?,
        None => files::networks(EMBEDDED_NET)?,
    };
    let board = &args.fen;
    let views = |mover: f32| {
        let white = if board.side_to_move() == Color::White {
            mover
        } else {
            0.0 - mover
        };
        Views { mover, white }
    };
    let mut evaluator = Evaluator::new(quantised);
    let quantised = evaluator.evaluate_board(board).centipawns() as f32;
    evaluator.set_kind(EvaluationKind::Material);
    let material = evaluator.evaluate_board(board).centipawns() as f32;
    let values = Values {
        fen: write_fen(board),
        quantised: views(quantised),
        float: views(float.evaluate(&features(board)) * 100.0),
        material: views(material),
    };
    if args.json {
        println!("{}", serde_json::to_string(&values)?);
    } else {
        print_table(&values);
    }
    Ok(())
}

fn print_table(values: &Values) {
    println!("centipawns     side to move       White");
    let rows = [
        ("network", &values.quantised),
        ("  in floats", &values.float),
        ("material", &values.material),
    ];
    for (name, views) in rows {
        println!("{name:<12} {:>14.1} {:>11.1}", views.mover, views.white);
    }
}
