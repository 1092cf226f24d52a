//! Tests of graph parameters: queries on several graphs, or on several versions of one.

use pidq_http::auth::{Grant, Right, Timestamp};
use serde_json::{Value, json};

use crate::fixtures::{DRAWING, TestClient, TestResponse, TestService, drawing};

const NODE_IDS: &str = ".pid_graph.nodes | map(.id)";

/// Starts a service with two versions of `J-1`, of the nodes `A` and `B`, and with `J-2`, of the node `C`.
async fn service() -> TestService {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", &drawing("A")).await.is(201);
    desk.put("/graph/J-1", &drawing("B")).await.is(200);
    desk.put("/graph/J-2", &drawing("C")).await.is(201);
    service
}

async fn post(client: &TestClient<'_>, query: &str, graph_params: Value) -> TestResponse {
    client.post("/graph/J-1", json!({"query": query, "graph_params": graph_params})).await
}

#[tokio::test]
async fn a_query_compares_two_versions_of_its_graph() {
    let service = service().await;
    let desk = service.client("desk").await;
    let query = "rankDiff($old, get()) | map([.change, .id])";
    let response = post(&desk, query, json!({"old": {"change_version": "1"}})).await.is(200);
    assert_eq!(response.header("x-change-version"), "2");
    let body = response.json();
    let mut found: Vec<String> = body["result"].as_array().expect("rows").iter().map(Value::to_string).collect();
    found.sort();
    assert_eq!(found, [r#"["added","B"]"#, r#"["removed","A"]"#]);
    assert_eq!(body["change_version"], "2");
    assert_eq!(body["graph_params"], json!({"old": {"job_id": "J-1", "change_version": "1"}}));
    let same = post(&desk, "diff($old, get()).equal", json!({"old": {}})).await;
    assert_eq!(same.result(), json!([true]));
}

#[tokio::test]
async fn an_older_version_is_compared_with_the_latest() {
    let service = service().await;
    let desk = service.client("desk").await;
    let body = json!({"query": "diff(get(), $new).added | map(.id)", "graph_params": {"new": {}}});
    let response = desk.post("/graph/J-1?change_version=1", body).await.is(200).json();
    assert_eq!(response["result"], json!(["B"]));
    assert_eq!(response["graph_params"]["new"]["change_version"], "2");
}

#[tokio::test]
async fn a_query_reads_several_graphs() {
    let service = service().await;
    let desk = service.client("desk").await;
    let graphs = json!({"other": {"job_id": "J-2"}, "old": {"change_version": "1"}});
    let query = "joinSheets([get(), $old, $other]).nodes | size()";
    assert_eq!(post(&desk, query, graphs.clone()).await.result(), json!([3]));
    let query = format!("{{old: $old | {NODE_IDS}, other: $other | {NODE_IDS}}}");
    assert_eq!(post(&desk, &query, graphs).await.result(), json!([{"old": ["A"], "other": ["C"]}]));
}

#[tokio::test]
async fn values_and_graphs_are_parameters_of_one_query() {
    let service = service().await;
    let desk = service.client("desk").await;
    let body = json!({
        "query": format!("$old | {NODE_IDS} | filter(get() == $id)"),
        "params": {"id": "A"}, "graph_params": {"old": {"change_version": "1"}},
    });
    assert_eq!(desk.post("/graph/J-1", body).await.result(), json!(["A"]));
    let both = json!({"query": "$old", "params": {"old": 1}, "graph_params": {"old": {}}});
    let problem = desk.post("/graph/J-1", both).await.expect_problem(422, "query-invalid").json();
    assert_eq!(problem["pq_code"], "PQ1005");
}

#[tokio::test]
async fn every_kind_of_run_reads_graph_parameters() {
    let service = service().await;
    let desk = service.client("desk").await;
    let body = |more: Value| {
        let mut body = json!({"query": "$old.pid_graph.nodes", "graph_params": {"old": {"change_version": "1"}}});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        body
    };
    let explained = desk.post("/graph/J-1", body(json!({"explain": true}))).await.is(200).json();
    assert_eq!(explained["result"], json!([{"id": "A"}]));
    assert_eq!(explained["graph_params"]["old"]["change_version"], "1");
    assert!(explained["explain"]["steps"].is_array());
    let checked = desk.post("/graph/J-1", body(json!({"dry_run": true}))).await.is(200).json();
    assert_eq!((&checked["result"], &checked["explain"]["warnings"]), (&json!([]), &json!([])));
    let table = desk.post("/graph/J-1?format=csv", body(json!({}))).await.is(200);
    assert_eq!(table.text().lines().collect::<Vec<_>>(), ["id", "A"]);
}

#[tokio::test]
async fn results_are_cached_for_the_versions_that_were_read() {
    let service = service().await;
    let desk = service.client("desk").await;
    let graphs = || json!({"other": {"job_id": "J-2"}});
    let query = format!("$other | {NODE_IDS}");
    // The third request gets the response from the cache.
    for _ in 0..4 {
        assert_eq!(post(&desk, &query, graphs()).await.result(), json!(["C"]));
    }
    desk.put("/graph/J-2", &drawing("D")).await.is(200);
    for _ in 0..4 {
        let response = post(&desk, &query, graphs()).await.is(200).json();
        assert_eq!(
            (&response["result"], &response["graph_params"]["other"]["change_version"]),
            (&json!(["D"]), &json!("2"))
        );
    }
    desk.delete("/graph/J-2").await.is(204);
    post(&desk, &query, graphs()).await.expect_problem(404, "graph-not-found");
}

#[tokio::test]
async fn a_missing_graph_or_version_is_named() {
    let service = service().await;
    let desk = service.client("desk").await;
    for (reference, status, code) in [
        (json!({"job_id": "J-9"}), 404, "graph-not-found"),
        (json!({"change_version": "9"}), 404, "graph-version-not-found"),
        (json!({"job_id": "J 9"}), 400, "invalid-job-id"),
    ] {
        let problem = post(&desk, "$other", json!({"old": {}, "other": reference})).await.expect_problem(status, code);
        assert_eq!(problem.json()["graph_param"], "other");
    }
}

#[tokio::test]
async fn a_graph_that_may_not_be_read_is_reported_as_missing() {
    // Grants are changed by another process here; without the token cache they apply at once.
    let service = TestService::with(&[("PIDQ_DEFAULT_ACCESS", "none"), ("PIDQ_TOKEN_CACHE_TTL", "0s")]).await;
    let (desk, viewer, rival) =
        (service.client("desk").await, service.client("viewer").await, service.client("rival").await);
    for id in ["J-1", "H-1"] {
        desk.put(&format!("/graph/{id}"), DRAWING).await.is(201);
    }
    rival.put("/graph/J-1", DRAWING).await.is(201);
    let grant = |pattern: &str| Grant {
        pattern: pattern.into(),
        subject: "client:viewer".into(),
        right: Right::Read,
        is_creator: false,
    };
    service.identities.grant("main", &grant("J-*"), Timestamp::now()).await.expect("a grant");
    let comparable = |response: TestResponse, id: &str| (response.status, response.text().replace(id, "JOB"));
    for client in [&viewer, &rival] {
        for query in ["$other", "get()", "1 +"] {
            for version in ["1", "7"] {
                let reference = |id: &str| json!({"other": {"job_id": id, "change_version": version}});
                let hidden = comparable(post(client, query, reference("H-1")).await, "H-1");
                assert_eq!(hidden, comparable(post(client, query, reference("H-2")).await, "H-2"), "{query}");
                assert_eq!(hidden.0, 404, "{query}: {}", hidden.1);
            }
        }
    }
    // With the right the query is answered, and cached; without it, the cache is of no use.
    let read = async || post(&viewer, &format!("$other | {NODE_IDS}"), json!({"other": {"job_id": "H-1"}})).await;
    service.identities.grant("main", &grant("H-*"), Timestamp::now()).await.expect("a grant");
    for _ in 0..3 {
        assert_eq!(read().await.result(), json!(["T-1", "V-1", "P-1"]));
    }
    service.identities.revoke_grant("main", "H-*", "client:viewer").await.expect("revoked");
    read().await.expect_problem(404, "graph-not-found");
}

#[tokio::test]
async fn invalid_graph_parameters_are_rejected() {
    let service = service().await;
    let desk = service.client("desk").await;
    for graph_params in [
        json!([]),
        json!(null),
        json!({"old": "1"}),
        json!({"old": null}),
        json!({"old": {"version": "1"}}),
        json!({"old": {"change_version": 1}}),
        json!({"old": {"job_id": null}}),
    ] {
        post(&desk, "1", graph_params).await.expect_problem(400, "invalid-request");
    }
    let many: Value = (0..17).map(|at| (format!("g{at}"), json!({}))).collect::<serde_json::Map<_, _>>().into();
    let problem = post(&desk, "1", many).await.expect_problem(400, "invalid-request");
    assert!(problem.json()["detail"].as_str().is_some_and(|detail| detail.contains("16")), "{}", problem.text());
    post(&desk, "$root", json!({"root": {}})).await.expect_problem(422, "query-invalid");
}

#[tokio::test]
async fn the_graphs_of_a_query_have_a_total_size() {
    let service = TestService::with(&[("PIDQ_MAX_GRAPH_SIZE", "2000")]).await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    let graphs = |count: usize| -> Value {
        (0..count).map(|at| (format!("g{at}"), json!({}))).collect::<serde_json::Map<_, _>>().into()
    };
    post(&desk, "[$g0, $g1] | size()", graphs(2)).await.is(200);
    let problem = post(&desk, "1", graphs(8)).await.expect_problem(413, "graph-too-large").json();
    assert_eq!((&problem["what"], &problem["limit"]), (&json!("graph_params"), &json!(2000)));
}
