//! Authenticated principal of a request, as routes and handlers see it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Kind of a principal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PrincipalKind {
    /// A user with an account here, or at the company's identity provider.
    User,
    /// An OAuth client with a token of its own.
    Client,
    /// An API key of the document pipeline.
    Key,
    /// Unauthenticated caller of a service without authentication.
    Anonymous,
}

/// Authenticated principal.
#[derive(Clone)]
pub struct Principal {
    /// Id, unique across all kinds and tenants, and safe for logs.
    pub id: String,
    /// Kind.
    pub kind: PrincipalKind,
    /// Tenant: the namespace of everything the principal sees.
    pub tenant: String,
    /// Display name, for example an e-mail address. Never used for decisions.
    pub name: Option<String>,
    /// Client that the token was issued to.
    pub client: Option<String>,
    /// Scopes of the token: an upper bound; grants decide the rest.
    pub scopes: Vec<String>,
    key: Arc<str>,
    extension: Option<Arc<dyn Any + Send + Sync>>,
}

impl Principal {
    /// Creates a principal without scopes.
    pub fn new(kind: PrincipalKind, tenant: impl Into<String>, id: impl Into<String>) -> Self {
        let (id, tenant, scopes) = (id.into(), tenant.into(), Vec::new());
        let key = format!("{tenant}/{id}").into();
        Principal { id, kind, tenant, name: None, client: None, scopes, key, extension: None }
    }

    /// Attaches the authenticator's data, for handlers of the same service.
    pub fn with_extension<T: Any + Send + Sync>(self, extension: T) -> Self {
        self.with_shared_extension(Arc::new(extension))
    }

    /// Attaches shared data of the authenticator.
    pub fn with_shared_extension<T: Any + Send + Sync>(mut self, extension: Arc<T>) -> Self {
        self.extension = Some(extension);
        self
    }

    /// Returns the authenticator's data, if it has this type.
    pub fn extension<T: Any>(&self) -> Option<&T> {
        self.extension.as_deref()?.downcast_ref()
    }

    /// Returns whether the token has a scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|s| s == scope)
    }

    /// Returns the key of this principal in rate limits and caches; tenants never share one.
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({:?} {} of {})", self.kind, self.id, self.tenant)
    }
}
