//! Where bytes come from: files, pipes and URLs, packed or not.

mod frames;
mod http;
mod meter;
mod source;

pub use source::{Source, sha256_of};

pub(crate) use frames::{FrameDecoder, Part, whole_text};
pub(crate) use http::ConnectionLost;
pub(crate) use meter::{OtherBytes, Prefix, hex};
pub(crate) use source::{Content, PIECE_BYTES, Place};
