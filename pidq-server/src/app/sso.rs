//! Identity provider of the settings, for single sign-on.

use std::fmt;

use pidq_http::auth::{ClaimMap, IdentityError, Provider, ProviderSettings, TokenProfile};
use pidq_http::{AnySetting, Setting, SettingError, SettingType, Settings, client_tls};

use super::setting_types::SsoProfile;
use super::settings::{
    SSO_ADMIN_ROLES, SSO_ALGORITHMS, SSO_AUDIENCE, SSO_CA, SSO_CLOCK_SKEW, SSO_DIRECTORIES, SSO_GROUPS_CLAIM,
    SSO_ISSUER, SSO_JWKS_URI, SSO_PROFILE, SSO_ROLES_CLAIM, SSO_SCOPE_CLAIM, SSO_SCOPES, SSO_TENANT, SSO_TYPES,
};

/// Settings without a default that require an issuer.
const PROVIDER_SETTINGS: [&dyn AnySetting; 7] =
    [&SSO_AUDIENCE, &SSO_JWKS_URI, &SSO_TYPES, &SSO_DIRECTORIES, &SSO_CA, &SSO_SCOPE_CLAIM, &SSO_ADMIN_ROLES];

/// Returns the identity provider whose access tokens the services accept; `None` if the settings name none.
///
/// # Errors
/// If a setting is invalid.
pub fn identity_provider(settings: &Settings) -> Result<Option<Provider>, SettingError> {
    let Some(provider_settings) = provider_settings(settings)? else {
        return match PROVIDER_SETTINGS.into_iter().find(|row| settings.is_set(*row)) {
            Some(row) => Err(settings.invalid(row, &format!("requires `{}`", SSO_ISSUER.env()))),
            None => Ok(None),
        };
    };
    let invalid = |error: IdentityError| settings.invalid(&SSO_ISSUER, &error.to_string());
    Provider::new(provider_settings).map(Some).map_err(invalid)
}

fn provider_settings(settings: &Settings) -> Result<Option<ProviderSettings>, SettingError> {
    let Some(issuer) = settings.get(&SSO_ISSUER)? else { return Ok(None) };
    let with_issuer = format!("with `{}`", SSO_ISSUER.env());
    let profile = match settings.get(&SSO_PROFILE)? {
        SsoProfile::Rfc9068 => TokenProfile::Rfc9068,
        SsoProfile::Entra => {
            TokenProfile::Entra { directories: required_list(settings, &SSO_DIRECTORIES, "with `entra`")? }
        }
        SsoProfile::Custom => TokenProfile::Custom { types: settings.get(&SSO_TYPES)? },
    };
    Ok(Some(ProviderSettings {
        issuer,
        audiences: required_list(settings, &SSO_AUDIENCE, &with_issuer)?,
        jwks_uri: settings.get(&SSO_JWKS_URI)?,
        algorithms: required_list(settings, &SSO_ALGORITHMS, &with_issuer)?,
        claims: claims(settings, &profile)?,
        profile,
        clock_skew: settings.get(&SSO_CLOCK_SKEW)?,
        root_certificates: ca_certificates(settings)?,
    }))
}

/// Returns a list that must not be empty.
fn required_list<T: SettingType>(
    settings: &Settings,
    row: &Setting<Vec<T>>,
    when: &str,
) -> Result<Vec<T::Value>, SettingError> {
    let values = settings.get(row)?;
    if values.is_empty() { Err(settings.invalid(row, &format!("required {when}"))) } else { Ok(values) }
}

/// Reads and validates the additional CA certificates.
fn ca_certificates(settings: &Settings) -> Result<Option<String>, SettingError> {
    let Some(path) = settings.get(&SSO_CA)? else { return Ok(None) };
    let wrong = |what: &dyn fmt::Display| settings.invalid(&SSO_CA, &format!("`{}`: {what}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(&error))?;
    client_tls(Some(&text)).map_err(|what| wrong(&what))?;
    Ok(Some(text))
}

fn claims(settings: &Settings, profile: &TokenProfile) -> Result<ClaimMap, SettingError> {
    let default_claim = if let TokenProfile::Entra { .. } = profile { "scp" } else { "scope" };
    Ok(ClaimMap {
        scope: settings.get(&SSO_SCOPE_CLAIM)?.unwrap_or_else(|| default_claim.to_owned()),
        scopes: settings.get(&SSO_SCOPES)?,
        roles: settings.get(&SSO_ROLES_CLAIM)?,
        admin_roles: settings.get(&SSO_ADMIN_ROLES)?,
        groups: settings.get(&SSO_GROUPS_CLAIM)?,
        tenant: settings.get(&SSO_TENANT)?,
    })
}
