//! Random secrets, and the fingerprints stored instead of them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::IdentityError;

pub use crate::secret::Secret;

impl Secret {
    /// Generates 256 random bits with a prefix, by which secret scanners recognize leaks.
    pub(crate) fn mint(prefix: &str) -> Result<Secret, IdentityError> {
        Ok(Secret::new(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(random::<32>()?))))
    }

    /// Generates a random secret without a prefix.
    pub fn random() -> Result<Secret, IdentityError> {
        Secret::mint("")
    }

    /// Returns the fingerprint that is stored.
    pub fn fingerprint(&self) -> String {
        fingerprint(self.expose())
    }

    /// Returns whether a stored fingerprint matches, in constant time.
    pub fn matches(&self, stored: &str) -> bool {
        constant_time_eq(stored, &self.fingerprint())
    }
}

/// Returns the fingerprint of a random secret. A fast hash is sufficient for 256 random bits.
pub(crate) fn fingerprint(secret: &str) -> String {
    encode_digest(&digest(secret))
}

/// Returns the SHA-256 digest.
pub(crate) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// Encodes a digest as it is stored.
pub(crate) fn encode_digest(digest: &[u8; 32]) -> String {
    URL_SAFE_NO_PAD.encode(digest)
}

/// Compares fingerprints in constant time.
pub(crate) fn constant_time_eq(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

/// Generates a random id.
pub(crate) fn random_id(prefix: &str) -> Result<String, IdentityError> {
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(random::<15>()?)))
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], IdentityError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| IdentityError::NoRandomness)?;
    Ok(bytes)
}
