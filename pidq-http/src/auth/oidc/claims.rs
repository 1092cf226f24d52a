//! Validation of claims, and their mapping to a caller.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{ProviderSettings, TenantSource, TokenError, TokenProfile};
use crate::auth::readable_graphs::ReadableGraphs;
use crate::auth::{Caller, Subject, Timestamp};

pub(super) type Claims = Map<String, Value>;

/// Maximum number of groups.
const GROUP_LIMIT: usize = 500;

/// Checks that the token type is that of an access token.
pub(super) fn check_type(profile: &TokenProfile, kind: Option<&str>) -> Result<(), TokenError> {
    let kind = kind.map(normalize_type);
    let kind = kind.as_deref();
    let is_right = match profile {
        TokenProfile::Rfc9068 => kind == Some("at+jwt"),
        TokenProfile::Entra { .. } => kind == Some("jwt"),
        TokenProfile::Custom { types } if types.is_empty() => true,
        TokenProfile::Custom { types } => {
            kind.is_some_and(|kind| types.iter().any(|listed| normalize_type(listed) == kind))
        }
    };
    if is_right { Ok(()) } else { Err(TokenError::Type) }
}

/// Normalizes a token type: lower case, without the optional `application/` prefix (RFC 7515, 4.1.9).
pub(super) fn normalize_type(kind: &str) -> String {
    let kind = kind.to_ascii_lowercase();
    kind.strip_prefix("application/").map_or_else(|| kind.clone(), str::to_owned)
}

/// Checks issuer, audience, times and profile.
pub(super) fn check(settings: &ProviderSettings, claims: &Claims, now: Timestamp) -> Result<(), TokenError> {
    if text(claims, "iss") != Some(settings.issuer.as_str()) {
        return Err(TokenError::Issuer);
    }
    if !list(claims, "aud").iter().any(|audience| settings.audiences.iter().any(|accepted| accepted == audience)) {
        return Err(TokenError::Audience);
    }
    check_time(claims, settings.clock_skew, now)?;
    if claims.contains_key("cnf") {
        return Err(TokenError::SenderConstrained);
    }
    name(claims, "sub").ok_or(TokenError::Claim("sub"))?;
    check_profile(settings, claims)
}

/// Checks the validity period, with a tolerated clock skew.
pub(super) fn check_time(claims: &Claims, clock_skew: Duration, now: Timestamp) -> Result<(), TokenError> {
    if expires_at(claims, clock_skew)? <= now {
        return Err(TokenError::Expired);
    }
    let latest = (now + clock_skew).0;
    for name in ["nbf", "iat"] {
        if time(claims, name)?.is_some_and(|begins_at| begins_at > latest) {
            return Err(TokenError::NotYetValid);
        }
    }
    Ok(())
}

/// Returns the expiry of a token, including the clock skew.
pub(super) fn expires_at(claims: &Claims, clock_skew: Duration) -> Result<Timestamp, TokenError> {
    let expires_at = time(claims, "exp")?.ok_or(TokenError::Claim("exp"))?;
    Ok(Timestamp(expires_at) + clock_skew)
}

fn check_profile(settings: &ProviderSettings, claims: &Claims) -> Result<(), TokenError> {
    match &settings.profile {
        TokenProfile::Rfc9068 => check_rfc9068(claims),
        TokenProfile::Entra { directories } => check_entra(settings, claims, directories),
        TokenProfile::Custom { .. } => check_purpose(claims),
    }
}

/// Purposes in the claim `typ` of Keycloak, whose access tokens have `Bearer`. Types in the headers do not tell them apart.
const OTHER_PURPOSES: [&str; 4] = ["ID", "Refresh", "Offline", "Logout"];

fn check_purpose(claims: &Claims) -> Result<(), TokenError> {
    let is_other = text(claims, "typ").is_some_and(|purpose| OTHER_PURPOSES.contains(&purpose));
    if is_other { Err(TokenError::Type) } else { Ok(()) }
}

fn check_rfc9068(claims: &Claims) -> Result<(), TokenError> {
    for name in ["client_id", "jti"] {
        text(claims, name).ok_or(TokenError::Claim(name))?;
    }
    time(claims, "iat")?.map(drop).ok_or(TokenError::Claim("iat"))
}

fn check_entra(settings: &ProviderSettings, claims: &Claims, directories: &[String]) -> Result<(), TokenError> {
    if text(claims, "ver") != Some("2.0") {
        return Err(TokenError::Version);
    }
    if !text(claims, "tid").is_some_and(|found| directories.iter().any(|listed| listed == found)) {
        return Err(TokenError::Directory);
    }
    let map = &settings.claims;
    let is_for_an_api = !list(claims, &map.scope).is_empty() || !list(claims, &map.roles).is_empty();
    if is_for_an_api { Ok(()) } else { Err(TokenError::NoScope) }
}

/// Maps claims to a caller. The identity is issuer and subject, never a mail address.
pub(super) fn caller(settings: &ProviderSettings, claims: &Claims) -> Result<Caller, TokenError> {
    let map = &settings.claims;
    let subject = name(claims, "sub").ok_or(TokenError::Claim("sub"))?;
    let roles = list(claims, &map.roles);
    let client = ["client_id", "azp", "appid"].iter().find_map(|claim| name(claims, claim));
    let groups = list(claims, &map.groups).into_iter().filter(|group| is_name(group));
    Ok(Caller {
        subject: Subject(format!("sso:{}#{subject}", settings.issuer)),
        tenant: tenant(&map.tenant, claims)?,
        scopes: scopes(settings, claims, &roles),
        groups: groups.take(GROUP_LIMIT).map(str::to_owned).collect(),
        is_admin: roles.iter().any(|role| map.admin_roles.iter().any(|admin| admin == role)),
        client_id: client.map(str::to_owned),
        name: display_name(claims).unwrap_or(subject).to_owned(),
        readable_graphs: ReadableGraphs::default(),
    })
}

/// Returns the name of a user for people, which is no identity.
pub(super) fn display_name(claims: &Claims) -> Option<&str> {
    ["preferred_username", "name"].iter().find_map(|claim| name(claims, claim))
}

fn tenant(from: &TenantSource, claims: &Claims) -> Result<String, TokenError> {
    match from {
        TenantSource::Fixed(tenant) => Ok(tenant.clone()),
        TenantSource::Claim(claim) => name(claims, claim).map(str::to_owned).ok_or(TokenError::NoTenant),
    }
}

/// Maps scopes and roles of the token to local scopes, without duplicates.
fn scopes(settings: &ProviderSettings, claims: &Claims, roles: &[&str]) -> Vec<String> {
    let held = list(claims, &settings.claims.scope);
    let is_held = |provider_scope: &str| held.contains(&provider_scope) || roles.contains(&provider_scope);
    let mut scopes = Vec::new();
    for (provider_scope, scope) in &settings.claims.scopes {
        if is_held(provider_scope) && !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
    scopes
}

pub(super) fn text<'a>(claims: &'a Claims, name: &str) -> Option<&'a str> {
    claim(claims, name).and_then(Value::as_str)
}

/// Returns a claim by its name or, with dots, one inside of others, such as `realm_access.roles` of Keycloak. Names may
/// have dots themselves.
fn claim<'a>(claims: &'a Claims, name: &str) -> Option<&'a Value> {
    let inside = |at: usize| claim(claims.get(&name[..at])?.as_object()?, &name[at + 1..]);
    claims.get(name).or_else(|| name.match_indices('.').find_map(|(at, _)| inside(at)))
}

/// Returns a string claim that is safe to store and log: OpenID Connect allows 255 characters for a subject.
pub(super) fn name<'a>(claims: &'a Claims, claim: &str) -> Option<&'a str> {
    text(claims, claim).filter(|text| is_name(text))
}

fn is_name(text: &str) -> bool {
    (1..=255).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// Returns an array of strings; or the words of a string, except for an audience, which is one value.
pub(super) fn list<'a>(claims: &'a Claims, name: &str) -> Vec<&'a str> {
    match claim(claims, name) {
        Some(Value::String(text)) if name == "aud" => vec![text],
        Some(Value::String(text)) => text.split_whitespace().collect(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns a time claim in milliseconds. Providers send seconds, some with a fraction.
pub(super) fn time(claims: &Claims, name: &'static str) -> Result<Option<i64>, TokenError> {
    let Some(value) = claims.get(name) else { return Ok(None) };
    let seconds = value.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    // The conversion saturates, which is correct for any distant time.
    seconds.map(|seconds| Some((seconds * 1000.0) as i64)).ok_or(TokenError::Claim(name))
}
