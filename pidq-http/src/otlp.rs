//! Export of traces to an OpenTelemetry collector (OTLP over HTTP).

#[cfg_attr(not(feature = "otel"), path = "otlp/no_exporter.rs")]
mod exporter;

use hyper::HeaderMap;

pub(crate) use self::exporter::tracer;

/// Collector, and the share of the traces that it receives.
#[cfg_attr(not(feature = "otel"), expect(dead_code, reason = "there is no exporter"))]
pub(crate) struct CollectorOptions {
    /// Base URL without a trailing slash, to which `/v1/traces` is appended.
    pub endpoint: String,
    /// Headers of each request, which may be secret.
    pub headers: HeaderMap,
    /// Root certificates besides the public ones (PEM).
    pub root_certificates: Option<String>,
    /// Share of the traces that begin here and are recorded, from 0 to 1.
    pub ratio: f64,
    pub service_name: String,
    pub service_version: &'static str,
}
