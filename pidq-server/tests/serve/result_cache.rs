//! Tests of cached, inline and pooled execution, which give identical responses.

use std::io::Read;

use pidq_http::auth::Timestamp;
use serde_json::{Value, json};

use crate::fixtures::{DRAWING, TestResponse, TestService, drawing};

/// Returns a drawing of `count` nodes, some hundred bytes each, half of them valves.
fn drawing_with_nodes(count: usize) -> String {
    let node = |n: usize| {
        let class = if n.is_multiple_of(2) { "valve" } else { "pump" };
        json!({"id": format!("N-{n}"), "class": class, "note": "x".repeat(100 + n % 50), "n": n})
    };
    json!({"pid_graph": {"nodes": (0..count).map(node).collect::<Vec<_>>(), "edges": []}}).to_string()
}

fn comparable(response: &TestResponse) -> (u16, String, [&str; 5]) {
    let names = ["x-result-kind", "x-fuel-used", "x-change-version", "content-type", "cache-control"];
    (response.status, response.text(), names.map(|name| response.header(name)))
}

/// Queries with small and large results, copied and computed, cheap and expensive, and one that fails.
const QUERIES: &[&str] = &[
    ".pid_graph.nodes | size()",
    r#".pid_graph.nodes | filter(.class == "valve")"#,
    ".pid_graph.nodes | pick(.id, .n)",
    ".pid_graph.nodes | sort(.n, \"desc\") | map(.n) | limit(3)",
    ".pid_graph",
    ".nothing",
    r#".pid_graph.nodes | map(.id | regex("7$")) | sum()"#,
    ".pid_graph.nodes | map(.n * .n) | reverse() | map(get() + 1) | sort() | uniq() | size()",
    ".pid_graph.nodes | sum(",
];

#[tokio::test]
async fn cached_inline_and_pooled_responses_are_identical() {
    for count in [3, 2_000, 9_000] {
        let (cached, uncached) =
            (TestService::start().await, TestService::with(&[("PIDQ_RESULT_CACHE_SIZE", "0")]).await);
        let (cached_client, uncached_client) = (cached.client("desk").await, uncached.client("desk").await);
        cached_client.put("/graph/J-1", &drawing_with_nodes(count)).await.is(201);
        uncached_client.put("/graph/J-1", &drawing_with_nodes(count)).await.is(201);
        for query in QUERIES {
            // With `explain`, a query always runs on a worker thread and is never cached.
            let explained = cached_client.post("/graph/J-1", json!({"query": query, "explain": true})).await;
            let first = cached_client.query("J-1", query).await;
            assert_eq!(first.status, explained.status, "{query}");
            if first.status == 200 {
                assert_eq!(explained.json()["result"], first.json()["result"], "{count} {query}");
            }
            for _ in 0..3 {
                assert_eq!(comparable(&first), comparable(&cached_client.query("J-1", query).await), "{count} {query}");
                assert_eq!(
                    comparable(&first),
                    comparable(&uncached_client.query("J-1", query).await),
                    "{count} {query}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_cached_result_is_not_used_for_another_version() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let ids = ".pid_graph.nodes | map(.id)";
    for (status, node) in [(201, "A"), (200, "B"), (200, "C")] {
        desk.put("/graph/J-1", &drawing(node)).await.is(status);
        for _ in 0..4 {
            assert_eq!(desk.query("J-1", ids).await.result(), json!([node]));
        }
    }
    let body = json!({"query": ids}).to_string();
    for _ in 0..3 {
        let old =
            desk.send("POST", "/graph/J-1", &["content-type: application/json", "x-change-version: 1"], body.clone());
        assert_eq!(old.await.result(), json!(["A"]));
    }
    desk.delete("/graph/J-1").await.is(204);
    desk.query("J-1", ids).await.expect_problem(404, "graph-not-found");
}

#[tokio::test]
async fn a_cached_result_requires_permission() {
    let service = TestService::start().await;
    let (desk, viewer, rival) =
        (service.client("desk").await, service.client("viewer").await, service.client("rival").await);
    desk.put("/graph/J-1", DRAWING).await.is(201);
    for _ in 0..3 {
        assert_eq!(viewer.query("J-1", ".pid_graph.nodes | size()").await.result(), json!([3]));
    }
    rival.query("J-1", ".pid_graph.nodes | size()").await.expect_problem(404, "graph-not-found");
    service
        .client("pen")
        .await
        .query("J-1", ".pid_graph.nodes | size()")
        .await
        .expect_problem(403, "insufficient-scope");
    service.anonymous().query("J-1", ".pid_graph.nodes | size()").await.expect_problem(401, "unauthenticated");
}

#[tokio::test]
async fn parameters_and_formats_are_part_of_the_cache_key() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", &drawing_with_nodes(10)).await.is(201);
    for _ in 0..3 {
        for n in [3, 7] {
            let body = json!({"query": ".pid_graph.nodes | filter(.n == $n) | map(.n)", "params": {"n": n}});
            assert_eq!(desk.post("/graph/J-1", body).await.result(), json!([n]));
        }
        let lines =
            desk.post("/graph/J-1?format=ndjson", json!({"query": ".pid_graph.nodes | map(.n) | limit(2)"})).await;
        assert_eq!(lines.is(200).text(), "0\n1\n");
    }
}

#[tokio::test]
async fn a_revoked_token_gets_no_cached_result() {
    let service = TestService::start().await;
    let (desk, viewer) = (service.client("desk").await, service.client("viewer").await);
    desk.put("/graph/J-1", DRAWING).await.is(201);
    for _ in 0..3 {
        viewer.query("J-1", "size()").await.is(200);
    }
    let token = viewer.token.clone().expect("a token");
    let form = format!("token={token}&client_id=viewer&client_secret={}", crate::fixtures::SECRET);
    service.anonymous().form("/o/revoke_token/", &form).await.is(200);
    viewer.query("J-1", "size()").await.expect_problem(401, "invalid-token");
}

/// The service and the administration commands are two processes on one database.
#[tokio::test]
async fn without_a_token_cache_a_client_disabled_elsewhere_is_rejected_at_once() {
    let service = TestService::with(&[("PIDQ_TOKEN_CACHE_TTL", "0s")]).await;
    let desk = service.client("desk").await;
    desk.get("/graph").await.is(200);
    service.identities.disable_client("desk", Timestamp::now()).await.expect("disabled");
    desk.get("/graph").await.expect_problem(401, "invalid-token");
}

#[tokio::test]
async fn gzip_has_the_same_content() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", &drawing_with_nodes(100)).await.is(201);
    let plain = desk.send("GET", "/graph/J-1", &["accept-encoding: identity"], "").await.is(200);
    for _ in 0..3 {
        let compressed = desk.send("GET", "/graph/J-1", &["accept-encoding: gzip"], "").await.is(200);
        assert_eq!(compressed.header("content-encoding"), "gzip");
        assert_eq!(compressed.header("etag"), format!("{}-gzip\"", plain.header("etag").trim_end_matches('"')));
        let mut decompressed = Vec::new();
        flate2::read::GzDecoder::new(&compressed.body[..]).read_to_end(&mut decompressed).expect("gzip");
        assert!(decompressed == plain.body);
        assert!(compressed.body.len() < plain.body.len() / 2);
    }
    let known = format!("if-none-match: {}", plain.header("etag"));
    desk.send("GET", "/graph/J-1", &["accept-encoding: gzip", &known], "").await.is(304);
    desk.put("/graph/J-2", &drawing("A")).await.is(201);
    let small = desk.send("GET", "/graph/J-2", &["accept-encoding: gzip"], "").await.is(200);
    assert_eq!(small.header("content-encoding"), "");
    let small: Value = small.json();
    assert_eq!(small["pid_graph"]["nodes"], json!([{"id": "A"}]));
}
