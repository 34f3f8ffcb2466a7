//! File behind an http(s) URL, or an S3 object, read as one stream across lost connections.
//!
//! Certificates are checked against Mozilla's roots, compiled in: they are the same on every
//! machine, and a bare container has no others.

mod client;

use std::io::{self, Read};
use std::path::Path;

use ureq::http::{HeaderMap, Response, StatusCode, header};
use ureq::{Body, BodyReader};

use crate::source::address::shown;
use crate::source::http::client::{Client, HttpError, Patience, lasting, refusal};
use crate::source::s3::Object;

pub(crate) use client::ConnectionLost;

/// Reader of a file behind a URL. If the connection is lost, closed early or stalled, it reconnects
/// at the byte reached, provided that the server still has the same file.
///
/// Errors do not repeat the URL. If a server sends neither a length nor chunks, a lost connection
/// looks like the end of the file.
pub(crate) struct HttpReader {
    client: Client,
    object: Object,
    /// Printable form of the URL.
    name: String,
    /// Offset of the next byte in the file.
    offset: u64,
    len: Option<u64>,
    validator: Option<String>,
    /// Body of the open connection, from `offset` on.
    body: Option<BodyReader<'static>>,
}

impl HttpReader {
    /// Opens a file at its first byte.
    ///
    /// # Errors
    /// The server's refusal: `NotFound` for 404 and 410, `PermissionDenied` for 401 and 403.
    /// Connection errors after all retries.
    pub(crate) fn open(url: &str) -> io::Result<HttpReader> {
        HttpReader::with_patience(url, Patience::default())
    }

    fn with_patience(url: &str, patience: Patience) -> io::Result<HttpReader> {
        let object = Object::named(url)?;
        let mut reader = HttpReader {
            client: Client::new(patience, &object),
            name: shown(Path::new(url)).display().to_string(),
            object,
            offset: 0,
            len: None,
            validator: None,
            body: None,
        };
        reader.ensure_connected()?;
        Ok(reader)
    }

    /// Continues reading at another byte.
    pub(crate) fn seek(&mut self, offset: u64) {
        if offset != self.offset {
            (self.offset, self.body) = (offset, None);
        }
    }

    /// Length of the whole file in bytes; `None` if the server did not send it.
    pub(crate) fn len(&self) -> Option<u64> {
        self.len
    }

    fn at_end(&self) -> bool {
        self.len == Some(self.offset)
    }

    /// Connects, with retries, unless connected or at the end.
    fn ensure_connected(&mut self) -> io::Result<()> {
        while self.body.is_none() && !self.at_end() {
            match self.connect() {
                Ok(body) => self.body = body,
                Err(HttpError::Lasting(error)) => return Err(error),
                Err(HttpError::Passing(error)) => self.pause(error)?,
            }
        }
        Ok(())
    }

    /// Waits before the next attempt, or fails with `error` after the last one.
    fn pause(&mut self, error: io::Error) -> io::Result<()> {
        let place = format!("at byte {}", self.offset);
        self.client.pause(error, &self.name, &place)
    }

    /// Requests the file from `offset` on. `None` at the end.
    fn connect(&mut self) -> Result<Option<BodyReader<'static>>, HttpError> {
        let mut request = self.client.agent.get(&self.object.url);
        let range = (self.offset > 0).then(|| format!("bytes={}-", self.offset));
        let own: Vec<_> = range.iter().map(|range| ("range", &**range)).collect();
        let signed = self.object.headers(&own);
        for (name, value) in signed.map_err(HttpError::Lasting)? {
            request = request.header(name, value);
        }
        if let Some(range) = range {
            let validator = self.validator.as_deref().ok_or_else(|| {
                lasting(
                    "cannot resume: the server sent neither ETag nor Last-Modified, which would \
                     identify the file; download it, and read the copy",
                )
            })?;
            request = request
                .header(header::RANGE, range)
                .header(header::IF_RANGE, validator);
        }
        let response = request.call();
        let response = response.map_err(|error| self.client.failure(error))?;
        self.client.reached = true;
        match response.status() {
            StatusCode::OK => self.whole(response).map(Some),
            StatusCode::PARTIAL_CONTENT if self.offset > 0 => self.rest(response).map(Some),
            StatusCode::RANGE_NOT_SATISFIABLE if self.offset > 0 => {
                self.nothing(response.headers())
            }
            _ => Err(refusal(response)),
        }
    }

    /// Handles a response with the whole file, skipping to `offset`.
    fn whole(&mut self, response: Response<Body>) -> Result<BodyReader<'static>, HttpError> {
        let headers = response.headers();
        if self.validator.is_some() && self.is_same_file(headers) != Some(true) {
            return Err(changed());
        }
        if self.validator.is_none() {
            self.validator = validator(headers);
        }
        self.learn_len(content_length(headers))?;
        if self.offset > 0 {
            host::tell(format_args!(
                "{}: the server cannot resume at byte {}: it sends the whole file again",
                self.name, self.offset
            ));
        }
        let mut body = response.into_body().into_reader();
        let skipped = io::copy(&mut body.by_ref().take(self.offset), &mut io::sink());
        match skipped {
            Ok(skipped) if skipped == self.offset => Ok(body),
            Ok(_) => Err(HttpError::Passing(self.ended_early())),
            Err(error) => Err(HttpError::Passing(error)),
        }
    }

    /// Handles a response with the requested range.
    fn rest(&mut self, response: Response<Body>) -> Result<BodyReader<'static>, HttpError> {
        // The validator is optional here: If-Range has compared it.
        if self.is_same_file(response.headers()) == Some(false) {
            return Err(changed());
        }
        let range = response.headers().get(header::CONTENT_RANGE);
        let (start, len) = range
            .and_then(|range| content_range(range.to_str().ok()?))
            .ok_or_else(|| lasting("the server sent an invalid Content-Range"))?;
        if start != Some(self.offset) {
            return Err(lasting("the server sent another range than requested"));
        }
        self.learn_len(len)?;
        Ok(response.into_body().into_reader())
    }

    /// Handles a response that nothing lies at `offset`: the end if the file ends there.
    fn nothing(&mut self, headers: &HeaderMap) -> Result<Option<BodyReader<'static>>, HttpError> {
        let range = headers.get(header::CONTENT_RANGE);
        match range.and_then(|range| content_range(range.to_str().ok()?)) {
            Some((_, len)) if len == Some(self.offset) => {
                self.learn_len(len)?;
                Ok(None)
            }
            _ => Err(changed()),
        }
    }

    /// Returns whether the response has the known validator; `None` if either has none.
    fn is_same_file(&self, headers: &HeaderMap) -> Option<bool> {
        let known = self.validator.as_deref()?;
        let name = if known.starts_with('"') {
            header::ETAG
        } else {
            header::LAST_MODIFIED
        };
        headers.get(name).map(|value| value == known)
    }

    fn learn_len(&mut self, len: Option<u64>) -> Result<(), HttpError> {
        if len.is_some() && self.len.is_some() && len != self.len {
            return Err(changed());
        }
        self.len = self.len.or(len);
        Ok(())
    }

    fn ended_early(&self) -> io::Error {
        let text = match self.len {
            Some(len) => format!("the connection ended at byte {} of {len}", self.offset),
            None => format!("the connection ended at byte {}", self.offset),
        };
        io::Error::new(io::ErrorKind::UnexpectedEof, text)
    }
}

impl Read for HttpReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            self.ensure_connected().map_err(ConnectionLost::error)?;
            let Some(body) = self.body.as_mut().filter(|_| self.len != Some(self.offset)) else {
                return Ok(0);
            };
            let error = match body.read(buffer) {
                Ok(0) if self.len.is_none() => {
                    self.len = Some(self.offset);
                    continue;
                }
                Ok(0) => self.ended_early(),
                Ok(count) => {
                    self.offset += count as u64;
                    self.client.failures = 0;
                    return Ok(count);
                }
                Err(error) => error,
            };
            self.body = None;
            self.pause(error).map_err(ConnectionLost::error)?;
        }
    }
}

fn changed() -> HttpError {
    lasting("the file on the server has changed since it was opened")
}

/// Returns the strong validator of a file version. A weak ETag does not promise equal bytes.
fn validator(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name)?.to_str().ok();
    text(header::ETAG)
        .filter(|tag: &&str| tag.starts_with('"'))
        .or_else(|| text(header::LAST_MODIFIED))
        .map(str::to_string)
}

/// Returns the length of the body; `None` for chunked bodies, where the header does not count.
fn content_length(headers: &HeaderMap) -> Option<u64> {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        return None;
    }
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

/// Parses `bytes 200-999/1000` and `bytes */1000`: the first byte and the length of the whole file.
fn content_range(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (range, len) = text.strip_prefix("bytes ")?.split_once('/')?;
    let len = match len {
        "*" => None,
        len => Some(len.parse().ok()?),
    };
    let start = match range.split_once('-') {
        Some((start, _)) => Some(start.parse().ok()?),
        None => None,
    };
    Some((start, len))
}

#[cfg(test)]
mod tests;
