//! What can be said of a net: figures against labels and material, and pictures
//! of them. `measured` gathers the figures, `comparison` those of several engines;
//! `page` puts all on one page, and `summary` writes it beside the net. `live` is
//! the page of a run that goes on, `course` what it measured from step to step.
//! `metrics` reads what runs left, `runs` sets several side by side.

pub mod boards;
pub mod calibration;
pub mod comparison;
pub mod course;
pub mod curves;
pub mod document;
pub mod errors;
pub mod figures;
pub mod integers;
pub mod live;
pub mod measured;
pub mod metrics;
pub mod neurons;
pub mod page;
pub mod rates;
pub mod runs;
pub mod runs_page;
pub mod subject;
pub mod summary;
