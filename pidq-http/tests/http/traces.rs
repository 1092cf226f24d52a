//! Traces of requests, as a collector receives them.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use pidq_http::{COMMON, CommonSettings, LogFormat, Settings, Tracer, init_log};
use tracing_subscriber::filter::LevelFilter;

use crate::collector::Collector;
use crate::logs;
use crate::server::{Server, app, status};

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER_ID: &str = "b7ad6b7169203331";

fn traceparent(flags: &str) -> String {
    format!("traceparent: 00-{TRACE_ID}-{CALLER_ID}-{flags}")
}

fn tracer(settings: &[(&str, &str)]) -> Tracer {
    let environment = settings.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let settings = Settings::read(&[COMMON], [], environment).expect("no mistake");
    CommonSettings(&settings).tracer("plant", "1.0.0").expect("a tracer")
}

/// Starts a service that sends its traces to an address.
fn start(url: &str, more: &[(&str, &str)]) -> (Server, Tracer) {
    let tracer = tracer(&[&[("PIDQ_TRACES_ENDPOINT", url)], more].concat());
    let mut app = app();
    app.tracer = tracer.clone();
    (Server::start(app), tracer)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_a_span_in_the_trace_of_its_caller() {
    let collector = Collector::start();
    let (server, tracer) = start(&collector.url, &[("PIDQ_TRACES_HEADERS", "Authorization: Bearer collector-key")]);
    let head = format!("GET /things/canary?token=canary HTTP/1.1\r\nX-Request-Id: r-1\r\n{}", traceparent("01"));
    assert_eq!(status(&server.request(&head, "").await), 200);
    server.request("GET /mine HTTP/1.1\r\nAuthorization: Bearer ann:canary", "").await;
    server.request("POST /echo HTTP/1.1\r\nContent-Type: application/json", "{\"secret\":\"canary\"}").await;
    tracer.shut_down().await;
    let span = collector.span("GET /things/{id}");
    assert_eq!((&*span.service, span.kind, span.status), ("plant", SpanKind::Server, StatusCode::Unset));
    assert_eq!((&*span.trace_id, &*span.parent_id), (TRACE_ID, CALLER_ID));
    let attributes =
        ["http.request.method", "http.route", "http.response.status_code", "pidq.request.id", "error.type"];
    assert_eq!(attributes.map(|name| span.attribute(name)), ["GET", "/things/{id}", "200", "r-1", ""]);
    let own = collector.span("GET /mine");
    assert!(own.parent_id.is_empty() && own.trace_id != TRACE_ID, "a request without a caller begins a trace");
    assert!(collector.has_received("Bearer collector-key"), "the collector authenticates its clients");
    assert!(!collector.has_received("canary"), "a path, query, token or body was exported");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_errors_of_the_service_mark_a_span_as_failed() {
    let collector = Collector::start();
    let (server, tracer) = start(&collector.url, &[]);
    for (line, expected) in
        [("GET /panic", 500), ("GET /mine", 401), ("GET /nowhere/canary", 404), ("BREW /client", 405)]
    {
        assert_eq!(status(&server.request(&format!("{line} HTTP/1.1"), "").await), expected, "{line}");
    }
    tracer.shut_down().await;
    let outcome = |name: &str| {
        let span = collector.span(name);
        (span.status, span.attribute("http.response.status_code").to_owned(), span.attribute("error.type").to_owned())
    };
    assert_eq!(outcome("GET /panic"), (StatusCode::Error, "500".into(), "500".into()));
    assert_eq!(outcome("GET /mine"), (StatusCode::Unset, "401".into(), String::new()));
    assert_eq!(outcome("GET"), (StatusCode::Unset, "404".into(), String::new()), "the path is unknown");
    assert_eq!(outcome("HTTP"), (StatusCode::Unset, "405".into(), String::new()));
    assert!(
        !collector.has_received("canary") && !collector.has_received("BREW"),
        "clients choose neither names nor labels"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_caller_decides_else_the_ratio() {
    for (ratio, header, expected) in [
        ("0", String::new(), 0),
        ("1", String::new(), 20),
        ("0", traceparent("01"), 20),
        ("1", traceparent("00"), 0),
        ("1", "traceparent: 00-no-trace-01".to_owned(), 20),
    ] {
        let collector = Collector::start();
        let (server, tracer) = start(&collector.url, &[("PIDQ_TRACES_RATIO", ratio)]);
        let separator = if header.is_empty() { "" } else { "\r\n" };
        for _ in 0..20 {
            server.request(&format!("GET /client HTTP/1.1{separator}{header}"), "").await;
        }
        tracer.shut_down().await;
        assert_eq!(collector.spans().len(), expected, "ratio {ratio}, `{header}`");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn probes_are_not_traced_and_a_recorded_problem_has_its_trace() {
    let collector = Collector::start();
    let (server, tracer) = start(&collector.url, &[]);
    for path in ["/livez", "/readyz", "/version"] {
        assert_eq!(status(&server.request(&format!("GET {path} HTTP/1.1"), "").await), 200);
    }
    let recorded = server.request(&format!("GET /mine HTTP/1.1\r\n{}", traceparent("01")), "").await;
    assert!(recorded.contains(&format!("\"trace_id\":\"{TRACE_ID}\"")), "{recorded}");
    let other = server.request(&format!("GET /mine HTTP/1.1\r\n{}", traceparent("00")), "").await;
    assert!(!other.contains("trace_id"), "there is nothing to look up: {other}");
    tracer.shut_down().await;
    assert_eq!(collector.spans().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disconnected_client_and_a_broken_response_end_the_span() {
    let collector = Collector::start();
    let (server, tracer) = start(&collector.url, &[]);
    let mut stream = server.connect().await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .expect("it is open");
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(stream);
    server.request("GET /abandoned HTTP/1.1", "").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    tracer.shut_down().await;
    let slow = collector.span("GET /slow");
    assert_eq!(
        (slow.attribute("error.type"), slow.attribute("http.response.status_code")),
        ("client-disconnected", "")
    );
    assert_eq!(collector.span("GET /abandoned").attribute("error.type"), "response-incomplete");
}

/// Without a collector, and with one that never answers.
#[test]
fn a_collector_that_is_down_costs_one_warning() {
    if let Some(url) = std::env::var_os(logs::CHILD_ENV) {
        return request_without_collector(url.to_str().expect("a URL"));
    }
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    for address in [free, silent.local_addr().expect("an address")] {
        let url = format!("http://{address}");
        let log = logs::log_of_child("traces::a_collector_that_is_down_costs_one_warning", &url);
        let warnings: Vec<&str> = log.lines().filter(|line| line.contains("\"WARN\"")).collect();
        // One that does not answer is noticed after a timeout, perhaps after the end of this test.
        assert!(warnings.len() <= 1 && (address != free || warnings.len() == 1), "{warnings:?}");
        assert!(warnings.iter().all(|line| line.contains("sending traces to the collector failed")), "{warnings:?}");
    }
}

#[tokio::main]
async fn request_without_collector(url: &str) {
    init_log(LogFormat::Json, LevelFilter::INFO);
    let (server, tracer) = start(url, &[]);
    // More than the queue of the exporter holds.
    for _ in 0..3000 {
        assert_eq!(status(&server.request("GET /client HTTP/1.1", "").await), 200);
    }
    let started_at = Instant::now();
    tracer.shut_down().await;
    assert!(started_at.elapsed() < Duration::from_secs(5), "{:?}", started_at.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_the_service_sends_the_last_spans() {
    let collector = Collector::start();
    let (server, _) = start(&collector.url, &[]);
    server.request("GET /client HTTP/1.1", "").await;
    server.stop.stop();
    server.done.await.expect("it ran").expect("it ends");
    assert_eq!(collector.span("GET /client").kind, SpanKind::Server);
}
