//! HTTP client with retries, and the classification of failures.

use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use crate::source::s3::Object;

/// Maximum number of redirects in a row.
const MAX_REDIRECTS: u32 = 10;

/// Bytes read of the body of a refusal.
const REFUSAL_BYTES: u64 = 1 << 12;

/// Timeouts and retries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Timeout of a connection attempt, and again of the response head.
    pub(super) connect: Duration,
    /// Timeout of a read from a body.
    pub(super) stall: Duration,
    /// Pause before the first retry; each next one is twice as long.
    pub(super) first_pause: Duration,
    pub(super) longest_pause: Duration,
    /// Consecutive retries without a byte received.
    pub(super) attempts: u32,
}

/// Shortest pause that is reported.
const REPORTED_PAUSE: Duration = Duration::from_secs(2);

impl Default for Patience {
    /// Ten retries in about two minutes plus timeouts, enough for a server or router to restart.
    fn default() -> Patience {
        Patience {
            connect: Duration::from_secs(30),
            stall: Duration::from_secs(60),
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            attempts: 10,
        }
    }
}

/// The server, or the route to it, failed for longer than the retries last.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ConnectionLost(io::Error);

impl ConnectionLost {
    pub(super) fn error(error: io::Error) -> io::Error {
        io::Error::new(error.kind(), ConnectionLost(error))
    }
}

/// Failure of a request.
pub(super) enum HttpError {
    /// Permanent: a retry would not help.
    Lasting(io::Error),
    /// Temporary: a retry may help.
    Passing(io::Error),
}

/// HTTP agent with the state of its retries.
pub(super) struct Client {
    pub(super) agent: Agent,
    patience: Patience,
    /// Whether the server has ever responded.
    pub(super) reached: bool,
    /// Consecutive failures since the last byte received.
    pub(super) failures: u32,
}

impl Client {
    /// Creates a client. Redirects are disabled for S3, where they would pass the signature, and
    /// the token of temporary credentials, to another server.
    pub(super) fn new(patience: Patience, object: &Object) -> Client {
        let redirects = if object.is_of_s3 { 0 } else { MAX_REDIRECTS };
        let agent = Agent::config_builder()
            .max_redirects(redirects)
            .http_status_as_error(false)
            .user_agent(concat!("kibitz/", env!("CARGO_PKG_VERSION")))
            .accept_encoding("identity")
            .max_idle_connections(0)
            .timeout_resolve(Some(patience.connect))
            .timeout_connect(Some(patience.connect))
            .timeout_recv_response(Some(patience.connect))
            .timeout_per_read(Some(patience.stall))
            .timeout_per_write(Some(patience.stall))
            .build()
            .new_agent();
        Client {
            agent,
            patience,
            reached: false,
            failures: 0,
        }
    }

    /// Waits before the next attempt, or fails with `error` after the last one. Pauses long enough
    /// to notice are reported. `name` is the printable URL, `place` a phrase such as "at byte 7".
    pub(super) fn pause(&mut self, error: io::Error, name: &str, place: &str) -> io::Result<()> {
        if self.failures == self.patience.attempts {
            let failures = self.failures;
            let text = format!("gave up {place} after {failures} new attempts: {error}");
            return Err(io::Error::new(error.kind(), text));
        }
        let factor = 1u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        let pause = self.patience.first_pause.saturating_mul(factor);
        let pause = pause.min(self.patience.longest_pause);
        self.failures += 1;
        if pause >= REPORTED_PAUSE {
            let (attempt, attempts) = (self.failures, self.patience.attempts);
            let seconds = pause.as_secs();
            host::tell(format_args!(
                "{name}: no connection {place} ({error}); attempt {attempt} of {attempts} in {seconds} s"
            ));
        }
        thread::sleep(pause);
        Ok(())
    }

    /// Classifies an error. Before the first response an unresolved name or a refused connection is
    /// permanent: probably a mistake in the URL.
    pub(super) fn failure(&self, error: ureq::Error) -> HttpError {
        let passing = match &error {
            ureq::Error::Io(error) => {
                self.reached
                    || matches!(
                        error.kind(),
                        io::ErrorKind::ConnectionReset
                            | io::ErrorKind::ConnectionAborted
                            | io::ErrorKind::BrokenPipe
                            | io::ErrorKind::UnexpectedEof
                    )
            }
            ureq::Error::Timeout(_)
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Protocol(_) => self.reached,
            // The error could repeat the URL with its secrets.
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                return lasting("not a URL");
            }
            _ => false,
        };
        let kind = if passing {
            HttpError::Passing
        } else {
            HttpError::Lasting
        };
        kind(error.into_io())
    }
}

pub(super) fn lasting(text: &str) -> HttpError {
    HttpError::Lasting(io::Error::other(text))
}

/// Response with an error status.
#[derive(Debug, thiserror::Error)]
#[error("the server answers {status}{}", s3_details(.code, .region))]
struct Refusal {
    status: StatusCode,
    /// S3 error code.
    code: Option<String>,
    /// Region of the bucket, if S3 reports it.
    region: Option<String>,
}

/// Formats the S3 error code with advice.
fn s3_details(code: &Option<String>, region: &Option<String>) -> String {
    if let Some(region) = region {
        return format!(": wrong region, the bucket is in {region}; set AWS_REGION={region}");
    }
    let Some(code) = code else {
        return String::new();
    };
    let advice = match &code[..] {
        "NoSuchBucket" => "; make the bucket, or correct its name",
        "PermanentRedirect" | "TemporaryRedirect" | "AuthorizationHeaderMalformed" => {
            ": wrong region; set AWS_REGION to the bucket's"
        }
        "AccessDenied" | "InvalidAccessKeyId" | "SignatureDoesNotMatch" | "ExpiredToken" => {
            "; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions"
        }
        _ => "",
    };
    format!(" ({code}){advice}")
}

/// Converts an error response: kind `NotFound` for 404 and 410, `PermissionDenied` for 401 and 403.
pub(super) fn refusal(response: Response<Body>) -> HttpError {
    let status = response.status();
    let kind = match status.as_u16() {
        404 | 410 => io::ErrorKind::NotFound,
        401 | 403 => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    };
    let error = |code, region| {
        let refusal = Refusal {
            status,
            code,
            region,
        };
        io::Error::new(kind, refusal)
    };
    match status.as_u16() {
        408 | 425 | 429 | 500 | 502 | 503 | 504 => HttpError::Passing(error(None, None)),
        _ => {
            let header = response.headers().get("x-amz-bucket-region");
            let region = header.and_then(|region| Some(region.to_str().ok()?.to_string()));
            let (code, named) = code_and_region(response);
            // Other refusals send the region header too.
            let is_elsewhere = matches!(status.as_u16(), 301 | 307) || named.is_some();
            HttpError::Lasting(error(code, named.or(region).filter(|_| is_elsewhere)))
        }
    }
}

/// Parses the S3 error code and the expected region from the body.
fn code_and_region(response: Response<Body>) -> (Option<String>, Option<String>) {
    let mut text = Vec::new();
    let mut body = response.into_body().into_reader().take(REFUSAL_BYTES);
    // A partial body may contain them.
    let _ = body.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    let element = |name: &str| {
        let (_, text) = text.split_once(&format!("<{name}>"))?;
        let (text, _) = text.split_once(&format!("</{name}>"))?;
        Some(text.to_string())
    };
    (element("Code"), element("Region"))
}
