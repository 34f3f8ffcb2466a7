//! A run as it stands, in one file: `NAME.checkpoint` beside the net.
//!
//! Two MessagePack objects, one after the other: a [`Header`], and Burn's
//! record of the parameters and of the optimizer's moments, all f32 as they
//! are in memory. The file is written whole or not at all.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use models::Metadata;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::history::History;
use crate::output::write_whole;

/// A new meaning of the file is a new name.
const FORMAT: &str = "kibitz checkpoint 1";

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    /// What is trained, on what, and how.
    metadata: Metadata,
    history: History,
}

/// The checkpoint of one run.
pub struct Checkpoint {
    path: PathBuf,
    metadata: Metadata,
}

impl Checkpoint {
    /// The checkpoint at `path` of the run that `metadata` describes, all but
    /// its figures.
    pub fn new(path: PathBuf, metadata: Metadata) -> Checkpoint {
        Checkpoint { path, metadata }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces it.
    ///
    /// # Errors
    /// [`Failure::Unwritable`]; the one before stays.
    pub fn save(&self, history: &History, record: &[u8]) -> Result<(), Failure> {
        let header = Header {
            format: FORMAT.to_string(),
            metadata: self.metadata.clone(),
            history: history.clone(),
        };
        let mut bytes = rmp_serde::to_vec_named(&header).expect("numbers and names");
        bytes.extend_from_slice(record);
        write_whole(&self.path, &bytes)
    }

    /// Reads it: the history and Burn's record. `None` if there is none.
    ///
    /// # Errors
    /// [`Failure::Unreadable`], or [`Failure::CheckpointRefused`] if it is
    /// damaged or that of another run.
    pub fn load(&self) -> Result<Option<(History, Vec<u8>)>, Failure> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(Failure::unreadable(&self.path))?,
        };
        let mut rest = bytes.as_slice();
        let header: Header = rmp_serde::from_read(&mut rest)
            .map_err(|error| self.refused(&format!("no checkpoint of this version ({error})")))?;
        if header.format != FORMAT {
            return Err(self.refused(&format!("it is a {:?}", header.format)));
        }
        let value = |metadata: &Metadata| serde_json::to_value(metadata).expect("plain JSON");
        match difference(&value(&header.metadata), &value(&self.metadata)) {
            Some(difference) => Err(self.refused(&difference)),
            None => Ok(Some((header.history, rest.to_vec()))),
        }
    }

    /// The failure that refuses it.
    pub fn refused(&self, why: &str) -> Failure {
        Failure::CheckpointRefused {
            path: self.path.clone(),
            why: why.to_string(),
        }
    }
}

/// The first place where what was done differs from what is asked for.
fn difference(found: &Value, wanted: &Value) -> Option<String> {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            let names = wanted.keys().chain(found.keys());
            names.into_iter().find_map(|name| {
                let [found, wanted] = [found, wanted].map(|side| side.get(name));
                let [found, wanted] = [found, wanted].map(|value| value.unwrap_or(&Value::Null));
                let within = difference(found, wanted)?;
                Some(match wanted {
                    Value::Object(_) => within,
                    _ => format!("{name} {within}"),
                })
            })
        }
        _ => (found != wanted).then(|| format!("was {found}, now is {wanted}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Shape;
    use serde_json::json;

    fn metadata(epochs: u64) -> Metadata {
        let mut metadata = Metadata::new(Shape::DEFAULT, "test");
        metadata.training = json!({ "learning_rate": 3e-3, "epochs": epochs });
        metadata
    }

    #[test]
    fn holds_what_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::new(folder.path().join("a.checkpoint"), metadata(5));
        assert!(checkpoint.load().unwrap().is_none());
        let mut history = History::default();
        history.steps = 7;
        history.seconds = 0.1 + 0.2;
        checkpoint.save(&history, b"record").unwrap();
        let loaded = checkpoint.load().unwrap();
        assert_eq!(loaded, Some((history, b"record".to_vec())));
    }

    #[test]
    fn another_run_and_damage_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        let checkpoint = Checkpoint::new(path.clone(), metadata(5));
        checkpoint.save(&History::default(), b"record").unwrap();
        let other = Checkpoint::new(path.clone(), metadata(6));
        let error = other.load().unwrap_err();
        assert_eq!(error.exit_code(), 5);
        assert!(
            error.to_string().contains("epochs was 5, now is 6"),
            "{error}"
        );
        let bytes = fs::read(&path).unwrap();
        for damaged in [&bytes[..bytes.len() / 2], b"", b"not a checkpoint"] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(checkpoint.load().unwrap_err().exit_code(), 5);
        }
    }
}
