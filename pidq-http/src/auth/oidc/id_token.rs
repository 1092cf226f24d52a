//! Verification of ID tokens (OpenID Connect Core 1.0, section 3.1.3.7).

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, SHA512, digest};

use super::claims::{Claims, check_time, display_name, list, name, normalize_type, text, time};
use super::jwks::JwksCache;
use super::{Algorithm, TokenError, verified_claims};
use crate::auth::Timestamp;
use crate::auth::secret::constant_time_eq;

/// Tolerated clock difference.
const CLOCK_SKEW: Duration = Duration::from_secs(30);

/// Values that an ID token must match.
pub(super) struct Expected<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    /// Access token that was issued together with it.
    pub access_token: &'a str,
    pub login: ExpectedLogin<'a>,
}

/// Login that an ID token must belong to.
pub(super) enum ExpectedLogin<'a> {
    /// That of the authorization request with this nonce.
    Nonce(&'a str),
    /// One of this user, after a refresh. A nonce is optional then (section 12.2).
    Subject(&'a str),
}

/// User of a verified ID token.
pub(super) struct IdentifiedUser {
    pub subject: String,
    /// Name for people.
    pub name: String,
}

/// Verifies an ID token.
pub(super) async fn verify(
    token: &str,
    keys: &JwksCache,
    expected: &Expected<'_>,
    now: Timestamp,
) -> Result<IdentifiedUser, TokenError> {
    let (algorithm, claims) = verified_claims(token, &Algorithm::ALL, keys, check_type, now).await?;
    check(&claims, expected, now)?;
    check_access_token(&claims, algorithm, expected.access_token)?;
    let subject = name(&claims, "sub").ok_or(TokenError::Claim("sub"))?;
    Ok(IdentifiedUser { subject: subject.to_owned(), name: display_name(&claims).unwrap_or(subject).to_owned() })
}

/// Rejects tokens for another purpose, such as access tokens and logout tokens.
fn check_type(kind: Option<&str>) -> Result<(), TokenError> {
    if kind.is_none_or(|kind| normalize_type(kind) == "jwt") { Ok(()) } else { Err(TokenError::Type) }
}

fn check(claims: &Claims, expected: &Expected<'_>, now: Timestamp) -> Result<(), TokenError> {
    if text(claims, "iss") != Some(expected.issuer) {
        return Err(TokenError::Issuer);
    }
    let audiences = list(claims, "aud");
    if !audiences.contains(&expected.client_id) {
        return Err(TokenError::Audience);
    }
    // With other audiences, only `azp` tells which client the token was issued to.
    let has_party = claims.contains_key("azp") || audiences.len() > 1;
    if has_party && text(claims, "azp") != Some(expected.client_id) {
        return Err(TokenError::AuthorizedParty);
    }
    check_time(claims, CLOCK_SKEW, now)?;
    time(claims, "iat")?.ok_or(TokenError::Claim("iat"))?;
    match expected.login {
        ExpectedLogin::Nonce(nonce) => {
            let is_same = text(claims, "nonce").is_some_and(|found| constant_time_eq(found, nonce));
            if is_same { Ok(()) } else { Err(TokenError::Nonce) }
        }
        ExpectedLogin::Subject(subject) if text(claims, "sub") == Some(subject) => Ok(()),
        ExpectedLogin::Subject(_) => Err(TokenError::Subject),
    }
}

/// Checks `at_hash`, if present: the left half of the digest of the access token. The digest is that of the signature
/// algorithm.
fn check_access_token(claims: &Claims, algorithm: Algorithm, access_token: &str) -> Result<(), TokenError> {
    let Some(found) = claims.get("at_hash") else { return Ok(()) };
    let digest_algorithm = match algorithm {
        Algorithm::Rs256 | Algorithm::Ps256 | Algorithm::Es256 => &SHA256,
        Algorithm::EdDsa => &SHA512,
    };
    let digest = digest(digest_algorithm, access_token.as_bytes());
    let half = digest.as_ref().split_at(digest.as_ref().len() / 2).0;
    let is_same = found.as_str().is_some_and(|found| constant_time_eq(found, &URL_SAFE_NO_PAD.encode(half)));
    if is_same { Ok(()) } else { Err(TokenError::AccessTokenHash) }
}
