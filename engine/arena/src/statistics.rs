//! What results say: scores and Elo with their intervals, the sequential
//! probability ratio test, ratings of many engines,
//! and the tuning of options.

pub(crate) mod pentanomial;
pub(crate) mod ratings;
pub(crate) mod sprt;
pub(crate) mod spsa;
