//! The one who calls: what a token stands for.

use std::sync::Arc;

use super::recent::Readable;
use crate::principal::{Principal, PrincipalKind};

/// A stable name for somebody: `user:ID`, `client:ID`, or `sso:ISSUER#ID` for those of a company's own provider.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Subject(pub(crate) String);

impl Subject {
    pub(crate) fn user(id: &str) -> Subject {
        Subject(format!("user:{id}"))
    }

    pub(crate) fn client(id: &str) -> Subject {
        Subject(format!("client:{id}"))
    }

    /// As it stands in grants and in logs.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who sent a request, and the most that the token allows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Caller {
    /// Who it is.
    pub subject: Subject,
    /// Whose jobs the caller sees. All others do not exist for them.
    pub tenant: String,
    /// What the token is good for, in the order it was asked for.
    pub scopes: Vec<String>,
    /// The groups that grants may name.
    pub groups: Vec<String>,
    /// Whether the caller may do everything to all jobs of the tenant, within the scopes.
    pub is_admin: bool,
    /// The client that the token was issued to.
    pub client_id: Option<String>,
    /// The name that people know the caller by.
    pub name: String,
    pub(super) readable: Readable,
}

impl Caller {
    /// Whether the token is good for this.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }

    /// The caller as the floor sees one, which knows all of this.
    pub(super) fn principal(self: &Arc<Caller>) -> Principal {
        let id = self.subject.as_str();
        let kind = if id.starts_with("client:") { PrincipalKind::Client } else { PrincipalKind::User };
        let mut principal = Principal::new(kind, &self.tenant, id);
        principal.name = Some(self.name.clone());
        principal.client = self.client_id.clone();
        principal.scopes = self.scopes.clone();
        principal.with_shared(self.clone())
    }

    /// Whether a grant to this subject is one to the caller.
    pub(crate) fn answers_to(&self, subject: &str) -> bool {
        let is_group = |group: &str| self.groups.iter().any(|held| held == group);
        subject == self.subject.as_str()
            || subject == "everyone"
            || subject.strip_prefix("group:").is_some_and(is_group)
    }
}
