//! Training and measuring of a policy, which foretells people's moves.

pub mod baseline;
pub mod figures;
pub mod golden;
pub mod picture;
pub mod plan;
pub mod run;
