//! Authentication and scopes: the master key, access tokens of users and clients, and API keys.

use std::sync::Arc;

use pidq_http::auth::{AuthError, Caller, Identities, Timestamp};
use pidq_http::header::WWW_AUTHENTICATE;
use pidq_http::{Fut, Head, Principal, PrincipalKind, Problem, ProblemCode, Request, Secret, codes, oauth};
use pidq_store::Store;
use pidq_store::domain::api_key::{ApiKey, SCOPES};

use crate::api::problems::{forbidden, store_problem};
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
            return authenticate_locally(platform, head).await.map(Arc::new);
        };
        if is_keys_path(head.uri.path()) && head.authorization("Basic")?.is_some() {
            let client = oauth::client_from_basic_auth(&accounts.identities, head).await?;
            let master = client.filter(|client| *client == accounts.master).ok_or_else(wrong_master_key)?;
            return Ok(unrestricted(PrincipalKind::Client, &format!("client:{master}")).into());
        }
        match head.bearer()?.and_then(parse_key) {
            Some((id, secret)) => authenticate_key(&platform.store, id, secret).await.map(Arc::new),
            None => authenticate_token(platform, accounts, head).await.map(Arc::new),
        }
    })
}

/// Authenticates a request to a platform without a master key, which listens on loopback only. Credentials are not
/// required, but those that a request has count: a key with its limits, and the account of a person who has signed in to
/// the dashboard.
async fn authenticate_locally(platform: &Platform, head: &Head) -> Result<Principal, Problem> {
    // Prevents DNS rebinding.
    head.check_host(platform.access.public_host.as_deref())?;
    match (head.bearer()?, &platform.access.host_accounts) {
        (Some(token), identities) => match (parse_key(token), identities) {
            (Some((id, secret)), _) => authenticate_key(&platform.store, id, secret).await,
            (None, Some(identities)) => {
                let principal = verify_token(identities, head).await?;
                let caller =
                    tenant_caller(&principal).map_err(|_| forbidden("The account belongs to another tenant."))?;
                if is_client_token(caller) {
                    return Ok(unrestricted(PrincipalKind::Client, caller.subject.as_str()));
                }
                with_limit(platform, identities, &principal, platform_scopes(None, caller)).await
            }
            (None, None) => Ok(unrestricted(PrincipalKind::Anonymous, "anyone")),
        },
        (None, _) => Ok(unrestricted(PrincipalKind::Anonymous, "anyone")),
    }
}

/// Authenticates a request by its access token.
async fn authenticate_token(platform: &Platform, accounts: &Accounts, head: &Head) -> Result<Principal, Problem> {
    let principal = verify_token(&accounts.identities, head).await?;
    let scopes = platform_scopes(Some(&accounts.master), tenant_caller(&principal)?);
    with_limit(platform, &accounts.identities, &principal, scopes).await
}

async fn verify_token(identities: &Identities, head: &Head) -> Result<Arc<Principal>, Problem> {
    oauth::authenticate(identities, head).await.map_err(|error| match error {
        AuthError::Expired => token_expired("The access token has expired."),
        AuthError::Invalid => invalid_token(),
        error => oauth::auth_problem(error),
    })
}

/// Returns the caller of a token. The accounts database may be shared with a service that has other tenants.
fn tenant_caller(principal: &Principal) -> Result<&Caller, Problem> {
    principal.extension::<Caller>().filter(|caller| caller.tenant == TENANT).ok_or_else(invalid_token)
}

/// Returns a principal with scopes, and with access to all pipelines unless its account is limited. A limited account
/// administers nothing.
async fn with_limit(
    platform: &Platform,
    identities: &Identities,
    principal: &Principal,
    mut scopes: Vec<String>,
) -> Result<Principal, Problem> {
    let ttl = identities.options().token_cache_ttl;
    let limit = platform.access.account_limits.get(&platform.store, &principal.id, ttl).await.map_err(store_problem)?;
    let Some(limit) = limit else { return Ok(with_scopes(principal.clone(), scopes)) };
    scopes.retain(|scope| scope != "admin");
    let mut principal = principal.clone();
    principal.scopes.clone_from(&scopes);
    let access = ApiKey { id: limit.account.clone(), scopes, pipelines: limit.pipelines.clone(), ..ApiKey::default() };
    Ok(principal.with_extension(access))
}

fn platform_scopes(master: Option<&str>, caller: &Caller) -> Vec<String> {
    let is_master = is_client_token(caller) && master.is_some() && caller.client_id.as_deref() == master;
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
