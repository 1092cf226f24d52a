//! Traces from the browser through the dashboard to the API.

use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use pidq_dashboard::open_remote;
use pidq_http::{Listener, Shutdown, serve};

use crate::api::{PASSWORD, api, send, settings, sign_in};
use crate::collector::Collector;

const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_the_api_belong_to_the_trace_of_the_request() {
    let collector = Collector::start();
    let listener = Listener::plain(([127, 0, 0, 1], 0).into()).expect("a free port");
    let url = format!("http://{}", listener.address().expect("it is bound"));
    let (_stop, shutdown) = Shutdown::manual();
    tokio::spawn(serve(api(Duration::from_secs(3600)).await, vec![listener], shutdown));
    let (_dir, settings) = settings(&["--api-url", &url, "--traces-endpoint", &collector.url]);
    let app = open_remote(&settings).expect("it opens");
    let tracer = app.tracer.clone();
    let dashboard = app.build();
    let cookie = sign_in(&dashboard).await;
    let headers = [("cookie", &*cookie), ("traceparent", CALLER)];
    let seen = send(&dashboard, "GET", "/graph", &headers, "").await.json();
    tracer.shut_down().await;

    let request = collector.span("GET /graph");
    assert_eq!(
        (&*request.service, request.kind, &*request.parent_id),
        ("pidq-dashboard", SpanKind::Server, "00f067aa0ba902b7")
    );
    let spans = collector.spans();
    let call = spans.iter().find(|span| span.kind == SpanKind::Client && span.parent_id == request.id);
    let call = call.expect("a call of the API");
    assert_eq!(
        (&*call.name, call.attribute("http.response.status_code"), call.status),
        ("GET", "200", StatusCode::Unset)
    );
    assert_eq!(call.trace_id, request.trace_id);
    let expected = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01", call.id);
    assert_eq!(seen["headers"]["traceparent"], expected);
    assert!(spans.iter().any(|span| span.name == "POST /session"), "{spans:#?}");
    let token = cookie.split('=').nth(1).expect("a session");
    for secret in [PASSWORD, token] {
        assert!(!collector.has_received(secret), "a secret was exported");
    }
}
