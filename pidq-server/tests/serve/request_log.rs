//! Tests of the access log: queries are identified by hash and never logged.

use std::process::{Command, Stdio};

use pidq_http::{LogFormat, init_log};
use serde_json::{Value, json};

use crate::fixtures::{DRAWING, TestService};

/// Environment variable of the child process whose log is read.
const CHILD_ENV: &str = "PIDQ_TEST_LOGS";

const QUERY: &str = r#".pid_graph.nodes | filter(.id == "canary")"#;
/// Hashes of QUERY and of `.canary ==` by `sha256sum`.
const HASHES: [&str; 2] = ["5bfbc99a44fcbb5b", "6392fc8989cb75e3"];

#[test]
fn a_log_line_identifies_its_query_by_hash() {
    if std::env::var_os(CHILD_ENV).is_some() {
        return send_requests();
    }
    let own = std::env::current_exe().expect("a test binary");
    let arguments = ["--exact", "request_log::a_log_line_identifies_its_query_by_hash", "--nocapture"];
    let output = Command::new(own).args(arguments).env(CHILD_ENV, "1").stdout(Stdio::null()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !text.contains("canary"), "{text}");
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let entry = |line: &Value| (line["status"].as_u64(), line["query"].as_str().map(str::to_owned));
    let entries: Vec<_> = lines.iter().filter(|line| line["target"] == "access").map(entry).collect();
    let [valid, wrong] = HASHES.map(|hash| Some(hash.to_owned()));
    let single_queries =
        [(201, None), (200, valid.clone()), (200, valid.clone()), (200, valid.clone()), (200, valid.clone())];
    let rest = [(200, valid), (400, wrong.clone()), (400, wrong), (400, None), (200, None)];
    let expected: Vec<_> =
        single_queries.into_iter().chain(rest).map(|(status, query)| (Some(status), query)).collect();
    assert_eq!(entries, expected);
}

/// Sends a computed, an inline, a cached and a dry-run query; then a batch, and invalid queries.
#[tokio::main]
async fn send_requests() {
    init_log(LogFormat::Json, "trace".parse().expect("a level"));
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    for _ in 0..3 {
        desk.query("J-1", QUERY).await.is(200);
    }
    desk.post("/graph/J-1", json!({"query": QUERY, "dry_run": true})).await.is(200);
    desk.post("/graph", json!({"query": QUERY, "graphs": {"prefix": ""}})).await.is(200);
    desk.query("J-1", ".canary ==").await.is(400);
    desk.post("/graph", json!({"query": ".canary ==", "graphs": {"prefix": ""}})).await.is(400);
    desk.post("/graph/J-1", json!({"query": 1})).await.is(400);
    desk.get("/graph/J-1").await.is(200);
}
