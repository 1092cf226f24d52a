//! Data of the built-in routes, shared by all requests of a service.

use std::sync::atomic::AtomicBool;

use bytes::Bytes;

use crate::message::boxed_future::Fut;
use crate::metrics::Metrics;
use crate::trace::Tracer;

/// Result of a readiness check: the degraded features, or the reason for not being ready.
pub type Readiness = Result<Vec<&'static str>, String>;

/// Data of the built-in routes, independent of the type of the state.
pub(crate) struct ServiceInfo {
    pub name: &'static str,
    pub version: Option<&'static str>,
    pub openapi: Bytes,
    pub docs: Bytes,
    pub start_page: String,
    pub metrics: Metrics,
    pub tracer: Tracer,
    pub draining: AtomicBool,
    pub ready: Box<dyn Fn() -> Fut<'static, Readiness> + Send + Sync>,
}
