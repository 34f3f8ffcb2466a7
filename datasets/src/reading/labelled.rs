//! Reading all labelled positions of a file, for evaluating nets.

use std::path::Path;

use crate::Error;
use crate::reading::Reading;
use crate::source::Source;
use records::position::Record;
use records::selection::{Filters, SourceCounts};

/// Reads all labelled positions of one source in file order. Standard chess and Chess960 are
/// included, without a validation split.
///
/// # Errors
/// [`Error`] if the source cannot be opened or is damaged; in the second case `each` has received
/// every position outside the damage.
pub fn read_labelled(path: &Path, mut each: impl FnMut(Record)) -> Result<SourceCounts, Error> {
    let filters = Filters {
        chess960: true,
        validation_percent: 0,
        ..Filters::default()
    };
    let mut tally = SourceCounts::default();
    let reading = Reading::from(Source::open(path)?);
    let finished = reading.run(&filters, rayon::current_num_threads(), |batch| {
        tally.add(&batch.tally);
        batch.train.into_iter().for_each(&mut each);
        Ok(())
    })?;
    finished.check(path)?;
    Ok(tally)
}
