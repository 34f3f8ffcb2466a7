//! Strict safetensors parser: eight bytes with the length of the header, the header as JSON, and
//! the bytes of the tensors without gaps.
//!
//! The crate `safetensors` writes our files but does not read them: version 0.8 panics on sizes
//! that add up beyond 64 bits, and accepts two tensors of one name.

use std::collections::BTreeMap;
use std::fmt;

use half::f16;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::NetError;

/// Header entry for metadata.
const METADATA: &str = "__metadata__";

/// Tensors and metadata of a file.
pub(crate) struct Tensors<'a> {
    header: Header,
    data: &'a [u8],
}

impl<'a> Tensors<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`NetError::NotSafetensors`].
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Tensors<'a>, NetError> {
        let refused = |why: &str| NetError::NotSafetensors(why.to_string());
        let (length, rest) = bytes
            .split_first_chunk()
            .ok_or_else(|| refused("it has fewer than eight bytes"))?;
        let (header, data) = usize::try_from(u64::from_le_bytes(*length))
            .ok()
            .and_then(|length| rest.split_at_checked(length))
            .ok_or_else(|| refused("its header is longer than the file"))?;
        // As text, which metadata is too: a page then has one JSON reader, not two.
        let header = std::str::from_utf8(header).map_err(|error| refused(&error.to_string()))?;
        let header: Header =
            serde_json::from_str(header).map_err(|error| refused(&error.to_string()))?;
        if !header.covers(data.len() as u64) {
            return Err(refused("its tensors overlap, or leave bytes unused"));
        }
        Ok(Tensors { header, data })
    }

    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        self.header.metadata.get(key).map(String::as_str)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.header.tensors.keys().map(String::as_str)
    }

    /// Returns the values of a tensor, which must have these sizes and be F32 or F16.
    ///
    /// # Errors
    /// [`NetError`] with the name of the tensor.
    pub(crate) fn values(&self, name: &str, sizes: &[usize]) -> Result<Vec<f32>, NetError> {
        let tensor = self
            .header
            .tensors
            .get(name)
            .ok_or_else(|| NetError::MissingTensor(name.to_string()))?;
        if tensor.shape != sizes {
            return Err(NetError::WrongShape {
                name: name.to_string(),
                found: tensor.shape.clone(),
                expected: sizes.to_vec(),
            });
        }
        let [start, end] = tensor.data_offsets;
        // In bounds: the header was checked.
        let bytes = &self.data[start as usize..end as usize];
        let values: Vec<f32> = match tensor.dtype.as_str() {
            "F32" => split(bytes, sizes, f32::from_le_bytes),
            "F16" => split(bytes, sizes, |two| f16::from_le_bytes(two).to_f32()),
            other => {
                return Err(NetError::WrongType {
                    name: name.to_string(),
                    found: other.to_string(),
                });
            }
        }
        .ok_or_else(|| NetError::WrongLength(name.to_string()))?;
        let most = f16::MAX.to_f32();
        if !values.iter().all(|value| value.abs() <= most) {
            return Err(NetError::NotFinite(name.to_string()));
        }
        Ok(values)
    }
}

/// Splits the bytes into values of `N` bytes; `None` if their number does not match the sizes.
fn split<const N: usize>(
    bytes: &[u8],
    sizes: &[usize],
    value: impl Fn([u8; N]) -> f32,
) -> Option<Vec<f32>> {
    let count = sizes
        .iter()
        .try_fold(1usize, |count, &size| count.checked_mul(size))?;
    let (values, rest) = bytes.as_chunks();
    let whole = values.len() == count && rest.is_empty();
    whole.then(|| values.iter().map(|&bytes| value(bytes)).collect())
}

struct Header {
    metadata: BTreeMap<String, String>,
    tensors: BTreeMap<String, Tensor>,
}

impl Header {
    /// Returns whether the tensors are contiguous and fill `length` bytes.
    fn covers(&self, length: u64) -> bool {
        let mut parts: Vec<[u64; 2]> = self.tensors.values().map(|t| t.data_offsets).collect();
        parts.sort_unstable();
        let mut covered = 0;
        for [start, end] in parts {
            if start != covered || end < start {
                return false;
            }
            covered = end;
        }
        covered == length
    }
}

#[derive(serde::Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    /// Offsets of its first byte, and of the byte after its last.
    data_offsets: [u64; 2],
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Header, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("tensors by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut metadata = None;
                let mut tensors = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    let twice = if name == METADATA {
                        let Distinct(entries) = map.next_value()?;
                        metadata.replace(entries).is_some()
                    } else {
                        tensors.insert(name.clone(), map.next_value()?).is_some()
                    };
                    if twice {
                        return Err(named_twice(&name));
                    }
                }
                Ok(Header {
                    metadata: metadata.unwrap_or_default(),
                    tensors,
                })
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// A map that rejects duplicate names.
struct Distinct(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Distinct, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Distinct;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("texts by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Distinct, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    if entries.insert(name.clone(), map.next_value()?).is_some() {
                        return Err(named_twice(&name));
                    }
                }
                Ok(Distinct(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

fn named_twice<E: Error>(name: &str) -> E {
    E::custom(format_args!("{name:?} is named twice"))
}
