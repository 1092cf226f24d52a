//! Encryption of stored secrets with keys derived from the application secret.
//!
//! Each purpose has its own key (HKDF-SHA-256), and the ciphertext (ChaCha20-Poly1305) is bound to its context:
//! a row that was modified or copied cannot be decrypted.

pub mod stream;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pidq_http::Secret;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use zeroize::Zeroizing;

/// Encrypts and decrypts secrets.
pub struct Encryptor {
    root: Prk,
    is_persistent: bool,
}

/// Purpose and context that a ciphertext is bound to.
#[derive(Clone, Copy)]
pub struct EncryptionContext<'a> {
    /// Purpose, from which the key is derived. Parts of it may be secrets.
    pub purpose: &'a [&'a str],
    /// Associated data. No part contains a line feed.
    pub context: &'a [&'a str],
}

impl Encryptor {
    /// Derives keys from a secret; every process with that secret can decrypt.
    pub fn from_secret(secret: &Secret) -> Encryptor {
        Encryptor { root: root(secret.expose().as_bytes()), is_persistent: true }
    }

    /// Uses a random key; only this process can decrypt. None if the system has no randomness.
    pub fn ephemeral() -> Option<Encryptor> {
        let mut secret = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *secret).ok()?;
        Some(Encryptor { root: root(&*secret), is_persistent: false })
    }

    /// Returns true if ciphertexts can be decrypted after a restart.
    pub fn is_persistent(&self) -> bool {
        self.is_persistent
    }

    /// Encrypts a plaintext. None if the system has no randomness.
    pub fn encrypt(&self, context: EncryptionContext<'_>, plaintext: &[u8]) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let mut buffer = Zeroizing::new(plaintext.to_vec());
        let tag = self
            .key(context)?
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), aad(context), &mut buffer)
            .ok()?;
        Some(URL_SAFE_NO_PAD.encode([&nonce[..], &buffer[..], tag.as_ref()].concat()))
    }

    /// Decrypts a ciphertext; none for another context or another secret.
    pub fn decrypt(&self, context: EncryptionContext<'_>, ciphertext: &str) -> Option<Zeroizing<Vec<u8>>> {
        let mut ciphertext = Zeroizing::new(URL_SAFE_NO_PAD.decode(ciphertext).ok()?);
        let (nonce, buffer) = ciphertext.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let plaintext = self.key(context)?.open_in_place(nonce, aad(context), buffer).ok()?;
        Some(Zeroizing::new(plaintext.to_vec()))
    }

    fn key(&self, context: EncryptionContext<'_>) -> Option<LessSafeKey> {
        let purpose: Vec<&[u8]> = context.purpose.iter().flat_map(|part| [part.as_bytes(), b"\n"]).collect();
        let okm = self.root.expand(&purpose, &CHACHA20_POLY1305).ok()?;
        Some(LessSafeKey::new(UnboundKey::from(okm)))
    }
}

fn root(secret: &[u8]) -> Prk {
    Salt::new(HKDF_SHA256, b"pidq-pipeline").extract(secret)
}

fn aad(context: EncryptionContext<'_>) -> Aad<Vec<u8>> {
    Aad::from(context.context.join("\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: EncryptionContext<'_> =
        EncryptionContext { purpose: &["test"], context: &["1", "https://a.example"] };

    fn encryptor(secret: &str) -> Encryptor {
        Encryptor::from_secret(&Secret::new(secret))
    }

    #[test]
    fn a_ciphertext_decrypts_only_with_its_key_and_context() {
        let ciphertext = encryptor("one").encrypt(CONTEXT, b"sk-1").expect("randomness");
        let decrypt =
            |encryptor: &Encryptor, context| encryptor.decrypt(context, &ciphertext).map(|text| text.to_vec());
        assert_eq!(decrypt(&encryptor("one"), CONTEXT).as_deref(), Some(&b"sk-1"[..]));
        assert_eq!(decrypt(&encryptor("two"), CONTEXT), None);
        for context in [
            EncryptionContext { purpose: &["other"], ..CONTEXT },
            EncryptionContext { context: &["2", "https://a.example"], ..CONTEXT },
            EncryptionContext { context: &["1", "https://b.example"], ..CONTEXT },
        ] {
            assert_eq!(decrypt(&encryptor("one"), context), None);
        }
    }

    #[test]
    fn a_modified_ciphertext_fails_to_decrypt() {
        let encryptor = Encryptor::ephemeral().expect("randomness");
        let ciphertext = encryptor.encrypt(CONTEXT, b"sk-secret").expect("randomness");
        assert_ne!(
            ciphertext,
            encryptor.encrypt(CONTEXT, b"sk-secret").expect("randomness"),
            "equal texts have different ciphertexts"
        );
        for index in 0..ciphertext.len() {
            let mut changed = ciphertext.clone().into_bytes();
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            assert!(encryptor.decrypt(CONTEXT, &changed).is_none(), "{index}");
        }
        for wrong in ["", "AAAA", "ä"] {
            assert!(encryptor.decrypt(CONTEXT, wrong).is_none(), "{wrong}");
        }
    }
}
