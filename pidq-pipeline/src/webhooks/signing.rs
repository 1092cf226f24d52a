//! Webhook signatures: HMAC-SHA-256 with one key, or with two during a rotation.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// Prefix of Standard Webhooks secrets.
const PREFIX: &str = "whsec_";

/// The keys of a webhook.
#[derive(Deserialize, Serialize)]
pub(crate) struct SigningKeys {
    /// In Base64.
    key: Zeroizing<String>,
    /// The previous key, while it is valid.
    #[serde(default)]
    previous: Option<PreviousKey>,
}

#[derive(Deserialize, Serialize)]
struct PreviousKey {
    key: Zeroizing<String>,
    /// Milliseconds since 1970.
    until: i64,
}

impl SigningKeys {
    /// Generates a key. None if the system has no randomness.
    pub fn new() -> Option<SigningKeys> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key).ok()?;
        Some(SigningKeys { key: Zeroizing::new(STANDARD.encode(*key)), previous: None })
    }

    /// Generates a new key; the previous one stays valid until a time.
    pub fn rotated(previous: Option<SigningKeys>, until: i64) -> Option<SigningKeys> {
        let previous = previous.map(|previous| PreviousKey { key: previous.key, until });
        Some(SigningKeys { previous, ..SigningKeys::new()? })
    }

    pub fn to_bytes(&self) -> Option<Zeroizing<Vec<u8>>> {
        serde_json::to_vec(self).ok().map(Zeroizing::new)
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<SigningKeys> {
        serde_json::from_slice(bytes).ok()
    }

    /// Returns the secret in the Standard Webhooks encoding.
    pub fn encoded(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{PREFIX}{}", self.key.as_str()))
    }

    /// Returns the `webhook-signature` header: one signature per valid key, separated by spaces.
    pub fn sign(&self, id: &str, now: i64, body: &str) -> Option<String> {
        let previous = self.previous.as_ref().filter(|previous| previous.until > now);
        let keys = [Some(&self.key), previous.map(|previous| &previous.key)];
        let signatures = keys.into_iter().flatten().map(|key| signature(key, id, now / 1000, body));
        Some(signatures.collect::<Option<Vec<_>>>()?.join(" "))
    }
}

/// Returns the HMAC-SHA-256 of id, time and body, joined with dots.
fn signature(key: &str, id: &str, seconds: i64, body: &str) -> Option<String> {
    let key = Zeroizing::new(STANDARD.decode(key).ok()?);
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let signed = hmac::sign(&key, format!("{id}.{seconds}.{body}").as_bytes());
    Some(format!("v1,{}", STANDARD.encode(signed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(key: &str, previous: Option<(&str, i64)>) -> SigningKeys {
        let previous = previous.map(|(key, until)| PreviousKey { key: Zeroizing::new(key.to_owned()), until });
        SigningKeys { key: Zeroizing::new(key.to_owned()), previous }
    }

    #[test]
    fn the_example_of_standard_webhooks_has_the_published_signature() {
        let signed = secrets("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", None).sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330_000,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signed.as_deref(), Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }

    #[test]
    fn the_previous_key_signs_while_it_is_valid() {
        let both = secrets("AAAA", Some(("BBBB", 5000)));
        let (one, other) = (secrets("AAAA", None), secrets("BBBB", None));
        let sign = |secrets: &SigningKeys, now| secrets.sign("id", now, "{}").expect("a key");
        assert_eq!(sign(&both, 4999), format!("{} {}", sign(&one, 4999), sign(&other, 4999)));
        assert_eq!(sign(&both, 5000), sign(&one, 5000));
    }
}
