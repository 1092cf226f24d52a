//! Authenticated encryption of cookies with keys derived from a secret that all replicas share.
//!
//! Each sealed value has a key of its own, derived with HKDF-SHA-256 from the secret, its purpose and a random salt, so
//! that no nonce can repeat. The encryption is ChaCha20-Poly1305.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pidq_http::{Problem, Secret};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Size of the salt in bytes.
const SALT_SIZE: usize = 24;

/// Seals values for a purpose and opens them.
pub(crate) struct Sealer(Prk);

impl Sealer {
    /// Derives the keys from a secret.
    pub fn new(secret: &Secret) -> Sealer {
        Sealer(Salt::new(HKDF_SHA256, b"pidq-dashboard").extract(secret.expose().as_bytes()))
    }

    /// Returns the value as text that only [`Sealer::open`] with the same secret and purpose can read.
    pub fn seal(&self, purpose: &str, value: &impl Serialize) -> Result<String, Problem> {
        let mut salt = [0; SALT_SIZE];
        let failed = |_| {
            tracing::error!("sealing a cookie failed; responding with 500");
            Problem::internal()
        };
        getrandom::fill(&mut salt).map_err(|_| failed(()))?;
        let mut text = serde_json::to_vec(value).map_err(|_| failed(()))?;
        let key = self.key(purpose, &salt).ok_or_else(|| failed(()))?;
        key.seal_in_place_append_tag(nonce(), Aad::empty(), &mut text).map_err(|_| failed(()))?;
        Ok(URL_SAFE_NO_PAD.encode([&salt[..], &text].concat()))
    }

    /// Returns the value; `None` if the text was changed, or sealed with another secret or for another purpose.
    pub fn open<T: DeserializeOwned>(&self, purpose: &str, text: &str) -> Option<T> {
        let mut bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (salt, sealed) = bytes.split_at_mut_checked(SALT_SIZE)?;
        let value = self.key(purpose, salt)?.open_in_place(nonce(), Aad::empty(), sealed).ok()?;
        serde_json::from_slice(value).ok()
    }

    fn key(&self, purpose: &str, salt: &[u8]) -> Option<LessSafeKey> {
        let info = [purpose.as_bytes(), b"\n", salt];
        Some(LessSafeKey::new(UnboundKey::from(self.0.expand(&info, &CHACHA20_POLY1305).ok()?)))
    }
}

/// The only nonce: every key encrypts one value.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealer(secret: &str) -> Sealer {
        Sealer::new(&Secret::new(secret))
    }

    #[test]
    fn a_value_opens_only_with_its_secret_and_purpose() {
        let text = sealer("one").seal("session", &"P-101").expect("randomness");
        let open = |secret, purpose| sealer(secret).open::<String>(purpose, &text);
        assert_eq!(open("one", "session").as_deref(), Some("P-101"));
        assert_eq!(open("two", "session"), None);
        assert_eq!(open("one", "sso"), None);
        assert_ne!(text, sealer("one").seal("session", &"P-101").expect("randomness"), "equal values look different");
    }

    #[test]
    fn a_changed_value_does_not_open() {
        let text = sealer("one").seal("session", &"P-101").expect("randomness");
        for index in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            assert_eq!(sealer("one").open::<String>("session", &changed), None, "{index}");
        }
        for wrong in ["", "AAAA", "ä", &text[1..], &format!("{text}AAAA")] {
            assert_eq!(sealer("one").open::<String>("session", wrong), None, "{wrong}");
        }
    }
}
