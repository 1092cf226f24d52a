//! Types of settings of the graph service: how each is parsed, and what is valid.

use std::time::Duration;

use pidq_http::auth::TenantSource;
use pidq_http::{Choice, SettingType, mismatch};

use crate::store::{Tenant, VersionRetention};

/// Authentication of the service.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AuthMode {
    /// Requests need a token.
    Tokens,
    /// Every client has full access.
    Off,
}

impl Choice for AuthMode {
    const CHOICES: &'static [(&'static str, AuthMode)] = &[("tokens", AuthMode::Tokens), ("off", AuthMode::Off)];
}

/// Profile of the tokens of an identity provider.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SsoProfile {
    /// JWT access tokens (RFC 9068).
    Rfc9068,
    /// Microsoft Entra ID.
    Entra,
    /// Header types of the settings.
    Custom,
}

impl Choice for SsoProfile {
    const CHOICES: &'static [(&'static str, SsoProfile)] =
        &[("rfc9068", SsoProfile::Rfc9068), ("entra", SsoProfile::Entra), ("custom", SsoProfile::Custom)];
}

/// Positive number of versions, or `all`.
impl SettingType for VersionRetention {
    type Value = VersionRetention;

    fn expected() -> String {
        "a positive integer, or `all`".to_owned()
    }

    fn parse(text: &str) -> Result<VersionRetention, String> {
        match text.trim() {
            "all" => Ok(VersionRetention::All),
            number => number.parse().map(VersionRetention::Last).map_err(|_| mismatch::<Self>(text)),
        }
    }
}

/// Tolerated clock skew. More than a minute would let expired tokens pass (RFC 7519, section 4.1.4: a few minutes at
/// most).
pub(crate) struct ClockSkew;

impl SettingType for ClockSkew {
    type Value = Duration;

    fn expected() -> String {
        Duration::expected()
    }

    fn parse(text: &str) -> Result<Duration, String> {
        let skew = <Duration as SettingType>::parse(text)?;
        if skew > Duration::from_secs(60) { Err(format!("must be at most 60s, found `{text}`")) } else { Ok(skew) }
    }
}

/// Scope of the provider with the local scope: `PROVIDER_SCOPE=read`.
pub(crate) struct ScopeMapping;

impl SettingType for ScopeMapping {
    type Value = (String, String);

    fn expected() -> String {
        "`PROVIDER_SCOPE=read` or `PROVIDER_SCOPE=write`".to_owned()
    }

    fn parse(text: &str) -> Result<(String, String), String> {
        // A provider scope may be a URL that contains `=`.
        match text.rsplit_once('=') {
            Some((provider_scope, scope @ ("read" | "write"))) => {
                Ok((provider_scope.trim().to_owned(), scope.to_owned()))
            }
            _ => Err(mismatch::<Self>(text)),
        }
    }
}

/// Tenant of the provider's users: a name, or `claim:NAME`.
pub(crate) struct ProviderTenant;

impl SettingType for ProviderTenant {
    type Value = TenantSource;

    fn expected() -> String {
        "a tenant or `claim:NAME`".to_owned()
    }

    fn parse(text: &str) -> Result<TenantSource, String> {
        match (text.strip_prefix("claim:"), Tenant::parse(text)) {
            (Some(claim), _) if !claim.is_empty() => Ok(TenantSource::Claim(claim.to_owned())),
            (None, Ok(_)) => Ok(TenantSource::Fixed(text.to_owned())),
            _ => Err(mismatch::<Self>(text)),
        }
    }
}
