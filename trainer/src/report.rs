//! Reports of nets: figures against labels and material, and their pictures. `measurement` computes
//! a net's figures, `comparison` those of several engines; `page` renders all on one page, and
//! `summary` writes it beside the net. `metrics` are those of epochs and steps, and their files;
//! `live` is the page of a run in progress, `course` draws its steps, `runs` compares several runs.
//! `forecast` extrapolates the `learning_curves` of short fits by `power_law`, and `forecast_plot`
//! draws it.

pub mod boards;
pub mod calibration;
pub mod comparison;
pub mod course;
pub mod curves;
pub mod document;
pub mod errors;
pub mod figures;
pub mod forecast;
pub mod forecast_plot;
pub mod integers;
pub mod learning_curves;
pub mod live;
pub mod measurement;
pub mod metrics;
pub mod neurons;
pub mod page;
pub mod power_law;
pub mod runs;
pub mod runs_page;
pub mod scaled;
pub mod subject;
pub mod summary;
