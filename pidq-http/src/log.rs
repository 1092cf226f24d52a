//! One line per request, and where lines go.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::metrics::Figures;
use crate::principal::Principal;
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
    let layer = fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(targets);
    let _ = match format {
        LogFormat::Json => registry.with(layer.json().flatten_event(true).with_current_span(false)).try_init(),
        LogFormat::Text => registry.with(layer.with_ansi(false)).try_init(),
    };
}

/// A request from its head to the last byte of its answer. Writes its line, and counts, when it is dropped.
///
/// The line has the template of the path, never the path; no query string, no token, no body.
pub(crate) struct Exchange {
    pub id: Arc<str>,
    pub method: &'static str,
    pub route: &'static str,
    pub status: u16,
    /// What is counted of the row; none where no row was found.
    pub figures: Option<Arc<Figures>>,
    pub principal: Option<Arc<Principal>>,
    pub traceparent: Option<String>,
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
    pub fn begin(facts: Arc<Facts>, activity: Arc<Activity>, id: Arc<str>, method: &'static str) -> Self {
        facts.metrics.in_flight.inc();
        activity.open.fetch_add(1, Relaxed);
        activity.mark();
        Exchange {
            id,
            method,
            route: "",
            status: CLIENT_GONE,
            figures: None,
            principal: None,
            traceparent: None,
            notes: Vec::new(),
            loud: true,
            facts,
            activity,
            begun: Instant::now(),
            bytes: 0,
            complete: false,
        }
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
