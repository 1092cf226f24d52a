//! Authentication and scopes: the master key, access tokens of users and clients, and API keys.

use std::sync::Arc;

use pidq_http::auth::{AuthError, Caller, Timestamp};
use pidq_http::header::WWW_AUTHENTICATE;
use pidq_http::{Fut, Head, Principal, PrincipalKind, Problem, ProblemCode, Request, Secret, codes, oauth};
use pidq_store::Store;
use pidq_store::domain::api_key::{ApiKey, SCOPES};

use crate::api::problems::store_problem;
use crate::platform::accounts::Accounts;
use crate::platform::{Platform, TENANT};

/// Platform scopes granted by each scope of a token. `admin` requires an administrator and the token scope `write`.
const PLATFORM_SCOPES: [(&str, &[&str]); 2] =
    [("read", &["pipelines:read", "documents:read", "query"]), ("write", &["pipelines:write", "documents:write"])];

/// Authentication hook of the HTTP server.
pub(crate) fn authenticate<'a>(
    platform: &'a Arc<Platform>,
    head: &'a Head,
) -> Fut<'a, Result<Arc<Principal>, Problem>> {
    Box::pin(async move {
        let Some(accounts) = &platform.access.accounts else {
            // Without accounts, the server listens on loopback only. The `Host` check prevents DNS rebinding.
            return head
                .check_host(platform.access.public_host.as_deref())
                .map(|()| unrestricted(PrincipalKind::Anonymous, "anyone").into());
        };
        if is_keys_path(head.uri.path()) && head.authorization("Basic")?.is_some() {
            let client = oauth::client_from_basic_auth(&accounts.identities, head).await?;
            let master = client.filter(|client| *client == accounts.master).ok_or_else(wrong_master_key)?;
            return Ok(unrestricted(PrincipalKind::Client, &format!("client:{master}")).into());
        }
        match head.bearer()?.and_then(parse_key) {
            Some((id, secret)) => authenticate_key(&platform.store, id, secret).await.map(Arc::new),
            None => authenticate_token(accounts, head).await.map(Arc::new),
        }
    })
}

/// Authenticates a request by its access token.
async fn authenticate_token(accounts: &Accounts, head: &Head) -> Result<Principal, Problem> {
    let principal = match oauth::authenticate(&accounts.identities, head).await {
        Ok(principal) => principal,
        Err(AuthError::Expired) => return Err(token_expired("The access token has expired.")),
        Err(AuthError::Invalid) => return Err(invalid_token()),
        Err(error) => return Err(oauth::auth_problem(error)),
    };
    // The accounts database may be shared with a service that has other tenants.
    let caller = principal.extension::<Caller>().filter(|caller| caller.tenant == TENANT);
    let caller = caller.ok_or_else(invalid_token)?;
    Ok(with_scopes(Principal::clone(&principal), platform_scopes(accounts, caller)))
}

fn platform_scopes(accounts: &Accounts, caller: &Caller) -> Vec<String> {
    let is_master = is_client_token(caller) && caller.client_id.as_deref() == Some(&accounts.master);
    let token_scopes =
        PLATFORM_SCOPES.iter().filter(|(scope, _)| caller.has_scope(scope)).flat_map(|(_, scopes)| *scopes);
    let admin = (caller.is_admin || is_master) && caller.has_scope("write");
    token_scopes.chain(admin.then_some(&"admin")).map(|&scope| scope.to_owned()).collect()
}

/// Returns `true` for a token of a client itself, not of a user who logged in through it.
fn is_client_token(caller: &Caller) -> bool {
    caller.subject.as_str().starts_with("client:")
}

/// Authenticates a key.
async fn authenticate_key(store: &Store, id: &str, secret: &str) -> Result<Principal, Problem> {
    let unknown = || unauthenticated("The API key is unknown or was deleted.");
    let Some((key, fingerprint)) = store.key(id).await.map_err(store_problem)? else { return Err(unknown()) };
    if !Secret::new(secret).matches(&fingerprint) {
        return Err(unknown());
    }
    if key.expires_at.is_some_and(|expiry| expiry <= Timestamp::now().0) {
        return Err(token_expired("The API key has expired."));
    }
    let mut principal = Principal::new(PrincipalKind::Key, TENANT, format!("key:{id}"));
    principal.name = Some(key.name.clone());
    principal.scopes.clone_from(&key.scopes);
    Ok(principal.with_extension(key))
}

/// Returns the key, and so the access scope, of a request.
pub(crate) fn request_key(request: &Request) -> Result<ApiKey, Problem> {
    request.principal()?.extension::<ApiKey>().cloned().ok_or_else(Problem::unauthenticated)
}

/// Prefix of every key, for secret scanners.
pub(crate) const KEY_PREFIX: &str = "pidq_";

/// Parses id and secret of `pidq_<id>_<secret>`. Tokens share the prefix but have no UUID there.
pub(crate) fn parse_key(token: &str) -> Option<(&str, &str)> {
    let (id, secret) = token.strip_prefix(KEY_PREFIX)?.split_once('_')?;
    (id.len() == 36).then_some((id, secret))
}

/// Adds scopes and access to all pipelines to a principal.
fn with_scopes(mut principal: Principal, scopes: Vec<String>) -> Principal {
    principal.scopes.clone_from(&scopes);
    principal.with_extension(ApiKey { scopes, ..ApiKey::root() })
}

/// Returns a principal with all scopes.
fn unrestricted(kind: PrincipalKind, id: &str) -> Principal {
    with_scopes(Principal::new(kind, TENANT, id), SCOPES.iter().map(|&scope| scope.to_owned()).collect())
}

/// Returns `true` for paths below `/api/keys`, which accept the master key directly: it creates the first API keys.
fn is_keys_path(path: &str) -> bool {
    path.strip_prefix("/api/keys").is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('/'))
}

/// 401 for expired credentials.
pub(crate) fn token_expired(detail: &'static str) -> Problem {
    unauthorized(codes::TOKEN_EXPIRED, detail)
}

/// 401 for missing or unknown credentials. Both have the same code; only the challenge differs.
pub(crate) fn unauthenticated(detail: &'static str) -> Problem {
    unauthorized(codes::UNAUTHENTICATED, detail)
}

fn unauthorized(code: &'static ProblemCode, detail: &'static str) -> Problem {
    let challenge = format!("Bearer realm=\"pidq\", error=\"invalid_token\", error_description=\"{detail}\"");
    Problem::new(code).detail(detail).header(WWW_AUTHENTICATE, challenge)
}

fn invalid_token() -> Problem {
    unauthenticated("The access token is invalid.")
}

fn wrong_master_key() -> Problem {
    unauthenticated("The master key or its secret is wrong.").header(WWW_AUTHENTICATE, "Basic realm=\"pidq\"")
}
