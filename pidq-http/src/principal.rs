//! Who asks: the answer of an authenticator, and what routes and handlers look at.

use crate::auth::{Caller, Subject};

/// What kind of thing a principal is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PrincipalKind {
    /// A person with an account here, or at the company's identity provider.
    User,
    /// A program that got a token in its own name.
    Client,
    /// An API key of the document pipeline.
    Key,
    /// Whoever asks, on a service that is open on loopback.
    Anyone,
}

/// Somebody who was recognised.
#[derive(Clone, Debug)]
pub struct Principal {
    /// Unique across all kinds and tenants, and fit for a log line.
    pub id: String,
    /// What kind of thing it is.
    pub kind: PrincipalKind,
    /// The namespace that everything it sees lives in.
    pub tenant: String,
    /// The name that people know it by, for example an e-mail address. Never for decisions.
    pub name: Option<String>,
    /// The client that the token was given to.
    pub client: Option<String>,
    /// How far the token reaches: an upper bound; grants decide the rest.
    pub scopes: Vec<String>,
    /// Groups that grants may name.
    pub groups: Vec<String>,
    /// Whether everything of the tenant is open, within the scopes.
    pub is_admin: bool,
}

impl From<Caller> for Principal {
    fn from(caller: Caller) -> Principal {
        let id = caller.subject.as_str().to_owned();
        Principal {
            kind: if id.starts_with("client:") { PrincipalKind::Client } else { PrincipalKind::User },
            id,
            tenant: caller.tenant,
            name: Some(caller.name),
            client: caller.client_id,
            scopes: caller.scopes,
            groups: caller.groups,
            is_admin: caller.is_admin,
        }
    }
}

impl From<&Principal> for Caller {
    fn from(principal: &Principal) -> Caller {
        let principal = principal.clone();
        Caller {
            name: principal.name.unwrap_or_else(|| principal.id.clone()),
            subject: Subject(principal.id),
            tenant: principal.tenant,
            scopes: principal.scopes,
            groups: principal.groups,
            is_admin: principal.is_admin,
            client_id: principal.client,
        }
    }
}

impl Principal {
    /// Whether the token has a scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|s| s == scope)
    }

    /// The key of this principal in rates and caches: tenants never share one.
    pub fn key(&self) -> String {
        format!("{}/{}", self.tenant, self.id)
    }
}
