//! Who sends a request, and what they may do: the master key, users with their tokens, and API keys.

use std::sync::Arc;

use pidq_http::auth::{AuthError, Caller, Identities};
use pidq_http::header::WWW_AUTHENTICATE;
use pidq_http::{Fut, Head, Principal, PrincipalKind, Problem, StatusCode, oauth};

use crate::keys::{self, ApiKey};
use crate::platform::{Platform, TENANT};

/// The accounts of a platform that is not open to everybody.
pub struct Accounts {
    /// Users, clients and their tokens.
    pub identities: Identities,
    /// The client of the settings, which may do everything.
    pub master: String,
}

/// All scopes of the platform.
pub const SCOPES: &[&str] =
    &["pipelines:read", "pipelines:write", "documents:read", "documents:write", "query", "admin"];

/// What the scopes of a token are good for here. `admin` is for those who are one, with a token that writes.
const REACH: [(&str, &[&str]); 2] =
    [("read", &["pipelines:read", "documents:read", "query"]), ("write", &["pipelines:write", "documents:write"])];

/// Who sends a request: the hook of the floor below.
pub(crate) fn authenticate<'a>(
    platform: &'a Arc<Platform>,
    head: &'a Head,
) -> Fut<'a, Result<Arc<Principal>, Problem>> {
    Box::pin(async move {
        let Some(accounts) = &platform.accounts else {
            // Everybody on this machine, and nobody else.
            return head.known_host(platform.name.as_deref()).map(|()| root(PrincipalKind::Anyone, "anyone").into());
        };
        if is_of_keys(head.uri.path()) && head.authorization("Basic")?.is_some() {
            let client = oauth::basic(&accounts.identities, head).await?;
            let master = client.filter(|client| *client == accounts.master).ok_or_else(not_the_master)?;
            return Ok(root(PrincipalKind::Client, &format!("client:{master}")).into());
        }
        match head.bearer()?.and_then(keys::parts) {
            Some((id, secret)) => keys::authenticate(&platform.store, id, secret).await.map(Arc::new),
            None => accounts.sender(head).await.map(Arc::new),
        }
    })
}

impl Accounts {
    /// Who sends a request with a token.
    async fn sender(&self, head: &Head) -> Result<Principal, Problem> {
        let sender = match oauth::sender(&self.identities, head).await {
            Ok(sender) => sender,
            Err(AuthError::Expired) => return Err(expired("The access token has expired.")),
            Err(AuthError::Invalid) => return Err(invalid()),
            Err(error) => return Err(oauth::refusal(error)),
        };
        // Accounts may be shared with a service that has more tenants than this one.
        let caller = sender.known::<Caller>().filter(|caller| caller.tenant == TENANT);
        let caller = caller.ok_or_else(invalid)?;
        Ok(reaching(Principal::clone(&sender), self.scopes(caller)))
    }

    fn scopes(&self, caller: &Caller) -> Vec<String> {
        let is_master = sender_is_client(caller) && caller.client_id.as_deref() == Some(&self.master);
        let held = REACH.iter().filter(|(scope, _)| caller.has_scope(scope)).flat_map(|(_, reach)| *reach);
        let admin = (caller.is_admin || is_master) && caller.has_scope("write");
        held.chain(admin.then_some(&"admin")).map(|&scope| scope.to_owned()).collect()
    }
}

/// Whether a token is of a client alone, and not of a user who came by it.
fn sender_is_client(caller: &Caller) -> bool {
    caller.subject.as_str().starts_with("client:")
}

/// Somebody who reaches all pipelines, with these scopes.
fn reaching(mut principal: Principal, scopes: Vec<String>) -> Principal {
    principal.scopes.clone_from(&scopes);
    principal.with_known(ApiKey { scopes, ..ApiKey::root() })
}

/// Somebody who may do everything.
fn root(kind: PrincipalKind, id: &str) -> Principal {
    reaching(Principal::new(kind, TENANT, id), SCOPES.iter().map(|&scope| scope.to_owned()).collect())
}

/// Whether a path is of the API keys: the first ones are made with the master key itself.
fn is_of_keys(path: &str) -> bool {
    path.strip_prefix("/api/keys").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// 401 for what was good once: its owner gets another.
pub(crate) fn expired(detail: &'static str) -> Problem {
    refused("token-expired", detail)
}

/// 401 for what is good for nobody. Programs need not tell it from nothing at all; the challenge does.
pub(crate) fn unknown(detail: &'static str) -> Problem {
    refused("unauthenticated", detail)
}

fn refused(code: &'static str, detail: &'static str) -> Problem {
    let challenge = format!("Bearer realm=\"pidq\", error=\"invalid_token\", error_description=\"{detail}\"");
    Problem::new(StatusCode::UNAUTHORIZED, code).detail(detail).header(WWW_AUTHENTICATE, challenge)
}

fn invalid() -> Problem {
    unknown("The access token is invalid.")
}

fn not_the_master() -> Problem {
    unknown("The master key or its secret is wrong.").header(WWW_AUTHENTICATE, "Basic realm=\"pidq\"")
}
