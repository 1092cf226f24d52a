//! A text that never shows itself, and leaves nothing behind.

use std::fmt;

use zeroize::Zeroize;

/// A secret. `Debug` prints `***`; memory is wiped when it is dropped.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The text itself: only for whoever needs it to work.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
