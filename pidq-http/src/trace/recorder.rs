//! Recorder of spans, on the SDK of OpenTelemetry.

use std::borrow::Cow;
use std::time::Duration;

use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, Status, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer as _,
    TracerProvider as _,
};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value, trace};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use super::span_value::{SpanKind, SpanValue};
use super::traceparent::TraceParent;

/// Name of the instrumentation, in exported spans.
const SCOPE: &str = "pidq";

#[derive(Debug)]
pub(crate) struct Recorder {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

#[derive(Debug)]
pub(crate) struct RecordedSpan(opentelemetry_sdk::trace::Span);

impl Recorder {
    pub fn new(provider: SdkTracerProvider) -> Recorder {
        Recorder { tracer: provider.tracer(SCOPE), provider }
    }

    pub fn start(
        &self,
        name: Cow<'static, str>,
        kind: SpanKind,
        parent: Option<&TraceParent>,
        is_remote: bool,
    ) -> RecordedSpan {
        let context = parent.and_then(|parent| span_context(parent, is_remote));
        let context = context.map_or_else(Context::new, |context| Context::new().with_remote_span_context(context));
        RecordedSpan(self.tracer.span_builder(name).with_kind(kind.into()).start_with_context(&self.tracer, &context))
    }

    /// Sends what was recorded. Failures have been logged by the exporter.
    pub fn shut_down(&self, timeout: Duration) {
        let _ = self.provider.shutdown_with_timeout(timeout);
    }
}

fn span_context(parent: &TraceParent, is_remote: bool) -> Option<SpanContext> {
    let trace_id = TraceId::from_hex(parent.trace_id()).ok()?;
    let span_id = SpanId::from_hex(parent.span_id()).ok()?;
    let flags = TraceFlags::default().with_sampled(parent.is_sampled());
    Some(SpanContext::new(trace_id, span_id, flags, is_remote, TraceState::default()))
}

impl RecordedSpan {
    pub fn traceparent(&self) -> String {
        let context = self.0.span_context();
        format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), context.trace_flags().to_u8() & 1)
    }

    pub fn is_recording(&self) -> bool {
        self.0.is_recording()
    }

    pub fn rename(&mut self, name: String) {
        self.0.update_name(name);
    }

    pub fn set(&mut self, name: &'static str, value: SpanValue) {
        self.0.set_attribute(KeyValue::new(name, value));
    }

    pub fn fail(&mut self) {
        self.0.set_status(Status::error(""));
    }
}

impl From<SpanKind> for trace::SpanKind {
    fn from(kind: SpanKind) -> trace::SpanKind {
        match kind {
            SpanKind::Server => trace::SpanKind::Server,
            SpanKind::Client => trace::SpanKind::Client,
            SpanKind::Consumer => trace::SpanKind::Consumer,
            SpanKind::Internal => trace::SpanKind::Internal,
        }
    }
}

impl From<SpanValue> for Value {
    fn from(value: SpanValue) -> Value {
        match value {
            SpanValue::Bool(value) => value.into(),
            SpanValue::Integer(value) => value.into(),
            SpanValue::Number(value) => value.into(),
            SpanValue::Text(Cow::Borrowed(value)) => value.into(),
            SpanValue::Text(Cow::Owned(value)) => value.into(),
            SpanValue::Texts(values) => {
                Value::Array(Array::String(values.into_iter().map(StringValue::from).collect()))
            }
        }
    }
}
