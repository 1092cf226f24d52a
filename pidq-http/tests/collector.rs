//! OpenTelemetry collector for tests: an HTTP server that decodes the protobuf of exported spans.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message;

/// Collector on a port of 127.0.0.1, in a thread that ends with the process.
pub struct Collector {
    pub url: String,
    received: Arc<Mutex<Received>>,
}

#[derive(Default)]
struct Received {
    spans: Vec<ReceivedSpan>,
    /// Heads and bodies of all requests, to look for secrets.
    raw: Vec<u8>,
}

/// A span as it was received.
#[allow(dead_code, reason = "not every test crate reads all fields")]
#[derive(Clone, Debug)]
pub struct ReceivedSpan {
    pub service: String,
    pub name: String,
    pub kind: SpanKind,
    pub status: StatusCode,
    pub trace_id: String,
    pub id: String,
    /// Empty for the first span of a trace.
    pub parent_id: String,
    pub attributes: BTreeMap<String, String>,
}

impl ReceivedSpan {
    /// Returns an attribute as text; empty if there is none.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

impl Collector {
    pub fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let received = Arc::new(Mutex::new(Received::default()));
        let shared = received.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let received = shared.clone();
                thread::spawn(move || while respond(&stream, &received).is_ok() {});
            }
        });
        Collector { url, received }
    }

    /// Returns the spans received so far, in order of arrival.
    pub fn spans(&self) -> Vec<ReceivedSpan> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).spans.clone()
    }

    /// Returns the only span with this name.
    pub fn span(&self, name: &str) -> ReceivedSpan {
        let (mut found, others): (Vec<_>, Vec<_>) = self.spans().into_iter().partition(|span| span.name == name);
        assert_eq!(found.len(), 1, "spans named {name}: {found:?}; others: {others:?}");
        found.remove(0)
    }

    /// Returns whether a text is in anything that was received.
    pub fn has_received(&self, text: &str) -> bool {
        let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.raw.windows(text.len()).any(|part| part == text.as_bytes())
    }
}

/// Reads a request and responds as a collector does.
fn respond(mut stream: &TcpStream, received: &Mutex<Received>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let lower = head.to_ascii_lowercase();
    let header = |name: &str| lower.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_owned));
    assert!(head.starts_with("POST /v1/traces "), "{head}");
    assert_eq!(header("content-type").as_deref(), Some("application/x-protobuf"));
    let length = header("content-length").and_then(|length| length.parse().ok()).expect("a length");
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request = ExportTraceServiceRequest::decode(&*body).expect("protobuf of OTLP");
    {
        let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
        received.raw.extend([head.as_bytes(), &body].concat());
        received.spans.extend(spans(request));
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n")
}

fn spans(request: ExportTraceServiceRequest) -> Vec<ReceivedSpan> {
    let mut spans = Vec::new();
    for resource in request.resource_spans {
        let about = resource.resource.map(|resource| attributes(resource.attributes)).unwrap_or_default();
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
            spans.push(ReceivedSpan {
                service: about.get("service.name").cloned().unwrap_or_default(),
                kind: span.kind(),
                status: span.status.as_ref().map_or(StatusCode::Unset, |status| status.code()),
                trace_id: hex(&span.trace_id),
                id: hex(&span.span_id),
                parent_id: hex(&span.parent_span_id),
                attributes: attributes(span.attributes),
                name: span.name,
            });
        }
    }
    spans
}

fn attributes(list: Vec<KeyValue>) -> BTreeMap<String, String> {
    list.into_iter().map(|attribute| (attribute.key, attribute.value.map(text).unwrap_or_default())).collect()
}

fn text(value: AnyValue) -> String {
    match value.value {
        Some(Value::StringValue(text)) => text,
        Some(Value::BoolValue(value)) => value.to_string(),
        Some(Value::IntValue(value)) => value.to_string(),
        Some(Value::DoubleValue(value)) => value.to_string(),
        Some(Value::ArrayValue(array)) => array.values.into_iter().map(text).collect::<Vec<_>>().join(","),
        _ => String::new(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
