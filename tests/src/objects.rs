//! Local S3 server (moto).

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{Said, program, python, root, run};

/// Server of files as objects of the bucket `games`; ends with its standard input.
pub struct S3Server {
    process: Child,
    /// URL of the server.
    pub endpoint: String,
    key: String,
    secret: String,
}

impl S3Server {
    /// Starts the server. Returns `None` without moto, after calling [`skip`](crate::skip).
    ///
    /// # Panics
    /// If the server does not start.
    pub fn start(files: &[&Path]) -> Option<S3Server> {
        let mut command = python("moto")?;
        command.arg(root().join("tests/reference/s3_server.py"));
        command.args(files).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("Python starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let mut words = line.split_whitespace().map(String::from);
        let mut word = || words.next().expect("an endpoint, a key and a secret");
        Some(S3Server {
            process,
            endpoint: word(),
            key: word(),
            secret: word(),
        })
    }

    /// Returns an `ingest` command with the server's address and key in its environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program("ingest");
        command.args(arguments);
        command.env("AWS_ENDPOINT_URL", &self.endpoint);
        command.env("AWS_ACCESS_KEY_ID", &self.key);
        command.env("AWS_SECRET_ACCESS_KEY", &self.secret);
        for name in ["AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN", "AWS_REGION"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs [`S3Server::command`].
    pub fn run(&self, arguments: &[&str]) -> Said {
        run(&mut self.command(arguments))
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
