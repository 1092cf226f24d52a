//! Who asks, and what they may see. What somebody may not see does not exist for them.

use std::sync::Arc;

use pidq_http::auth::{Caller, Identities, IdentityError, Moment, Right, Rights};
use pidq_http::{Principal, Problem, Request};

use crate::problems::problem;
use crate::server::Server;
use crate::store::{Error, JobId, Meta, Precondition, Tenant, Which};

/// Somebody who may use the service.
pub(crate) struct Asker<'a> {
    server: &'a Server,
    /// Whom to ask about rights; nobody where there are no accounts.
    identities: Option<&'a Identities>,
    principal: Arc<Principal>,
    /// Whose graphs they see.
    pub tenant: Tenant,
    /// What tells them from others, where everybody gets a share.
    pub key: Arc<str>,
}

/// What an asker may do, for many jobs.
pub(crate) struct Reach(Option<Rights>);

/// What there is of a job that is about to be written.
pub(crate) enum Latest {
    None,
    Sound(Arc<Meta>),
    /// It can be replaced and deleted. Only the store still knows its tag.
    Damaged,
}

impl Latest {
    pub fn is_there(&self) -> bool {
        !matches!(self, Latest::None)
    }

    /// Whether a condition holds, as far as that is known before the store looks again.
    pub fn check(&self, precondition: &Precondition) -> Result<(), Problem> {
        let tag = match self {
            Latest::None => None,
            Latest::Sound(meta) => Some(meta.etag()),
            Latest::Damaged => return Ok(()),
        };
        precondition.check(tag.as_ref()).map_err(problem)
    }
}

impl<'a> Asker<'a> {
    /// Who sent a request.
    pub fn of(server: &'a Server, request: &Request) -> Result<Asker<'a>, Problem> {
        let principal = request.principal()?;
        let tenant = Tenant::parse(&principal.tenant).map_err(problem)?;
        let (identities, key) = (server.identities.as_ref(), principal.key().clone());
        if identities.is_some() && principal.known::<Caller>().is_none() {
            return Err(Problem::unauthenticated());
        }
        Ok(Asker { server, identities, principal: principal.clone(), tenant, key })
    }

    fn caller(&self) -> Option<(&'a Identities, &Caller)> {
        self.identities.zip(self.principal.known())
    }

    /// 404 as for a job that does not exist, unless it may be read.
    pub async fn must_read(&self, job: &JobId) -> Result<(), Problem> {
        if self.may(job, Right::Read).await? { Ok(()) } else { Err(problem(Error::GraphNotFound)) }
    }

    /// The latest version of a job that may be written; none if it is free to be made. A job belongs to whoever makes
    /// it, also after it was deleted.
    pub async fn must_write(&self, job: &JobId) -> Result<Latest, Problem> {
        let latest = match self.server.store.head(&self.tenant, job, &Which::Latest).await {
            Ok(meta) => Latest::Sound(meta),
            Err(Error::GraphNotFound) => Latest::None,
            Err(Error::GraphCorrupt) => Latest::Damaged,
            Err(error) => return Err(problem(error)),
        };
        let is_allowed = match &latest {
            Latest::None => self.may(job, Right::Write).await? || self.may_claim(job).await?,
            Latest::Sound(_) | Latest::Damaged => self.may(job, Right::Write).await?,
        };
        if is_allowed { Ok(latest) } else { Err(problem(Error::GraphNotFound)) }
    }

    /// Makes a job theirs that is about to be made: only when nothing else can refuse it, since a job that was never
    /// made must stay free for others. Of two at once the second is told that there is no such job.
    pub async fn must_claim(&self, job: &JobId) -> Result<(), Problem> {
        let Some((identities, caller)) = self.caller() else { return Ok(()) };
        let claimed = identities.claim(caller, job.as_str(), Moment::now()).await.map_err(unavailable)?;
        if claimed || self.may(job, Right::Write).await? { Ok(()) } else { Err(problem(Error::GraphNotFound)) }
    }

    /// What may be done, for many jobs.
    pub async fn reach(&self) -> Result<Reach, Problem> {
        match self.caller() {
            Some((identities, caller)) => Ok(Reach(Some(identities.rights(caller).await.map_err(unavailable)?))),
            None => Ok(Reach(None)),
        }
    }

    async fn may(&self, job: &JobId, right: Right) -> Result<bool, Problem> {
        match self.caller() {
            Some((identities, caller)) => identities.may(caller, job.as_str(), right).await.map_err(unavailable),
            None => Ok(true),
        }
    }

    async fn may_claim(&self, job: &JobId) -> Result<bool, Problem> {
        match self.caller() {
            Some((identities, caller)) => identities.may_claim(caller, job.as_str()).await.map_err(unavailable),
            None => Ok(true),
        }
    }
}

impl Reach {
    /// Whether a job may be read.
    pub fn may_read(&self, job: &JobId) -> bool {
        self.0.as_ref().is_none_or(|rights| rights.may(job.as_str(), Right::Read))
    }
}

fn unavailable(error: IdentityError) -> Problem {
    tracing::error!(%error, "rights cannot be looked up");
    Problem::unavailable("unavailable", "Rights cannot be looked up now. Try again.", 1)
}
