//! Golden vectors: what the trained net says of a few positions, computed by
//! Burn on the CPU, and what its integers say, for the
//! engine and for other frameworks to agree with.

use datasets::Record;
use models::Feature;
use serde::Serialize;
use serde_json::{Value, json};

use crate::input::position;
use crate::report::integers::IntegersTally;
use network::CpuModel;

/// Positions in a file of golden vectors.
pub const POSITIONS: usize = 64;

#[derive(Serialize)]
struct Vector {
    /// The first four fields of the position's FEN.
    epd: String,
    /// The inputs that are on.
    features: Vec<usize>,
    /// The net's value in pawns, mover's view.
    pawns: f32,
    /// The same by integers, in centipawns; `None` of a net that has none.
    centipawns: Option<i32>,
}

/// The golden vectors of a model on a batch of positions, as JSON.
pub fn vectors(model: &CpuModel, records: &[Record]) -> Value {
    let values = model.values(records);
    let integers = IntegersTally::new(&model.network());
    let vectors = records.iter().zip(values).map(|(record, pawns)| {
        let features: Vec<Feature> = position::features(record).collect();
        Vector {
            epd: record.epd(),
            features: features.iter().map(|feature| feature.index()).collect(),
            pawns,
            centipawns: integers.value(&features),
        }
    });
    json!({
        "layout": models::LAYOUT,
        "output": "pawns, from the view of the side to move",
        "positions": vectors.collect::<Vec<_>>(),
    })
}
