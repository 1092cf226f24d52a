//! Tests over sockets: a disconnected client cancels its query, and unread results are bounded.

use std::net::SocketAddr;
use std::time::Duration;

use pidq_http::{COMMON, CommonSettings, Settings, Shutdown, serve};
use pidq_server::{SETTINGS, open};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::fixtures::DRAWING;

/// Service without accounts on a socket, with one query thread.
struct RunningService {
    address: SocketAddr,
    stop: pidq_http::Stop,
    running: tokio::task::JoinHandle<std::io::Result<()>>,
    directory: std::path::PathBuf,
}

impl RunningService {
    async fn start(name: &str) -> RunningService {
        RunningService::with(name, "1GiB").await
    }

    /// Starts the service with a total query memory.
    async fn with(name: &str, query_memory: &str) -> RunningService {
        let directory = std::env::temp_dir().join(format!("pidq-disconnects-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let given = [
            ("PIDQ_DATA_DIR", directory.to_str().expect("a path")),
            ("PIDQ_AUTH", "off"),
            ("PIDQ_LISTEN", "127.0.0.1:0"),
            ("PIDQ_ADMIN_LISTEN", ""),
            ("PIDQ_RATE_LIMIT", "0"),
            ("PIDQ_QUERY_THREADS", "1"),
            ("PIDQ_QUERY_FUEL", "9000000000000000"),
            ("PIDQ_QUERY_TIMEOUT", "5m"),
            ("PIDQ_QUERY_MEMORY", "4GiB"),
            ("PIDQ_QUERY_MEMORY_TOTAL", query_memory),
            ("PIDQ_SHUTDOWN_DELAY", "0s"),
        ];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = Settings::read(&[COMMON, SETTINGS], [], given).expect("settings");
        let listeners = CommonSettings(&settings).listeners().expect("an address");
        let address = listeners[0].address().expect("an address");
        listeners[0].listen().expect("a free port");
        let app = open(&settings).await.expect("a service");
        let (stop, shutdown) = Shutdown::manual();
        let running = tokio::spawn(serve(app, listeners, shutdown));
        RunningService { address, stop, running, directory }
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.expect("a connection");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        stream
    }

    async fn request(&self, method: &str, path: &str, body: &str) -> String {
        let mut response = String::new();
        self.send(method, path, body).await.read_to_string(&mut response).await.expect("a response");
        response
    }

    async fn shut_down(self) {
        self.stop.stop();
        self.running.await.expect("no panic").expect("a clean end");
        std::fs::remove_dir_all(self.directory).expect("removed");
    }
}

/// Returns a query that would run for minutes.
fn endless_query() -> String {
    (0..15).fold("1".to_owned(), |inner, _| format!("([{}] | map({inner}) | size())", ["get()"; 10].join(",")))
}

/// Short query that needs a worker thread, because patterns are never compiled inline.
const PATTERN_QUERY: &str = r#"{"query":"\"a\" | regex(get(), \"a\")"}"#;

/// Checks that a query occupies the only query thread while its client waits, and is cancelled when the client
/// disconnects.
async fn check_cancelled(name: &str, path: &str, body: Value) {
    let service = RunningService::start(name).await;
    assert!(service.request("PUT", "/graph/J-1", DRAWING).await.starts_with("HTTP/1.1 201"));
    let abandoned = service.send("POST", path, &body.to_string()).await;
    let mut other = Box::pin(async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        service.request("POST", "/graph/J-1", PATTERN_QUERY).await
    });
    let waited = timeout(Duration::from_millis(700), &mut other).await;
    assert!(waited.is_err(), "the abandoned query did not run: {waited:?}");
    drop(abandoned);
    let response = timeout(Duration::from_secs(3), other).await.expect("the thread is free");
    assert!(response.starts_with("HTTP/1.1 200") && response.ends_with("[true]}"), "{response}");
    service.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_is_cancelled_when_its_client_disconnects() {
    check_cancelled("query", "/graph/J-1", json!({"query": endless_query()})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_query_is_cancelled_when_its_client_disconnects() {
    let ids = ["J-1"; 8];
    check_cancelled("batch", "/graph", json!({"query": endless_query(), "graphs": {"ids": ids}})).await;
}

/// Returns a query with a 14 MB result, more than the kernel buffers for a client that does not read.
fn large_query() -> (String, Value) {
    let items = ["$t"; 16].join(",");
    (format!("[{items}]"), json!({"t": "x".repeat(900_000)}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_results_exhaust_response_memory_until_the_client_disconnects() {
    let service = RunningService::with("unread", "64MiB").await;
    assert!(service.request("PUT", "/graph/J-1", DRAWING).await.starts_with("HTTP/1.1 201"));
    let (query, params) = large_query();
    let large = json!({"query": query, "params": params}).to_string();
    let mut unread = service.send("POST", "/graph/J-1", &large).await;
    let mut status = [0; 12];
    unread.read_exact(&mut status).await.expect("it begins");
    assert_eq!(&status, b"HTTP/1.1 200");

    let refused = service.request("POST", "/graph/J-1", &large).await;
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("\"code\":\"overloaded\""), "{refused}");
    assert!(refused.contains("retry-after: 1\r\n"), "{refused}");
    assert!(
        service.request("POST", "/graph/J-1", r#"{"query":"1"}"#).await.ends_with("[1]}"),
        "small responses are not counted"
    );
    let many = json!({"query": query, "params": params, "graphs": {"ids": ["J-1", "J-1"]}}).to_string();
    let mut rows = Box::pin(service.request("POST", "/graph", &many));
    let waited = timeout(Duration::from_millis(500), &mut rows).await;
    assert!(waited.is_err(), "rows wait for memory");

    drop(unread);
    let rows = timeout(Duration::from_secs(30), rows).await.expect("memory is free");
    assert_eq!(rows.matches("\"job_id\":\"J-1\",\"change_version\":\"1\",\"result\":").count(), 2);
    assert!(service.request("POST", "/graph/J-1", &large).await.starts_with("HTTP/1.1 200"));
    service.shut_down().await;
}
