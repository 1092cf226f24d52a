//! How often somebody may ask: at all, for the reading of a document, for an answer. One row each.
//!
//! Where Redis is, all processes count together; while it does not answer, each counts for itself.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use pidq_http::{Charge, Fut, Method, Quota, SettingError, Settings};
use redis::Script;

use crate::cache::Redis;
use crate::platform::Platform;

/// A rate, and what counts.
pub struct Rate {
    /// Its name in the headers of answers.
    pub name: &'static str,
    /// The setting that says how many there may be a minute.
    pub setting: &'static str,
    /// Whether a request of this method to this row of the endpoints counts.
    counts: fn(&Method, &str) -> bool,
}

/// All rates. The narrow ones stand first: what they refuse is not counted by the others.
pub const RATES: &[Rate] = &[
    Rate { name: "uploads", setting: "PIDQ_UPLOAD_RATE", counts: is_upload },
    Rate { name: "queries", setting: "PIDQ_QUERY_RATE", counts: is_question },
    Rate { name: "user", setting: "PIDQ_RATE", counts: |_, _| true },
];

const MINUTE: Duration = Duration::from_secs(60);

fn is_upload(method: &Method, path: &str) -> bool {
    let takes_bytes = path.ends_with("/documents") || path.ends_with("/content") || path.ends_with("/preview");
    takes_bytes && (method == Method::POST || method == Method::PUT)
}

fn is_question(method: &Method, path: &str) -> bool {
    method == Method::POST && (path.ends_with("/query") || path.ends_with("/search"))
}

/// The rates of a platform.
pub struct Rates {
    counted: Vec<(&'static Rate, Quota)>,
    shared: Option<Shared>,
}

/// Buckets that all processes share.
struct Shared {
    redis: Arc<Redis>,
    /// What the keys of this installation begin with.
    prefix: String,
}

/// A bucket is one number: when it will be full again, in microseconds (GCRA). The clock is that of the server, so that
/// replicas need not agree. Gives whether there was nothing left, and how long until there is, or until it is full.
static CHARGE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"local time = redis.call('TIME')
          local now = time[1] * 1000000 + time[2]
          local one, window = tonumber(ARGV[1]), tonumber(ARGV[2])
          local after = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + one
          if after > now + window then return {1, after - now - window} end
          redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', math.ceil((after - now) / 1000))
          return {0, after - now}",
    )
});

impl Rates {
    /// The rates of the settings; those of 0 are off.
    pub(crate) fn of(
        settings: &Settings,
        redis: Option<Arc<Redis>>,
        installation: &str,
    ) -> Result<Rates, SettingError> {
        let mut counted = Vec::new();
        for rate in RATES {
            let most: u32 = settings.parsed(rate.setting)?;
            if most > 0 {
                counted.push((rate, Quota::new(rate.name, most, MINUTE)));
            }
        }
        let shared = redis.map(|redis| Shared { redis, prefix: format!("pidq:{installation}:rate") });
        Ok(Rates { counted, shared })
    }

    /// Takes from the buckets of somebody for a request, until one of them is empty.
    async fn charge(&self, method: &Method, path: &str, who: &str) -> Vec<Charge> {
        let mut charges = Vec::new();
        for (_, quota) in self.counted.iter().filter(|(rate, _)| (rate.counts)(method, path)) {
            let charge = self.take(quota, who).await;
            let refused = charge.refused().is_some();
            charges.push(charge);
            if refused {
                break;
            }
        }
        charges
    }

    async fn take(&self, quota: &Quota, who: &str) -> Charge {
        let shared = match &self.shared {
            Some(shared) => shared.take(quota, who).await,
            None => None,
        };
        shared.unwrap_or_else(|| quota.charge(who))
    }

    /// How many a minute there may be, by name; those that are off are not there.
    pub(crate) fn show(&self) -> serde_json::Map<String, serde_json::Value> {
        self.counted.iter().map(|(rate, quota)| (rate.name.to_owned(), quota.burst().into())).collect()
    }
}

impl Shared {
    async fn take(&self, quota: &Quota, who: &str) -> Option<Charge> {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let mut script = CHARGE.key(format!("{}:{}:{who}", self.prefix, quota.name()));
        script.arg(micros(quota.one())).arg(micros(quota.window()));
        let (refused, wait) = self.redis.run::<(u8, u64)>(&script).await?;
        Some(quota.counted(Duration::from_micros(wait), refused == 1))
    }
}

/// The hook of the floor below.
pub(crate) fn charge<'a>(
    platform: &'a Arc<Platform>,
    method: &'a Method,
    path: &'static str,
    who: &'a str,
) -> Fut<'a, Vec<Charge>> {
    Box::pin(platform.rates.charge(method, path, who))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(values: &[(&str, &str)]) -> Rates {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings = Settings::read(crate::settings::TABLES, [], values).expect("settings");
        Rates::of(&settings, None, "test").expect("rates")
    }

    #[tokio::test]
    async fn uploads_and_questions_have_rates_of_their_own_beside_that_of_all() {
        let rates = rates(&[("PIDQ_RATE", "3"), ("PIDQ_UPLOAD_RATE", "1"), ("PIDQ_QUERY_RATE", "0")]);
        let ask = async |method: Method, path: &'static str| {
            let charges = rates.charge(&method, path, "ann").await;
            let refused = charges.last().is_some_and(|charge| charge.refused().is_some());
            (charges.len(), refused)
        };
        let documents = "/api/pipelines/{pipeline_id}/documents";
        assert_eq!(ask(Method::POST, documents).await, (2, false));
        assert_eq!(ask(Method::POST, documents).await, (1, true), "what uploads refuse is not counted by all");
        assert_eq!(ask(Method::GET, documents).await, (1, false));
        assert_eq!(ask(Method::POST, "/api/pipelines/{pipeline_id}/query").await, (1, false), "it is off");
        assert_eq!(ask(Method::GET, "/api/limits").await, (1, true));
    }
}
