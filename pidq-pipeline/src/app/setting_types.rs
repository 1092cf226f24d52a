//! Types of settings of the platform: secrets, license keys and the license mode.

use pidq_http::{Choice, Secret, SettingType};
use pidq_store::domain::license::TrustedKeys;

use crate::generation::rag::RequiredSupport;
use crate::platform::licensing::Mode;

/// Id of the root client, which must not be a placeholder of an example.
pub(crate) struct MasterKey;

impl SettingType for MasterKey {
    type Value = Secret;
    const IS_SECRET: bool = true;

    fn expected() -> String {
        String::expected()
    }

    fn parse(text: &str) -> Result<Secret, String> {
        if is_placeholder(text) {
            Err("must not be a placeholder: generate a UUID".to_owned())
        } else {
            Ok(Secret::new(text))
        }
    }
}

/// Secret of at least 32 characters that is not a placeholder of an example.
pub(crate) struct StrongSecret;

impl SettingType for StrongSecret {
    type Value = Secret;
    const IS_SECRET: bool = true;

    fn expected() -> String {
        String::expected()
    }

    fn parse(text: &str) -> Result<Secret, String> {
        if text.len() >= 32 && !is_placeholder(text) {
            Ok(Secret::new(text))
        } else {
            Err("must have at least 32 random characters".to_owned())
        }
    }
}

/// Returns `true` for a placeholder of an example configuration.
fn is_placeholder(text: &str) -> bool {
    let lowercase = text.to_ascii_lowercase();
    ["changeme", "placeholder", "<", "example"].iter().any(|marker| lowercase.contains(marker))
}

/// Public keys of license issuers.
pub(crate) struct LicenseKeys;

impl SettingType for LicenseKeys {
    type Value = TrustedKeys;

    fn expected() -> String {
        <Vec<String>>::expected()
    }

    fn parse(text: &str) -> Result<TrustedKeys, String> {
        TrustedKeys::parse(&<Vec<String>>::parse(text)?).map_err(|error| error.to_string())
    }

    fn unset() -> Option<TrustedKeys> {
        Some(TrustedKeys::default())
    }
}

impl Choice for Mode {
    const CHOICES: &'static [(&'static str, Mode)] =
        &[("off", Mode::Off), ("report", Mode::Report), ("enforce", Mode::Enforce)];
}

impl Choice for RequiredSupport {
    const CHOICES: &'static [(&'static str, RequiredSupport)] = &[
        ("supported", RequiredSupport::Supported),
        ("cited", RequiredSupport::Cited),
        ("nothing", RequiredSupport::Nothing),
    ];
}
