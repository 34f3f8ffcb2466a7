//! HTTP server whose connections break.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// HTTP server of one file, with byte ranges.
pub struct BreakingServer {
    /// URL of the file.
    pub url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    requests: AtomicU64,
    starts: Mutex<Vec<u64>>,
    missing: AtomicBool,
    rest_missing: AtomicBool,
    /// Number of range requests still to be refused.
    busy: AtomicU64,
}

impl BreakingServer {
    /// Serves `bytes` until the process ends; each connection breaks after `most` bytes.
    ///
    /// # Panics
    /// If no port is free.
    pub fn start(bytes: Vec<u8>, most: usize) -> BreakingServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let shared = Arc::new(Shared::default());
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                state.requests.fetch_add(1, Ordering::Relaxed);
                // Fails if the client closed the connection.
                let _ = answer(stream, &state, &bytes, most);
            }
        });
        BreakingServer {
            url: format!("http://{address}/games"),
            shared,
        }
    }

    /// Returns the number of requests so far.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Returns the start offsets requested since the last call.
    ///
    /// # Panics
    /// If the server has panicked.
    pub fn take_starts(&self) -> Vec<u64> {
        std::mem::take(&mut self.shared.starts.lock().expect("a list"))
    }

    /// Sets whether every request is answered with 404.
    pub fn set_missing(&self, missing: bool) {
        self.shared.missing.store(missing, Ordering::Relaxed);
    }

    /// Sets whether range requests, as after a broken connection, are answered with 404.
    pub fn set_rest_missing(&self, missing: bool) {
        self.shared.rest_missing.store(missing, Ordering::Relaxed);
    }

    /// Answers the next `requests` range requests with 503, as a server that restarts does.
    pub fn refuse_rests(&self, requests: u64) {
        self.shared.busy.store(requests, Ordering::Relaxed);
    }
}

fn answer(
    mut stream: TcpStream,
    shared: &Shared,
    bytes: &[u8],
    most: usize,
) -> std::io::Result<()> {
    let mut start = None;
    for line in BufReader::new(stream.try_clone()?).lines() {
        let line = line?.to_ascii_lowercase();
        if let Some(range) = line.strip_prefix("range: bytes=") {
            start = range.trim_end_matches('-').parse().ok();
        }
        if line.is_empty() {
            break;
        }
    }
    let flag = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
    if flag(&shared.missing) || start.is_some() && flag(&shared.rest_missing) {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    }
    let busy = shared.busy.load(Ordering::Relaxed);
    if start.is_some() && busy > 0 {
        shared.busy.store(busy - 1, Ordering::Relaxed);
        return stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    }
    let (status, range) = match start {
        None => ("200 OK", String::new()),
        Some(start) => (
            "206 Partial Content",
            format!(
                "Content-Range: bytes {start}-{}/{}\r\n",
                bytes.len() - 1,
                bytes.len()
            ),
        ),
    };
    if let Ok(mut starts) = shared.starts.lock() {
        starts.push(start.unwrap_or(0) as u64);
    }
    let part = &bytes[start.unwrap_or(0).min(bytes.len())..];
    write!(
        stream,
        "HTTP/1.1 {status}\r\nETag: \"one\"\r\n{range}Content-Length: {}\r\n\r\n",
        part.len()
    )?;
    stream.write_all(&part[..part.len().min(most)])
}
