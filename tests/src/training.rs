//! Temporary folder for training.

use std::path::PathBuf;
use std::process::Command;

use crate::{Said, build, program, run, sample};

/// Temporary folder with the dataset `d`.
pub struct TrainingFolder(tempfile::TempDir);

impl TrainingFolder {
    /// Builds the dataset of a sample.
    ///
    /// # Panics
    /// If the build fails.
    pub fn new(games: &str) -> TrainingFolder {
        let folder = TrainingFolder(tempfile::tempdir().expect("a temporary folder"));
        build(&[&sample(games)], &folder.path("d")).succeeded();
        folder
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns a `trainer` command that runs in the folder.
    pub fn trainer(&self, arguments: &[&str]) -> Command {
        let mut command = program("trainer");
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// Runs [`TrainingFolder::trainer`].
    pub fn run(&self, arguments: &[&str]) -> Said {
        run(&mut self.trainer(arguments))
    }
}
