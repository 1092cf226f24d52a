//! What a token claims: whether it may be believed, and what it means here.

use serde_json::{Map, Value};

use super::{Profile, ProviderSettings, TenantFrom, TokenFault};
use crate::auth::recent::Readable;
use crate::auth::{Caller, Moment, Subject};

type Claims = Map<String, Value>;

/// A token can name more groups than this; no grant will.
const MOST_GROUPS: usize = 500;

/// Whether the header says that this is an access token.
pub(super) fn check_type(profile: &Profile, kind: Option<&str>) -> Result<(), TokenFault> {
    let kind = kind.map(short);
    let kind = kind.as_deref();
    let is_right = match profile {
        Profile::Rfc9068 => kind == Some("at+jwt"),
        Profile::Entra { .. } => kind == Some("jwt"),
        Profile::Custom { types } if types.is_empty() => true,
        Profile::Custom { types } => kind.is_some_and(|kind| types.iter().any(|listed| short(listed) == kind)),
    };
    if is_right { Ok(()) } else { Err(TokenFault::Type) }
}

/// A type as it is compared: without case, and without the part before the slash that may be left out (RFC 7515, 4.1.9).
fn short(kind: &str) -> String {
    let kind = kind.to_ascii_lowercase();
    kind.strip_prefix("application/").map_or_else(|| kind.clone(), str::to_owned)
}

/// Whether the claims are about us and about now.
pub(super) fn check(settings: &ProviderSettings, claims: &Claims, now: Moment) -> Result<(), TokenFault> {
    if text(claims, "iss") != Some(settings.issuer.as_str()) {
        return Err(TokenFault::Issuer);
    }
    if !list(claims, "aud").iter().any(|audience| settings.audiences.iter().any(|ours| ours == audience)) {
        return Err(TokenFault::Audience);
    }
    check_time(settings, claims, now)?;
    if claims.contains_key("cnf") {
        return Err(TokenFault::Bound);
    }
    name(claims, "sub").ok_or(TokenFault::Claim("sub"))?;
    check_profile(settings, claims)
}

fn check_time(settings: &ProviderSettings, claims: &Claims, now: Moment) -> Result<(), TokenFault> {
    if ends_at(settings, claims)? <= now {
        return Err(TokenFault::Expired);
    }
    let latest = (now + settings.clock_skew).0;
    for name in ["nbf", "iat"] {
        if time(claims, name)?.is_some_and(|begins_at| begins_at > latest) {
            return Err(TokenFault::NotYet);
        }
    }
    Ok(())
}

/// When a token is too old, by our clock.
pub(super) fn ends_at(settings: &ProviderSettings, claims: &Claims) -> Result<Moment, TokenFault> {
    let expires_at = time(claims, "exp")?.ok_or(TokenFault::Claim("exp"))?;
    Ok(Moment(expires_at) + settings.clock_skew)
}

fn check_profile(settings: &ProviderSettings, claims: &Claims) -> Result<(), TokenFault> {
    match &settings.profile {
        Profile::Rfc9068 => check_rfc9068(claims),
        Profile::Entra { directories } => check_entra(settings, claims, directories),
        Profile::Custom { .. } => Ok(()),
    }
}

fn check_rfc9068(claims: &Claims) -> Result<(), TokenFault> {
    for name in ["client_id", "jti"] {
        text(claims, name).ok_or(TokenFault::Claim(name))?;
    }
    time(claims, "iat")?.map(drop).ok_or(TokenFault::Claim("iat"))
}

fn check_entra(settings: &ProviderSettings, claims: &Claims, directories: &[String]) -> Result<(), TokenFault> {
    if text(claims, "ver") != Some("2.0") {
        return Err(TokenFault::Version);
    }
    if !text(claims, "tid").is_some_and(|found| directories.iter().any(|listed| listed == found)) {
        return Err(TokenFault::Directory);
    }
    let map = &settings.claims;
    let is_for_an_api = !list(claims, &map.scope).is_empty() || !list(claims, &map.roles).is_empty();
    if is_for_an_api { Ok(()) } else { Err(TokenFault::NoScope) }
}

/// The caller that claims describe. Who somebody is rests on issuer and subject, never on a mail address.
pub(super) fn caller(settings: &ProviderSettings, claims: &Claims) -> Result<Caller, TokenFault> {
    let map = &settings.claims;
    let subject = name(claims, "sub").ok_or(TokenFault::Claim("sub"))?;
    let roles = list(claims, &map.roles);
    let known_as = ["preferred_username", "name"].iter().find_map(|claim| name(claims, claim)).unwrap_or(subject);
    let client = ["client_id", "azp", "appid"].iter().find_map(|claim| name(claims, claim));
    let groups = list(claims, &map.groups).into_iter().filter(|group| is_name(group));
    Ok(Caller {
        subject: Subject(format!("sso:{}#{subject}", settings.issuer)),
        tenant: tenant(&map.tenant, claims)?,
        scopes: scopes(settings, claims, &roles),
        groups: groups.take(MOST_GROUPS).map(str::to_owned).collect(),
        is_admin: roles.iter().any(|role| map.admin_roles.iter().any(|admin| admin == role)),
        client_id: client.map(str::to_owned),
        name: known_as.to_owned(),
        readable: Readable::default(),
    })
}

fn tenant(from: &TenantFrom, claims: &Claims) -> Result<String, TokenFault> {
    match from {
        TenantFrom::Fixed(tenant) => Ok(tenant.clone()),
        TenantFrom::Claim(claim) => name(claims, claim).map(str::to_owned).ok_or(TokenFault::NoTenant),
    }
}

/// What the scopes and roles of the token are worth here, each once.
fn scopes(settings: &ProviderSettings, claims: &Claims, roles: &[&str]) -> Vec<String> {
    let held = list(claims, &settings.claims.scope);
    let is_held = |theirs: &str| held.contains(&theirs) || roles.contains(&theirs);
    let mut scopes = Vec::new();
    for (theirs, ours) in &settings.claims.scopes {
        if is_held(theirs) && !scopes.contains(ours) {
            scopes.push(ours.clone());
        }
    }
    scopes
}

fn text<'a>(claims: &'a Claims, name: &str) -> Option<&'a str> {
    claims.get(name).and_then(Value::as_str)
}

/// A text that can be stored and logged: OpenID Connect allows 255 characters for a subject.
fn name<'a>(claims: &'a Claims, claim: &str) -> Option<&'a str> {
    text(claims, claim).filter(|text| is_name(text))
}

fn is_name(text: &str) -> bool {
    (1..=255).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// A list of texts; or a text, which is a list of words. An audience is never two words.
fn list<'a>(claims: &'a Claims, name: &str) -> Vec<&'a str> {
    match claims.get(name) {
        Some(Value::String(text)) if name == "aud" => vec![text],
        Some(Value::String(text)) => text.split_whitespace().collect(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A time in milliseconds. Providers send seconds, some with a fraction.
fn time(claims: &Claims, name: &'static str) -> Result<Option<i64>, TokenFault> {
    let Some(value) = claims.get(name) else { return Ok(None) };
    let seconds = value.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    // The conversion ends at the largest number, which is as good as any time far from now.
    seconds.map(|seconds| Some((seconds * 1000.0) as i64)).ok_or(TokenFault::Claim(name))
}
