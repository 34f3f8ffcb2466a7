//! Atomic writes of S3 objects.

use std::io::{self, Read, Seek};

use ureq::SendBody;
use ureq::http::{StatusCode, header};

use crate::input::http::client::{Client, ConnectionLost, HttpError, Patience, refusal};
use crate::input::s3::{Object, Request};

/// Header that stores an object's SHA-256, hexadecimal.
const DIGEST: &str = "x-amz-meta-sha256";

/// Returns size in bytes and SHA-256 of an object written by [`put`]; `None` if it is missing.
///
/// # Errors
/// The server's refusal, or connection errors after all retries.
pub(crate) fn find(url: &str) -> io::Result<Option<(u64, String)>> {
    persist(url, "asking for it", |client, object| {
        let mut request = client.agent.head(&object.url);
        for (name, value) in signed(object, &Request::of("HEAD"))? {
            request = request.header(name, value);
        }
        let response = request.call().map_err(|error| client.failure(error))?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Ok(None),
            _ => return Err(refusal(response)),
        }
        let text = |name| response.headers().get(name)?.to_str().ok();
        let bytes = text(header::CONTENT_LENGTH.as_str()).and_then(|bytes| bytes.parse().ok());
        Ok(bytes.zip(text(DIGEST).map(str::to_string)))
    })
}

/// Writes an object from `content`, which has `bytes` bytes and this SHA-256; the server verifies
/// it. `count` is called with the bytes sent, and after a failed attempt with their negated sum.
///
/// # Errors
/// The server's refusal, or connection errors after all retries; the object is then unchanged.
pub(crate) fn put(
    url: &str,
    content: &mut (impl Read + Seek),
    bytes: u64,
    sha256: &str,
    count: &dyn Fn(i64),
) -> io::Result<()> {
    persist(url, "sending it", |client, object| {
        content.rewind().map_err(HttpError::Lasting)?;
        let mut request = client.agent.put(&object.url);
        let kept = [(DIGEST, sha256)];
        let signed = signed(
            object,
            &Request {
                method: "PUT",
                headers: &kept,
                body: Some(sha256),
            },
        )?;
        for (name, value) in signed {
            request = request.header(name, value);
        }
        // 100-continue lets a server refuse before gigabytes are sent.
        let request = request
            .header(DIGEST, sha256)
            .header(header::CONTENT_LENGTH, bytes)
            .header(header::EXPECT, "100-continue");
        let mut body = Counted {
            reader: &mut *content,
            count,
            bytes: 0,
        };
        let sent = request.send(SendBody::from_reader(&mut body));
        let outcome = match sent.map_err(|error| client.failure(error)) {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => Err(refusal(response)),
            Err(error) => Err(error),
        };
        if outcome.is_err() {
            count(-body.bytes);
        }
        outcome
    })
}

/// Repeats a request until it succeeds, fails permanently, or retries are exhausted. All network
/// errors count as temporary, as the server is assumed to exist.
fn persist<T>(
    url: &str,
    what: &str,
    mut ask: impl FnMut(&Client, &Object) -> Result<T, HttpError>,
) -> io::Result<T> {
    let object = Object::named(url)?;
    let mut client = Client::new(Patience::default(), &object);
    client.reached = true;
    loop {
        match ask(&client, &object) {
            Ok(answer) => return Ok(answer),
            Err(HttpError::Lasting(error)) => return Err(error),
            Err(HttpError::Passing(error)) => {
                client
                    .pause(error, url, what)
                    .map_err(ConnectionLost::error)?;
            }
        }
    }
}

fn signed(object: &Object, request: &Request) -> Result<Vec<(&'static str, String)>, HttpError> {
    object.headers(request).map_err(HttpError::Lasting)
}

/// Reader that reports the bytes read.
struct Counted<'a, R> {
    reader: R,
    count: &'a dyn Fn(i64),
    bytes: i64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bytes += read as i64;
        (self.count)(read as i64);
        Ok(read)
    }
}
