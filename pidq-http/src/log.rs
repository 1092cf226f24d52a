//! One line per request, and where lines go.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use sha2::{Digest, Sha256};
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::metrics::Figures;
use crate::principal::Principal;
use crate::request::Head;
use crate::response::Activity;
use crate::site::Facts;

/// How log lines look.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

/// Crates that print what they read when they are asked for everything: headers and frames, and so tokens.
const TALKATIVE: [&str; 4] = ["h2", "hyper", "hyper_util", "rustls"];

/// Sends all log lines to standard error. Once per process; a second call changes nothing.
pub fn init_log(format: LogFormat, level: LevelFilter) {
    let quiet = TALKATIVE.map(|name| (name, level.min(LevelFilter::WARN)));
    let targets = Targets::new().with_default(level).with_targets(quiet);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(targets);
    let _ = match format {
        LogFormat::Json => registry.with(layer.json().flatten_event(true).with_current_span(false)).try_init(),
        LogFormat::Text => registry.with(layer.with_ansi(false)).try_init(),
    };
}

/// A text as the log may have it: the first 16 hex digits of its SHA-256. Equal texts are equal there, and nobody reads them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// That of a text.
    pub fn of(text: &str) -> Fingerprint {
        let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = Sha256::digest(text).into();
        Fingerprint(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A request from its head to the last byte of its answer. Writes its line, and counts, when it is dropped.
///
/// The line has the template of the path, never the path; no query string, no token, no body; of a query its fingerprint.
pub(crate) struct Exchange {
    pub id: Arc<str>,
    pub method: &'static str,
    pub route: &'static str,
    pub status: u16,
    /// What is counted of the row; none where no row was found.
    pub figures: Option<Arc<Figures>>,
    pub principal: Option<Arc<Principal>>,
    pub traceparent: Option<String>,
    pub query: Option<Fingerprint>,
    /// Until there is an answer: whose client goes away before has a line as well.
    pub head: Option<Arc<Head>>,
    pub notes: Vec<(&'static str, u64)>,
    /// Whether the line is worth reading every day.
    pub loud: bool,
    facts: Arc<Facts>,
    activity: Arc<Activity>,
    begun: Instant,
    bytes: u64,
    complete: bool,
}

/// The status of a request whose client went away before there was an answer. It is never sent.
const CLIENT_GONE: u16 = 499;

impl Exchange {
    pub fn begin(facts: Arc<Facts>, activity: Arc<Activity>, id: Arc<str>, method: &'static str) -> Box<Self> {
        facts.metrics.in_flight.inc();
        activity.open.fetch_add(1, Relaxed);
        activity.mark();
        Box::new(Exchange {
            id,
            method,
            route: "",
            status: CLIENT_GONE,
            figures: None,
            principal: None,
            traceparent: None,
            query: None,
            head: None,
            notes: Vec::new(),
            loud: true,
            facts,
            activity,
            begun: Instant::now(),
            bytes: 0,
            complete: false,
        })
    }

    pub fn sent(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    pub fn complete(&mut self) {
        self.complete = true;
    }

    fn note(&self, name: &str) -> Option<u64> {
        self.notes.iter().find(|(note, _)| *note == name).map(|(_, value)| *value)
    }

    fn query(&self) -> Option<Fingerprint> {
        self.query.or_else(|| self.head.as_ref()?.query())
    }

    fn line(&self, ms: u64) {
        macro_rules! line {
            ($level:expr) => {
                tracing::event!(
                    target: "access",
                    $level,
                    id = &*self.id,
                    method = self.method,
                    route = self.route,
                    status = self.status,
                    bytes = self.bytes,
                    ms,
                    complete = self.complete,
                    fuel = self.note("fuel"),
                    queue_ms = self.note("queue_ms"),
                    query = self.query().map(tracing::field::display),
                    principal = self.principal.as_ref().map(|p| p.id.as_str()),
                    client = self.principal.as_ref().and_then(|p| p.client.as_deref()),
                    tenant = self.principal.as_ref().map(|p| p.tenant.as_str()),
                    traceparent = self.traceparent.as_deref(),
                )
            };
        }
        if self.loud { line!(Level::INFO) } else { line!(Level::DEBUG) }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let took = self.begun.elapsed();
        self.facts.metrics.in_flight.dec();
        self.activity.open.fetch_sub(1, Relaxed);
        self.activity.mark();
        match &self.figures {
            Some(figures) => figures.answered(self.method, self.status, took, &self.notes),
            None => self.facts.metrics.answered(self.method, self.route, self.status, took),
        }
        self.line(took.as_millis() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_what_sha256sum_begins_with() {
        assert_eq!(Fingerprint::of("").to_string(), "e3b0c44298fc1c14");
        assert_eq!(Fingerprint::of("abc").to_string(), "ba7816bf8f01cfea");
    }
}
