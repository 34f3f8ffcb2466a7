//! Source addresses without secrets, which are passwords and the queries of presigned URLs.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::source::digest::hex;
use crate::source::s3::SCHEME;

/// Query parameters that sign a request and do not identify the file, in any letter case. Entries
/// ending in `-` match every name with that prefix.
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

/// Returns the printable form of a source: URLs lose user, password, query and fragment, also those
/// of unsupported schemes.
pub(crate) fn shown(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(url) if url.contains("://") => PathBuf::from(parts(url).0),
        _ => path.to_path_buf(),
    }
}

/// Identity of a source in an unfinished build: its path, or its URL without secrets and with a
/// digest of the query's other parameters.
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

/// Returns the source as a URL, `None` if it is a file.
pub(super) fn url(path: &Path) -> Option<&str> {
    path.to_str().filter(|source| is_url(source))
}

/// Returns whether a source's name is a URL with a supported scheme.
pub(super) fn is_url(source: &str) -> bool {
    // Schemes are case-insensitive (RFC 3986, 3.1).
    let is_web = ["http://", "https://"].iter().any(|scheme| {
        let found = source.get(..scheme.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(scheme))
    });
    is_web || source.starts_with(SCHEME)
}

/// Splits a URL into its printable form, without user info and fragment, and its query. An s3 URL
/// has no query, as keys may contain any character.
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
    fn hides_secrets_of_urls() {
        let presigned =
            "https://user:pass@example.org:9000/a/x.pgn.gz?X-Amz-Signature=secret&id=7#part";
        let again = presigned
            .replace("secret", "other")
            .replace("pass@", "word@");
        assert_eq!(
            shown(Path::new(presigned)),
            Path::new("https://example.org:9000/a/x.pgn.gz")
        );
        // Another signature is the same file, another parameter a different one.
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
        // Unsupported as a source, but shown in errors.
        assert_eq!(
            shown(Path::new("ftp://a:b@host/x?sig=1")),
            Path::new("ftp://host/x")
        );
    }

    #[test]
    fn recognises_urls() {
        for url in ["http://a/b.pgn.zst", "https://a/b"] {
            assert!(is_url(url));
        }
        for file in ["http", "https:", "ftp://a/b", "./http://a", "-", ""] {
            assert!(!is_url(file));
        }
    }
}
