//! Exporter of spans in batches, from a thread of its own and by the HTTP client of this crate.
//!
//! While the collector does not respond, spans are dropped, and a warning is logged once a minute.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{HeaderMap, Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::CollectorOptions;
use crate::tls::{HttpsClient, https_client};
use crate::trace::{Recorder, Tracer};

/// Timeout for sending a batch.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response of the collector.
const RESPONSE_SIZE: usize = 64 << 10;
/// Time between two warnings.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Creates the tracer of a service. Requires a tokio runtime, which sends the spans.
///
/// The error is a message for an administrator.
pub(crate) fn tracer(options: CollectorOptions) -> Result<Tracer, String> {
    let runtime = Handle::try_current().map_err(|error| error.to_string())?;
    let client = CollectorClient {
        client: https_client(options.root_certificates.as_deref(), 1)?,
        headers: options.headers,
        runtime,
        warned_at: Mutex::new(None),
    };
    let exporter = SpanExporter::builder().with_http().with_http_client(client);
    let exporter =
        exporter.with_endpoint(format!("{}/v1/traces", options.endpoint)).with_protocol(Protocol::HttpBinary);
    let exporter = exporter.build().map_err(|error| error.to_string())?;
    let service_version = opentelemetry::KeyValue::new("service.version", options.service_version);
    let resource = Resource::builder().with_service_name(options.service_name).with_attribute(service_version).build();
    let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(options.ratio)));
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource);
    Ok(Tracer::new(Recorder::new(provider.with_sampler(sampler).build())))
}

/// HTTP client of the exporter, whose thread is outside of the runtime.
struct CollectorClient {
    client: HttpsClient<Full<Bytes>>,
    headers: HeaderMap,
    runtime: Handle,
    warned_at: Mutex<Option<Instant>>,
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        request.headers_mut().extend(self.headers.clone());
        let exchange = exchange(self.client.clone(), request);
        // The task is aborted when the runtime ends.
        let response = match self.runtime.spawn(async { timeout(EXPORT_TIMEOUT, exchange).await }).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => Err("the collector does not respond".into()),
            Err(_) => return Err("the service has stopped".into()),
        };
        match &response {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => self.warn(&format!("status {}", response.status())),
            Err(error) => self.warn(&reason(&**error)),
        }
        response
    }
}

async fn exchange(client: HttpsClient<Full<Bytes>>, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let response = client.request(request.map(Full::new)).await?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, RESPONSE_SIZE).collect().await?;
    Ok(Response::from_parts(head, body.to_bytes()))
}

/// Returns the innermost cause, such as a refused connection.
fn reason(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

impl CollectorClient {
    /// Logs a warning unless there was one recently.
    fn warn(&self, reason: &str) {
        let mut warned_at = self.warned_at.lock().unwrap_or_else(PoisonError::into_inner);
        if warned_at.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL) {
            *warned_at = Some(Instant::now());
            tracing::warn!(reason, "sending traces to the collector failed; spans are lost");
        }
    }
}

impl fmt::Debug for CollectorClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CollectorClient")
    }
}
