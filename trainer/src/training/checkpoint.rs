//! Checkpoint: the state of a run in one file, `NAME.checkpoint` beside the net.
//!
//! Format: a line that names the format; the SHA-256 of the rest; a [`Header`] as MessagePack; the
//! bytes of the best net so far; and the executor's record of parameters and optimizer moments. The
//! file is written atomically.
//!
//! Runs resume from the checkpoint. The net and all other files are derived from it and written
//! after it, so after a kill at any time they belong to this checkpoint or an earlier one, and are
//! written again.

use std::fs;
use std::io::ErrorKind;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use models::{Architecture, Metadata};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::TrainerError;
use crate::files;
use crate::training::history::RunHistory;

/// Prefix of all formats' names. A change of meaning increments the number.
const FORMATS: &str = "kibitz checkpoint ";
/// Current format.
const FORMAT: &str = "kibitz checkpoint 3";

/// Bytes of a SHA-256.
const DIGEST: usize = 32;

#[derive(Serialize, Deserialize)]
struct Header<M, H> {
    /// Description of the run: network, data, settings.
    metadata: M,
    history: H,
    /// Length of the net's file in bytes; `None` before the first epoch has ended.
    net: Option<usize>,
}

/// Content of a checkpoint.
#[derive(Debug, PartialEq)]
pub struct State<H = RunHistory> {
    /// State of the run except weights.
    pub history: H,
    /// Bytes of the best net so far.
    pub net: Option<Vec<u8>>,
    /// Serialised parameters and moments (`Executor::record`).
    pub record: Vec<u8>,
}

/// Planned length of a checkpoint's run.
#[derive(Debug, PartialEq)]
pub struct Length {
    /// Passes over the training positions.
    pub epochs: u64,
    /// Epochs after which the schedule restarted.
    pub restarts: Vec<u64>,
    /// Whether all epochs are done.
    pub ended: bool,
}

/// Reader and writer of one run's checkpoint, by default that of a value network.
pub struct Checkpoint<M = Metadata, H = RunHistory> {
    path: PathBuf,
    metadata: M,
    history: PhantomData<H>,
}

impl<M, H> Checkpoint<M, H>
where
    M: Clone + PartialEq + Serialize + DeserializeOwned,
    H: Serialize + DeserializeOwned,
{
    /// Returns the checkpoint at `path` of the run that `metadata` describes, all but its figures.
    pub fn new(path: PathBuf, metadata: M) -> Checkpoint<M, H> {
        Checkpoint {
            path,
            metadata,
            history: PhantomData,
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// [`TrainerError::Unwritable`]; the previous checkpoint then remains.
    pub fn save(&self, history: &H, net: Option<&[u8]>, record: &[u8]) -> Result<(), TrainerError> {
        let header = Header {
            metadata: &self.metadata,
            history,
            net: net.map(<[u8]>::len),
        };
        let header = rmp_serde::to_vec_named(&header).expect("numbers and names");
        let content = [&header, net.unwrap_or_default(), record].concat();
        let digest = Sha256::digest(&content);
        let bytes = [FORMAT.as_bytes(), b"\n", &digest, &content].concat();
        files::write(&self.path, &bytes)
    }

    /// Reads the file. `None` if it is missing.
    ///
    /// # Errors
    /// [`TrainerError::Unreadable`], or [`TrainerError::CheckpointRefused`] if it is damaged, of
    /// another run, or of another version of the trainer.
    pub fn load(&self) -> Result<Option<State<H>>, TrainerError> {
        let Some(bytes) = self.bytes()? else {
            return Ok(None);
        };
        let (header, content) = self.header(&bytes)?;
        if let Some(difference) = difference(&header.metadata, &self.metadata) {
            return Err(self.refused(&format!(
                "{difference}; give the command that it was made with, or another --out"
            )));
        }
        let (net, record) = content
            .split_at_checked(header.net.unwrap_or(0))
            .ok_or_else(|| self.refused(&format!("its net is cut off; {AGAIN}")))?;
        Ok(Some(State {
            history: header.history,
            net: header.net.map(|_| net.to_vec()),
            record: record.to_vec(),
        }))
    }

    /// Reads the file's bytes. `None` if it is missing.
    fn bytes(&self) -> Result<Option<Vec<u8>>, TrainerError> {
        match fs::read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(TrainerError::unreadable(&self.path)(error)),
            Ok(bytes) => Ok(Some(bytes)),
        }
    }

    /// Returns the header, and the bytes after it.
    fn header<'a>(&self, bytes: &'a [u8]) -> Result<(Header<M, H>, &'a [u8]), TrainerError> {
        let mut content = self.content(bytes)?;
        let header = rmp_serde::from_read(&mut content)
            .map_err(|error| self.refused(&format!("it cannot be read ({error}); {AGAIN}")))?;
        Ok((header, content))
    }

    /// Verifies format and digest; returns the bytes after the digest.
    fn content<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], TrainerError> {
        let found = named_format(bytes).unwrap_or_default();
        if found != FORMAT && found.len() > FORMATS.len() {
            return Err(self.refused(&format!(
                "it is a {found:?}, and this trainer reads only {FORMAT:?}; finish the run with \
                 the trainer that began it, or begin again with another --out"
            )));
        }
        let begin = [FORMAT.as_bytes(), b"\n"].concat();
        let parts = bytes
            .strip_prefix(&begin[..])
            .and_then(|rest| rest.split_at_checked(DIGEST));
        match parts {
            Some((digest, content)) if digest == &Sha256::digest(content)[..] => Ok(content),
            _ => Err(self.refused(&format!("it is damaged; {AGAIN}"))),
        }
    }

    /// Returns the error that refuses this checkpoint.
    pub fn refused(&self, why: &str) -> TrainerError {
        TrainerError::CheckpointRefused {
            path: self.path.clone(),
            why: why.to_string(),
        }
    }
}

impl Checkpoint {
    /// Returns the planned length of the checkpoint's run, even if it is another run. `None` if the
    /// file is missing.
    ///
    /// # Errors
    /// As [`Checkpoint::load`], but for other runs.
    pub fn length(&self) -> Result<Option<Length>, TrainerError> {
        let Some(bytes) = self.bytes()? else {
            return Ok(None);
        };
        let (header, _) = self.header(&bytes)?;
        let training = &header.metadata.training;
        let epochs = training["epochs"].as_u64().unwrap_or(0);
        let restarts = training["restarts"].as_array().into_iter().flatten();
        let restarts = restarts.filter_map(|restart| restart["after_epoch"].as_u64());
        Ok(Some(Length {
            epochs,
            restarts: restarts.collect(),
            ended: header.history.epoch() > epochs,
        }))
    }
}

/// Remedy for an unusable checkpoint.
const AGAIN: &str = "put back a copy of it, or begin again with another --out";

/// Returns the format name in a file's first bytes, searched within them, since the first version
/// had it further on.
fn named_format(bytes: &[u8]) -> Option<&str> {
    let head = &bytes[..bytes.len().min(64)];
    let at = head
        .windows(FORMATS.len())
        .position(|window| window == FORMATS.as_bytes())?;
    let digits = head[at + FORMATS.len()..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    str::from_utf8(&head[at..at + FORMATS.len() + digits.count()]).ok()
}

/// Settings that decide a run: the user's name of each, and its JSON pointer in metadata.
const OPTIONS: [(&str, &str); 24] = [
    ("the fingerprint of --data", "/dataset/fingerprint"),
    ("--init", "/training/init"),
    ("--view", "/shape/view"),
    ("--mirrored", "/shape/mirrored"),
    ("--activation", "/shape/activation"),
    ("--buckets", "/shape/buckets"),
    ("--features", "/shape/features"),
    ("--hidden", "/shape"),
    ("--hidden", "/neurons"),
    ("--epochs", "/training/epochs"),
    ("--batch", "/training/batch"),
    ("--learning-rate", "/training/learning_rate"),
    ("--clip-norm", "/training/clip_norm"),
    ("--seed", "/training/seed"),
    ("--device", "/training/device"),
    ("--inputs", "/training/inputs"),
    ("--precision", "/training/precision"),
    ("--schedule", "/training/schedule"),
    ("--warm-up", "/training/warm_up_steps"),
    ("--weight-decay", "/training/optimizer/weight_decay"),
    ("--own-scale", "/training/own_scale"),
    ("--wdl", "/training/wdl"),
    ("--loss-exponent", "/training/loss_exponent"),
    ("the recipe's filter", "/training/filter"),
];

/// Returns the first setting in which the checkpoint's run differs from the plan, as a sentence.
fn difference<M: PartialEq + Serialize>(before: &M, now: &M) -> Option<String> {
    let [before, now] = [before, now].map(|data| serde_json::to_value(data).expect("plain JSON"));
    if before["tool"] != now["tool"] {
        let (before, now) = (shown(&before["tool"]), shown(&now["tool"]));
        return Some(format!("it was made by {before}, this is {now}"));
    }
    let at = |data: &Value, place: &str| data.pointer(place).cloned().unwrap_or_default();
    let options = OPTIONS.iter().find_map(|&(option, place)| {
        let [before, now] = [&before, &now].map(|data| at(data, place));
        (before != now).then(|| format!("{option} was {}, now is {}", shown(&before), shown(&now)))
    });
    options.or_else(|| (before != now).then(|| "the trainer itself has changed".to_string()))
}

/// Formats a metadata value as the command line would have it.
fn shown(value: &Value) -> String {
    if let Ok(architecture) = serde_json::from_value::<Architecture>(value.clone()) {
        let sizes = [
            Some(architecture.first),
            architecture.second,
            architecture.third,
        ];
        let sizes: Vec<String> = sizes
            .into_iter()
            .flatten()
            .map(|size| size.to_string())
            .collect();
        return sizes.join(",");
    }
    match value {
        Value::Null => "not given".to_string(),
        Value::String(text) => text.clone(),
        // File name and digest prefix of a net.
        Value::Object(net) if net.contains_key("sha256") => {
            let part = |name| net.get(name).and_then(Value::as_str).unwrap_or_default();
            format!("{} ({:.8})", part("file"), part("sha256"))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Features;
    use serde_json::json;

    fn metadata(epochs: u64) -> Metadata {
        let mut metadata = Metadata::new(Architecture::ARTICLE, "test");
        metadata.training = json!({ "learning_rate": 3e-3, "epochs": epochs });
        metadata
    }

    /// Returns a saved checkpoint and its folder.
    fn saved() -> (tempfile::TempDir, Checkpoint) {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::new(folder.path().join("a.checkpoint"), metadata(5));
        let history = RunHistory::default();
        checkpoint.save(&history, Some(b"net"), b"record").unwrap();
        (folder, checkpoint)
    }

    fn refusal(checkpoint: &Checkpoint) -> String {
        let error = checkpoint.load().unwrap_err();
        assert_eq!(error.exit_code() as u8, 5);
        error.to_string()
    }

    #[test]
    fn round_trips_the_state() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::new(folder.path().join("a.checkpoint"), metadata(5));
        assert!(checkpoint.load().unwrap().is_none());
        let history = RunHistory {
            steps: 7,
            seconds: 0.1 + 0.2,
            ..RunHistory::default()
        };
        for net in [None, Some(b"the net".to_vec())] {
            checkpoint
                .save(&history, net.as_deref(), b"record")
                .unwrap();
            let state = State {
                history: history.clone(),
                net,
                record: b"record".to_vec(),
            };
            assert_eq!(checkpoint.load().unwrap(), Some(state));
        }
    }

    #[test]
    fn refuses_every_single_bit_error() {
        let (_folder, checkpoint) = saved();
        let bytes = fs::read(checkpoint.path()).unwrap();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                fs::write(checkpoint.path(), &damaged).unwrap();
                let why = refusal(&checkpoint);
                assert!(
                    why.contains("a.checkpoint") && why.contains("--out"),
                    "{why}"
                );
            }
        }
        for length in 0..bytes.len() {
            fs::write(checkpoint.path(), &bytes[..length]).unwrap();
            assert!(refusal(&checkpoint).contains("damaged"), "{length} bytes");
        }
        let longer = [&bytes[..], b"x"].concat();
        fs::write(checkpoint.path(), longer).unwrap();
        assert!(refusal(&checkpoint).contains("damaged"));
    }

    #[test]
    fn refuses_other_formats_by_name() {
        #[derive(Serialize)]
        struct First {
            format: &'static str,
            metadata: Metadata,
        }
        let (_folder, checkpoint) = saved();
        let first = First {
            format: "kibitz checkpoint 1",
            metadata: metadata(5),
        };
        let first = rmp_serde::to_vec_named(&first).unwrap();
        let later = b"kibitz checkpoint 10\nof which nothing is known".to_vec();
        for (bytes, name) in [(first, "checkpoint 1\""), (later, "checkpoint 10\"")] {
            fs::write(checkpoint.path(), bytes).unwrap();
            let why = refusal(&checkpoint);
            assert!(
                why.contains(name) && why.contains("finish the run"),
                "{why}"
            );
        }
    }

    #[test]
    fn names_the_option_that_differs() {
        let (_folder, checkpoint) = saved();
        let refused = |metadata: Metadata, words: &str| {
            let other = Checkpoint::new(checkpoint.path().to_path_buf(), metadata);
            let why = refusal(&other);
            assert!(why.contains(words), "{why}");
        };
        refused(metadata(6), "--epochs was 5, now is 6");
        let mut other = metadata(5);
        other.architecture.second = Some(16);
        refused(other, "--hidden was 451,32,32, now is 451,16,32");
        let mut other = metadata(5);
        other.architecture.features = Features::Pieces;
        refused(other, "--features was not given, now is pieces");
        let mut other = metadata(5);
        other.training["init"] = json!({ "file": "a.safetensors", "sha256": "0123456789" });
        refused(
            other,
            "--init was not given, now is a.safetensors (01234567)",
        );
        refused(
            Metadata {
                tool: "next".to_string(),
                ..metadata(5)
            },
            "made by test, this is next",
        );
        let mut other = metadata(5);
        other.training["optimizer"] = json!({ "weight_decay": 0.5 });
        refused(other, "--weight-decay was not given, now is 0.5");
        let mut other = metadata(5);
        other.training["schedule"] = json!("another");
        refused(other, "--schedule was not given, now is another");
        let mut other = metadata(5);
        other.target = json!("another");
        refused(other, "the trainer itself has changed");
    }
}
