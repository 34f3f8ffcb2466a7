//! Golden vectors: what the trained net says of a few positions, computed by
//! Burn on the device it was trained on, for the engine and for other
//! frameworks to agree with.

use serde::Serialize;
use serde_json::{Value, json};

use crate::batch::Batch;
use crate::model::{Evaluate, Model};
use crate::position;

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
}

/// The golden vectors of a model on a batch of positions, as JSON.
pub fn vectors<B: Evaluate>(model: &Model<B>, batch: &Batch, device: &B::Device) -> Value {
    let values = model.values(batch, device);
    let vectors = batch
        .records
        .iter()
        .zip(values)
        .map(|(record, pawns)| Vector {
            epd: record.epd(),
            features: position::features(record)
                .map(|feature| feature.index())
                .collect(),
            pawns,
        });
    json!({
        "layout": models::LAYOUT,
        "output": "pawns, from the view of the side to move",
        "positions": vectors.collect::<Vec<_>>(),
    })
}
