//! `POST /graph`: one query over many drawings.

use serde_json::{Value, json};

use crate::service::{Asker, Service, drawing};

async fn rows(asker: &Asker<'_>, body: Value) -> Vec<Value> {
    let answer = asker.post("/graph", body).await.is(200);
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    let text = answer.text();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

async fn stocked() -> Service {
    stocked_by(Service::start().await).await
}

async fn stocked_by(service: Service) -> Service {
    let desk = service.client("desk").await;
    for job in ["A-1", "A-2", "A-3", "B-1"] {
        desk.put(&format!("/graph/{job}"), &drawing(job)).await.is(201);
    }
    service.client("rival").await.put("/graph/A-9", &drawing("secret")).await.is(201);
    service
}

#[tokio::test]
async fn a_row_for_each_drawing_in_the_order_of_the_jobs() {
    let service = stocked().await;
    let viewer = service.client("viewer").await;
    let query = ".pid_graph.nodes | map(.id)";
    let found = rows(&viewer, json!({"query": query, "jobs": {"prefix": "A-"}})).await;
    let row = |job: &str| json!({"job_id": job, "change_version": "1", "result": [job]});
    assert_eq!(found, ["A-1", "A-2", "A-3"].map(row));
    let found = rows(&viewer, json!({"query": query, "jobs": {"ids": ["B-1", "A-1", "B-1"]}})).await;
    assert_eq!(found, ["B-1", "A-1", "B-1"].map(row));
    assert_eq!(rows(&viewer, json!({"query": query, "jobs": {"prefix": "Z"}})).await, [] as [Value; 0]);
    assert_eq!(rows(&viewer, json!({"query": query, "jobs": {"ids": []}})).await, [] as [Value; 0]);
    assert_eq!(rows(&viewer, json!({"query": query, "jobs": {"prefix": ""}})).await.len(), 4);
}

#[tokio::test]
async fn more_graphs_than_are_answered_for_are_a_problem_and_no_part_of_them_an_answer() {
    let service = stocked_by(Service::changed(&[], |server| server.budget.graphs = 3).await).await;
    let viewer = service.client("viewer").await;
    let asked = |jobs: Value| json!({"query": "size()", "jobs": jobs});
    assert_eq!(rows(&viewer, asked(json!({"prefix": "A-"}))).await.len(), 3, "those of others do not count");
    let told = viewer.post("/graph", asked(json!({"prefix": ""}))).await.refuses(422, "too-many-graphs").json();
    assert_eq!(told["limit"], 3);
    let detail = "`jobs.prefix` fits more than 3 graphs: narrow it, and ask in several requests.";
    assert_eq!(told["detail"], detail);
    assert_eq!(rows(&viewer, asked(json!({"ids": ["A-1", "A-1", "A-1"]}))).await.len(), 3);
    viewer.post("/graph", asked(json!({"ids": ["A-1", "A-1", "A-1", "A-1"]}))).await.refuses(400, "invalid-request");
}

#[tokio::test]
async fn a_drawing_that_cannot_answer_has_a_row_that_says_why() {
    let service = stocked().await;
    let viewer = service.client("viewer").await;
    let ids = json!({"ids": ["A-1", "Z-1", "A-9"]});
    let found = rows(&viewer, json!({"query": "size()", "jobs": ids})).await;
    assert!(found[0].get("error").is_none());
    for (row, job) in [(&found[1], "Z-1"), (&found[2], "A-9")] {
        assert_eq!((&row["job_id"], &row["change_version"]), (&json!(job), &Value::Null));
        assert_eq!(row["error"]["code"], "graph-not-found");
        assert!(row.get("result").is_none());
    }
    assert_eq!(found[1]["error"], found[2]["error"], "what is forbidden is not there");
    let wrong = rows(&viewer, json!({"query": "sort()", "jobs": {"ids": ["A-1"]}})).await;
    assert!(wrong[0]["error"]["code"].as_str().is_some_and(|code| code.starts_with("PQ2")), "{wrong:?}");
}

#[tokio::test]
async fn a_query_that_is_none_is_refused_once_and_not_in_every_row() {
    let service = stocked().await;
    let viewer = service.client("viewer").await;
    for (query, params, status, code) in [
        (".a ==", json!({}), 400, "query-syntax"),
        ("fliter(.a)", json!({}), 422, "unknown-function"),
        ("$missing", json!({}), 422, "query-invalid"),
        ("regex(.a, $r)", json!({"r": "("}), 422, "regex-unsupported"),
    ] {
        for jobs in [json!({"prefix": ""}), json!({"ids": []}), json!({"ids": ["Z-1"]})] {
            let body = json!({"query": query, "params": params, "jobs": jobs});
            let problem = viewer.post("/graph", body).await.refuses(status, code).json();
            assert!(problem["pq_code"].is_string() && problem["span"].is_object(), "{problem}");
        }
        let alone = json!({"query": query, "params": params});
        viewer.post("/graph/A-1", alone).await.refuses(status, code);
    }
}

#[tokio::test]
async fn parameters_reach_every_drawing() {
    let service = stocked().await;
    let viewer = service.client("viewer").await;
    let query = ".pid_graph.nodes | filter(.id == $id) | size()";
    let found = rows(&viewer, json!({"query": query, "params": {"id": "A-2"}, "jobs": {"prefix": "A-"}})).await;
    let results: Vec<_> = found.iter().map(|row| row["result"][0].clone()).collect();
    assert_eq!(json!(results), json!([0, 1, 0]));
}

#[tokio::test]
async fn a_body_that_names_no_drawings_is_refused() {
    let service = stocked().await;
    let viewer = service.client("viewer").await;
    for body in [
        json!({"query": "1"}),
        json!({"query": "1", "jobs": {}}),
        json!({"query": "1", "jobs": {"prefix": "A", "ids": []}}),
        json!({"query": "1", "jobs": {"all": true}}),
        json!({"query": "1", "jobs": ["A-1"]}),
        json!({"query": "1", "jobs": "prefix"}),
        json!({"query": "1", "jobs": {"ids": "A-1"}}),
        json!({"query": "1", "jobs": {"prefix": null}}),
        json!({"query": "", "jobs": {"prefix": ""}}),
        json!({"jobs": {"prefix": ""}}),
        json!(["1", null, {"prefix": ""}]),
    ] {
        viewer.post("/graph", body).await.refuses(400, "invalid-request");
    }
    let half = r#"{"query": "$x", "params": {"x": "\ud800"}, "jobs": {"prefix": ""}}"#;
    viewer.send("POST", "/graph", &["content-type: application/json"], half).await.refuses(400, "malformed-json");
    let long = json!({"query": " ".repeat(65_537), "jobs": {"ids": []}});
    viewer.post("/graph", long).await.refuses(422, "query-limit");
    viewer.post("/graph", json!({"query": "1", "jobs": {"ids": ["a/b"]}})).await.refuses(400, "invalid-job-id");
}
