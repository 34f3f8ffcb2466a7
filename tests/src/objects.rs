//! Local S3 server (moto), and a proxy that stalls.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::{Said, program, python, root, run};

/// Server of files as objects of the bucket `games`; ends with its standard input.
pub struct S3Server {
    process: Child,
    output: BufReader<ChildStdout>,
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
        let mut output = BufReader::new(process.stdout.take().expect("a pipe"));
        output.read_line(&mut line).expect("a line");
        let mut words = line.split_whitespace().map(String::from);
        let mut word = || words.next().expect("an endpoint, a key and a secret");
        Some(S3Server {
            process,
            output,
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

    /// Overwrites an object of `games` with other contents.
    ///
    /// # Panics
    /// If the server has ended.
    pub fn damage(&mut self, key: &str) {
        let input = self.process.stdin.as_mut().expect("a pipe");
        writeln!(input, "{key}").expect("the server reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        assert_eq!(line, "done\n");
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// TCP proxy that forwards a limited number of bytes over all connections, then drops data while
/// keeping connections open.
pub struct StallingProxy {
    /// URL of the proxy.
    pub endpoint: String,
    passed: Arc<AtomicU64>,
    most: u64,
}

impl StallingProxy {
    /// Starts a proxy for the server at a URL that forwards at most `most` bytes.
    ///
    /// # Panics
    /// If no port is free.
    pub fn start(endpoint: &str, most: u64) -> StallingProxy {
        let server = endpoint.trim_start_matches("http://").to_string();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let passed = Arc::new(AtomicU64::new(0));
        let all = Arc::clone(&passed);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&server).expect("the server listens");
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let [from, to] = [from, to].map(|end| end.try_clone().expect("a socket"));
                    let all = Arc::clone(&all);
                    thread::spawn(move || pass(from, to, &all, most));
                }
            }
        });
        StallingProxy {
            endpoint: format!("http://{address}"),
            passed,
            most,
        }
    }

    /// Returns whether any bytes were dropped.
    pub fn has_stalled(&self) -> bool {
        self.passed.load(Ordering::Relaxed) > self.most
    }
}

/// Forwards bytes until one end closes, then closes the other.
fn pass(mut from: TcpStream, mut to: TcpStream, passed: &AtomicU64, most: u64) {
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut piece) {
        let before = passed.fetch_add(read as u64, Ordering::Relaxed);
        if before + read as u64 <= most && to.write_all(&piece[..read]).is_err() {
            break;
        }
    }
    // Fails if the socket is closed already.
    let _ = to.shutdown(std::net::Shutdown::Both);
}
