//! Fuzz property of `token`: a forged token is never accepted by a service with an external identity provider, and the
//! provider's keys are requested only if everything that can be checked without them is valid.
//!
//! An input is a token; an input with a line break is also used as header and claims, which are encoded.
//!
//! The provider does not respond, so a valid token fails as temporarily not verifiable. Keys are requested once: the
//! clock is fixed, so no retry becomes due.

use std::sync::LazyLock;

use pidq_http::auth::{AuthError, Provider, ProviderSettings, TenantSource};
use serde_json::{Map, Value};

use super::world::{NOW, World};

const ISSUER: &str = "http://127.0.0.1:9";
const LONGEST: usize = 16 << 10;

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let World { runtime, identities } = World::empty();
    let mut settings = ProviderSettings::rfc9068(ISSUER, "pidq", TenantSource::Fixed("acme".to_owned()));
    settings.jwks_uri = Some(format!("{ISSUER}/keys"));
    let identities = identities.with_provider(Provider::new(settings).expect("a provider"));
    World { runtime, identities }
});

/// Panics if the property is violated.
pub fn check(input: &str) {
    check_token(input);
    if let Some((header, claims)) = input.split_once('\n') {
        check_token(&format!("{}.{}.", encoded(header), encoded(claims)));
    }
}

fn check_token(token: &str) {
    let World { runtime, identities } = &*WORLD;
    let header = format!("Bearer {token}");
    let error = runtime.block_on(identities.authenticate(&[&header], NOW)).expect_err("nobody signed it");
    let needs_a_key = match error {
        AuthError::Unavailable(_) => true,
        AuthError::Invalid => false,
        other => panic!("{other:?}"),
    };
    match Reading::of(token.trim()) {
        Reading::Sound => assert!(needs_a_key, "refused"),
        Reading::Unsound => assert!(!needs_a_key, "a key was looked for"),
        Reading::Doubtful => {}
    }
}

/// Result of an independent token parser: a plain split, a separate decoder, and objects that keep the last of equal
/// names.
enum Reading {
    Sound,
    Unsound,
    /// Sound, unless a name is duplicated.
    Doubtful,
}

impl Reading {
    fn of(token: &str) -> Reading {
        let parts: Vec<_> = token.split('.').map(bytes).collect();
        let [Some(header), Some(claims), Some(_)] = parts.as_slice() else { return Reading::Unsound };
        let object = |bytes: &[u8]| serde_json::from_slice::<Map<String, Value>>(bytes).ok();
        let Some((head, body)) = object(header).zip(object(claims)) else { return Reading::Unsound };
        if token.len() > LONGEST || !is_of_an_access_token(&head) || body.get("iss") != Some(&ISSUER.into()) {
            return Reading::Unsound;
        }
        let is_as_written = |map: Map<String, Value>, bytes: &[u8]| Value::Object(map).to_string().as_bytes() == bytes;
        if is_as_written(head, header) && is_as_written(body, claims) { Reading::Sound } else { Reading::Doubtful }
    }
}

fn is_of_an_access_token(head: &Map<String, Value>) -> bool {
    let text = |name: &str| head.get(name).and_then(Value::as_str).unwrap_or_default();
    let demands = ["crit", "b64", "zip", "enc"].iter().any(|name| head.contains_key(*name));
    let kind = text("typ").to_ascii_lowercase();
    let is_signed = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"].contains(&text("alg"));
    is_signed && !demands && ["at+jwt", "application/at+jwt"].contains(&kind.as_str())
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes a string as base64url without padding.
fn encoded(text: &str) -> String {
    let groups = text.as_bytes().chunks(3).flat_map(|group| {
        let bits = group.iter().zip([16, 8, 0]).fold(0, |bits, (byte, shift)| bits | usize::from(*byte) << shift);
        [18, 12, 6, 0].into_iter().take(group.len() + 1).map(move |shift| char::from(DIGITS[bits >> shift & 63]))
    });
    groups.collect()
}

/// Decodes base64url without padding. Returns `None` for invalid characters or leftover bits.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
    for letter in text.bytes() {
        bits = bits << 6 | digit(letter)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
        bits &= (1 << held) - 1;
    }
    (held < 6 && bits == 0).then_some(bytes)
}

fn digit(letter: u8) -> Option<u32> {
    DIGITS.iter().position(|digit| *digit == letter).map(|at| at as u32)
}
