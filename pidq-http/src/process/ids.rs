//! Request ids, UUIDs version 7, and random bytes.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::header::{HeaderMap, HeaderName};
use ring::rand::{SecureRandom, SystemRandom};
use uuid::Uuid;

/// Header of the request id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Returns random bytes of the system.
///
/// # Panics
///
/// Panics if the system has none: nothing is secure then.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system has random bytes");
    bytes
}

/// Returns a UUID version 7 (RFC 9562), which sorts by time.
pub fn uuid_v7() -> String {
    Uuid::now_v7().to_string()
}

/// Returns a unique request id, which is not a secret. Hot: random bytes are read once per thread, and a keyed hash
/// of a counter follows. With random bytes of the system, it takes five times as long.
fn new_request_id() -> Arc<str> {
    thread_local! {
        static KEY: RandomState = RandomState::new();
        static COUNT: Cell<u128> = Cell::new(u128::from_le_bytes(random()));
    }
    let count = COUNT.get().wrapping_add(1);
    COUNT.set(count);
    let [high, low] = KEY.with(|key| [key.hash_one(count), key.hash_one(!count)]);
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&high.to_le_bytes());
    bytes[8..].copy_from_slice(&low.to_le_bytes()[..2]);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let id = uuid::Builder::from_unix_timestamp_millis(now.as_millis() as u64, &bytes).into_uuid();
    Arc::from(&*id.hyphenated().encode_lower(&mut Uuid::encode_buffer()))
}

/// Returns the client's request id if it is safe for logs and headers, else a new one.
pub(crate) fn request_id(headers: &HeaderMap) -> Arc<str> {
    let is_safe = |id: &&str| {
        (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    };
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(is_safe);
    given.map(Arc::from).unwrap_or_else(new_request_id)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        let mut map = HeaderMap::new();
        map.insert(name, HeaderValue::from_static(value));
        map
    }

    #[test]
    fn uuids_have_their_version_and_differ() {
        let makers: [fn() -> String; 2] = [uuid_v7, || new_request_id().to_string()];
        for make in makers {
            let (one, two) = (make(), make());
            assert_ne!(one, two);
            assert_eq!((one.len(), &one[14..15]), (36, "7"));
            assert!(["8", "9", "a", "b"].contains(&&one[19..20]), "{one}");
            assert!([8, 13, 18, 23].iter().all(|&at| one.as_bytes()[at] == b'-'), "{one}");
            assert!(one[..8] <= two[..8], "they sort by time");
        }
    }

    #[test]
    fn a_client_request_id_is_kept_only_if_it_is_safe() {
        assert_eq!(&*request_id(&headers("x-request-id", "job-7.a_B")), "job-7.a_B");
        for bad in ["", "a b", "a\"b", "ä", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
            let map = HeaderValue::from_bytes(bad.as_bytes()).map(|value| {
                let mut map = HeaderMap::new();
                map.insert("x-request-id", value);
                map
            });
            assert_eq!(request_id(&map.unwrap_or_default()).len(), 36, "{bad}");
        }
    }
}
