//! `engine eval`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use cozy_chess::{Board, Color, File, Rank, Square};
use engine::{EvaluationKind, Evaluator, features, piece_values, write_fen};
use models::{Network, QuantisedNetwork};
use serde::{Serialize, Serializer};

use super::diagram::symbol;
use super::{fen_argument, files};

const EXAMPLES: &str = "\
Examples:
  engine eval \"r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\"
  engine eval \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\" --net other.safetensors --json

The board shows each piece's value to the network: the evaluation with it less
the evaluation without it, in pawns from White's point of view.";

/// Arguments of `engine eval`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct EvalArgs {
    /// Position as FEN
    #[arg(value_parser = fen_argument)]
    fen: Board,
    /// Network (default: embedded)
    #[arg(short, long, alias = "model", value_name = "NET.safetensors")]
    net: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A value in centipawns from both points of view.
#[derive(Serialize)]
struct Views {
    mover: f32,
    white: f32,
}

/// Output of `engine eval`.
#[derive(Serialize)]
pub struct Values {
    fen: String,
    /// Evaluation by the quantised network, which the engine uses.
    quantised: Views,
    /// Evaluation by the network in floats.
    float: Views,
    material: Views,
    pieces: Vec<Worth>,
}

/// Contribution of a piece to the network's evaluation.
#[derive(Serialize)]
struct Worth {
    #[serde(serialize_with = "as_text")]
    square: Square,
    /// FEN letter.
    piece: char,
    /// Value in pawns, White's point of view.
    pawns: f32,
}

fn as_text<S: Serializer>(square: &Square, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(square)
}

/// Prints the static evaluation of a position, and the values of its pieces.
pub fn run(args: &EvalArgs) -> Result<()> {
    let (float, quantised) = match &args.net {
        Some(path) => files::load_network(path)?,
        None => files::embedded_networks()?,
    };
    let values = evaluate(&float, quantised, &args.fen);
    let text = match args.json {
        true => serde_json::to_string(&values)?,
        false => values.text(&args.fen),
    };
    Ok(host::print(&(text + "\n"))?)
}

/// Returns the evaluations of a board and the values of its pieces.
pub fn evaluate(float: &Network, quantised: QuantisedNetwork, board: &Board) -> Values {
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
    Values {
        fen: write_fen(board),
        quantised: views(quantised),
        float: views(float.evaluate(&features(board)) * 100.0),
        material: views(material),
        pieces: worths(float, board),
    }
}

fn worths(network: &Network, board: &Board) -> Vec<Worth> {
    piece_values(network, board)
        .into_iter()
        .map(|(square, pawns)| Worth {
            square,
            piece: symbol(board, square),
            pawns,
        })
        .collect()
}

impl Values {
    /// Returns a table, and the board with each piece's value below it.
    pub fn text(&self, board: &Board) -> String {
        table(self) + "\n" + &worth_board(board, &self.pieces)
    }
}

fn worth_board(board: &Board, pieces: &[Worth]) -> String {
    let edge = format!("  {}+\n", "+-------".repeat(8));
    let mut text = edge.clone();
    for rank in Rank::ALL.into_iter().rev() {
        let (mut symbols, mut worths) = (format!("{rank} "), "  ".to_string());
        for square in File::ALL.map(|file| Square::new(file, rank)) {
            let worth = pieces.iter().find(|worth| worth.square == square);
            let worth = worth.map(|worth| format!("{:+.2}", worth.pawns));
            symbols.push_str(&format!("|{:^7}", symbol(board, square)));
            worths.push_str(&format!("|{:^7}", worth.unwrap_or_default()));
        }
        text.push_str(&format!("{symbols}|\n{worths}|\n{edge}"));
    }
    let files: String = File::ALL.map(|file| format!("{file:^8}")).concat();
    format!("{text}  {}", files.trim_end())
}

fn table(values: &Values) -> String {
    let mut text = "centipawns     side to move       White\n".to_string();
    let rows = [
        ("network", &values.quantised),
        ("  in floats", &values.float),
        ("material", &values.material),
    ];
    for (name, views) in rows {
        text += &format!("{name:<12} {:>14.1} {:>11.1}\n", views.mover, views.white);
    }
    text
}
