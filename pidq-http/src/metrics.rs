//! Counters and histograms by route row, as OpenMetrics text.
//!
//! Hot: an answer counts with a few additions, by handles that its row holds. Nothing is looked up and nobody waits.

mod spread;

use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::exponential_buckets;
use prometheus_client::registry::Registry;

use spread::Spread;

/// The content type of OpenMetrics.
pub(crate) const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the floor counts. Services register theirs beside it.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<Answer, Counter>,
    seconds: Family<Endpoint, Spread, fn() -> Spread>,
    notes: Family<Note, Spread, fn() -> Spread>,
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
        let seconds = Family::new_with_constructor(seconds as fn() -> Spread);
        let notes = Family::new_with_constructor(amounts as fn() -> Spread);
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

    /// What is counted of a row.
    pub fn figures(&self, method: &'static str, route: &'static str) -> Figures {
        let (requests, seconds, notes) = (self.requests.clone(), self.seconds.clone(), self.notes.clone());
        Figures { method, route, requests, seconds, notes, usual: Usual::default() }
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

/// What is counted of one row.
pub(crate) struct Figures {
    method: &'static str,
    route: &'static str,
    requests: Family<Answer, Counter>,
    seconds: Family<Endpoint, Spread, fn() -> Spread>,
    notes: Family<Note, Spread, fn() -> Spread>,
    /// Handles of what is counted for nearly every answer, once there was one.
    usual: Usual,
}

#[derive(Default)]
struct Usual {
    ok: OnceLock<Counter>,
    seconds: OnceLock<Spread>,
    notes: [OnceLock<(&'static str, Spread)>; 3],
}

impl Figures {
    /// An answer to the end. HEAD comes with the row of GET, and is counted for itself.
    pub fn answered(&self, method: &'static str, status: u16, took: Duration, notes: &[(&'static str, u64)]) {
        self.count(method, status);
        self.took(method, took);
        notes.iter().for_each(|(name, value)| self.noted(name, *value as f64));
    }

    fn count(&self, method: &'static str, status: u16) {
        let find = || Answer { method, route: self.route, status: status.into() };
        if status == 200 && method == self.method {
            self.usual.ok.get_or_init(|| self.requests.get_or_create_owned(&find())).inc();
        } else {
            self.requests.get_or_create(&find()).inc();
        }
    }

    fn took(&self, method: &'static str, took: Duration) {
        let find = || self.seconds.get_or_create_owned(&Endpoint { method, route: self.route });
        let seconds = took.as_secs_f64();
        if method == self.method {
            self.usual.seconds.get_or_init(find).observe(seconds);
        } else {
            find().observe(seconds);
        }
    }

    fn noted(&self, name: &'static str, value: f64) {
        let find = || (name, self.notes.get_or_create_owned(&Note { route: self.route, name }));
        let known = self.usual.notes.iter().map(|slot| slot.get_or_init(find)).find(|(known, _)| *known == name);
        match known {
            Some((_, spread)) => spread.observe(value),
            None => find().1.observe(value),
        }
    }
}

fn seconds() -> Spread {
    Spread::new(exponential_buckets(0.001, 2.5, 12))
}

fn amounts() -> Spread {
    Spread::new(exponential_buckets(1.0, 10.0, 9))
}
