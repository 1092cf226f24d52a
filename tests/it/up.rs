//! Graphs and documents served by one process, started as a new user does.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::cli::run_on_terminal;
use crate::service::{Service, pidq, send, test_dir};

pub const PASSWORD: &str = "a long password of a test";
pub const SECRET: &str = "pidq_cs_a-long-secret-of-a-test-0123456789abcdefghij";
/// Credentials that the first start would generate, no shutdown delay, and no dashboard.
const SETTINGS: &[(&str, &str)] = &[
    ("PIDQ_ADMIN_PASSWORD", PASSWORD),
    ("PIDQ_CLIENT_SECRET", SECRET),
    ("PIDQ_SHUTDOWN_DELAY", "0s"),
    ("PIDQ_DASHBOARD_LISTEN", ""),
];

pub fn start(data: &Path) -> Service {
    Service::start_command("up", SETTINGS, &["--demo", "--data-dir", data.to_str().expect("a path")])
}

fn get(service: &Service, path: &str) -> (u16, String) {
    send(&service.address, &format!("GET {path}"), &[], "")
}

/// Returns the pipelines when all of their documents are ready.
pub fn pipelines(service: &Service) -> Vec<Value> {
    for _ in 0..300 {
        let (status, body) = get(service, "/api/pipelines");
        assert_eq!(status, 200, "{body}");
        let list: Value = serde_json::from_str(&body).expect("valid JSON");
        let pipelines = list["data"].as_array().expect("a list").clone();
        if pipelines.iter().all(|pipeline| pipeline["document_counts"]["ready"] == pipeline["document_counts"]["total"])
        {
            return pipelines;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("the documents of the demonstration are not processed");
}

/// Returns the graphs visible to the demonstration user.
fn graphs(service: &Service) -> String {
    let mut command = pidq();
    command.envs([("PIDQ_CLIENT_ID", "pidq"), ("PIDQ_CLIENT_SECRET", SECRET)]);
    command.envs([("PIDQ_USERNAME", "demo"), ("PIDQ_PASSWORD", PASSWORD)]);
    let output = command.args(["graph", "--url", &format!("http://{}", service.address), "list"]).output();
    let output = output.expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn check(service: &Service) {
    let pipelines = pipelines(service);
    let counts: Vec<_> =
        pipelines.iter().map(|pipeline| (&pipeline["name"], &pipeline["document_counts"]["total"])).collect();
    assert_eq!(counts, [(&Value::from("Unit 100"), &Value::from(3))]);
    let graphs = graphs(service);
    assert!(graphs.contains("plant-100") && graphs.contains("storage-100"), "{graphs}");
}

#[test]
fn one_process_serves_graphs_and_documents_on_one_address() {
    let data = test_dir("up");
    let mut service = start(&data);
    check(&service);
    for (path, status) in [("/readyz", 200), ("/docs", 200), ("/graph/plant-100", 401), ("/apis", 404), ("/api", 404)] {
        assert_eq!(get(&service, path).0, status, "{path}");
    }
    let document = get(&service, "/openapi.json").1;
    assert!(document.contains("\"/graph/{job_id}\"") && document.contains("\"/api/pipelines\""));
    let stopped = Command::new("kill").arg(service.child.id().to_string()).status().expect("kill runs");
    assert!(stopped.success());
    assert!(service.child.wait().expect("it ends").success());
    // Existing graphs and documents are not added again.
    check(&start(&data));
}

#[test]
fn a_person_sees_a_banner_and_short_lines() {
    let folder = test_dir("up-terminal");
    let line = format!(
        "PIDQ_ADMIN_LISTEN= PIDQ_DASHBOARD_LISTEN= {} up --demo --listen 127.0.0.1:0 --data-dir data",
        env!("CARGO_BIN_EXE_pidq")
    );
    let Some(seen) = run_on_terminal(&line, &[("Press Ctrl-C to stop.", "\u{3}")], &folder) else { return };
    for expected in ["API", "http://127.0.0.1:", "demo", "shown once", "POST /api/pipelines", "Ctrl-C again", "stopped"]
    {
        assert!(seen.contains(expected), "`{expected}` is missing in {seen}");
    }
    assert!(!seen.contains("{\"timestamp\""), "{seen}");
    assert!(!folder.join("data/initial-credentials").exists());
    let seen = run_on_terminal(&line, &[("Press Ctrl-C to stop.", "\u{3}")], &folder).expect("a terminal");
    assert!(seen.contains("pidq users passwd demo") && !seen.contains("shown once"), "{seen}");
}

#[test]
fn without_a_terminal_every_line_is_json_and_no_secret_is_logged() {
    let data = test_dir("up-json");
    let mut command = pidq();
    command.env("PIDQ_DASHBOARD_LISTEN", "");
    command.args(["up", "--demo", "--listen", "127.0.0.1:0", "--admin-listen", "", "--data-dir"]).arg(&data);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("its log")).lines().map_while(Result::ok);
    let mut log = Vec::new();
    while !log.last().is_some_and(|line: &String| line.contains("listening")) {
        log.push(lines.next().expect("it starts"));
    }
    let stopped = Command::new("kill").arg(child.id().to_string()).status().expect("kill runs");
    assert!(stopped.success());
    log.extend(lines);
    assert!(child.wait().expect("it ends").success());
    for line in &log {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
    let file = data.join("initial-credentials");
    let credentials = std::fs::read_to_string(&file).expect("the file of the first start");
    assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    let values: Vec<&str> = credentials.lines().filter_map(|line| Some(line.split_once('=')?.1)).collect();
    assert!(values.len() == 4 && values[0] == "demo", "{values:?}");
    let log = log.concat();
    assert!(!log.contains(values[1]) && !log.contains(values[3]), "{log}");
}
