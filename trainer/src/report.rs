//! What can be said of a net: figures against labels and material, and pictures
//! of them. `measured` gathers the figures, `comparison` those of several engines;
//! `picture` is what pictures are drawn with; `page` puts all on one page, and
//! `summary` writes it beside the net.

pub mod boards;
pub mod calibration;
pub mod comparison;
pub mod curves;
pub mod errors;
pub mod figures;
pub mod integers;
pub mod measured;
pub mod neurons;
pub mod page;
pub mod rates;

pub mod subject;
pub mod summary;
