//! Secret strings, hidden in debug output and zeroed on drop.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// Secret from the settings, or a generated one that is shown to its owner once. `Debug` prints `***`; memory is
/// zeroed on drop.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Creates a secret from a string.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into().into())
    }

    /// Returns the secret string.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
