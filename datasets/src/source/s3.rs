//! S3-compatible object storage: URLs of objects, and signed requests.
//!
//! Requests have signatures of version 4 (`AWS4-HMAC-SHA256`). They are computed here because
//! rusty-s3 0.11 signs URLs only, which leaves bodies unsigned, and adds 40 crates; aws-sigv4 adds
//! 34, tokio among them.

use std::env;
use std::fmt::Write as _;
use std::io;

use hmac::{Hmac, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use ureq::http::Uri;

use crate::source::digest::hex;

/// Scheme of S3 URLs.
pub const SCHEME: &str = "s3://";

/// Characters that signatures require to be percent-encoded in an object's key.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'/');

/// Target of requests, with the credentials to sign them.
pub(super) struct Object {
    /// The http(s) URL.
    pub(super) url: String,
    /// Whether the URL was an S3 URL.
    pub(super) is_of_s3: bool,
    /// `None` for plain URLs and anonymous access.
    signer: Option<Signer>,
}

/// Name and value of a header.
pub(super) type Header<'a> = (&'static str, &'a str);

/// Credentials from the environment.
struct Signer {
    key: String,
    secret: String,
    token: Option<String>,
    region: String,
}

impl Object {
    /// Resolves a URL; for `s3://bucket/key` with endpoint, region and credentials of the
    /// environment.
    ///
    /// # Errors
    /// If the S3 URL or the credentials are incomplete.
    pub(super) fn named(name: &str) -> io::Result<Object> {
        let Some(object) = name.strip_prefix(SCHEME) else {
            return Ok(Object {
                url: name.to_string(),
                is_of_s3: false,
                signer: None,
            });
        };
        let object = object.split_once('/');
        let object = object.filter(|(bucket, key)| !bucket.is_empty() && !key.is_empty());
        let (bucket, key) = object.ok_or_else(|| io::Error::other("not s3://BUCKET/KEY"))?;
        let variable = |names: &[&str]| {
            let mut values = names.iter().filter_map(|name| env::var(name).ok());
            values.find(|value| !value.is_empty())
        };
        let region = variable(&["AWS_REGION", "AWS_DEFAULT_REGION"]);
        let region = region.unwrap_or_else(|| "us-east-1".to_string());
        let endpoint = variable(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]);
        let endpoint = endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let endpoint = endpoint.trim_end_matches('/');
        let secret = variable(&["AWS_SECRET_ACCESS_KEY"]);
        let signer = match (variable(&["AWS_ACCESS_KEY_ID"]), secret) {
            (Some(key), Some(secret)) => Some(Signer {
                key,
                secret,
                token: variable(&["AWS_SESSION_TOKEN"]),
                region,
            }),
            (None, None) => None,
            _ => {
                return Err(io::Error::other(
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together: set both, or none",
                ));
            }
        };
        Ok(Object {
            url: format!("{endpoint}/{bucket}/{}", utf8_percent_encode(key, ESCAPED)),
            is_of_s3: true,
            signer,
        })
    }

    /// Returns the headers that sign a GET request, in addition to its `own`, which have lower-case
    /// names; none for anonymous access.
    pub(super) fn headers(&self, own: &[Header]) -> io::Result<Vec<(&'static str, String)>> {
        let Some(signer) = &self.signer else {
            return Ok(Vec::new());
        };
        let uri: Uri = self.url.parse().map_err(io::Error::other)?;
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let now = timestamp(OffsetDateTime::now_utc());
        Ok(signer.sign(host, uri.path(), own, &now))
    }
}

impl Signer {
    /// Returns the headers that sign a GET request at `time`, such as `20130524T000000Z`.
    fn sign(
        &self,
        host: &str,
        path: &str,
        own: &[Header],
        time: &str,
    ) -> Vec<(&'static str, String)> {
        let no_body = hex(&Sha256::digest([]));
        let mut headers = vec![
            ("x-amz-content-sha256", no_body.clone()),
            ("x-amz-date", time.to_string()),
        ];
        headers.extend(
            self.token
                .clone()
                .map(|token| ("x-amz-security-token", token)),
        );
        let mut signed = vec![("host", host)];
        signed.extend(own);
        signed.extend(headers.iter().map(|(name, value)| (*name, &**value)));
        signed.sort_unstable();
        let names: Vec<&str> = signed.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let mut text = format!("GET\n{path}\n\n");
        for (name, value) in &signed {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name}:{value}");
        }
        let _ = write!(text, "\n{names}\n{no_body}");
        let day = &time[..8];
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let digest = hex(&Sha256::digest(text));
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
        let mut key = format!("AWS4{}", self.secret).into_bytes();
        for part in [day, &self.region, "s3", "aws4_request", &text] {
            key = keyed(&key, part);
        }
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={}",
            self.key,
            hex(&key)
        );
        headers.push(("authorization", authorization));
        headers
    }
}

/// Returns the HMAC-SHA256 of a text. Keys may have any length.
fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    let mac = Hmac::<Sha256>::new_from_slice(key);
    let mac = mac.map(|mac| mac.chain_update(text).finalize().into_bytes().to_vec());
    mac.unwrap_or_default()
}

/// Formats a time as `20130524T000000Z`.
fn timestamp(time: OffsetDateTime) -> String {
    let (date, (hour, minute, second)) = (time.date(), time.to_hms());
    let (year, month, day) = date.to_calendar_date();
    let month = u8::from(month);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Amazon's manual: Signature Calculations for the Authorization Header, GET Object.
    #[test]
    fn signs_a_request_as_in_the_manual() {
        let signer = Signer {
            key: "AKIAIOSFODNN7EXAMPLE".to_string(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_string(),
            token: None,
            region: "us-east-1".to_string(),
        };
        let host = "examplebucket.s3.amazonaws.com";
        let own = [("range", "bytes=0-9")];
        let headers = signer.sign(host, "/test.txt", &own, "20130524T000000Z");
        let (name, value) = headers.last().unwrap();
        assert_eq!(
            (*name, &**value),
            (
                "authorization",
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
                 SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
                 Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            )
        );
    }

    /// `date -u -d @951782399 +%Y%m%dT%H%M%SZ`
    #[test]
    fn formats_times_in_utc() {
        let time = OffsetDateTime::from_unix_timestamp(951_782_399).unwrap();
        assert_eq!(timestamp(time), "20000228T235959Z");
    }

    #[test]
    fn escapes_keys() {
        let escaped = |key| utf8_percent_encode(key, ESCAPED).to_string();
        assert_eq!(escaped("a/b-c_d.e~f"), "a/b-c_d.e~f");
        assert_eq!(escaped("of june+é"), "of%20june%2B%C3%A9");
    }
}
