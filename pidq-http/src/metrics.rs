//! Counters and histograms by route row, as OpenMetrics text.

use std::sync::Mutex;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// The content type of OpenMetrics.
pub(crate) const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the floor counts. Services register theirs beside it.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<Answer, Counter>,
    seconds: Family<Endpoint, Histogram, fn() -> Histogram>,
    notes: Family<Note, Histogram, fn() -> Histogram>,
    /// Requests between head and last byte.
    pub in_flight: Gauge,
    /// Open connections.
    pub connections: Gauge,
    /// When the certificate ends, in seconds since 1970.
    pub certificate_ends: Gauge,
    /// Connections that ended badly, by reason.
    pub broken: Family<Reason, Counter>,
    /// Certificates that were read again, by outcome.
    pub reloads: Family<Reason, Counter>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Answer {
    method: &'static str,
    route: &'static str,
    status: u64,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Endpoint {
    method: &'static str,
    route: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Note {
    route: &'static str,
    name: &'static str,
}

/// Why something happened, in a word.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(crate) struct Reason {
    reason: &'static str,
}

impl Metrics {
    /// Joins the registry of a service.
    pub fn new(mut registry: Registry) -> Self {
        let requests = Family::default();
        let seconds = Family::new_with_constructor(seconds as fn() -> Histogram);
        let notes = Family::new_with_constructor(amounts as fn() -> Histogram);
        let (in_flight, connections, certificate_ends) = (Gauge::default(), Gauge::default(), Gauge::default());
        let (broken, reloads) = (Family::default(), Family::default());
        let own = registry.sub_registry_with_prefix("pidq_http");
        own.register("requests", "Requests by route and status", requests.clone());
        own.register("request_seconds", "Seconds from head to last byte", seconds.clone());
        own.register("notes", "Figures of answers, such as fuel", notes.clone());
        own.register("requests_in_flight", "Requests between head and last byte", in_flight.clone());
        own.register("connections", "Open connections", connections.clone());
        let ends = "When the certificate ends, in seconds since 1970";
        own.register("certificate_ends", ends, certificate_ends.clone());
        own.register("connections_broken", "Connections that were ended, by reason", broken.clone());
        own.register("certificate_reloads", "Certificates that were read again, by outcome", reloads.clone());
        let registry = Mutex::new(registry);
        Metrics { registry, requests, seconds, notes, in_flight, connections, certificate_ends, broken, reloads }
    }

    pub fn answered(&self, method: &'static str, route: &'static str, status: u16, took: Duration) {
        self.requests.get_or_create(&Answer { method, route, status: status.into() }).inc();
        self.seconds.get_or_create(&Endpoint { method, route }).observe(took.as_secs_f64());
    }

    pub fn noted(&self, route: &'static str, name: &'static str, value: u64) {
        self.notes.get_or_create(&Note { route, name }).observe(value as f64);
    }

    pub fn broke(&self, reason: &'static str) {
        self.broken.get_or_create(&Reason { reason }).inc();
    }

    pub fn reloaded(&self, reason: &'static str) {
        self.reloads.get_or_create(&Reason { reason }).inc();
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Writing to a string does not fail.
        let _ = text::encode(&mut text, &registry);
        text
    }
}

fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.5, 12))
}

fn amounts() -> Histogram {
    Histogram::new(exponential_buckets(1.0, 10.0, 9))
}
