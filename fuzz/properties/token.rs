//! Fuzz property of `token`: a forged token is never accepted by a service with an external identity provider, and the
//! provider's keys are requested only if everything that can be checked without them is valid.
//!
//! An input is a token; an input with a line break is also used as header and claims, which are encoded.
//!
//! The provider does not respond, so a valid token fails as temporarily not verifiable. The clock is fixed, so the keys are
//! requested only once.

use std::sync::LazyLock;

use pidq_http::auth::{AuthError, Provider, ProviderSettings, TenantSource};
use serde_json::{Map, Value};

use super::fixture::{Fixture, NOW};

const ISSUER: &str = "http://127.0.0.1:9";
const MAX_SIZE: usize = 16 << 10;

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let Fixture { runtime, identities } = Fixture::empty();
    let mut settings = ProviderSettings::rfc9068(ISSUER, "pidq", TenantSource::Fixed("acme".to_owned()));
    settings.jwks_uri = Some(format!("{ISSUER}/keys"));
    let identities = identities.with_provider(Provider::new(settings).expect("a provider"));
    Fixture { runtime, identities }
});

/// Panics if the property is violated.
pub fn check(input: &str) {
    check_token(input);
    if let Some((header, claims)) = input.split_once('\n') {
        check_token(&format!("{}.{}.", encode_base64url(header), encode_base64url(claims)));
    }
}

fn check_token(token: &str) {
    let Fixture { runtime, identities } = &*FIXTURE;
    let header = format!("Bearer {token}");
    let error = runtime.block_on(identities.authenticate(&[&header], NOW)).expect_err("a forged token");
    let requested_keys = match error {
        AuthError::Unavailable(_) => true,
        AuthError::Invalid => false,
        other => panic!("{other:?}"),
    };
    match Validity::of(token.trim()) {
        Validity::Valid => assert!(requested_keys, "the keys were not requested"),
        Validity::Invalid => assert!(!requested_keys, "the keys were requested"),
        Validity::Unknown => {}
    }
}

/// Validity of a token according to an independent parser, as far as it can be checked without keys. Of duplicate names,
/// the parser keeps the last value.
enum Validity {
    Valid,
    Invalid,
    /// Valid, unless a name is duplicated.
    Unknown,
}

impl Validity {
    fn of(token: &str) -> Validity {
        let parts: Vec<_> = token.split('.').map(decode_base64url).collect();
        let [Some(header), Some(claims), Some(_)] = parts.as_slice() else { return Validity::Invalid };
        let object = |bytes: &[u8]| serde_json::from_slice::<Map<String, Value>>(bytes).ok();
        let Some((head, body)) = object(header).zip(object(claims)) else { return Validity::Invalid };
        if token.len() > MAX_SIZE || !is_access_token_header(&head) || body.get("iss") != Some(&ISSUER.into()) {
            return Validity::Invalid;
        }
        let is_canonical = |map: Map<String, Value>, bytes: &[u8]| Value::Object(map).to_string().as_bytes() == bytes;
        if is_canonical(head, header) && is_canonical(body, claims) { Validity::Valid } else { Validity::Unknown }
    }
}

fn is_access_token_header(head: &Map<String, Value>) -> bool {
    let text = |name: &str| head.get(name).and_then(Value::as_str).unwrap_or_default();
    let has_extensions = ["crit", "b64", "zip", "enc"].iter().any(|name| head.contains_key(*name));
    let kind = text("typ").to_ascii_lowercase();
    let is_signed = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"].contains(&text("alg"));
    is_signed && !has_extensions && ["at+jwt", "application/at+jwt"].contains(&kind.as_str())
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes a string as base64url without padding.
fn encode_base64url(text: &str) -> String {
    let groups = text.as_bytes().chunks(3).flat_map(|group| {
        let bits = group.iter().zip([16, 8, 0]).fold(0, |bits, (byte, shift)| bits | usize::from(*byte) << shift);
        [18, 12, 6, 0].into_iter().take(group.len() + 1).map(move |shift| char::from(DIGITS[bits >> shift & 63]))
    });
    groups.collect()
}

/// Decodes base64url without padding. Returns `None` for invalid characters or leftover bits.
fn decode_base64url(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut bit_count, mut bytes) = (0_u32, 0, Vec::new());
    for letter in text.bytes() {
        bits = bits << 6 | digit(letter)?;
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((bits >> bit_count) as u8);
        }
        bits &= (1 << bit_count) - 1;
    }
    (bit_count < 6 && bits == 0).then_some(bytes)
}

fn digit(letter: u8) -> Option<u32> {
    DIGITS.iter().position(|digit| *digit == letter).map(|at| at as u32)
}
