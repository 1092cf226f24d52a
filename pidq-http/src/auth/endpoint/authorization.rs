//! The header `Authorization: Basic`, as clients really send it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::form::decode;

/// An id and a secret.
#[derive(Clone, Eq, PartialEq)]
pub(super) struct Credentials {
    pub(super) id: String,
    pub(super) secret: Zeroizing<String>,
}

/// The credentials in a header; two readings where they differ.
///
/// RFC 6749, 2.3.1 encodes both halves before they are joined, and half of all libraries forget to. `None` if it is no
/// Basic header, or not a sound one.
pub(super) fn basic(header: &str) -> Option<Vec<Credentials>> {
    let (scheme, rest) = header.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let bytes = Zeroizing::new(STANDARD.decode(rest.trim()).ok()?);
    let (id, secret) = std::str::from_utf8(&bytes).ok()?.split_once(':')?;
    let raw = Credentials { id: id.to_owned(), secret: Zeroizing::new(secret.to_owned()) };
    let mut readings: Vec<Credentials> = decoded(id, secret).into_iter().collect();
    if !readings.contains(&raw) {
        readings.push(raw);
    }
    Some(readings)
}

fn decoded(id: &str, secret: &str) -> Option<Credentials> {
    Some(Credentials { id: decode(id.as_bytes())?.to_string(), secret: decode(secret.as_bytes())? })
}
