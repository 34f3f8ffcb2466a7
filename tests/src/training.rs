//! A folder to train in.

use std::path::PathBuf;
use std::process::Command;

use crate::{Said, build, program, run, sample};

/// A temporary folder with the dataset `d`.
pub struct TrainingFolder(tempfile::TempDir);

impl TrainingFolder {
    /// Builds the dataset of a sample.
    ///
    /// # Panics
    /// If that fails.
    pub fn new(games: &str) -> TrainingFolder {
        let folder = TrainingFolder(tempfile::tempdir().expect("a temporary folder"));
        build(&[&sample(games)], &folder.path("d")).succeeded();
        folder
    }

    /// Something in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The trainer, to be run in the folder.
    pub fn trainer(&self, arguments: &[&str]) -> Command {
        let mut command = program("trainer");
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// Runs the trainer in the folder.
    pub fn run(&self, arguments: &[&str]) -> Said {
        run(&mut self.trainer(arguments))
    }
}
