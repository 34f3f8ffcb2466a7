//! Annotation of games with engine evaluations: a parallel worker pipeline and a resumable output.

pub(crate) mod analyst;
pub(crate) mod archive;
pub(crate) mod counts;
pub(crate) mod error;
pub(crate) mod feed;
pub(crate) mod join;
pub(crate) mod net;
pub(crate) mod notation;
pub(crate) mod pipeline;
pub(crate) mod process;
pub(crate) mod task;

pub(crate) use error::Error;
