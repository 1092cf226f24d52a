//! The dashboard as a person starts it: in the process of the API, and in one of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::service::{exchange, pidq, send, test_dir};
use crate::up::{PASSWORD, SECRET};

/// Process with a dashboard.
struct Started {
    child: Child,
    /// Addresses in the order of the log; that of the dashboard comes first.
    addresses: Vec<String>,
}

impl Drop for Started {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Starts a command and waits for this number of addresses in its log.
fn start(mut command: Command, count: usize) -> Started {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("its log")).lines().map_while(Result::ok);
    let mut addresses = Vec::new();
    while addresses.len() < count {
        let line: Value = serde_json::from_str(&lines.next().expect("it starts")).expect("valid JSON");
        let url = line["url"].as_str().and_then(|url| url.strip_prefix("http://"));
        addresses.extend(url.or(line["address"].as_str()).map(str::to_owned));
    }
    thread::spawn(move || lines.for_each(drop));
    Started { child, addresses }
}

/// Writes a front end of one page.
fn front_end(folder: &Path) -> PathBuf {
    let dir = folder.join("front-end");
    std::fs::create_dir_all(&dir).expect("a directory");
    std::fs::write(dir.join("index.html"), "<!doctype html>").expect("it is written");
    dir
}

fn up(folder: &Path) -> Started {
    let mut command = pidq();
    command.env("PIDQ_ADMIN_PASSWORD", PASSWORD).env("PIDQ_CLIENT_SECRET", SECRET).env("PIDQ_SHUTDOWN_DELAY", "0s");
    command.args(["up", "--demo", "--listen", "127.0.0.1:0", "--admin-listen", "", "--data-dir"]);
    command.arg(folder.join("data")).args(["--dashboard-listen", "127.0.0.1:0", "--dashboard-dir"]);
    command.arg(front_end(folder));
    start(command, 2)
}

fn headers(cookie: &str) -> Vec<String> {
    ["sec-fetch-site: same-origin", "content-type: application/json", cookie].map(str::to_owned).to_vec()
}

/// Signs in and returns the cookie as a header.
fn sign_in(dashboard: &str) -> String {
    let credentials = json!({ "login": "demo", "password": PASSWORD }).to_string();
    let (head, body) = exchange(dashboard, "POST /session", &headers("accept: */*"), &credentials);
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    format!("cookie: {}", cookie.split(';').next().expect("a value"))
}

#[test]
fn a_person_signs_in_sees_graphs_and_documents_and_signs_out() {
    let folder = test_dir("dashboard-up");
    let started = up(&folder);
    let [dashboard, api] = &started.addresses[..] else { panic!("{:?}", started.addresses) };
    let page = ["accept: text/html".to_owned()];
    assert_eq!(send(dashboard, "GET /drawings/plant-100", &page, ""), (200, "<!doctype html>".to_owned()));
    let (head, _) = exchange(api, "GET /", &page, "");
    assert!(head.contains(&format!("location: http://{dashboard}")), "browsers get the dashboard: {head}");

    let cookie = sign_in(dashboard);
    let graphs = send(dashboard, "GET /graph", &headers(&cookie), "");
    assert!(graphs.0 == 200 && graphs.1.contains("plant-100"), "{graphs:?}");
    let query = json!({ "query": ".pid_graph.nodes | size()" }).to_string();
    let (status, result) = send(dashboard, "POST /graph/plant-100", &headers(&cookie), &query);
    assert!(status == 200 && result.contains("\"result\":[120]"), "{result}");
    assert!(send(dashboard, "GET /api/pipelines", &headers(&cookie), "").1.contains("Unit 100"));

    assert_eq!(send(dashboard, "DELETE /session", &headers(&cookie), "").0, 204);
    assert_eq!(send(dashboard, "GET /graph", &headers(&cookie), "").0, 401);
}

#[test]
fn a_session_survives_a_restart() {
    let folder = test_dir("dashboard-restart");
    let cookie = sign_in(&up(&folder).addresses[0]);
    let started = up(&folder);
    assert_eq!(send(&started.addresses[0], "GET /graph", &headers(&cookie), "").0, 200);
}

#[test]
fn a_dashboard_in_a_process_of_its_own_calls_the_api_at_its_url() {
    let folder = test_dir("dashboard-remote");
    let api = up(&folder);
    let mut command = pidq();
    command.env("PIDQ_CLIENT_ID", "pidq").env("PIDQ_CLIENT_SECRET", SECRET).args(["dashboard", "--admin-listen", ""]);
    command.args(["--api-url", &format!("http://{}", api.addresses[1]), "--dashboard-listen", "127.0.0.1:0"]);
    command.arg("--dashboard-dir").arg(folder.join("front-end"));
    let started = start(command, 1);
    let dashboard = &started.addresses[0];
    assert_eq!(send(dashboard, "GET /readyz", &[], "").0, 200);
    let cookie = sign_in(dashboard);
    assert!(send(dashboard, "GET /graph", &headers(&cookie), "").1.contains("plant-100"));
}
