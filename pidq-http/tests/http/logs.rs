//! Log lines: one per request, JSON, without secrets.

use std::process::{Command, Stdio};

use pidq_http::LogFormat;
use pidq_http::init_log;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tracing_subscriber::filter::LevelFilter;

use crate::server::{ManyParts, Server, app, status};

/// Environment variable of the child process whose log is read.
pub const CHILD_ENV: &str = "PIDQ_TEST_LOGS";

/// Returns the log of a child process that runs one test of this file.
fn log_of(test: &str) -> String {
    log_of_child(&format!("logs::{test}"), "1")
}

/// Returns the log of a child process that runs one test, with a value of the environment variable.
pub fn log_of_child(test: &str, value: &str) -> String {
    let own = std::env::current_exe().expect("a test binary");
    let arguments = ["--exact", test, "--nocapture"];
    let output =
        Command::new(own).args(arguments).env(CHILD_ENV, value).stdout(Stdio::null()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

/// Returns the access-log lines.
fn access(text: &str) -> Vec<Value> {
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["target"] == "access").collect()
}

#[test]
fn a_log_line_describes_the_request_without_secrets() {
    if std::env::var_os(CHILD_ENV).is_some() {
        return send_requests();
    }
    let text = log_of("a_log_line_describes_the_request_without_secrets");
    assert!(!text.contains("canary"), "a secret is in the log: {text}");
    let access = access(&text);
    let first = access.first().expect("there is a line");
    assert_eq!(
        (&first["method"], &first["route"], &first["status"], &first["bytes"]),
        (&"GET".into(), &"/things/{id}".into(), &200.into(), &13.into())
    );
    assert_eq!((&first["request_id"], &first["complete"]), (&"r-1".into(), &true.into()));
    let second = access.get(1).expect("there is another line");
    assert_eq!((&second["principal"], &second["tenant"]), (&"ann".into(), &"t".into()));
    let last = access.last().expect("there is a line");
    assert_eq!((&last["status"], &last["route"]), (&404.into(), &"".into()));
}

/// Sends secrets in every part of a request.
#[tokio::main]
async fn send_requests() {
    init_log(LogFormat::Json, LevelFilter::TRACE);
    let server = Server::start(app());
    let id = "X-Request-Id: r-1\r\nX-Other: canary\r\nCookie: canary";
    let response = server.request(&format!("GET /things/canary-path?token=canary HTTP/1.1\r\n{id}"), "").await;
    assert_eq!(status(&response), 200);
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

#[test]
fn a_log_line_has_the_bytes_sent_of_a_large_response() {
    if std::env::var_os(CHILD_ENV).is_some() {
        return read_partly_and_fully();
    }
    let lines = access(&log_of("a_log_line_has_the_bytes_sent_of_a_large_response"));
    let all = ManyParts::text().len() as u64;
    let taken = |complete| {
        let line = lines.iter().find(|line| line["complete"] == complete)?;
        line["bytes"].as_u64()
    };
    assert!(taken(false).is_some_and(|some| some < all), "{lines:?}");
    assert_eq!(taken(true), Some(all));
}

#[tokio::main]
async fn read_partly_and_fully() {
    init_log(LogFormat::Json, LevelFilter::INFO);
    let server = Server::start(app());
    let mut stream = server.connect().await;
    stream.write_all(b"GET /parts HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it is open");
    assert!(stream.read(&mut [0; 1000]).await.is_ok());
    drop(stream);
    server.request("GET /parts HTTP/1.1", "").await;
    server.stop.stop();
    server.done.await.expect("it ran").expect("it ends");
}
