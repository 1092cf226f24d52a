//! Enumerations and other types of this crate that settings have as values.

use tracing_subscriber::filter::LevelFilter;

use super::setting_type::{Choice, SettingType};
use crate::auth::{Algorithm, DefaultAccess};
use crate::process::log::LogFormat;
use crate::tls::TlsVersion;

impl Choice for LevelFilter {
    const CHOICES: &'static [(&'static str, LevelFilter)] = &[
        ("error", LevelFilter::ERROR),
        ("warn", LevelFilter::WARN),
        ("info", LevelFilter::INFO),
        ("debug", LevelFilter::DEBUG),
        ("trace", LevelFilter::TRACE),
    ];
}

impl Choice for LogFormat {
    const CHOICES: &'static [(&'static str, LogFormat)] =
        &[("auto", LogFormat::Auto), ("json", LogFormat::Json), ("text", LogFormat::Text)];
}

impl Choice for TlsVersion {
    const CHOICES: &'static [(&'static str, TlsVersion)] = &[("1.2", TlsVersion::V1_2), ("1.3", TlsVersion::V1_3)];
}

impl Choice for DefaultAccess {
    const CHOICES: &'static [(&'static str, DefaultAccess)] =
        &[("read", DefaultAccess::TenantReads), ("none", DefaultAccess::None)];
}

/// Signature algorithm of tokens (RFC 8725: only algorithms that are named are accepted).
impl SettingType for Algorithm {
    type Value = Algorithm;

    fn expected() -> String {
        "a signature algorithm".to_owned()
    }

    fn parse(text: &str) -> Result<Algorithm, String> {
        Algorithm::from_name(text).ok_or_else(|| format!("`{text}` is not supported"))
    }
}
