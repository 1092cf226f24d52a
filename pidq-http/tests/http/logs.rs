//! Log lines: one per request, JSON, and nothing in them that is nobody's business.

use std::process::{Command, Stdio};

use pidq_http::{LogFormat, init_log};
use serde_json::Value;
use tracing_subscriber::filter::LevelFilter;

use crate::server::{Server, app, status};

/// Set for the process whose lines are read.
const ALONE: &str = "PIDQ_TEST_LOGS";

#[test]
fn a_line_tells_what_was_done_and_no_secret() {
    if std::env::var_os(ALONE).is_some() {
        return ask();
    }
    let own = std::env::current_exe().expect("a test binary");
    let arguments = ["--exact", "logs::a_line_tells_what_was_done_and_no_secret", "--nocapture"];
    let output = Command::new(own).args(arguments).env(ALONE, "1").stdout(Stdio::null()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("canary"), "a secret is in the log: {text}");
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let access: Vec<&Value> = lines.iter().filter(|line| line["target"] == "access").collect();
    let first = access.first().expect("there is a line");
    assert_eq!(
        (&first["method"], &first["route"], &first["status"], &first["bytes"]),
        (&"GET".into(), &"/things/{id}".into(), &200.into(), &13.into())
    );
    assert_eq!((&first["id"], &first["complete"]), (&"r-1".into(), &true.into()));
    let second = access.get(1).expect("there is another line");
    assert_eq!((&second["principal"], &second["tenant"]), (&"ann".into(), &"t".into()));
    let last = access.last().expect("there is a line");
    assert_eq!((&last["status"], &last["route"]), (&404.into(), &"".into()));
}

/// Every place where a secret could stand.
#[tokio::main]
async fn ask() {
    init_log(LogFormat::Json, LevelFilter::TRACE);
    let server = Server::start(app());
    let id = "X-Request-Id: r-1\r\nX-Other: canary\r\nCookie: canary";
    let answer = server.request(&format!("GET /things/canary-path?token=canary HTTP/1.1\r\n{id}"), "").await;
    assert_eq!(status(&answer), 200);
    server.request("GET /mine HTTP/1.1\r\nAuthorization: Bearer ann:canary", "").await;
    server.request("GET /mine HTTP/1.1\r\nAuthorization: Basic canary", "").await;
    let json = "POST /echo HTTP/1.1\r\nContent-Type: application/json";
    server.request(json, "{\"secret\":\"canary\"}").await;
    server.request(json, "{\"secret\":\"canary\"").await;
    server
        .request("POST /o/token/ HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded", "password=canary")
        .await;
    let mut sender = crate::http2::connect(&server).await;
    let mut request = crate::http2::request(&server, hyper::Method::POST, "/echo?canary", "{\"a\":\"canary\"}");
    request.headers_mut().insert("authorization", "Bearer canary".parse().expect("a value"));
    assert!(sender.send_request(request).await.is_ok());
    server.request("GET /nowhere/canary HTTP/1.1\r\nX-Request-Id: canary\\n", "").await;
}
