//! Rate limits per caller: for uploads, for searches and questions, and for all requests; one row each.
//!
//! With Redis, all processes share the buckets; while Redis is down, each process counts on its own.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{Method, RATE_LIMIT, RateDecision, RateLimiter, Setting, SettingError, Settings, settings};

use crate::cluster::cache::Redis;

settings! {
    /// Settings of the rate limits, in addition to that of all requests.
    pub SETTINGS {
        UPLOAD_RATE_LIMIT: u32 = ("PIDQ_UPLOAD_RATE_LIMIT", "config.limits.uploadRate", "Rate limit: uploads per minute and caller; 0 turns it off.") or "120";
        ASK_RATE_LIMIT: u32 = ("PIDQ_ASK_RATE_LIMIT", "config.limits.askRate", "Rate limit: searches and questions per minute and caller; 0 turns it off.") or "60";
    }
}

/// A rate limit and the requests that count against it.
pub struct RateLimit {
    /// Name in the rate-limit headers.
    pub name: &'static str,
    /// Setting with the number of requests per minute.
    pub setting: &'static Setting<u32>,
    /// Returns `true` if a request with this method and route path counts.
    applies: fn(&Method, &str) -> bool,
}

/// All rate limits. The specific ones come first: a request that one of them rejects is not charged to the others.
pub const RATE_LIMITS: &[RateLimit] = &[
    RateLimit { name: "uploads", setting: &UPLOAD_RATE_LIMIT, applies: is_upload },
    RateLimit { name: "questions", setting: &ASK_RATE_LIMIT, applies: is_ask_or_search },
    RateLimit { name: "user", setting: &RATE_LIMIT, applies: |_, _| true },
];

const MINUTE: Duration = Duration::from_secs(60);

fn is_upload(method: &Method, path: &str) -> bool {
    let takes_bytes = path.ends_with("/documents") || path.ends_with("/content") || path.ends_with("/preview");
    takes_bytes && (method == Method::POST || method == Method::PUT)
}

fn is_ask_or_search(method: &Method, path: &str) -> bool {
    method == Method::POST && (path.ends_with("/query") || path.ends_with("/search"))
}

/// The rate limiters of a platform.
pub struct RateLimits {
    limiters: Vec<(&'static RateLimit, RateLimiter)>,
    shared: Option<SharedBuckets>,
}

/// Buckets in Redis, shared by all processes.
struct SharedBuckets {
    redis: Arc<Redis>,
    /// Prefix of the Redis keys of this installation.
    prefix: String,
}

impl RateLimits {
    /// Creates the limiters from the settings; a limit of 0 is off.
    pub(crate) fn from_settings(
        settings: &Settings,
        redis: Option<Arc<Redis>>,
        installation: &str,
    ) -> Result<RateLimits, SettingError> {
        let mut limiters = Vec::new();
        for rate in RATE_LIMITS {
            let limit = settings.get(rate.setting)?;
            if limit > 0 {
                limiters.push((rate, RateLimiter::new(rate.name, limit, MINUTE)));
            }
        }
        let shared = redis.map(|redis| SharedBuckets { redis, prefix: format!("pidq:{installation}:rate") });
        Ok(RateLimits { limiters, shared })
    }

    /// Charges a request to the caller's buckets, in order; stops at the first bucket that rejects it.
    pub(crate) async fn charge(&self, method: &Method, path: &str, caller: &str) -> Vec<RateDecision> {
        let mut decisions = Vec::new();
        for (_, limiter) in self.limiters.iter().filter(|(rate, _)| (rate.applies)(method, path)) {
            let decision = self.charge_one(limiter, caller).await;
            let rejected = decision.problem().is_some();
            decisions.push(decision);
            if rejected {
                break;
            }
        }
        decisions
    }

    async fn charge_one(&self, limiter: &RateLimiter, caller: &str) -> RateDecision {
        let shared = match &self.shared {
            Some(shared) => shared.charge(limiter, caller).await,
            None => None,
        };
        shared.unwrap_or_else(|| limiter.check(caller))
    }

    /// Returns the requests per minute by name, without limits that are off.
    pub(crate) fn per_minute(&self) -> serde_json::Map<String, serde_json::Value> {
        self.limiters.iter().map(|(rate, limiter)| (rate.name.to_owned(), limiter.burst().into())).collect()
    }
}

impl SharedBuckets {
    async fn charge(&self, limiter: &RateLimiter, caller: &str) -> Option<RateDecision> {
        let key = format!("{}:{}:{caller}", self.prefix, limiter.name());
        let (rejected, wait) = self.redis.charge(&key, limiter.interval(), limiter.window()).await?;
        Some(limiter.decision(wait, rejected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(values: &[(&str, &str)]) -> RateLimits {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings = Settings::read(crate::app::settings::TABLES, [], values).expect("settings");
        RateLimits::from_settings(&settings, None, "test").expect("rates")
    }

    #[tokio::test]
    async fn uploads_and_questions_have_their_own_rate_limits() {
        let rates = rates(&[("PIDQ_RATE_LIMIT", "3"), ("PIDQ_UPLOAD_RATE_LIMIT", "1"), ("PIDQ_ASK_RATE_LIMIT", "0")]);
        let ask = async |method: Method, path: &'static str| {
            let decisions = rates.charge(&method, path, "ann").await;
            let rejected = decisions.last().is_some_and(|decision| decision.problem().is_some());
            (decisions.len(), rejected)
        };
        let documents = "/api/pipelines/{pipeline_id}/documents";
        assert_eq!(ask(Method::POST, documents).await, (2, false));
        assert_eq!(
            ask(Method::POST, documents).await,
            (1, true),
            "a rejected upload is not charged to the general limit"
        );
        assert_eq!(ask(Method::GET, documents).await, (1, false));
        assert_eq!(ask(Method::POST, "/api/pipelines/{pipeline_id}/query").await, (1, false), "it is off");
        assert_eq!(ask(Method::GET, "/api/limits").await, (1, true));
    }
}
