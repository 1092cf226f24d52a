//! Random secrets, and the fingerprints that are stored in their place.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::IdentityError;

pub use crate::settings::Secret;

impl Secret {
    /// 256 random bits behind a prefix, by which scanners find secrets that leaked.
    pub(crate) fn mint(prefix: &str) -> Result<Secret, IdentityError> {
        Ok(Secret::new(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(random::<32>()?))))
    }

    /// A random text that nobody guesses.
    pub fn random() -> Result<Secret, IdentityError> {
        Secret::mint("")
    }

    /// What is stored in its place.
    pub fn fingerprint(&self) -> String {
        fingerprint(self.expose())
    }

    /// Whether it is the one of which a fingerprint is stored; the time tells nothing.
    pub fn is(&self, stored: &str) -> bool {
        same(stored, &self.fingerprint())
    }
}

/// What is stored of a random secret. A fast hash is enough: nobody guesses 256 bits.
pub(crate) fn fingerprint(secret: &str) -> String {
    spelt(&digest(secret))
}

/// The same as bytes.
pub(crate) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// A digest as it is stored.
pub(crate) fn spelt(digest: &[u8; 32]) -> String {
    URL_SAFE_NO_PAD.encode(digest)
}

/// Compares fingerprints; the time tells nothing.
pub(crate) fn same(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

/// An id that nobody can guess and that sorts nowhere in particular.
pub(crate) fn fresh_id(prefix: &str) -> Result<String, IdentityError> {
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(random::<15>()?)))
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], IdentityError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| IdentityError::NoRandomness)?;
    Ok(bytes)
}
