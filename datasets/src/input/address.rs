//! Addresses of sources without their secrets: a URL can hold a password, and the query of a
//! presigned URL is as good as one.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::input::digest::hex;
use crate::input::http::HttpReader;

/// Parameters of a query that sign it: they change from one request to the next, and name
/// nothing. All that begin so, in any letter case.
const SIGNATURES: [&str; 16] = [
    "x-amz-",
    "x-goog-",
    "x-oss-",
    "signature",
    "expires",
    "key-pair-id",
    "policy",
    "awsaccesskeyid",
    "googleaccessid",
    "ossaccesskeyid",
    "token",
    "access_token",
    "sig",
    "se",
    "st",
    "sv",
];

/// A source as it may be shown: a URL without user, password, query and fragment.
/// So is whatever looks like a URL, and cannot be read.
pub(crate) fn shown(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(url) if url.contains("://") => PathBuf::from(parts(url).0),
        _ => path.to_path_buf(),
    }
}

/// Identity of a source in an unfinished build: its path, or its URL without secrets and with
/// a digest of the query's other parameters.
pub(crate) fn identity(path: &Path) -> String {
    let Some(url) = url(path) else {
        return path.to_string_lossy().into_owned();
    };
    let (shown, query) = parts(url);
    let named = query.split('&').filter(|parameter| {
        let name = parameter.split('=').next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let signs = |signature: &str| match signature.ends_with('-') {
            true => name.starts_with(signature),
            false => name == signature,
        };
        !name.is_empty() && !SIGNATURES.into_iter().any(signs)
    });
    let named: Vec<&str> = named.collect();
    match &named[..] {
        [] => shown,
        named => format!("{shown}?sha256={}", hex(&Sha256::digest(named.join("&")))),
    }
}

/// The source as a URL, if it is one.
pub(super) fn url(path: &Path) -> Option<&str> {
    path.to_str().filter(|source| HttpReader::is_url(source))
}

/// A URL as it may be shown, and its query. In S3, keys of objects may have any character.
fn parts(url: &str) -> (String, &str) {
    let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| *scheme != "s3") else {
        return (url.to_string(), "");
    };
    let rest = rest.split('#').next().unwrap_or_default();
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    (format!("{scheme}://{host}{path}"), query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_neither_shown_nor_kept() {
        let presigned =
            "https://user:pass@example.org:9000/a/x.pgn.gz?X-Amz-Signature=secret&id=7#part";
        let again = presigned
            .replace("secret", "other")
            .replace("pass@", "word@");
        assert_eq!(
            shown(Path::new(presigned)),
            Path::new("https://example.org:9000/a/x.pgn.gz")
        );
        // A new signature is of the same file, another parameter of another one.
        let of = |url: &str| identity(Path::new(url));
        assert_eq!(of(presigned), of(&again));
        assert_ne!(of(presigned), of(&presigned.replace("id=7", "id=8")));
        for secret in ["secret", "pass", "user", "id=7"] {
            assert!(!of(presigned).contains(secret), "{secret}");
        }
        for (url, expected) in [
            ("http://host", "http://host"),
            ("http://host?sig=x", "http://host"),
            ("http://host/a@b", "http://host/a@b"),
            ("http://a@b@host/x?sv=1&se=2", "http://host/x"),
            ("s3://bucket/a?b#c@d", "s3://bucket/a?b#c@d"),
            ("folder/a?b", "folder/a?b"),
            ("-", "-"),
            ("HTTPS://a:b@host/x?sig=1", "HTTPS://host/x"),
        ] {
            assert_eq!(shown(Path::new(url)), Path::new(expected));
            assert_eq!(of(url), expected);
        }
        // No source, but a name that errors tell.
        assert_eq!(
            shown(Path::new("ftp://a:b@host/x?sig=1")),
            Path::new("ftp://host/x")
        );
    }
}
