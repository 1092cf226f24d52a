//! Usage that counts toward the license quotas, as shown by `GET /api/license` and `GET /api/limits`.

use pidq_http::{Problem, Request};
use pidq_store::CountedQuestion;
use pidq_store::domain::license::LicenseLimits;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::auth::request_key;
use crate::api::problems::store_problem;
use crate::platform::Platform;

/// Usage that counts toward the limits of a license.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
#[schemars(rename = "LicensedUsage")]
pub(crate) struct Usage {
    /// Pipelines.
    pipelines: u64,
    /// Documents in all pipelines.
    documents: u64,
    /// Questions of today (UTC).
    questions_today: u64,
}

impl Usage {
    async fn load(platform: &Platform) -> Result<Usage, Problem> {
        let store = &platform.store;
        Ok(Usage {
            pipelines: store.count_pipelines().await.map_err(store_problem)?,
            documents: store.count_documents().await.map_err(store_problem)?,
            questions_today: store.questions_today().await.map_err(store_problem)?,
        })
    }

    /// Returns the usage for unrestricted callers only: the numbers would reveal resources outside a key's scope.
    pub(crate) async fn for_caller(platform: &Platform, request: &Request) -> Result<Option<Usage>, Problem> {
        if !request_key(request)?.is_unrestricted() {
            return Ok(None);
        }
        Usage::load(platform).await.map(Some)
    }

    /// Returns the reached limits of a license, for reporting where they are not enforced.
    pub(crate) fn reached(&self, limits: &LicenseLimits) -> Vec<&'static str> {
        let counts = [
            ("pipelines", self.pipelines, limits.pipelines),
            ("documents", self.documents, limits.documents),
            ("questions_per_day", self.questions_today, limits.questions_per_day),
        ];
        let reached = counts.into_iter().filter(|(_, used, limit)| limit.is_some_and(|limit| *used >= limit));
        reached.map(|(name, _, _)| name).collect()
    }
}

/// Counts a question for today; 402 if the license limit is reached.
pub(crate) async fn count_question(platform: &Platform) -> Result<CountedQuestion, Problem> {
    let limit = platform.licensing.require_license()?.questions_per_day;
    match platform.store.count_question(limit).await.map_err(store_problem)? {
        Some(counted) => Ok(counted),
        None => Err(platform.licensing.questions_exceeded(limit.unwrap_or_default())),
    }
}

/// Undoes the count of a question that was not answered.
pub(crate) async fn uncount_question(platform: &Platform, counted: CountedQuestion) {
    if let Err(error) = platform.store.uncount_question(counted).await {
        tracing::error!(%error, "releasing the daily quota of a question failed; the question still counts");
    }
}
