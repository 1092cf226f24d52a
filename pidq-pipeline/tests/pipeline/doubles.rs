//! Servers that stand in for a model and do what a script says.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pidq_http::Secret;
use pidq_pipeline::egress::{Guard, Level, Policy, Reach};
use pidq_pipeline::llm::{Client, Endpoint, Patience};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The key that no error may show.
pub const KEY: &str = "sk-very-secret-0123456789";

/// What a server does.
#[derive(Clone)]
pub enum Step {
    Send(Vec<u8>),
    Wait(u64),
    /// Does nothing until the client leaves.
    Stall,
    /// Closes without a word about the rest.
    Break,
}

/// What a server was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    pub head: String,
    pub body: Value,
    /// The body as it came.
    pub bytes: Vec<u8>,
}

/// A server on this machine, and what happened to it.
#[derive(Clone)]
pub struct Double {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    left: Arc<AtomicUsize>,
}

type Script = dyn Fn(usize, &Asked) -> Vec<Step> + Send + Sync;

impl Double {
    /// A server that does what `script` says to its n-th request.
    pub async fn start(script: impl Fn(usize, &Asked) -> Vec<Step> + Send + Sync + 'static) -> Double {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let double = Double { address, asked: Arc::default(), left: Arc::default() };
        let (server, script): (_, Arc<Script>) = (double.clone(), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(server.clone().serve(stream, script.clone()));
            }
        });
        double
    }

    /// A server that always does the same.
    pub async fn always(steps: Vec<Step>) -> Double {
        Double::start(move |_, _| steps.clone()).await
    }

    async fn serve(self, mut stream: TcpStream, script: Arc<Script>) {
        let Some(asked) = read(&mut stream).await else { return };
        let number = {
            let mut all = self.asked.lock().unwrap();
            all.push(asked.clone());
            all.len() - 1
        };
        for step in script(number, &asked) {
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
                Step::Stall => {
                    let _ = stream.read_u8().await;
                    self.left.fetch_add(1, Ordering::SeqCst);
                }
                Step::Break => {
                    let _ = stream.set_zero_linger();
                    return;
                }
            }
        }
        let _ = stream.shutdown().await;
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// How many clients left while the server did nothing.
    pub fn left(&self) -> usize {
        self.left.load(Ordering::SeqCst)
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::new(format!("http://{}/v1", self.address), Secret::new(KEY), "plant-model")
    }
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
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
    let whole = end + 4 + length.unwrap_or(0usize);
    while bytes.len() < whole {
        stream.read_buf(&mut bytes).await.ok()?;
    }
    let bytes = bytes.split_off(end + 4);
    Some(Asked { head, body: serde_json::from_slice(&bytes).unwrap_or_default(), bytes })
}

/// An answer with a body of known length.
pub fn reply(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Step {
    let body = body.as_ref();
    let mut bytes = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend(body);
    Step::Send(bytes)
}

pub fn json_reply(status: u16, body: &Value) -> Step {
    reply(status, "Content-Type: application/json\r\n", body.to_string())
}

/// The head of a stream that ends with its connection.
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

/// Short, so that a test of a time-out takes no time.
pub fn hasty() -> Patience {
    Patience {
        connect: Duration::from_secs(2),
        first_byte: Duration::from_millis(400),
        idle: Duration::from_millis(400),
        total: Duration::from_secs(10),
        pause: Duration::from_millis(5),
        ..Patience::default()
    }
}

pub fn client(patience: Patience) -> Client {
    let policy = Policy { reach: Reach::Level(Level::Local), back_ends: Vec::new() };
    Client::new(Guard::new(policy, None).unwrap(), patience)
}

/// A server that nobody reaches: it takes connections and never reads.
pub async fn deaf() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let _held = listener.accept().await;
        pending::<()>().await;
    });
    address
}
