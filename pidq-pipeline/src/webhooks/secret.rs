//! What events are signed with: HMAC-SHA-256 with one key, or with two while one is replaced by another.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// What secrets of Standard Webhooks begin with.
const PREFIX: &str = "whsec_";

/// The keys of a webhook.
#[derive(Deserialize, Serialize)]
pub(super) struct Secrets {
    /// In Base64.
    key: Zeroizing<String>,
    /// The one before, while it is good.
    #[serde(default)]
    before: Option<Before>,
}

#[derive(Deserialize, Serialize)]
struct Before {
    key: Zeroizing<String>,
    /// Milliseconds since 1970.
    until: i64,
}

impl Secrets {
    /// A new one. None: the system has no randomness.
    pub fn new() -> Option<Secrets> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key).ok()?;
        Some(Secrets { key: Zeroizing::new(STANDARD.encode(*key)), before: None })
    }

    /// A new one, beside which the one before is good until a moment.
    pub fn after(before: Option<Secrets>, until: i64) -> Option<Secrets> {
        let before = before.map(|before| Before { key: before.key, until });
        Some(Secrets { before, ..Secrets::new()? })
    }

    pub fn to_bytes(&self) -> Option<Zeroizing<Vec<u8>>> {
        serde_json::to_vec(self).ok().map(Zeroizing::new)
    }

    pub fn of_bytes(bytes: &[u8]) -> Option<Secrets> {
        serde_json::from_slice(bytes).ok()
    }

    /// As whoever verifies wants it.
    pub fn show(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{PREFIX}{}", self.key.as_str()))
    }

    /// The header `webhook-signature`: a signature with each key that is good at a moment, with spaces between them.
    pub fn sign(&self, id: &str, now: i64, body: &str) -> Option<String> {
        let before = self.before.as_ref().filter(|before| before.until > now);
        let keys = [Some(&self.key), before.map(|before| &before.key)];
        let signatures = keys.into_iter().flatten().map(|key| signature(key, id, now / 1000, body));
        Some(signatures.collect::<Option<Vec<_>>>()?.join(" "))
    }
}

/// HMAC-SHA-256 of id, time and body with dots between them.
fn signature(key: &str, id: &str, seconds: i64, body: &str) -> Option<String> {
    let key = Zeroizing::new(STANDARD.decode(key).ok()?);
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let signed = hmac::sign(&key, format!("{id}.{seconds}.{body}").as_bytes());
    Some(format!("v1,{}", STANDARD.encode(signed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(key: &str, before: Option<(&str, i64)>) -> Secrets {
        let before = before.map(|(key, until)| Before { key: Zeroizing::new(key.to_owned()), until });
        Secrets { key: Zeroizing::new(key.to_owned()), before }
    }

    #[test]
    fn the_example_of_standard_webhooks_is_signed_as_it_says() {
        let signed = secrets("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", None).sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330_000,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signed.as_deref(), Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }

    #[test]
    fn the_key_before_signs_as_long_as_it_is_good() {
        let both = secrets("AAAA", Some(("BBBB", 5000)));
        let (one, other) = (secrets("AAAA", None), secrets("BBBB", None));
        let sign = |secrets: &Secrets, now| secrets.sign("id", now, "{}").expect("a key");
        assert_eq!(sign(&both, 4999), format!("{} {}", sign(&one, 4999), sign(&other, 4999)));
        assert_eq!(sign(&both, 5000), sign(&one, 5000));
    }
}
