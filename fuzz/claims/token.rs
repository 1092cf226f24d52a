//! A token that a stranger made up, for a service that believes a company's own provider: it is never accepted, and the
//! keys of the provider are asked for only where all that can be read without them is as it should be.
//!
//! An input is a token; where it has a line break, so are its two parts, a header and claims, once they are encoded.
//!
//! The provider does not answer, so that a sound token ends as one that cannot be looked at now. It is asked once: time
//! stands still, and then it is not its turn yet.

use std::sync::LazyLock;

use pidq_http::auth::{AuthError, Provider, ProviderSettings, TenantFrom};
use serde_json::{Map, Value};

use super::world::{NOW, World};

const ISSUER: &str = "http://127.0.0.1:9";
const LONGEST: usize = 16 << 10;

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let World { runtime, identities } = World::empty();
    let mut settings = ProviderSettings::rfc9068(ISSUER, "pidq", TenantFrom::Fixed("acme".to_owned()));
    settings.jwks_uri = Some(format!("{ISSUER}/keys"));
    let identities = identities.with_provider(Provider::new(settings).expect("a provider"));
    World { runtime, identities }
});

/// Panics where the claim does not hold.
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

/// A token read by other means: a plain split, a decoder of one's own, and objects that keep the last of equal names.
enum Reading {
    Sound,
    Unsound,
    /// Sound, unless a name is there twice.
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

/// A text in base64url without padding.
fn encoded(text: &str) -> String {
    let groups = text.as_bytes().chunks(3).flat_map(|group| {
        let bits = group.iter().zip([16, 8, 0]).fold(0, |bits, (byte, shift)| bits | usize::from(*byte) << shift);
        [18, 12, 6, 0].into_iter().take(group.len() + 1).map(move |shift| char::from(DIGITS[bits >> shift & 63]))
    });
    groups.collect()
}

/// The bytes of base64url without padding. None where a letter is no digit of it, or bits are left over.
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
