//! Statistics of game results: pentanomial score and Elo interval, SPRT, ratings, SPSA.

pub(crate) mod pentanomial;
pub(crate) mod ratings;
pub(crate) mod sprt;
pub(crate) mod spsa;
