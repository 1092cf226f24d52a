//! Metrics of the graph service: limited queries, failed logins, sync durations, and the queue length.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pidq_http::prometheus_client::collector::Collector;
use pidq_http::prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use pidq_http::prometheus_client::metrics::counter::Counter;
use pidq_http::prometheus_client::metrics::family::Family;
use pidq_http::prometheus_client::metrics::gauge::ConstGauge;
use pidq_http::prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use pidq_http::prometheus_client::registry::Registry;
use pidq_http::{StatusCode, ThreadPool, metrics};
use serde_json::Value as Json;

/// Label set with one label.
type LabelSet = [(&'static str, String); 1];

metrics! {
    /// Metrics of the graph service, in addition to those of the HTTP layer.
    pub METRICS {
        QUERIES_WAITING: ConstGauge<i64> = ("pidq_server_queries_waiting", [], "Queries that wait for a thread.");
        QUERIES_LIMITED: Family<LabelSet, Counter> = ("pidq_server_queries_limited", ["limit"], "Queries stopped by a limit.");
        LOGIN_FAILURES: Family<LabelSet, Counter> = ("pidq_server_login_failures", ["reason"], "Rejected token requests.");
        FSYNC_SECONDS: Histogram = ("pidq_server_fsync_seconds", [], "Duration of file system syncs.");
    }
}

/// Metrics of this process.
pub struct Metrics {
    limited_queries: Family<LabelSet, Counter>,
    login_failures: Family<LabelSet, Counter>,
    sync_seconds: Histogram,
}

impl Default for Metrics {
    fn default() -> Metrics {
        // Buckets from 0.1 ms to 7 s.
        let sync_seconds = Histogram::new(exponential_buckets(0.0001, 3.0, 11));
        Metrics { limited_queries: Family::default(), login_failures: Family::default(), sync_seconds }
    }
}

impl Metrics {
    /// Registers the metrics and the queue length of a thread pool.
    pub(crate) fn register(&self, registry: &mut Registry, thread_pool: ThreadPool) {
        QUERIES_LIMITED.register(registry, self.limited_queries.clone());
        LOGIN_FAILURES.register(registry, self.login_failures.clone());
        FSYNC_SECONDS.register(registry, self.sync_seconds.clone());
        registry.register_collector(Box::new(QueueLengthCollector(thread_pool)));
    }

    /// Counts a query that was stopped by a limit.
    pub(crate) fn count_limited_query(&self, limit: &str) {
        self.limited_queries.get_or_create(&QUERIES_LIMITED.labels([limit.to_owned()])).inc();
    }

    /// Counts a failed token request by its OAuth error.
    pub(crate) fn count_token_response(&self, status: StatusCode, body: &[u8]) {
        if status.is_success() {
            return;
        }
        let reply: Option<Json> = serde_json::from_slice(body).ok();
        let error = reply.as_ref().and_then(|reply| reply["error"].as_str()).unwrap_or("other");
        // OAuth has one error code for two reasons.
        let reason = if status == StatusCode::TOO_MANY_REQUESTS { "throttled" } else { error };
        self.login_failures.get_or_create(&LOGIN_FAILURES.labels([reason.to_owned()])).inc();
    }

    /// Records the duration of a file system sync, successful or not.
    pub(crate) fn observe_sync(&self, duration: Duration) {
        self.sync_seconds.observe(duration.as_secs_f64());
    }
}

/// Collector of the thread-pool queue length, read at scrape time.
struct QueueLengthCollector(ThreadPool);

impl fmt::Debug for QueueLengthCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueueLengthCollector")
    }
}

impl Collector for QueueLengthCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let waiting = i64::try_from(self.0.queue_length()).unwrap_or(i64::MAX);
        ConstGauge::new(waiting).encode(QUERIES_WAITING.encode(&mut encoder)?)
    }
}

/// Returns a callback that records sync durations.
pub(crate) fn sync_observer(metrics: &Arc<Metrics>) -> crate::store::SyncObserver {
    let metrics = metrics.clone();
    Arc::new(move |duration| metrics.observe_sync(duration))
}
