//! How much of everything is used: what a licence counts, and what `GET /api/license` and `GET /api/limits` tell.

use pidq_http::{Problem, Request};
use serde::Serialize;

use crate::keys;
use crate::license::Allowance;
use crate::platform::Platform;
use crate::problems::stored;
use crate::store::Counted;

/// What is used now.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Usage {
    pipelines: u64,
    documents: u64,
    queries_today: u64,
}

impl Usage {
    async fn of(platform: &Platform) -> Result<Usage, Problem> {
        let store = &platform.store;
        Ok(Usage {
            pipelines: store.count_pipelines().await.map_err(stored)?,
            documents: store.count_documents().await.map_err(stored)?,
            queries_today: store.queries_today().await.map_err(stored)?,
        })
    }

    /// What is used, for whoever sees all of it: of what a key does not reach it hears no number either.
    pub(crate) async fn for_caller(platform: &Platform, request: &Request) -> Result<Option<Usage>, Problem> {
        if !keys::of(request)?.is_unrestricted() {
            return Ok(None);
        }
        Usage::of(platform).await.map(Some)
    }

    /// The limits of a licence that are reached. Where nothing is refused, somebody is told at least.
    pub(crate) fn reached(&self, allowance: &Allowance) -> Vec<&'static str> {
        let limits = [
            ("pipelines", self.pipelines, allowance.pipelines),
            ("documents", self.documents, allowance.documents),
            ("queries_per_day", self.queries_today, allowance.queries_per_day),
        ];
        let reached = limits.into_iter().filter(|(_, used, limit)| limit.is_some_and(|limit| *used >= limit));
        reached.map(|(name, _, _)| name).collect()
    }
}

/// Counts a question of today; 402 if the licence allows no more.
pub(crate) async fn count(platform: &Platform) -> Result<Counted, Problem> {
    let limit = platform.licensing.admit()?.queries_per_day;
    match platform.store.count_query(limit).await.map_err(stored)? {
        Some(counted) => Ok(counted),
        None => Err(platform.licensing.used_up("questions a day", limit.unwrap_or_default())),
    }
}

/// Takes a question back that nobody answered.
pub(crate) async fn uncount(platform: &Platform, counted: Counted) {
    if let Err(error) = platform.store.uncount_query(counted).await {
        tracing::error!(%error, "a question that was not answered stays counted");
    }
}
