//! Distributed traces (W3C Trace Context): the position of an operation in its trace, and the spans recorded there.
//!
//! A [`Trace`] goes from a request to the calls and jobs that it causes. Without a recorder, which needs the feature `otel` and
//! a collector, spans are not recorded, and only the context of the caller is passed on.

#[cfg_attr(not(feature = "otel"), path = "trace/no_recorder.rs")]
mod recorder;
mod span;
mod span_value;
mod traceparent;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{HeaderMap, HeaderName};

pub(crate) use self::recorder::Recorder;
pub use self::span::Span;
pub use self::span_value::{SpanKind, SpanValue};
use self::traceparent::TraceParent;

/// Header of the trace context.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Time for sending the last spans at shutdown.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// Recorder of a service, shared by its requests and jobs; records nothing by default.
#[derive(Clone, Default)]
pub struct Tracer(Option<Arc<Recorder>>);

impl Tracer {
    #[cfg(feature = "otel")]
    pub(crate) fn new(recorder: Recorder) -> Tracer {
        Tracer(Some(Arc::new(recorder)))
    }

    /// Returns a position without a parent.
    pub fn root(&self) -> Trace {
        Trace { tracer: self.clone(), parent: None, is_remote: false }
    }

    /// Returns the position of a caller, from its `traceparent`. Without a valid one, it has no parent.
    pub fn continued(&self, traceparent: Option<&str>) -> Trace {
        let parent = traceparent.and_then(TraceParent::parse);
        Trace { tracer: self.clone(), is_remote: parent.is_some(), parent }
    }

    /// Returns the position of the sender of a request.
    pub(crate) fn of_request(&self, headers: &HeaderMap) -> Trace {
        self.continued(headers.get(TRACEPARENT).and_then(|value| value.to_str().ok()))
    }

    /// Sends the spans recorded so far, for three seconds at most, and records no more.
    pub async fn shut_down(&self) {
        let Some(recorder) = self.0.clone() else { return };
        // The recorder blocks until the spans are sent by a task of this runtime.
        let _ = tokio::task::spawn_blocking(move || recorder.shut_down(FLUSH_TIMEOUT)).await;
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tracer").field(&self.0.is_some()).finish()
    }
}

/// Position in a trace: the parent of the spans that begin here. Empty by default.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    tracer: Tracer,
    parent: Option<TraceParent>,
    /// True if the parent is a span of another process.
    is_remote: bool,
}

tokio::task_local! {
    static CURRENT: Trace;
}

impl Trace {
    /// Returns the position of the running task; empty outside of [`scope`](Self::scope).
    pub fn current() -> Trace {
        CURRENT.try_with(Trace::clone).unwrap_or_default()
    }

    /// Runs work at this position: it is [`current`](Self::current) for the work, but not for tasks that it spawns.
    pub async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self, work).await
    }

    /// Runs blocking work at this position.
    pub fn sync_scope<T>(self, work: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self, work)
    }

    /// Returns the value of the header `traceparent` for calls from here.
    pub fn traceparent(&self) -> Option<&str> {
        self.parent.as_ref().map(TraceParent::as_str)
    }

    /// Returns the id of the trace, as 32 hexadecimal digits.
    pub fn id(&self) -> Option<&str> {
        self.parent.as_ref().map(TraceParent::trace_id)
    }

    /// Returns the id of the trace if its spans are recorded here.
    pub(crate) fn recorded_id(&self) -> Option<&str> {
        let is_recorded = self.tracer.0.is_some() && self.parent.as_ref().is_some_and(TraceParent::is_sampled);
        self.id().filter(|_| is_recorded)
    }

    /// Returns whether there is nothing to pass on and nothing to record.
    pub(crate) fn is_empty(&self) -> bool {
        self.tracer.0.is_none() && self.parent.is_none()
    }

    /// Begins a span, which ends when it is dropped. Its name is a template, such as `GET /graph/{job_id}`, and has no data.
    pub fn span(&self, kind: SpanKind, name: impl Into<Cow<'static, str>>) -> Span {
        let Some(recorder) = &self.tracer.0 else { return self.without_span() };
        let recorded = recorder.start(name.into(), kind, self.parent.as_ref(), self.is_remote);
        let parent = TraceParent::parse(&recorded.traceparent());
        Span::new(Some(recorded), Trace { tracer: self.tracer.clone(), parent, is_remote: false })
    }

    /// Returns a span that is not recorded: its position is this one.
    pub(crate) fn without_span(&self) -> Span {
        Span::new(None, self.clone())
    }
}
