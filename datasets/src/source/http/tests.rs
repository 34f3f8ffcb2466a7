//! Tests of the reader against a server with realistic faults.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::*;

/// Request received by the server.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Request {
    path: String,
    start: Option<usize>,
    if_range: Option<String>,
}

/// Server with one response per connection.
struct Server {
    url: String,
    requests: Receiver<Request>,
}

impl Server {
    /// Starts a server; `answer` receives the number of the request, from 0.
    fn start(mut answer: impl FnMut(usize, &Request, TcpStream) + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/file", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let Some(request) = read_request(&mut stream) else {
                    continue;
                };
                if sender.send(request.clone()).is_err() {
                    return;
                }
                answer(number, &request, stream);
            }
        });
        Server { url, requests }
    }

    fn open(&self) -> io::Result<HttpReader> {
        HttpReader::with_patience(&self.url, HASTE)
    }

    /// Reads the whole file.
    fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn requests(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

const HASTE: Patience = Patience {
    connect: Duration::from_secs(20),
    stall: Duration::from_millis(300),
    first_pause: Duration::from_millis(1),
    longest_pause: Duration::from_millis(4),
    attempts: 3,
};

/// Reads a request except the last byte of its head: closing with an unread byte resets the
/// connection unless [`finish`] has read it.
fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let header = |name: &str| {
        let mut headers = head.lines().filter_map(|line| line.split_once(": "));
        let (_, value) = headers.find(|(n, _)| n.eq_ignore_ascii_case(name))?;
        Some(value.trim_end().to_string())
    };
    let start = |range: String| {
        let start = range
            .strip_prefix("bytes=")
            .unwrap()
            .strip_suffix('-')
            .unwrap();
        start.parse().unwrap()
    };
    Some(Request {
        path: head.split(' ').nth(1)?.to_string(),
        start: header("Range").map(start),
        if_range: header("If-Range"),
    })
}

fn finish(stream: &mut TcpStream) {
    stream.read_exact(&mut [0]).unwrap();
}

fn status(stream: &mut TcpStream, line: &str) {
    finish(stream);
    write!(stream, "HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n").unwrap();
}

/// Fate of a connection after [`Served::most`] bytes.
#[derive(Clone, Copy)]
enum End {
    Close,
    Reset,
    Stall,
}

/// File with serving options.
struct Served {
    bytes: Vec<u8>,
    /// ETag and Last-Modified, as header lines.
    validators: &'static str,
    /// Whether Range is supported.
    ranges: bool,
    /// Maximum bytes of the body per connection.
    most: usize,
    end: End,
}

impl Served {
    fn new(bytes: &[u8]) -> Served {
        Served {
            bytes: bytes.to_vec(),
            validators: "ETag: \"one\"\r\n",
            ranges: true,
            most: usize::MAX,
            end: End::Close,
        }
    }

    fn answer(&self, request: &Request, mut stream: TcpStream) {
        let current = request
            .if_range
            .as_deref()
            .is_some_and(|v| self.validators.contains(v));
        let start = request.start.filter(|_| self.ranges && current);
        let part = &self.bytes[start.unwrap_or(0).min(self.bytes.len())..];
        let (line, range) = match start {
            None => ("200 OK", String::new()),
            Some(start) if start >= self.bytes.len() => (
                "416 Range Not Satisfiable",
                format!("Content-Range: bytes */{}\r\n", self.bytes.len()),
            ),
            Some(start) => (
                "206 Partial Content",
                format!(
                    "Content-Range: bytes {start}-{}/{}\r\n",
                    self.bytes.len() - 1,
                    self.bytes.len()
                ),
            ),
        };
        let head = format!(
            "HTTP/1.1 {line}\r\n{}{range}Content-Length: {}\r\n\r\n",
            self.validators,
            part.len()
        );
        let part = &part[..part.len().min(self.most)];
        let whole = part.len() < self.most;
        if whole || !matches!(self.end, End::Reset) {
            finish(&mut stream);
        }
        // The client may have closed the connection.
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(part);
        if !whole && matches!(self.end, End::Stall) {
            // Wait until the client hangs up.
            let _ = stream.read(&mut [0]);
        }
    }

    fn serve(self) -> Server {
        Server::start(move |_, request, stream| self.answer(request, stream))
    }
}

/// Returns bytes without repeated stretches.
fn sample(len: usize) -> Vec<u8> {
    (0..len as u64 / 8 + 1)
        .flat_map(|i| records::hash::mix(i).to_le_bytes())
        .take(len)
        .collect()
}

fn said(result: io::Result<Vec<u8>>) -> String {
    result.map(|bytes| bytes.len()).unwrap_err().to_string()
}

#[test]
fn reads_a_file_in_one_request() {
    for len in [0, 1, 5_000_000] {
        let bytes = sample(len);
        let server = Served::new(&bytes).serve();
        let mut reader = server.open().unwrap();
        assert_eq!(reader.len(), Some(len as u64));
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert!(read == bytes);
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn resumes_after_every_lost_connection() {
    let bytes = sample(100_000);
    for (end, most) in [
        (End::Close, 1_777),
        (End::Close, 50_000),
        (End::Reset, 20_011),
        (End::Stall, 33_334),
    ] {
        let server = Served {
            most,
            end,
            ..Served::new(&bytes)
        }
        .serve();
        assert!(server.read().unwrap() == bytes);
        let requests = server.requests();
        assert!(
            requests.len() >= bytes.len().div_ceil(most),
            "{}",
            requests.len()
        );
        for request in &requests[1..] {
            assert!(request.start.is_some());
            assert_eq!(request.if_range.as_deref(), Some("\"one\""));
        }
    }
}

#[test]
fn resumes_a_truncated_chunked_body() {
    let bytes = sample(60_000);
    let served = Served::new(&bytes);
    let server = Server::start(move |number, request, mut stream| {
        if number > 0 {
            return served.answer(request, stream);
        }
        finish(&mut stream);
        let head = "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nTransfer-Encoding: chunked\r\n\r\n";
        write!(stream, "{head}{:x}\r\n", 20_000).unwrap();
        stream.write_all(&served.bytes[..20_000]).unwrap();
        stream.write_all(b"\r\n").unwrap();
    });
    assert!(server.read().unwrap() == bytes);
    assert_eq!(server.requests()[1].start, Some(20_000));
}

#[test]
fn skips_known_bytes_without_range_support() {
    let bytes = sample(90_000);
    let mut served = Served {
        ranges: false,
        most: 40_000,
        ..Served::new(&bytes)
    };
    let server = Server::start(move |number, request, stream| {
        if number == 2 {
            served.most = usize::MAX;
        }
        served.answer(request, stream);
    });
    assert!(server.read().unwrap() == bytes);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn gives_up_without_progress() {
    let bytes = sample(90_000);
    let server = Served {
        ranges: false,
        most: 40_000,
        ..Served::new(&bytes)
    }
    .serve();
    let error = said(server.read());
    assert!(
        error.starts_with("gave up at byte 40000 after 3 new attempts: "),
        "{error}"
    );
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn rejects_a_changed_file() {
    let (old, new) = (sample(90_000), sample(90_001));
    for validators in ["ETag: \"two\"\r\n", ""] {
        let before = Served {
            most: 40_000,
            ..Served::new(&old)
        };
        let after = Served {
            validators,
            ..Served::new(&new)
        };
        let server = Server::start(move |number, request, stream| {
            if number == 0 { &before } else { &after }.answer(request, stream);
        });
        let error = said(server.read());
        assert!(error.contains("has changed since it was opened"), "{error}");
        assert_eq!(server.requests().len(), 2);
    }
}

/// Some servers support Range but not If-Range.
#[test]
fn rejects_a_range_of_another_file() {
    for headers in [
        "ETag: \"two\"\r\nContent-Range: bytes 40000-89999/90000\r\n",
        "Content-Range: bytes 40000-90000/90001\r\n",
        "ETag: \"one\"\r\nContent-Range: bytes 39999-89999/90000\r\n",
        "ETag: \"one\"\r\nContent-Range: bytes none\r\n",
        "ETag: \"one\"\r\n",
    ] {
        let served = Served {
            most: 40_000,
            ..Served::new(&sample(90_000))
        };
        let server = Server::start(move |number, request, mut stream| {
            if number == 0 {
                return served.answer(request, stream);
            }
            finish(&mut stream);
            let head = "HTTP/1.1 206 Partial Content\r\nContent-Length: 50000\r\n";
            write!(stream, "{head}{headers}\r\n").unwrap();
            let _ = stream.write_all(&served.bytes[40_000..]);
        });
        said(server.read());
        assert_eq!(server.requests().len(), 2, "{headers}");
    }
}

#[test]
fn falls_back_to_last_modified() {
    let bytes = sample(90_000);
    let validators = "ETag: W/\"weak\"\r\nLast-Modified: Sat, 21 Nov 2026 12:00:00 GMT\r\n";
    let server = Served {
        validators,
        most: 40_000,
        ..Served::new(&bytes)
    }
    .serve();
    assert!(server.read().unwrap() == bytes);
    let time = "Sat, 21 Nov 2026 12:00:00 GMT";
    assert_eq!(server.requests()[1].if_range.as_deref(), Some(time));
}

#[test]
fn refuses_to_resume_without_validator() {
    let served = |most| Served {
        validators: "",
        most,
        ..Served::new(&sample(90_000))
    };
    assert_eq!(served(usize::MAX).serve().read().unwrap().len(), 90_000);
    let error = said(served(40_000).serve().read());
    assert!(error.contains("neither ETag nor Last-Modified"), "{error}");
}

#[test]
fn retries_server_errors() {
    let served = Served::new(&sample(10));
    let server = Server::start(move |number, request, mut stream| match number {
        0 => status(&mut stream, "500 Internal Server Error"),
        1 => status(&mut stream, "503 Service Unavailable"),
        2 => drop(stream),
        _ => served.answer(request, stream),
    });
    assert_eq!(server.read().unwrap(), sample(10));
    let server = Server::start(|_, _, mut stream| status(&mut stream, "502 Bad Gateway"));
    let error = said(server.read());
    assert!(
        error.ends_with("the server answers 502 Bad Gateway"),
        "{error}"
    );
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn fails_at_once_on_a_refusal() {
    for (line, kind) in [
        ("404 Not Found", io::ErrorKind::NotFound),
        ("410 Gone", io::ErrorKind::NotFound),
        ("403 Forbidden", io::ErrorKind::PermissionDenied),
        ("400 Bad Request", io::ErrorKind::Other),
    ] {
        let server = Server::start(move |_, _, mut stream| status(&mut stream, line));
        let error = server.open().map(drop).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(error.to_string(), format!("the server answers {line}"));
        assert_eq!(server.requests().len(), 1);
    }
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let error = HttpReader::open(&format!("http://{closed}/"))
        .map(drop)
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    assert!(HttpReader::open("http://").is_err());
}

#[test]
fn follows_redirects_on_each_connection() {
    let bytes = sample(90_000);
    let served = Served {
        most: 40_000,
        ..Served::new(&bytes)
    };
    let server = Server::start(move |_, request, mut stream| {
        if request.path == "/moved" {
            return served.answer(request, stream);
        }
        finish(&mut stream);
        let head = "HTTP/1.1 302 Found\r\nLocation: /moved\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
    });
    assert!(server.read().unwrap() == bytes);
    let requests = server.requests();
    let moved: Vec<_> = requests
        .iter()
        .filter(|r| r.path == "/moved")
        .map(|r| r.start)
        .collect();
    assert_eq!(moved, [None, Some(40_000), Some(80_000)]);
    let server = Server::start(|_, _, mut stream| {
        finish(&mut stream);
        let head = "HTTP/1.1 302 Found\r\nLocation: /file\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
    });
    assert!(server.open().is_err());
}

#[test]
fn reader_is_send() {
    fn sendable<T: Send + 'static>() {}
    sendable::<HttpReader>();
}
