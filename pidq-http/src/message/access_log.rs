//! Access log: one line and the metrics of each request, written when its response ends.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use tracing::Level;

use crate::message::conn_info::ConnActivity;
use crate::message::fingerprint::Fingerprint;
use crate::message::head::Head;
use crate::message::service_info::ServiceInfo;
use crate::metrics::{QueryMeasurements, RouteMetrics};
use crate::principal::Principal;
use crate::trace::Span;

/// Access-log entry of a request. On drop, it writes the log line and records the metrics.
///
/// The line has the route, never the path; no query string, token or body; and only the fingerprint of a query.
pub(crate) struct AccessLog {
    pub id: Arc<str>,
    pub method: &'static str,
    pub route: &'static str,
    pub status: u16,
    /// Metrics of the route; `None` if no route matched.
    pub route_metrics: Option<Arc<RouteMetrics>>,
    pub principal: Option<Arc<Principal>>,
    /// Span of the request, which ends with its response.
    pub span: Span,
    pub query: Option<Fingerprint>,
    /// Head, kept until there is a response, so that a disconnected client is logged too.
    pub head: Option<Arc<Head>>,
    /// Measurements of a query; `None` for any other response.
    pub query_measurements: Option<QueryMeasurements>,
    /// True if the line is logged at level info.
    pub log_at_info: bool,
    info: Arc<ServiceInfo>,
    activity: Arc<ConnActivity>,
    started_at: Instant,
    bytes: u64,
    is_complete: bool,
}

/// Method label of unknown methods.
pub(crate) const OTHER_METHOD: &str = "other";

/// Status logged if the client disconnects before there is a response. It is never sent.
const CLIENT_CLOSED_REQUEST: u16 = 499;

impl AccessLog {
    pub fn start(info: Arc<ServiceInfo>, activity: Arc<ConnActivity>, id: Arc<str>, method: &'static str) -> Box<Self> {
        info.metrics.in_flight.inc();
        activity.open.fetch_add(1, Relaxed);
        activity.record_progress();
        Box::new(AccessLog {
            id,
            method,
            route: "",
            status: CLIENT_CLOSED_REQUEST,
            route_metrics: None,
            principal: None,
            span: Span::default(),
            query: None,
            head: None,
            query_measurements: None,
            log_at_info: true,
            info,
            activity,
            started_at: Instant::now(),
            bytes: 0,
            is_complete: false,
        })
    }

    pub fn record_sent(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    pub fn complete(&mut self) {
        self.is_complete = true;
    }

    fn query(&self) -> Option<Fingerprint> {
        self.query.or_else(|| self.head.as_ref()?.query())
    }

    fn write_line(&self, ms: u64) {
        macro_rules! line {
            ($level:expr) => {
                tracing::event!(
                    target: "access",
                    $level,
                    request_id = &*self.id,
                    method = self.method,
                    route = self.route,
                    status = self.status,
                    bytes = self.bytes,
                    ms,
                    complete = self.is_complete,
                    fuel = self.query_measurements.map(|query| query.fuel),
                    queue_ms = self.query_measurements.map(|query| query.queue_time.as_millis() as u64),
                    query = self.query().map(tracing::field::display),
                    principal = self.principal.as_ref().map(|p| p.id.as_str()),
                    client = self.principal.as_ref().and_then(|p| p.client.as_deref()),
                    tenant = self.principal.as_ref().map(|p| p.tenant.as_str()),
                    trace_id = self.span.trace().id(),
                    traceparent = self.span.trace().traceparent(),
                )
            };
        }
        if self.log_at_info { line!(Level::INFO) } else { line!(Level::DEBUG) }
    }
}

impl AccessLog {
    /// Adds the outcome to the span, with the attributes of the semantic conventions for HTTP.
    fn describe_span(&mut self) {
        let span = &mut self.span;
        if !span.is_recorded() {
            return;
        }
        let method = if self.method == OTHER_METHOD { "HTTP" } else { self.method };
        if self.route.is_empty() {
            span.rename(method.to_owned());
        } else {
            span.rename(format!("{method} {}", self.route));
            span.set("http.route", self.route);
        }
        span.set("http.request.method", if self.method == OTHER_METHOD { "_OTHER" } else { self.method });
        span.set("pidq.request.id", self.id.to_string());
        if let Some(query) = &self.query_measurements {
            span.set("pidq.query.fuel", query.fuel);
            span.set("pidq.query.queue_ms", query.queue_time.as_millis() as u64);
            span.set("pidq.query.response_size", query.response_size);
        }
        match self.status {
            CLIENT_CLOSED_REQUEST => span.set("error.type", "client-disconnected"),
            status => span.set("http.response.status_code", status),
        }
        match self.status {
            status @ 500.. => span.fail(status.to_string()),
            status if status < 400 && !self.is_complete => span.set("error.type", "response-incomplete"),
            _ => {}
        }
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        let duration = self.started_at.elapsed();
        self.info.metrics.in_flight.dec();
        self.activity.open.fetch_sub(1, Relaxed);
        self.activity.record_progress();
        match &self.route_metrics {
            Some(route_metrics) => {
                route_metrics.record(self.method, self.status, duration, self.query_measurements.as_ref())
            }
            None => self.info.metrics.record(self.method, self.route, self.status, duration),
        }
        self.write_line(duration.as_millis() as u64);
        self.describe_span();
    }
}
