//! What the service counts for `/metrics` beside the floor: limits that ended queries, logins that failed, how long the
//! disk takes to sync, and how many queries wait.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pidq_http::prometheus_client::collector::Collector;
use pidq_http::prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use pidq_http::prometheus_client::metrics::TypedMetric;
use pidq_http::prometheus_client::metrics::counter::Counter;
use pidq_http::prometheus_client::metrics::family::Family;
use pidq_http::prometheus_client::metrics::gauge::ConstGauge;
use pidq_http::prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use pidq_http::prometheus_client::registry::Registry;
use pidq_http::{StatusCode, Work};
use serde_json::Value as Json;

/// One label with its value.
type Of = [(&'static str, String); 1];

/// What is counted in this process.
pub struct Meters {
    limits: Family<Of, Counter>,
    logins: Family<Of, Counter>,
    syncs: Histogram,
}

impl Default for Meters {
    fn default() -> Meters {
        // From a tenth of a millisecond to seven seconds.
        let syncs = Histogram::new(exponential_buckets(0.0001, 3.0, 11));
        Meters { limits: Family::default(), logins: Family::default(), syncs }
    }
}

impl Meters {
    /// Shows what is counted, and the queue of some threads.
    pub(crate) fn register(&self, registry: &mut Registry, work: Work) {
        let own = registry.sub_registry_with_prefix("pidq_server");
        own.register("queries_ended", "Queries that a limit ended, by limit", self.limits.clone());
        own.register("login_failures", "Tokens that were not given, by reason", self.logins.clone());
        own.register("fsync_seconds", "How long the disk takes to sync", self.syncs.clone());
        registry.register_collector(Box::new(Queue(work)));
    }

    /// A query that a limit ended.
    pub(crate) fn ended(&self, limit: &str) {
        self.limits.get_or_create(&[("limit", limit.to_owned())]).inc();
    }

    /// What came of a wish for a token: the error of OAuth, if there is one.
    pub(crate) fn logged_in(&self, status: StatusCode, body: &[u8]) {
        if status.is_success() {
            return;
        }
        let reply: Option<Json> = serde_json::from_slice(body).ok();
        let error = reply.as_ref().and_then(|reply| reply["error"].as_str()).unwrap_or("other");
        // One word of OAuth for two reasons.
        let reason = if status == StatusCode::TOO_MANY_REQUESTS { "throttled" } else { error };
        self.logins.get_or_create(&[("reason", reason.to_owned())]).inc();
    }

    /// The disk has synced, or has failed to.
    pub(crate) fn synced(&self, took: Duration) {
        self.syncs.observe(took.as_secs_f64());
    }
}

/// How many jobs wait for threads, when somebody wants to know.
struct Queue(Work);

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Queue")
    }
}

impl Collector for Queue {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let waiting = ConstGauge::new(self.0.waiting() as i64);
        let help = "Queries that wait for a thread";
        let metric = encoder.encode_descriptor("pidq_server_queries_waiting", help, None, ConstGauge::<i64>::TYPE)?;
        waiting.encode(metric)
    }
}

/// Who is told how long a sync took.
pub(crate) fn sync_clock(meters: &Arc<Meters>) -> crate::store::Clock {
    let meters = meters.clone();
    Arc::new(move |took| meters.synced(took))
}
