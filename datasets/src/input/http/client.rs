//! Requests that are made again where that may help, and what servers say to others.

use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use crate::input::s3::Object;

/// Redirections that are followed, one after the other.
const MAX_REDIRECTS: u32 = 10;

/// What is read of the body of a refusal.
const REFUSAL_BYTES: u64 = 1 << 12;

/// How long a server is waited for, and how often it is tried again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For a connection, and again for the head of an answer.
    pub(super) connect: Duration,
    /// For the next bytes of a body.
    pub(super) stall: Duration,
    /// Before the first new attempt; each next pause is twice as long.
    pub(super) first_pause: Duration,
    pub(super) longest_pause: Duration,
    /// New attempts in a row that may bring no byte.
    pub(super) attempts: u32,
}

/// Shortest pause that is reported.
const TOLD_PAUSE: Duration = Duration::from_secs(2);

impl Default for Patience {
    /// Ten attempts within about two minutes, and their timeouts: a server
    /// that restarts, or a router, is back by then.
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

/// What cannot be read or written on, whatever it holds: the server, or the way to it,
/// has failed for longer than it is waited for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ConnectionLost(io::Error);

impl ConnectionLost {
    pub(super) fn error(error: io::Error) -> io::Error {
        io::Error::new(error.kind(), ConnectionLost(error))
    }
}

/// Why a request failed.
pub(super) enum HttpError {
    /// Trying again would not help.
    Lasting(io::Error),
    /// Trying again may help.
    Passing(io::Error),
}

/// Who asks servers, and how often they have failed.
pub(super) struct Client {
    pub(super) agent: Agent,
    patience: Patience,
    /// Whether the server has answered at all.
    pub(super) reached: bool,
    /// Failures since the last byte.
    pub(super) failures: u32,
}

impl Client {
    /// Asks for an object with requests that may be signed: a redirection would take the
    /// signature, and the token of temporary credentials, to another server.
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

    /// Waits before the next attempt at what `name` is, or gives up `place` with the last
    /// error. Where the wait is long enough to be noticed, it is told.
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
        if pause >= TOLD_PAUSE {
            let (attempt, attempts) = (self.failures, self.patience.attempts);
            let seconds = pause.as_secs();
            host::tell(format_args!(
                "{name}: no connection {place} ({error}); attempt {attempt} of {attempts} in {seconds} s"
            ));
        }
        thread::sleep(pause);
        Ok(())
    }

    /// Whether an error may pass. Before the first answer a name that does not
    /// resolve, or a port that refuses, is more likely a mistake in the URL.
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
            // It could repeat the URL, and what is secret in it.
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                return lasting("not a URL that can be asked for");
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

/// An answer that is not what was asked for.
#[derive(Debug, thiserror::Error)]
#[error("the server answers {status}{}", told(.code, .region))]
pub(crate) struct Refusal {
    status: StatusCode,
    /// What S3 calls it.
    code: Option<String>,
    /// The region that the bucket is in, if S3 tells it.
    region: Option<String>,
}

impl Refusal {
    /// Whether an error is that there is no such object, in a bucket that is there.
    pub(crate) fn is_missing_object(error: &io::Error) -> bool {
        let refusal = error.get_ref().and_then(|cause| cause.downcast_ref());
        refusal.is_some_and(|Refusal { status, code, .. }| {
            *status == StatusCode::NOT_FOUND && code.as_deref() != Some("NoSuchBucket")
        })
    }
}

/// What S3 calls a refusal, and what to do.
fn told(code: &Option<String>, region: &Option<String>) -> String {
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
            "; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do"
        }
        _ => "",
    };
    format!(" ({code}){advice}")
}

/// The error of a status that is not what was asked for: `NotFound` for 404 and 410,
/// `PermissionDenied` for 401 and 403.
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
            // Other refusals tell the region too.
            let is_elsewhere = matches!(status.as_u16(), 301 | 307) || named.is_some();
            HttpError::Lasting(error(code, named.or(region).filter(|_| is_elsewhere)))
        }
    }
}

/// What S3 calls a refusal, and the region that it asks for, by its body.
fn code_and_region(response: Response<Body>) -> (Option<String>, Option<String>) {
    let mut text = Vec::new();
    let mut body = response.into_body().into_reader().take(REFUSAL_BYTES);
    // What came before an error may tell it.
    let _ = body.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    let element = |name: &str| {
        let (_, text) = text.split_once(&format!("<{name}>"))?;
        let (text, _) = text.split_once(&format!("</{name}>"))?;
        Some(text.to_string())
    };
    (element("Code"), element("Region"))
}
