//! Byte input: files, pipes and URLs, compressed or not.

mod address;
mod ahead;
mod digest;
mod frames;
mod http;
mod meter;
mod part;
mod s3;
mod source;

pub(crate) use part::CHANGED;
pub use part::{PartOf, PartRead};
pub use source::{Source, digest_of};

pub(crate) use address::{identity, shown};
pub(crate) use digest::{LEAF, Node, Tree, has_granules, hex, joined};
pub(crate) use frames::{FrameDecoder, Part, whole_text};
pub(crate) use http::ConnectionLost;
pub(crate) use meter::OtherBytes;
pub(crate) use source::{Content, End, PIECE_BYTES, Place, granules_of};
