//! Errors in settings.

use std::fmt;

/// Errors in settings, one line each, with the setting and the remedy.
#[derive(Debug, thiserror::Error)]
pub struct SettingError(pub(super) Vec<String>);

impl SettingError {
    pub(super) fn new(message: String) -> SettingError {
        SettingError(vec![message])
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}
