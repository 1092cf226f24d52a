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

/// Stores a model, and returns its id.
fn store_model(service: &Service) -> String {
    let model = r#"{"name": "m", "api_key": "k", "model": "x", "base_url": "http://127.0.0.1:9/v1"}"#;
    let headers = ["content-type: application/json".to_owned()];
    let (status, body) = send(&service.address, "POST /api/llm-connections", &headers, model);
    assert_eq!(status, 201, "{body}");
    let connection: Value = serde_json::from_str(&body).expect("valid JSON");
    connection["id"].as_str().expect("an id").to_owned()
}

/// Returns the response to a test of a stored model, whose server does not exist.
fn test_model(service: &Service, id: &str) -> String {
    send(&service.address, &format!("POST /api/llm-connections/{id}/test"), &[], "").1
}

#[test]
fn stored_secrets_survive_a_restart_with_the_generated_application_secret_only() {
    let data = test_dir("up-app-secret");
    let file = data.join("app-secret");
    let service = start(&data);
    assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    let id = store_model(&service);
    drop(service);
    let secret = std::fs::read(&file).expect("a file");
    let service = start(&data);
    assert!(test_model(&service, &id).contains("llm-unreachable"));
    drop(service);
    assert_eq!(std::fs::read(&file).expect("a file"), secret);
    std::fs::remove_file(&file).expect("it is there");
    assert!(test_model(&start(&data), &id).contains("llm-connection-undecryptable"), "another secret was generated");
}

#[test]
fn no_application_secret_is_generated_if_one_is_set_or_the_database_is_elsewhere() {
    let data = test_dir("up-own-secret");
    let url = format!("sqlite:{}", data.join("elsewhere.db").display());
    let secret = "a1b2c3d4e5f60718293a4b5c6d7e8f90";
    let file = data.join("settings.toml");
    std::fs::write(&file, format!("database.url = '{url}'")).expect("it is written");
    let config = file.to_str().expect("a path");
    for (name, value) in [("PIDQ_APP_SECRET", secret), ("PIDQ_DATABASE_URL", &url), ("PIDQ_CONFIG", config)] {
        let environment = [SETTINGS, &[(name, value)]].concat();
        let installation = data.join(name);
        let arguments = ["--data-dir", installation.to_str().expect("a path")];
        drop(Service::start_command("up", &environment, &arguments));
        assert!(!installation.join("app-secret").exists(), "{name}");
        assert_eq!(data.join("elsewhere.db").exists(), name != "PIDQ_APP_SECRET", "{name}");
        drop(std::fs::remove_file(data.join("elsewhere.db")));
    }
}

#[test]
fn an_application_secret_that_others_can_read_is_refused() {
    let data = test_dir("up-shared-secret");
    let file = data.join("app-secret");
    std::fs::write(&file, "a".repeat(43)).expect("it is written");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).expect("it is mine");
    let output = pidq().args(["up", "--data-dir"]).arg(&data).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("app-secret") && error.contains("chmod 600"), "{error}");
}
