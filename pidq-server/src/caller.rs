//! Authenticated caller of a request and its access to graphs.
//!
//! A graph that the caller must not see is reported as not found.

use std::sync::Arc;

use pidq_http::auth::{Caller as AuthenticatedCaller, Identities, IdentityError, Right, Rights, Timestamp};
use pidq_http::{Principal, Problem, Request};

use crate::problems::problem;
use crate::server::Server;
use crate::store::{Error, GraphId, GraphMeta, Precondition, Tenant, VersionSelector};

/// Authenticated caller of a request.
pub(crate) struct Caller<'a> {
    server: &'a Server,
    /// Account store; `None` if the service runs without accounts.
    identities: Option<&'a Identities>,
    principal: Arc<Principal>,
    /// Tenant whose graphs the caller sees.
    pub tenant: Tenant,
    /// Key for the fair distribution of threads and memory among callers.
    pub fairness_key: Arc<str>,
}

/// Access of a caller to many graphs, loaded once.
pub(crate) struct AccessScope(Option<Rights>);

/// Latest version of a graph before a write.
pub(crate) enum LatestVersion {
    Missing,
    Intact(Arc<GraphMeta>),
    /// Stored data is corrupt. The graph can be replaced or deleted; only the store knows its ETag.
    Corrupt,
}

impl LatestVersion {
    pub fn exists(&self) -> bool {
        !matches!(self, LatestVersion::Missing)
    }

    /// Checks a precondition early. The store checks it again when it commits.
    pub fn check(&self, precondition: &Precondition) -> Result<(), Problem> {
        let tag = match self {
            LatestVersion::Missing => None,
            LatestVersion::Intact(meta) => Some(meta.etag()),
            LatestVersion::Corrupt => return Ok(()),
        };
        precondition.check(tag.as_ref()).map_err(problem)
    }
}

impl<'a> Caller<'a> {
    /// Identifies the caller of an authenticated request.
    pub fn from_request(server: &'a Server, request: &Request) -> Result<Caller<'a>, Problem> {
        let principal = request.principal()?;
        let tenant = Tenant::parse(&principal.tenant).map_err(problem)?;
        let (identities, fairness_key) = (server.identities.as_ref(), principal.key().clone());
        if identities.is_some() && principal.extension::<AuthenticatedCaller>().is_none() {
            return Err(Problem::unauthenticated());
        }
        Ok(Caller { server, identities, principal: principal.clone(), tenant, fairness_key })
    }

    fn account(&self) -> Option<(&'a Identities, &AuthenticatedCaller)> {
        self.identities.zip(self.principal.extension())
    }

    /// Returns `graph-not-found` (404) unless the caller may read the graph.
    pub async fn require_read(&self, graph_id: &GraphId) -> Result<(), Problem> {
        if self.is_allowed(graph_id, Right::Read).await? { Ok(()) } else { Err(problem(Error::GraphNotFound)) }
    }

    /// Returns the latest version if the caller may write the graph or, if it does not exist, create it. A graph id
    /// belongs to the caller that created it, even after the graph was deleted.
    pub async fn require_write(&self, graph_id: &GraphId) -> Result<LatestVersion, Problem> {
        let latest = match self.server.store.head(&self.tenant, graph_id, &VersionSelector::Latest).await {
            Ok(meta) => LatestVersion::Intact(meta),
            Err(Error::GraphNotFound) => LatestVersion::Missing,
            Err(Error::GraphCorrupt) => LatestVersion::Corrupt,
            Err(error) => return Err(problem(error)),
        };
        let is_allowed = match &latest {
            LatestVersion::Missing => {
                self.is_allowed(graph_id, Right::Write).await? || self.can_claim(graph_id).await?
            }
            LatestVersion::Intact(_) | LatestVersion::Corrupt => self.is_allowed(graph_id, Right::Write).await?,
        };
        if is_allowed { Ok(latest) } else { Err(problem(Error::GraphNotFound)) }
    }

    /// Claims the id of a graph that is about to be created. Call it last, when no other check can fail: the id of a
    /// graph that was never created must stay free for others. If two callers claim an id concurrently, the second gets
    /// `graph-not-found`.
    pub async fn require_claim(&self, graph_id: &GraphId) -> Result<(), Problem> {
        let Some((identities, caller)) = self.account() else { return Ok(()) };
        let claimed = identities.claim(caller, graph_id.as_str(), Timestamp::now()).await.map_err(unavailable)?;
        if claimed || self.is_allowed(graph_id, Right::Write).await? {
            Ok(())
        } else {
            Err(problem(Error::GraphNotFound))
        }
    }

    /// Returns the caller's access to many graphs.
    pub async fn access_scope(&self) -> Result<AccessScope, Problem> {
        match self.account() {
            Some((identities, caller)) => Ok(AccessScope(Some(identities.rights(caller).await.map_err(unavailable)?))),
            None => Ok(AccessScope(None)),
        }
    }

    async fn is_allowed(&self, graph_id: &GraphId, right: Right) -> Result<bool, Problem> {
        match self.account() {
            Some((identities, caller)) => {
                identities.is_allowed(caller, graph_id.as_str(), right).await.map_err(unavailable)
            }
            None => Ok(true),
        }
    }

    async fn can_claim(&self, graph_id: &GraphId) -> Result<bool, Problem> {
        match self.account() {
            Some((identities, caller)) => identities.can_claim(caller, graph_id.as_str()).await.map_err(unavailable),
            None => Ok(true),
        }
    }
}

impl AccessScope {
    /// Returns true if the caller may read the graph.
    pub fn may_read(&self, graph_id: &GraphId) -> bool {
        self.0.as_ref().is_none_or(|rights| rights.allows(graph_id.as_str(), Right::Read))
    }
}

fn unavailable(error: IdentityError) -> Problem {
    error.to_problem("Permissions are unavailable. Try again later.")
}
