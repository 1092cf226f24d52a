//! Data of the built-in routes, shared by all requests of a service.

use std::sync::atomic::AtomicBool;

use bytes::Bytes;

use crate::message::boxed_future::Fut;
use crate::metrics::{Metrics, merge};
use crate::trace::Tracer;

/// Result of a readiness check: the degraded features, or the reason for not being ready.
pub type Readiness = Result<Vec<&'static str>, String>;

/// Data of the built-in routes, independent of the type of the state.
pub(crate) struct ServiceInfo {
    pub name: &'static str,
    pub version: Option<&'static str>,
    /// Names and versions of optional programs, with those of a mounted service.
    pub components: Vec<(String, String)>,
    pub openapi: Bytes,
    pub docs: Bytes,
    pub start_page: String,
    pub metrics: Metrics,
    /// Metrics of a mounted service, as OpenMetrics text.
    pub mounted_metrics: Option<Box<dyn Fn() -> String + Send + Sync>>,
    pub tracer: Tracer,
    pub draining: AtomicBool,
    pub ready: Box<dyn Fn() -> Fut<'static, Readiness> + Send + Sync>,
}

impl ServiceInfo {
    /// Returns the metrics of this service and of a mounted one, as OpenMetrics text.
    pub fn metrics_text(&self) -> String {
        let own = self.metrics.encode();
        match &self.mounted_metrics {
            Some(mounted) => merge(&own, &mounted()),
            None => own,
        }
    }
}
