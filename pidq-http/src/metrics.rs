//! Metrics by route, as OpenMetrics text.
//!
//! Hot: a response is counted through cached handles, without look-ups; the lock of a histogram is held for an addition.

mod merge;
mod metric;
mod process;
mod text_format;

use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::metrics;
pub(crate) use merge::merge;
pub use metric::{AnyMetric, Metric, MetricTable, metrics_table};
pub(crate) use text_format::{PROMETHEUS_TEXT, to_prometheus_text};

/// Content type of OpenMetrics.
pub(crate) const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type HistogramFamily<L> = Family<L, Histogram, fn() -> Histogram>;

metrics! {
    /// Metrics of the HTTP layer, which both services have.
    pub HTTP_METRICS {
        REQUESTS: Family<RequestLabels, Counter> = ("pidq_http_requests", ["method", "route", "status"], "Requests.");
        REQUEST_SECONDS: HistogramFamily<MethodLabels> = ("pidq_http_request_seconds", ["method", "route"], "Duration of requests, from head to last byte.");
        QUERY_FUEL: HistogramFamily<RouteLabel> = ("pidq_http_query_fuel", ["route"], "Fuel of queries.");
        QUERY_QUEUE_SECONDS: HistogramFamily<RouteLabel> = ("pidq_http_query_queue_seconds", ["route"], "Time that queries waited for a thread.");
        QUERY_RESPONSE_BYTES: HistogramFamily<RouteLabel> = ("pidq_http_query_response_bytes", ["route"], "Size of query responses before content coding.");
        REQUESTS_IN_FLIGHT: Gauge = ("pidq_http_requests_in_flight", [], "Running requests.");
        CONNECTIONS: Gauge = ("pidq_http_connections", [], "Open connections.");
        CERTIFICATE_EXPIRY: Gauge = ("pidq_http_certificate_expiry_timestamp_seconds", [], "Expiry of the TLS certificate, in seconds since 1970; 0 without a certificate.");
        CONNECTIONS_BROKEN: Family<ReasonLabel, Counter> = ("pidq_http_connections_broken", ["reason"], "Failed connections.");
        CERTIFICATE_RELOADS: Family<ReasonLabel, Counter> = ("pidq_http_certificate_reloads", ["reason"], "Reloads of the TLS certificate, by outcome.");
        PROCESS_MEMORY: ConstGauge<i64> = ("pidq_process_resident_memory_bytes", [], "Resident memory of the process.");
        PROCESS_DESCRIPTORS: ConstGauge<i64> = ("pidq_process_open_descriptors", [], "Open file descriptors of the process.");
        PROCESS_DESCRIPTOR_LIMIT: ConstGauge<i64> = ("pidq_process_descriptor_limit", [], "Maximum number of file descriptors of the process.");
        PROCESS_START: ConstGauge<i64> = ("pidq_process_start_timestamp_seconds", [], "Start of the process, in seconds since 1970.");
    }
}

/// Measurements of a query response, for the access log and the metrics.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueryMeasurements {
    /// Fuel that the query used.
    pub fuel: u64,
    /// Time that the query waited for a worker thread.
    pub queue_time: Duration,
    /// Size of the response body in bytes, before content coding.
    pub response_size: u64,
}

/// Metrics of the HTTP layer. Services register their own in the same registry.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<RequestLabels, Counter>,
    seconds: HistogramFamily<MethodLabels>,
    queries: QueryMetrics,
    /// Requests in flight.
    pub in_flight: Gauge,
    /// Open connections.
    pub connections: Gauge,
    /// Expiry of the certificate, in seconds since 1970.
    pub certificate_expiry: Gauge,
    /// Failed connections by reason.
    pub failed_connections: Family<ReasonLabel, Counter>,
    /// Certificate reloads by outcome.
    pub reloads: Family<ReasonLabel, Counter>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: u64,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct MethodLabels {
    method: &'static str,
    route: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct RouteLabel {
    route: &'static str,
}

/// Reason or outcome, as a label.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(crate) struct ReasonLabel {
    reason: &'static str,
}

impl Metrics {
    /// Registers the metrics in the registry of a service.
    pub fn new(mut registry: Registry) -> Self {
        let requests = Family::default();
        let seconds = Family::new_with_constructor(seconds_histogram as fn() -> Histogram);
        let (in_flight, connections, certificate_expiry) = (Gauge::default(), Gauge::default(), Gauge::default());
        let (failed_connections, reloads) = (family(&["accept"]), family(&["failed", "replaced", "unchanged"]));
        REQUESTS.register(&mut registry, requests.clone());
        REQUEST_SECONDS.register(&mut registry, seconds.clone());
        let queries = QueryMetrics::register(&mut registry);
        REQUESTS_IN_FLIGHT.register(&mut registry, in_flight.clone());
        CONNECTIONS.register(&mut registry, connections.clone());
        CERTIFICATE_EXPIRY.register(&mut registry, certificate_expiry.clone());
        CONNECTIONS_BROKEN.register(&mut registry, failed_connections.clone());
        CERTIFICATE_RELOADS.register(&mut registry, reloads.clone());
        registry.register_collector(Box::new(process::ProcessCollector::new()));
        let registry = Mutex::new(registry);
        Metrics {
            registry,
            requests,
            seconds,
            queries,
            in_flight,
            connections,
            certificate_expiry,
            failed_connections,
            reloads,
        }
    }

    pub fn record(&self, method: &'static str, route: &'static str, status: u16, duration: Duration) {
        self.requests.get_or_create(&RequestLabels { method, route, status: status.into() }).inc();
        self.seconds.get_or_create(&MethodLabels { method, route }).observe(duration.as_secs_f64());
    }

    /// Returns the metrics of a route.
    pub fn route(&self, method: &'static str, route: &'static str) -> RouteMetrics {
        let (requests, seconds, queries) = (self.requests.clone(), self.seconds.clone(), self.queries.clone());
        RouteMetrics { method, route, requests, seconds, queries, cached: CachedHandles::default() }
    }

    pub fn connection_failed(&self, reason: &'static str) {
        self.failed_connections.get_or_create(&ReasonLabel { reason }).inc();
    }

    pub fn certificate_reload(&self, reason: &'static str) {
        self.reloads.get_or_create(&ReasonLabel { reason }).inc();
    }

    pub fn encode(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Writing to a string cannot fail.
        let _ = text::encode(&mut text, &registry);
        text
    }
}

/// Counters that exist from the start: Prometheus computes no increase from a series that begins with its first event, so
/// that an alert would miss this event.
fn family(reasons: &[&'static str]) -> Family<ReasonLabel, Counter> {
    let counters: Family<ReasonLabel, Counter> = Family::default();
    for reason in reasons {
        drop(counters.get_or_create(&ReasonLabel { reason }));
    }
    counters
}

/// Metrics of one route.
pub(crate) struct RouteMetrics {
    method: &'static str,
    route: &'static str,
    requests: Family<RequestLabels, Counter>,
    seconds: HistogramFamily<MethodLabels>,
    queries: QueryMetrics,
    /// Handles of the most frequent series, filled on first use.
    cached: CachedHandles,
}

#[derive(Default)]
struct CachedHandles {
    ok: OnceLock<Counter>,
    seconds: OnceLock<Histogram>,
    queries: OnceLock<QueryHistograms>,
}

impl RouteMetrics {
    /// Records a response. HEAD uses the route of GET and is counted separately.
    pub fn record(&self, method: &'static str, status: u16, duration: Duration, query: Option<&QueryMeasurements>) {
        self.count_request(method, status);
        self.record_duration(method, duration);
        if let Some(query) = query {
            self.cached.queries.get_or_init(|| self.queries.route(self.route)).observe(query);
        }
    }

    fn count_request(&self, method: &'static str, status: u16) {
        let labels = || RequestLabels { method, route: self.route, status: status.into() };
        if status == 200 && method == self.method {
            self.cached.ok.get_or_init(|| self.requests.get_or_create_owned(&labels())).inc();
        } else {
            self.requests.get_or_create(&labels()).inc();
        }
    }

    fn record_duration(&self, method: &'static str, duration: Duration) {
        let find = || self.seconds.get_or_create_owned(&MethodLabels { method, route: self.route });
        let seconds = duration.as_secs_f64();
        if method == self.method {
            self.cached.seconds.get_or_init(find).observe(seconds);
        } else {
            find().observe(seconds);
        }
    }
}

/// Metrics of query responses by route.
#[derive(Clone)]
struct QueryMetrics {
    fuel: HistogramFamily<RouteLabel>,
    queue_seconds: HistogramFamily<RouteLabel>,
    response_bytes: HistogramFamily<RouteLabel>,
}

/// Query metrics of one route.
struct QueryHistograms {
    fuel: Histogram,
    queue_seconds: Histogram,
    response_bytes: Histogram,
}

impl QueryMetrics {
    fn register(registry: &mut Registry) -> QueryMetrics {
        let fuel = Family::new_with_constructor(magnitude_histogram as fn() -> Histogram);
        let queue_seconds = Family::new_with_constructor(seconds_histogram as fn() -> Histogram);
        let response_bytes = Family::new_with_constructor(magnitude_histogram as fn() -> Histogram);
        QUERY_FUEL.register(registry, fuel.clone());
        QUERY_QUEUE_SECONDS.register(registry, queue_seconds.clone());
        QUERY_RESPONSE_BYTES.register(registry, response_bytes.clone());
        QueryMetrics { fuel, queue_seconds, response_bytes }
    }

    fn route(&self, route: &'static str) -> QueryHistograms {
        let label = RouteLabel { route };
        QueryHistograms {
            fuel: self.fuel.get_or_create_owned(&label),
            queue_seconds: self.queue_seconds.get_or_create_owned(&label),
            response_bytes: self.response_bytes.get_or_create_owned(&label),
        }
    }
}

impl QueryHistograms {
    fn observe(&self, query: &QueryMeasurements) {
        self.fuel.observe(query.fuel as f64);
        self.queue_seconds.observe(query.queue_time.as_secs_f64());
        self.response_bytes.observe(query.response_size as f64);
    }
}

/// Histogram for durations: from a millisecond to about 24 seconds.
fn seconds_histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.5, 12))
}

/// Histogram for fuel and sizes: powers of ten from 1 to 100 million.
fn magnitude_histogram() -> Histogram {
    Histogram::new(exponential_buckets(1.0, 10.0, 9))
}
