//! Tests of `POST /graph`: one query on many graphs.

use serde_json::{Value, json};

use crate::fixtures::{TestClient, TestService, drawing};

async fn rows(client: &TestClient<'_>, body: Value) -> Vec<Value> {
    let response = client.post("/graph", body).await.is(200);
    assert_eq!(response.header("content-type"), "application/x-ndjson");
    let text = response.text();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

async fn service_with_graphs() -> TestService {
    add_graphs(TestService::start().await).await
}

async fn add_graphs(service: TestService) -> TestService {
    let desk = service.client("desk").await;
    for graph_id in ["A-1", "A-2", "A-3", "B-1"] {
        desk.put(&format!("/graph/{graph_id}"), &drawing(graph_id)).await.is(201);
    }
    service.client("rival").await.put("/graph/A-9", &drawing("secret")).await.is(201);
    service
}

#[tokio::test]
async fn each_graph_has_a_row_in_the_order_of_the_ids() {
    let service = service_with_graphs().await;
    let viewer = service.client("viewer").await;
    let query = ".pid_graph.nodes | map(.id)";
    let found = rows(&viewer, json!({"query": query, "graphs": {"prefix": "A-"}})).await;
    let row = |graph_id: &str| json!({"job_id": graph_id, "change_version": "1", "result": [graph_id]});
    assert_eq!(found, ["A-1", "A-2", "A-3"].map(row));
    let found = rows(&viewer, json!({"query": query, "graphs": {"ids": ["B-1", "A-1", "B-1"]}})).await;
    assert_eq!(found, ["B-1", "A-1", "B-1"].map(row));
    assert_eq!(rows(&viewer, json!({"query": query, "graphs": {"prefix": "Z"}})).await, [] as [Value; 0]);
    assert_eq!(rows(&viewer, json!({"query": query, "graphs": {"ids": []}})).await, [] as [Value; 0]);
    assert_eq!(rows(&viewer, json!({"query": query, "graphs": {"prefix": ""}})).await.len(), 4);
}

#[tokio::test]
async fn too_many_graphs_are_rejected_without_a_partial_result() {
    let service = add_graphs(TestService::changed(&[], |server| server.query_limits.batch_graphs = 3).await).await;
    let viewer = service.client("viewer").await;
    let request = |graph_ids: Value| json!({"query": "size()", "graphs": graph_ids});
    assert_eq!(rows(&viewer, request(json!({"prefix": "A-"}))).await.len(), 3, "graphs of other tenants do not count");
    let problem =
        viewer.post("/graph", request(json!({"prefix": ""}))).await.expect_problem(422, "too-many-graphs").json();
    assert_eq!(problem["limit"], 3);
    let detail = "`graphs.prefix` matches more than 3 graphs; use a longer prefix or several requests.";
    assert_eq!(problem["detail"], detail);
    assert_eq!(rows(&viewer, request(json!({"ids": ["A-1", "A-1", "A-1"]}))).await.len(), 3);
    viewer
        .post("/graph", request(json!({"ids": ["A-1", "A-1", "A-1", "A-1"]})))
        .await
        .expect_problem(400, "invalid-request");
}

#[tokio::test]
async fn a_failing_graph_has_an_error_row() {
    let service = service_with_graphs().await;
    let viewer = service.client("viewer").await;
    let ids = json!({"ids": ["A-1", "Z-1", "A-9"]});
    let found = rows(&viewer, json!({"query": "size()", "graphs": ids})).await;
    assert!(found[0].get("error").is_none());
    for (row, graph_id) in [(&found[1], "Z-1"), (&found[2], "A-9")] {
        assert_eq!((&row["job_id"], &row["change_version"]), (&json!(graph_id), &Value::Null));
        assert_eq!(row["error"]["code"], "graph-not-found");
        assert!(row.get("result").is_none());
    }
    assert_eq!(found[1]["error"], found[2]["error"], "a forbidden graph looks like a missing one");
    let wrong = rows(&viewer, json!({"query": "sort()", "graphs": {"ids": ["A-1"]}})).await;
    assert!(wrong[0]["error"]["code"].as_str().is_some_and(|code| code.starts_with("PQ2")), "{wrong:?}");
}

#[tokio::test]
async fn an_invalid_query_is_rejected_once() {
    let service = service_with_graphs().await;
    let viewer = service.client("viewer").await;
    for (query, params, status, code) in [
        (".a ==", json!({}), 400, "query-syntax"),
        ("fliter(.a)", json!({}), 422, "unknown-function"),
        ("$missing", json!({}), 422, "query-invalid"),
        ("regex(.a, $r)", json!({"r": "("}), 422, "regex-unsupported"),
    ] {
        for graph_ids in [json!({"prefix": ""}), json!({"ids": []}), json!({"ids": ["Z-1"]})] {
            let body = json!({"query": query, "params": params, "graphs": graph_ids});
            let problem = viewer.post("/graph", body).await.expect_problem(status, code).json();
            assert!(problem["pq_code"].is_string() && problem["span"].is_object(), "{problem}");
        }
        let single = json!({"query": query, "params": params});
        viewer.post("/graph/A-1", single).await.expect_problem(status, code);
    }
}

#[tokio::test]
async fn parameters_apply_to_every_graph() {
    let service = service_with_graphs().await;
    let viewer = service.client("viewer").await;
    let query = ".pid_graph.nodes | filter(.id == $id) | size()";
    let found = rows(&viewer, json!({"query": query, "params": {"id": "A-2"}, "graphs": {"prefix": "A-"}})).await;
    let results: Vec<_> = found.iter().map(|row| row["result"][0].clone()).collect();
    assert_eq!(json!(results), json!([0, 1, 0]));
}

#[tokio::test]
async fn a_body_without_graphs_is_rejected() {
    let service = service_with_graphs().await;
    let viewer = service.client("viewer").await;
    for body in [
        json!({"query": "1"}),
        json!({"query": "1", "graphs": {}}),
        json!({"query": "1", "graphs": {"prefix": "A", "ids": []}}),
        json!({"query": "1", "graphs": {"all": true}}),
        json!({"query": "1", "graphs": ["A-1"]}),
        json!({"query": "1", "graphs": "prefix"}),
        json!({"query": "1", "graphs": {"ids": "A-1"}}),
        json!({"query": "1", "graphs": {"prefix": null}}),
        json!({"query": "", "graphs": {"prefix": ""}}),
        json!({"graphs": {"prefix": ""}}),
        json!(["1", null, {"prefix": ""}]),
    ] {
        viewer.post("/graph", body).await.expect_problem(400, "invalid-request");
    }
    let half = r#"{"query": "$x", "params": {"x": "\ud800"}, "graphs": {"prefix": ""}}"#;
    viewer
        .send("POST", "/graph", &["content-type: application/json"], half)
        .await
        .expect_problem(400, "malformed-json");
    let long = json!({"query": " ".repeat(65_537), "graphs": {"ids": []}});
    viewer.post("/graph", long).await.expect_problem(422, "query-limit");
    viewer
        .post("/graph", json!({"query": "1", "graphs": {"ids": ["a/b"]}}))
        .await
        .expect_problem(400, "invalid-job-id");
}
