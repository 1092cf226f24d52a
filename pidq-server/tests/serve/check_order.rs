//! Tests of the order of request checks and their errors.

use crate::fixtures::{DRAWING, TestService, drawing};

const CHALLENGE: &str = r#"resource_metadata="https://pidq.example/.well-known/oauth-protected-resource""#;

#[tokio::test]
async fn a_missing_token_is_challenged() {
    let service = TestService::start().await;
    let refused = service.anonymous().get("/graph/J-1").await.expect_problem(401, "unauthenticated");
    assert_eq!(refused.header("www-authenticate"), format!(r#"Bearer realm="pidq", {CHALLENGE}"#));
    let refused = service.bearer("pidq_at_nonsense").get("/graph/J-1").await.expect_problem(401, "invalid-token");
    let challenge = refused.header("www-authenticate");
    assert!(challenge.starts_with(r#"Bearer realm="pidq", error="invalid_token", error_description=""#), "{challenge}");
    assert!(challenge.ends_with(CHALLENGE));
    let desk = service.token("desk").await;
    let elsewhere = service.anonymous().get(&format!("/graph?access_token={desk}")).await;
    elsewhere.expect_problem(401, "unauthenticated");
    let twice = [&*format!("authorization: Bearer {desk}"), &*format!("authorization: Bearer {desk}")];
    service.anonymous().send("GET", "/graph", &twice, "").await.is(400);
    service.anonymous().send("GET", "/graph", &[&format!("authorization: bEARER {desk}")], "").await.is(200);
}

#[tokio::test]
async fn scopes_limit_access() {
    let service = TestService::start().await;
    service.client("desk").await.put("/graph/J-1", DRAWING).await.is(201);
    let (viewer, pen) = (service.client("viewer").await, service.client("pen").await);
    let refused = viewer.put("/graph/J-1", &drawing("A")).await.expect_problem(403, "insufficient-scope");
    let challenge = refused.header("www-authenticate");
    assert!(challenge.contains(r#"error="insufficient_scope", scope="write""#) && challenge.ends_with(CHALLENGE));
    viewer.delete("/graph/J-1").await.expect_problem(403, "insufficient-scope");
    for response in [pen.get("/graph/J-1").await, pen.query("J-1", "1").await, pen.get("/graph").await] {
        response.expect_problem(403, "insufficient-scope");
    }
}

#[tokio::test]
async fn the_first_failing_check_decides() {
    let service = TestService::start().await;
    let (anonymous, viewer, desk) = (service.anonymous(), service.client("viewer").await, service.client("desk").await);
    desk.put("/graph/J-1", DRAWING).await.is(201);
    let wrong = ["content-type: text/plain", "if-match: \"x\""];
    let put = async |client: &crate::fixtures::TestClient<'_>, path: &str| client.send("PUT", path, &wrong, "{").await;
    // Unknown path; method; authentication; scope; missing graph; precondition; media type; body.
    put(&anonymous, "/graphs/J-1").await.expect_problem(404, "not-found");
    anonymous.send("PATCH", "/graph/J-1", &wrong, "{").await.expect_problem(405, "method-not-allowed");
    put(&anonymous, "/graph/J-1").await.expect_problem(401, "unauthenticated");
    put(&viewer, "/graph/J-1").await.expect_problem(403, "insufficient-scope");
    put(&service.client("rival").await, "/graph/J-1").await.expect_problem(412, "precondition-failed");
    desk.send("POST", "/graph/J-2", &wrong, "{").await.expect_problem(404, "graph-not-found");
    put(&desk, "/graph/J-1").await.expect_problem(412, "precondition-failed");
    desk.send("PUT", "/graph/J-1", &wrong[..1], "{").await.expect_problem(415, "unsupported-media-type");
    desk.put("/graph/J-1", "{").await.expect_problem(400, "malformed-json");
}

#[tokio::test]
async fn rate_limited_clients_get_retry_after() {
    let service = TestService::with(&[("PIDQ_RATE_LIMIT", "5")]).await;
    let desk = service.client("desk").await;
    let first = desk.get("/graph").await.is(200);
    assert!(first.header("ratelimit-policy").contains("q=5") && first.header("ratelimit").contains("r=4"));
    let mut last = first;
    for _ in 0..5 {
        last = desk.get("/graph").await;
    }
    let refused = last.is(429);
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds > 0));
    assert_eq!(refused.json()["status"], 429);
    service.client("viewer").await.get("/graph").await.is(200);
    service.anonymous().get("/livez").await.is(200);
}
