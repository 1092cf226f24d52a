//! Authenticated caller.

use std::sync::Arc;

use super::readable_graphs::ReadableGraphs;
use crate::principal::{Principal, PrincipalKind};

/// Stable name of a caller: `user:ID`, `client:ID`, or `sso:ISSUER#ID` for users of an identity provider.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Subject(pub(crate) String);

impl Subject {
    pub(crate) fn user(id: &str) -> Subject {
        Subject(format!("user:{id}"))
    }

    pub(crate) fn client(id: &str) -> Subject {
        Subject(format!("client:{id}"))
    }

    /// Returns the name, as in grants and logs.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Authenticated caller, with the maximum permissions of the token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Caller {
    /// Stable name.
    pub subject: Subject,
    /// Tenant. Graphs of other tenants do not exist for the caller.
    pub tenant: String,
    /// Scopes of the token, in the requested order.
    pub scopes: Vec<String>,
    /// Groups, for grants.
    pub groups: Vec<String>,
    /// True if the caller has all rights in the tenant, within the scopes.
    pub is_admin: bool,
    /// Client that the token was issued to.
    pub client_id: Option<String>,
    /// Display name.
    pub name: String,
    pub(super) readable_graphs: ReadableGraphs,
}

impl Caller {
    /// Returns whether the token has a scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }

    /// Returns the caller as a principal of the HTTP layer.
    pub(super) fn principal(self: &Arc<Caller>) -> Principal {
        let id = self.subject.as_str();
        let kind = if id.starts_with("client:") { PrincipalKind::Client } else { PrincipalKind::User };
        let mut principal = Principal::new(kind, &self.tenant, id);
        principal.name = Some(self.name.clone());
        principal.client = self.client_id.clone();
        principal.scopes = self.scopes.clone();
        principal.with_shared_extension(self.clone())
    }

    /// Returns whether a grant to this subject applies to the caller.
    pub(crate) fn matches_subject(&self, subject: &str) -> bool {
        let is_group = |group: &str| self.groups.iter().any(|held| held == group);
        subject == self.subject.as_str()
            || subject == "everyone"
            || subject.strip_prefix("group:").is_some_and(is_group)
    }
}
