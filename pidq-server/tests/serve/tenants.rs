//! Tests of tenants and grants: forbidden graphs are indistinguishable from missing ones.

use pidq_http::auth::{Grant, Right, Timestamp};
use serde_json::json;

use crate::fixtures::{DRAWING, TestClient, TestResponse, TestService, drawing};

/// Sends every kind of request about a graph.
async fn all_requests(client: &TestClient<'_>, graph_id: &str) -> Vec<TestResponse> {
    let path = format!("/graph/{graph_id}");
    let json = "content-type: application/json";
    vec![
        client.get(&path).await,
        client.send("HEAD", &path, &[], "").await,
        client.get(&format!("{path}?format=svg")).await,
        client.send("GET", &path, &["x-change-version: 1"], "").await,
        client.send("GET", &path, &["x-change-version: 7"], "").await,
        client.send("GET", &path, &["if-none-match: *"], "").await,
        client.get(&format!("{path}/versions")).await,
        client.query(graph_id, "get()").await,
        client.send("POST", &path, &[json], "{").await,
        client.send("POST", &path, &[json, "x-change-version: 7"], r#"{"query":"get()"}"#).await,
        client.post(&path, json!({"query": "$old", "graph_params": {"old": {"change_version": "1"}}})).await,
        client.delete(&path).await,
        client.send("DELETE", &path, &["if-match: *"], "").await,
        client.send("DELETE", &path, &["if-match: \"x\""], "").await,
        client.post("/graph", json!({"query": "get()", "graphs": {"ids": [graph_id]}})).await,
        client.post("/graph", json!({"query": "get()", "graphs": {"prefix": graph_id}})).await,
        client.get(&format!("/graph?prefix={graph_id}")).await,
    ]
}

/// Returns a response without the graph id and timestamps.
fn comparable(response: &TestResponse, graph_id: &str) -> (u16, Vec<(String, String)>, String) {
    let headers =
        response.headers.iter().map(|(name, value)| (name.to_string(), value.to_str().expect("ASCII").into()));
    (response.status, headers.collect(), response.text().replace(graph_id, "JOB"))
}

async fn check_indistinguishable(client: &TestClient<'_>, hidden: &str, absent: &str) {
    let pairs = all_requests(client, hidden).await.into_iter().zip(all_requests(client, absent).await);
    for (at, (hidden_response, absent_response)) in pairs.enumerate() {
        assert_eq!(comparable(&hidden_response, hidden), comparable(&absent_response, absent), "request {at}");
    }
}

#[tokio::test]
async fn the_graphs_of_another_tenant_do_not_exist() {
    let service = TestService::start().await;
    let (desk, rival) = (service.client("desk").await, service.client("rival").await);
    desk.put("/graph/J-1", DRAWING).await.is(201);
    desk.put("/graph/J-1", &drawing("A")).await.is(200);
    check_indistinguishable(&rival, "J-1", "J-2").await;
    assert_eq!(desk.get("/graph/J-1").await.is(200).header("x-change-version"), "2");
}

#[tokio::test]
async fn the_same_id_is_another_graph_in_another_tenant() {
    let service = TestService::start().await;
    let (desk, rival) = (service.client("desk").await, service.client("rival").await);
    desk.put("/graph/J-1", &drawing("ours")).await.is(201);
    rival.put("/graph/J-1", &drawing("theirs")).await.is(201);
    assert_eq!(desk.query("J-1", ".pid_graph.nodes | map(.id)").await.result(), json!(["ours"]));
    assert_eq!(rival.query("J-1", ".pid_graph.nodes | map(.id)").await.result(), json!(["theirs"]));
    rival.delete("/graph/J-1").await.is(204);
    desk.get("/graph/J-1").await.is(200);
}

#[tokio::test]
async fn without_default_access_a_grant_is_required() {
    // Grants are changed by another process here; without the token cache they apply at once.
    let service = TestService::with(&[("PIDQ_DEFAULT_ACCESS", "none"), ("PIDQ_TOKEN_CACHE_TTL", "0s")]).await;
    let (desk, viewer) = (service.client("desk").await, service.client("viewer").await);
    desk.put("/graph/J-1", DRAWING).await.is(201);
    check_indistinguishable(&viewer, "J-1", "J-2").await;
    let grant = Grant { pattern: "J-*".into(), subject: "client:viewer".into(), right: Right::Read, is_creator: false };
    service.identities.grant("main", &grant, Timestamp::now()).await.expect("a grant");
    viewer.get("/graph/J-1").await.is(200);
    assert_eq!(viewer.get("/graph").await.json()["graphs"].as_array().map(Vec::len), Some(1));
    service.identities.revoke_grant("main", "J-*", "client:viewer").await.expect("revoked");
    viewer.get("/graph/J-1").await.expect_problem(404, "graph-not-found");
}

#[tokio::test]
async fn only_the_creator_may_write_a_graph() {
    let service = TestService::start().await;
    let (desk, pen) = (service.client("desk").await, service.client("pen").await);
    desk.put("/graph/J-1", DRAWING).await.is(201);
    pen.put("/graph/J-1", &drawing("A")).await.expect_problem(404, "graph-not-found");
    pen.delete("/graph/J-1").await.expect_problem(404, "graph-not-found");
    pen.put("/graph/J-2", &drawing("A")).await.is(201);
    desk.put("/graph/J-2", &drawing("B")).await.expect_problem(404, "graph-not-found");
    desk.get("/graph/J-2").await.is(200);
}

#[tokio::test]
async fn a_rejected_write_claims_no_id() {
    let service = TestService::start().await;
    let (desk, pen) = (service.client("desk").await, service.client("pen").await);
    let json = "content-type: application/json";
    pen.put("/graph/J-1", "{").await.expect_problem(400, "malformed-json");
    pen.put("/graph/J-1", "{}").await.expect_problem(422, "invalid-graph");
    pen.send("PUT", "/graph/J-1", &[json, "if-match: *"], DRAWING).await.expect_problem(412, "precondition-failed");
    pen.send("PUT", "/graph/J-1", &["content-type: text/plain"], DRAWING)
        .await
        .expect_problem(415, "unsupported-media-type");
    pen.delete("/graph/J-1").await.expect_problem(404, "graph-not-found");
    desk.put("/graph/J-1", DRAWING).await.is(201);
    pen.put("/graph/J-1", DRAWING).await.expect_problem(404, "graph-not-found");
}

#[tokio::test]
async fn an_administrator_has_rights_in_one_tenant_only() {
    let service = TestService::start().await;
    service.client("desk").await.put("/graph/J-1", DRAWING).await.is(201);
    service.client("rival").await.put("/graph/J-9", DRAWING).await.is(201);
    let (password, secret) = (crate::fixtures::PASSWORD, crate::fixtures::SECRET);
    let form = format!(
        "grant_type=password&username=ann@example.com&password={password}&client_id=desk&client_secret={secret}"
    );
    let token = service.token_by(&form).await;
    let admin = service.bearer(&token);
    admin.put("/graph/J-1", &drawing("A")).await.is(200);
    check_indistinguishable(&admin, "J-9", "J-8").await;
}
