//! Metrics by route, as OpenMetrics text.
//!
//! Hot: a response is counted with a few atomic additions through cached handles, without look-ups or locks.

mod atomic_histogram;

use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::exponential_buckets;
use prometheus_client::registry::Registry;

use atomic_histogram::AtomicHistogram;

/// Content type of OpenMetrics.
pub(crate) const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Metrics of the HTTP layer. Services register their own in the same registry.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, AtomicHistogram, fn() -> AtomicHistogram>,
    measurements: Family<MeasurementLabels, AtomicHistogram, fn() -> AtomicHistogram>,
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
struct RouteLabels {
    method: &'static str,
    route: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct MeasurementLabels {
    route: &'static str,
    name: &'static str,
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
        let seconds = Family::new_with_constructor(seconds_histogram as fn() -> AtomicHistogram);
        let measurements = Family::new_with_constructor(magnitude_histogram as fn() -> AtomicHistogram);
        let (in_flight, connections, certificate_expiry) = (Gauge::default(), Gauge::default(), Gauge::default());
        let (failed_connections, reloads) = (Family::default(), Family::default());
        let own = registry.sub_registry_with_prefix("pidq_http");
        own.register("requests", "Requests by route and status", requests.clone());
        own.register("request_seconds", "Request duration in seconds, from head to last byte", seconds.clone());
        own.register("response_measurements", "Measurements of responses, such as fuel", measurements.clone());
        own.register("requests_in_flight", "Requests in flight", in_flight.clone());
        own.register("connections", "Open connections", connections.clone());
        let ends = "Expiry of the certificate, in seconds since 1970";
        own.register("certificate_expiry_timestamp_seconds", ends, certificate_expiry.clone());
        own.register("connections_broken", "Failed connections by reason", failed_connections.clone());
        own.register("certificate_reloads", "Certificate reloads by outcome", reloads.clone());
        let registry = Mutex::new(registry);
        Metrics {
            registry,
            requests,
            seconds,
            measurements,
            in_flight,
            connections,
            certificate_expiry,
            failed_connections,
            reloads,
        }
    }

    pub fn record(&self, method: &'static str, route: &'static str, status: u16, took: Duration) {
        self.requests.get_or_create(&RequestLabels { method, route, status: status.into() }).inc();
        self.seconds.get_or_create(&RouteLabels { method, route }).observe(took.as_secs_f64());
    }

    /// Returns the metrics of a route.
    pub fn route(&self, method: &'static str, route: &'static str) -> RouteMetrics {
        let (requests, seconds, measurements) =
            (self.requests.clone(), self.seconds.clone(), self.measurements.clone());
        RouteMetrics { method, route, requests, seconds, measurements, cached: CachedHandles::default() }
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

/// Metrics of one route.
pub(crate) struct RouteMetrics {
    method: &'static str,
    route: &'static str,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, AtomicHistogram, fn() -> AtomicHistogram>,
    measurements: Family<MeasurementLabels, AtomicHistogram, fn() -> AtomicHistogram>,
    /// Handles of the most frequent series, filled on first use.
    cached: CachedHandles,
}

#[derive(Default)]
struct CachedHandles {
    ok: OnceLock<Counter>,
    seconds: OnceLock<AtomicHistogram>,
    measurements: [OnceLock<(&'static str, AtomicHistogram)>; 3],
}

impl RouteMetrics {
    /// Records a response. HEAD uses the route of GET and is counted separately.
    pub fn record(&self, method: &'static str, status: u16, took: Duration, measurements: &[(&'static str, u64)]) {
        self.count_request(method, status);
        self.record_duration(method, took);
        measurements.iter().for_each(|(name, value)| self.record_measurement(name, *value as f64));
    }

    fn count_request(&self, method: &'static str, status: u16) {
        let find = || RequestLabels { method, route: self.route, status: status.into() };
        if status == 200 && method == self.method {
            self.cached.ok.get_or_init(|| self.requests.get_or_create_owned(&find())).inc();
        } else {
            self.requests.get_or_create(&find()).inc();
        }
    }

    fn record_duration(&self, method: &'static str, took: Duration) {
        let find = || self.seconds.get_or_create_owned(&RouteLabels { method, route: self.route });
        let seconds = took.as_secs_f64();
        if method == self.method {
            self.cached.seconds.get_or_init(find).observe(seconds);
        } else {
            find().observe(seconds);
        }
    }

    fn record_measurement(&self, name: &'static str, value: f64) {
        let find = || (name, self.measurements.get_or_create_owned(&MeasurementLabels { route: self.route, name }));
        let known =
            self.cached.measurements.iter().map(|slot| slot.get_or_init(find)).find(|(known, _)| *known == name);
        match known {
            Some((_, histogram)) => histogram.observe(value),
            None => find().1.observe(value),
        }
    }
}

fn seconds_histogram() -> AtomicHistogram {
    AtomicHistogram::new(exponential_buckets(0.001, 2.5, 12))
}

fn magnitude_histogram() -> AtomicHistogram {
    AtomicHistogram::new(exponential_buckets(1.0, 10.0, 9))
}
