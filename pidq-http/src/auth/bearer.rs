//! Who sent a request: the header `Authorization: Bearer`, RFC 6750.
//!
//! A token is looked up, and believed for a moment: see [`recent`](super::recent).

use std::fmt;
use std::sync::Arc;

use super::accounts::Role;
use super::recent::{Bearer, Readable};
use super::secret::{digest, spelt};
use super::sessions::ACCESS_PREFIX;
use super::{Caller, Identities, IdentityError, Moment, Subject, audit};

/// Why a request is nobody's.
#[derive(Debug)]
pub enum AuthError {
    /// There is no bearer token.
    Missing,
    /// There are two headers.
    Repeated,
    /// The token is unknown, revoked or unsound.
    Invalid,
    /// The token was good once.
    Expired,
    /// The token is good, but not for this.
    Scope(&'static str),
    /// It cannot be looked at now.
    Unavailable(IdentityError),
}

impl AuthError {
    /// The status of the reply.
    pub fn status(&self) -> u16 {
        match self {
            AuthError::Missing | AuthError::Invalid | AuthError::Expired => 401,
            AuthError::Repeated => 400,
            AuthError::Scope(_) => 403,
            AuthError::Unavailable(_) => 503,
        }
    }

    /// The code of the problem.
    pub fn code(&self) -> &'static str {
        match self {
            AuthError::Missing => "unauthenticated",
            AuthError::Invalid | AuthError::Expired => "invalid-token",
            AuthError::Repeated => "invalid-request",
            AuthError::Scope(_) => "insufficient-scope",
            AuthError::Unavailable(_) => "unavailable",
        }
    }

    /// The value of `Retry-After`, where there is one.
    pub fn retry_after(&self) -> Option<u32> {
        matches!(self, AuthError::Unavailable(_)).then_some(1)
    }

    /// The value of `WWW-Authenticate`, where there is one. `metadata` is the URL of the RFC 9728 document.
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

impl From<IdentityError> for AuthError {
    fn from(error: IdentityError) -> AuthError {
        AuthError::Unavailable(error)
    }
}

/// For people, in the body of the reply. It says no more than the challenge does.
impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuthError::Missing => f.write_str("send an access token as `Authorization: Bearer …`"),
            AuthError::Repeated => f.write_str("there is more than one Authorization header"),
            AuthError::Invalid => f.write_str("the access token is invalid"),
            AuthError::Expired => f.write_str("the access token has expired"),
            AuthError::Scope(scope) => write!(f, "the access token lacks the scope `{scope}`"),
            AuthError::Unavailable(_) => f.write_str("tokens cannot be checked now: try again"),
        }
    }
}

impl std::error::Error for AuthError {}

impl Caller {
    /// Refuses a token that is not good for this.
    pub fn require(&self, scope: &'static str) -> Result<(), AuthError> {
        if self.has_scope(scope) { Ok(()) } else { Err(AuthError::Scope(scope)) }
    }
}

/// The token in the headers `Authorization` of a request.
pub(crate) fn token<'a>(headers: &[&'a str]) -> Result<&'a str, AuthError> {
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
  from access_tokens a join families f on f.id = a.family_id join clients c on c.id = f.client_id
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
    /// Who a request comes from, by all its headers `Authorization`.
    pub async fn authenticate(&self, headers: &[&str], now: Moment) -> Result<Arc<Caller>, AuthError> {
        Ok(self.bearer(headers, now).await?.caller.clone())
    }

    /// The same, as the floor needs it.
    pub(crate) async fn bearer(&self, headers: &[&str], now: Moment) -> Result<Arc<Bearer>, AuthError> {
        let token = token(headers)?;
        let digest = digest(token);
        if let Some(bearer) = self.recent.find(&digest, now) {
            return if bearer.expires_at <= now { Err(AuthError::Expired) } else { Ok(bearer) };
        }
        let era = self.recent.era();
        let (caller, expires_at) = match token.starts_with(ACCESS_PREFIX) {
            true => self.caller(&spelt(&digest), now).await?,
            false => self.foreign_caller(token, now).await?,
        };
        let bearer = Arc::new(Bearer::new(caller, expires_at, now));
        self.recent.keep(era, digest, &bearer);
        Ok(bearer)
    }

    /// A token of a company's own provider, if there is one that it names.
    async fn foreign_caller(&self, token: &str, now: Moment) -> Result<(Caller, Moment), AuthError> {
        let provider = self.providers.iter().find(|provider| provider.is_named_by(token)).ok_or(AuthError::Invalid)?;
        provider.verify_until(token, now).await.map_err(|fault| {
            audit::foreign_token_refused(provider.issuer(), fault);
            fault.into()
        })
    }

    async fn caller(&self, fingerprint: &str, now: Moment) -> Result<(Caller, Moment), AuthError> {
        let row = self.database.row::<Row>(CALLER, &[fingerprint.into()]).await;
        let row = row.map_err(IdentityError::from)?.ok_or(AuthError::Invalid)?;
        let is_shut_out = row.2.is_some() || row.6.is_some() || row.12.is_some();
        if is_shut_out {
            return Err(AuthError::Invalid);
        }
        if row.1 <= now.0 {
            return Err(AuthError::Expired);
        }
        let expires_at = Moment(row.1);
        Ok((caller(row).ok_or(AuthError::Invalid)?, expires_at))
    }
}

fn caller(row: Row) -> Option<Caller> {
    let (scope, _, _, client, title, client_tenant, _, user, login, tenant, role, groups, _) = row;
    let role = role.as_deref().and_then(Role::named);
    Some(Caller {
        subject: user.as_deref().map_or_else(|| Subject::client(&client), Subject::user),
        tenant: tenant.or(client_tenant)?,
        scopes: words(&scope),
        groups: words(groups.as_deref().unwrap_or("")),
        is_admin: role.is_some_and(|role| role.is_admin),
        client_id: Some(client),
        name: login.unwrap_or(title),
        readable: Readable::default(),
    })
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
