//! A text that never shows itself, and leaves nothing behind.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// A secret: what an administrator sets, or what was made for somebody and is shown to its owner once. `Debug` prints
/// `***`; memory is wiped when it is dropped.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Keeps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into().into())
    }

    /// The text itself: only for whoever needs it to work, or for its owner.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
