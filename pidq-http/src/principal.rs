//! Who asks: the answer of an authenticator, and what routes and handlers look at.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

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
#[derive(Clone)]
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
    key: Arc<str>,
    known: Option<Arc<dyn Any + Send + Sync>>,
}

impl Principal {
    /// Somebody without a scope, to be completed.
    pub fn new(kind: PrincipalKind, tenant: impl Into<String>, id: impl Into<String>) -> Self {
        let (id, tenant, scopes) = (id.into(), tenant.into(), Vec::new());
        let key = format!("{tenant}/{id}").into();
        Principal { id, kind, tenant, name: None, client: None, scopes, key, known: None }
    }

    /// The same, with all that the authenticator knows of them, for handlers of the same service.
    pub fn with_known<T: Any + Send + Sync>(self, known: T) -> Self {
        self.with_shared(Arc::new(known))
    }

    /// The same, with what somebody else has as well.
    pub fn with_shared<T: Any + Send + Sync>(mut self, known: Arc<T>) -> Self {
        self.known = Some(known);
        self
    }

    /// What the authenticator knows of them, if it is such a thing.
    pub fn known<T: Any>(&self) -> Option<&T> {
        self.known.as_deref()?.downcast_ref()
    }

    /// Whether the token has a scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|s| s == scope)
    }

    /// The key of this principal in rates and caches: tenants never share one.
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({:?} {} of {})", self.kind, self.id, self.tenant)
    }
}
