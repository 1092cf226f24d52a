//! Fingerprints of texts, which the log shows in place of the texts.

use std::fmt;

use sha2::{Digest, Sha256};

/// Loggable fingerprint of a text: the first 16 hex digits of its SHA-256. Equal texts have equal fingerprints.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Creates the fingerprint of a text.
    pub fn from_text(text: &str) -> Fingerprint {
        let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = Sha256::digest(text).into();
        Fingerprint(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_the_start_of_the_sha256() {
        assert_eq!(Fingerprint::from_text("").to_string(), "e3b0c44298fc1c14");
        assert_eq!(Fingerprint::from_text("abc").to_string(), "ba7816bf8f01cfea");
    }
}
