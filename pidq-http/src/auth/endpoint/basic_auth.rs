//! Parser of `Authorization: Basic`, tolerant of common client errors.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::message::percent::decode_secret;

/// Client id and secret.
#[derive(Clone, Eq, PartialEq)]
pub(super) struct Credentials {
    pub(super) id: String,
    pub(super) secret: Zeroizing<String>,
}

/// Returns the possible credentials of a header: two if the interpretations differ.
///
/// RFC 6749, 2.3.1 percent-encodes both halves before they are joined, and half of all libraries do not. `None` if
/// the header is not valid Basic authentication.
pub(super) fn parse_basic_auth(header: &str) -> Option<Vec<Credentials>> {
    let (scheme, rest) = header.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let bytes = Zeroizing::new(STANDARD.decode(rest.trim()).ok()?);
    let (id, secret) = std::str::from_utf8(&bytes).ok()?.split_once(':')?;
    let raw = Credentials { id: id.to_owned(), secret: Zeroizing::new(secret.to_owned()) };
    let mut candidates: Vec<Credentials> = decoded(id, secret).into_iter().collect();
    if !candidates.contains(&raw) {
        candidates.push(raw);
    }
    Some(candidates)
}

fn decoded(id: &str, secret: &str) -> Option<Credentials> {
    Some(Credentials { id: decode_secret(id.as_bytes())?.to_string(), secret: decode_secret(secret.as_bytes())? })
}
