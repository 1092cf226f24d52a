//! Bearer authentication: `Authorization: Bearer`, RFC 6750.
//!
//! Verified tokens are cached for a short time, see [`token_cache`](super::token_cache).

use std::sync::Arc;

use super::accounts::Role;
use super::readable_graphs::ReadableGraphs;
use super::secret::{digest, encode_digest};
use super::token_cache::VerifiedToken;
use super::tokens::ACCESS_PREFIX;
use super::{Caller, Identities, IdentityError, Subject, Timestamp, audit};
use crate::problem::codes::{self, ProblemCode};

/// Authentication or authorization error.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// No bearer token.
    #[error("send an access token as `Authorization: Bearer …`")]
    Missing,
    /// Several `Authorization` headers.
    #[error("there is more than one Authorization header")]
    Repeated,
    /// The token is unknown, revoked or malformed.
    #[error("the access token is invalid")]
    Invalid,
    /// The token has expired.
    #[error("the access token has expired")]
    Expired,
    /// The token lacks this scope.
    #[error("the access token lacks the scope `{0}`")]
    Scope(&'static str),
    /// The token cannot be verified now.
    #[error("tokens cannot be verified right now: try again")]
    Unavailable(#[from] IdentityError),
}

impl AuthError {
    /// Status of the response.
    pub fn status(&self) -> u16 {
        self.code().statuses[0]
    }

    /// Row of the problem table.
    pub fn code(&self) -> &'static ProblemCode {
        match self {
            AuthError::Missing => codes::UNAUTHENTICATED,
            AuthError::Invalid | AuthError::Expired => codes::INVALID_TOKEN,
            AuthError::Repeated => codes::INVALID_REQUEST,
            AuthError::Scope(_) => codes::INSUFFICIENT_SCOPE,
            AuthError::Unavailable(error) if error.is_storage_full() => codes::INSUFFICIENT_STORAGE,
            AuthError::Unavailable(_) => codes::UNAVAILABLE,
        }
    }

    /// Returns the value of `Retry-After`, if any.
    pub fn retry_after(&self) -> Option<u32> {
        matches!(self, AuthError::Unavailable(_)).then_some(1)
    }

    /// Returns the value of `WWW-Authenticate`, if any. `metadata` is the URL of the RFC 9728 document.
    pub fn challenge(&self, metadata: Option<&str>) -> Option<String> {
        let cause = match self {
            AuthError::Missing => String::new(),
            AuthError::Invalid => invalid("The access token is invalid."),
            AuthError::Expired => invalid("The access token has expired."),
            AuthError::Scope(scope) => format!(", error=\"insufficient_scope\", scope=\"{scope}\""),
            AuthError::Repeated | AuthError::Unavailable(_) => return None,
        };
        let metadata = metadata.map(|url| format!(", resource_metadata=\"{url}\"")).unwrap_or_default();
        Some(format!("Bearer realm=\"pidq\"{cause}{metadata}"))
    }
}

fn invalid(description: &str) -> String {
    format!(", error=\"invalid_token\", error_description=\"{description}\"")
}

impl Caller {
    /// Returns an error unless the token has a scope.
    pub fn require(&self, scope: &'static str) -> Result<(), AuthError> {
        if self.has_scope(scope) { Ok(()) } else { Err(AuthError::Scope(scope)) }
    }
}

/// Returns the bearer token of the `Authorization` headers.
pub(crate) fn bearer_token<'a>(headers: &[&'a str]) -> Result<&'a str, AuthError> {
    let header = match headers {
        [] => return Err(AuthError::Missing),
        [header] => header.trim(),
        _ => return Err(AuthError::Repeated),
    };
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(AuthError::Missing);
    }
    let token = token.trim_start();
    if token.is_empty() || token.contains(' ') { Err(AuthError::Invalid) } else { Ok(token) }
}

const CALLER: &str = "select a.scope, a.expires_at, f.revoked_at, c.id, c.title, c.tenant, c.disabled_at,
    u.id, u.login, u.tenant, u.role, u.member_of, u.disabled_at
  from access_tokens a join token_families f on f.id = a.family_id join clients c on c.id = f.client_id
    left join users u on u.id = f.user_id
  where a.hash = $1";

type Row = (
    String,
    i64,
    Option<i64>,
    String,
    String,
    Option<String>,
    Option<i64>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<i64>,
);

impl Identities {
    /// Authenticates a request by all its `Authorization` headers.
    pub async fn authenticate(&self, headers: &[&str], now: Timestamp) -> Result<Arc<Caller>, AuthError> {
        Ok(self.verify_bearer(headers, now).await?.caller.clone())
    }

    /// Verifies a token and returns the cached entry.
    pub(crate) async fn verify_bearer(
        &self,
        headers: &[&str],
        now: Timestamp,
    ) -> Result<Arc<VerifiedToken>, AuthError> {
        let token = bearer_token(headers)?;
        let digest = digest(token);
        if let Some(verified) = self.token_cache.get(&digest, now) {
            return if verified.expires_at <= now { Err(AuthError::Expired) } else { Ok(verified) };
        }
        let generation = self.token_cache.generation();
        let (caller, expires_at) = match token.starts_with(ACCESS_PREFIX) {
            true => self.caller(&encode_digest(&digest), now).await?,
            false => self.provider_caller(token, now).await?,
        };
        let verified = Arc::new(VerifiedToken::new(caller, expires_at, now));
        self.token_cache.insert(generation, digest, &verified);
        Ok(verified)
    }

    /// Verifies a token of the identity provider that it names.
    async fn provider_caller(&self, token: &str, now: Timestamp) -> Result<(Caller, Timestamp), AuthError> {
        let provider = self.providers.iter().find(|provider| provider.is_issuer_of(token)).ok_or(AuthError::Invalid)?;
        provider.verify_until(token, now).await.map_err(|error| {
            audit::provider_token_rejected(provider.issuer(), error);
            error.into()
        })
    }

    async fn caller(&self, fingerprint: &str, now: Timestamp) -> Result<(Caller, Timestamp), AuthError> {
        let row = self.database.row::<Row>(CALLER, &[fingerprint.into()]).await;
        let row = row.map_err(IdentityError::from)?.ok_or(AuthError::Invalid)?;
        let is_revoked = row.2.is_some() || row.6.is_some() || row.12.is_some();
        if is_revoked {
            return Err(AuthError::Invalid);
        }
        if row.1 <= now.0 {
            return Err(AuthError::Expired);
        }
        let expires_at = Timestamp(row.1);
        Ok((caller(row).ok_or(AuthError::Invalid)?, expires_at))
    }
}

fn caller(row: Row) -> Option<Caller> {
    let (scope, _, _, client, title, client_tenant, _, user, login, tenant, role, groups, _) = row;
    let role = role.as_deref().and_then(Role::from_name);
    Some(Caller {
        subject: user.as_deref().map_or_else(|| Subject::client(&client), Subject::user),
        tenant: tenant.or(client_tenant)?,
        scopes: words(&scope),
        groups: words(groups.as_deref().unwrap_or("")),
        is_admin: role.is_some_and(|role| role.is_admin),
        client_id: Some(client),
        name: login.unwrap_or(title),
        readable_graphs: ReadableGraphs::default(),
    })
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
