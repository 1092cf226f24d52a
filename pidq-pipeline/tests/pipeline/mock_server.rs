//! Mock model servers that follow a script.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pidq_http::Secret;
use pidq_pipeline::llm::{Client, ClientOptions, Endpoint};
use pidq_pipeline::net::egress::{EgressScope, Guard, Level, Policy};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// API key that must appear in no error.
pub const KEY: &str = "sk-very-secret-0123456789";

/// Step of a script.
#[derive(Clone)]
pub enum Step {
    Send(Vec<u8>),
    Wait(u64),
    /// Sends nothing until the client disconnects.
    Hang,
    /// Closes the connection in the middle of the response.
    Break,
}

/// A received request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub head: String,
    pub body: Value,
    /// The raw body.
    pub bytes: Vec<u8>,
}

/// A mock server on this machine, with its received requests.
#[derive(Clone)]
pub struct MockServer {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    disconnect_count: Arc<AtomicUsize>,
}

type Script = dyn Fn(usize, &ReceivedRequest) -> Vec<Step> + Send + Sync;

impl MockServer {
    /// Starts a server that handles its n-th request by `script`.
    pub async fn start(script: impl Fn(usize, &ReceivedRequest) -> Vec<Step> + Send + Sync + 'static) -> MockServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mock = MockServer { address, requests: Arc::default(), disconnect_count: Arc::default() };
        let (server, script): (_, Arc<Script>) = (mock.clone(), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(server.clone().serve(stream, script.clone()));
            }
        });
        mock
    }

    /// Starts a server that handles every request by the same steps.
    pub async fn always(steps: Vec<Step>) -> MockServer {
        MockServer::start(move |_, _| steps.clone()).await
    }

    async fn serve(self, mut stream: TcpStream, script: Arc<Script>) {
        let Some(request) = read(&mut stream).await else { return };
        let number = {
            let mut all = self.requests.lock().unwrap();
            all.push(request.clone());
            all.len() - 1
        };
        for step in script(number, &request) {
            match step {
                Step::Send(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        break;
                    }
                }
                Step::Wait(millis) => {
                    tokio::select! {
                        () = tokio::time::sleep(Duration::from_millis(millis)) => {}
                        _ = stream.read_u8() => break,
                    }
                }
                Step::Hang => {
                    let _ = stream.read_u8().await;
                    self.disconnect_count.fetch_add(1, Ordering::SeqCst);
                }
                Step::Break => {
                    let _ = stream.set_zero_linger();
                    return;
                }
            }
        }
        let _ = stream.shutdown().await;
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the number of clients that disconnected while the server waited.
    pub fn disconnect_count(&self) -> usize {
        self.disconnect_count.load(Ordering::SeqCst)
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::new(format!("http://{}/v1", self.address), Secret::new(KEY), "plant-model")
    }
}

async fn read(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let total_size = end + 4 + length.unwrap_or(0usize);
    while bytes.len() < total_size {
        stream.read_buf(&mut bytes).await.ok()?;
    }
    let bytes = bytes.split_off(end + 4);
    Some(ReceivedRequest { head, body: serde_json::from_slice(&bytes).unwrap_or_default(), bytes })
}

/// Returns a response with a body of known length.
pub fn reply(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Step {
    let body = body.as_ref();
    let mut bytes = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend(body);
    Step::Send(bytes)
}

pub fn json_reply(status: u16, body: &Value) -> Step {
    reply(status, "Content-Type: application/json\r\n", body.to_string())
}

/// Returns the head of a stream that ends with its connection.
pub fn stream_head() -> Step {
    Step::Send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".to_vec())
}

pub fn raw(text: impl AsRef<[u8]>) -> Step {
    Step::Send(text.as_ref().to_vec())
}

pub fn event(object: &Value) -> Step {
    raw(format!("data: {object}\n\n"))
}

pub fn delta(text: &str) -> Value {
    json!({"id": "c", "model": "m-1", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
}

pub fn last(reason: &str) -> Value {
    json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

pub fn completion(text: &str) -> Value {
    json!({
        "id": "c", "object": "chat.completion", "model": "m-1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 812, "completion_tokens": 19, "total_tokens": 831},
    })
}

/// Returns options with short timeouts, for fast tests.
pub fn short_timeouts() -> ClientOptions {
    ClientOptions {
        connect_timeout: Duration::from_secs(2),
        first_byte_timeout: Duration::from_millis(400),
        idle_timeout: Duration::from_millis(400),
        total_timeout: Duration::from_secs(10),
        retry_delay: Duration::from_millis(5),
        ..ClientOptions::default()
    }
}

pub fn client(options: ClientOptions) -> Client {
    let policy = Policy { scope: EgressScope::Level(Level::Local), backends: Vec::new() };
    Client::new(Guard::new(policy, None).unwrap(), options)
}

/// Starts a server that accepts connections and never reads.
pub async fn unresponsive() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let _connection = listener.accept().await;
        pending::<()>().await;
    });
    address
}
