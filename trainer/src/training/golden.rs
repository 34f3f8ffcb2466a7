//! Golden vectors: a trained net's values for a few positions, by Burn on the CPU and by integer
//! inference, as a reference for the engine and for other frameworks.

use datasets::Record;
use models::Feature;
use serde::Serialize;
use serde_json::{Value, json};

use crate::report::integers::IntegersTally;
use network::CpuModel;

/// Number of positions in a file of golden vectors.
pub const POSITIONS: usize = 64;

#[derive(Serialize)]
struct Vector {
    /// First four fields of the position's FEN.
    epd: String,
    /// Active inputs.
    features: Vec<usize>,
    /// Value in pawns for the side to move.
    pawns: f32,
    /// Value by integer inference, in centipawns; `None` if the net cannot be quantised.
    centipawns: Option<i32>,
}

/// Returns the golden vectors of a model on a batch of positions, as JSON.
pub fn vectors(model: &CpuModel, records: &[Record]) -> Value {
    let values = model.values(records);
    let integers = IntegersTally::new(&model.network());
    let vectors = records.iter().zip(values).map(|(record, pawns)| {
        let features: Vec<Feature> = features::active(record).collect();
        Vector {
            epd: record.epd(),
            features: features.iter().map(|feature| feature.index()).collect(),
            pawns,
            centipawns: integers.value(&features),
        }
    });
    json!({
        "layout": model.architecture().features.layout(),
        "output": "pawns, from the view of the side to move",
        "positions": vectors.collect::<Vec<_>>(),
    })
}
