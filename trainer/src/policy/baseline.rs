//! Counts over the training moves: moves by rating band, and the usual moves, which a policy must
//! beat.

use datasets::{Dataset, MoveRecord, Split};
use features::{PlayedMove, arrival};
use models::{ARRIVALS, RATING_BANDS, RatingBand};
use rayon::prelude::*;

use crate::error::TrainerError;

/// Blocks counted at a time.
const BLOCKS: usize = 256;

/// Counts over the training moves of a dataset.
pub struct TrainingMoves {
    /// Moves by the mover's rating band.
    pub by_band: Vec<u64>,
    /// Moves by piece and destination ([`arrival`]).
    by_arrival: Vec<u64>,
}

impl TrainingMoves {
    /// Counts the training moves of a dataset.
    ///
    /// # Errors
    /// [`TrainerError::Data`].
    pub fn count(dataset: &Dataset<MoveRecord>) -> Result<TrainingMoves, TrainerError> {
        let mut all = TrainingMoves {
            by_band: vec![0; RATING_BANDS],
            by_arrival: vec![0; ARRIVALS],
        };
        let mut blocks = dataset.blocks(Split::Train)?;
        loop {
            let next: Vec<Vec<MoveRecord>> =
                blocks.by_ref().take(BLOCKS).collect::<Result<_, _>>()?;
            if next.is_empty() {
                return Ok(all);
            }
            let places = next.par_iter().flatten().filter_map(|record| {
                let band = RatingBand::of(record.rating()).index();
                Some((band, arrival(record)?))
            });
            for (band, arrival) in places.collect::<Vec<_>>() {
                all.by_band[band] += 1;
                all.by_arrival[arrival] += 1;
            }
        }
    }

    /// Returns the index of the legal move most often played by the same piece to the same square.
    pub fn most_usual(&self, played: &PlayedMove) -> usize {
        let counts = played.arrivals().map(|arrival| self.by_arrival[arrival]);
        // The first of equals.
        let best = counts.enumerate().rev().max_by_key(|(_, count)| *count);
        best.map_or(0, |(index, _)| index)
    }
}
