//! Tests of `/metrics`: queries, logins and syncs, and the documented names.

use pidq_http::HTTP_METRICS;
use pidq_server::metrics::METRICS;

use crate::fixtures::{DRAWING, FORM, SECRET, TestService};
use crate::metric_families::check_families;

#[tokio::test]
async fn limits_logins_and_syncs_are_counted() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let metric = |name: &str| -> f64 {
        let text = service.service.metrics();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name}\n{text}"))
    };
    let before = metric("pidq_server_fsync_seconds_count");
    desk.put("/graph/J-1", DRAWING).await.is(201);
    assert!(metric("pidq_server_fsync_seconds_count") > before);
    let deep = format!("{}1{}", "(".repeat(200), ")".repeat(200));
    desk.query("J-1", &deep).await.expect_problem(422, "query-limit");
    desk.query("J-1", "fliter(.a)").await.expect_problem(422, "unknown-function");
    assert_eq!(metric("pidq_server_queries_limited_total{limit=\"depth\"}"), 1.0);
    let result = desk.query("J-1", "1").await.is(200).body.len();
    let route = "route=\"/graph/{job_id}\"";
    for name in ["pidq_http_query_fuel", "pidq_http_query_queue_seconds", "pidq_http_query_response_bytes"] {
        assert_eq!(metric(&format!("{name}_count{{{route}}}")), 1.0);
    }
    assert_eq!(metric(&format!("pidq_http_query_response_bytes_sum{{{route}}}")), result as f64);
    assert_eq!(metric("pidq_server_queries_waiting"), 0.0);
    let anonymous = service.anonymous();
    let token = async |form: String| {
        anonymous.send("POST", "/o/token/", &[&format!("content-type: {FORM}")], form).await;
    };
    token(format!("grant_type=password&username=ann@example.com&password=wrong&client_id=desk&client_secret={SECRET}"))
        .await;
    token("grant_type=client_credentials&client_id=desk&client_secret=wrong".into()).await;
    for reason in ["invalid_grant", "invalid_client"] {
        assert_eq!(metric(&format!("pidq_server_login_failures_total{{reason=\"{reason}\"}}")), 1.0);
    }
    check_families(&service.service.metrics(), &[HTTP_METRICS, METRICS]);
}
