//! Log lines: which query was asked, and not what it says.

use std::process::{Command, Stdio};

use pidq_http::{LogFormat, init_log};
use serde_json::{Value, json};

use crate::service::{DRAWING, Service};

/// Set for the process whose lines are read.
const ALONE: &str = "PIDQ_TEST_LOGS";

const QUERY: &str = r#".pid_graph.nodes | filter(.id == "canary")"#;
/// By `sha256sum`: that of QUERY, and that of `.canary ==`.
const HASHES: [&str; 2] = ["5bfbc99a44fcbb5b", "6392fc8989cb75e3"];

#[test]
fn a_line_names_its_query_and_does_not_tell_it() {
    if std::env::var_os(ALONE).is_some() {
        return ask();
    }
    let own = std::env::current_exe().expect("a test binary");
    let arguments = ["--exact", "logging::a_line_names_its_query_and_does_not_tell_it", "--nocapture"];
    let output = Command::new(own).args(arguments).env(ALONE, "1").stdout(Stdio::null()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !text.contains("canary"), "{text}");
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let told = |line: &Value| (line["status"].as_u64(), line["query"].as_str().map(str::to_owned));
    let told: Vec<_> = lines.iter().filter(|line| line["target"] == "access").map(told).collect();
    let [asked, wrong] = HASHES.map(|hash| Some(hash.to_owned()));
    let by_hand = [(201, None), (200, asked.clone()), (200, asked.clone()), (200, asked.clone()), (200, asked.clone())];
    let rest = [(200, asked), (400, wrong.clone()), (400, wrong), (400, None), (200, None)];
    let expected: Vec<_> = by_hand.into_iter().chain(rest).map(|(status, query)| (Some(status), query)).collect();
    assert_eq!(told, expected);
}

/// An answer that is found, found again, kept, given again, and one of a dry run; then a fleet, and what is no query.
#[tokio::main]
async fn ask() {
    init_log(LogFormat::Json, "trace".parse().expect("a level"));
    let service = Service::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    for _ in 0..3 {
        desk.ask("J-1", QUERY).await.is(200);
    }
    desk.post("/graph/J-1", json!({"query": QUERY, "dry_run": true})).await.is(200);
    desk.post("/graph", json!({"query": QUERY, "jobs": {"prefix": ""}})).await.is(200);
    desk.ask("J-1", ".canary ==").await.is(400);
    desk.post("/graph", json!({"query": ".canary ==", "jobs": {"prefix": ""}})).await.is(400);
    desk.post("/graph/J-1", json!({"query": 1})).await.is(400);
    desk.get("/graph/J-1").await.is(200);
}
