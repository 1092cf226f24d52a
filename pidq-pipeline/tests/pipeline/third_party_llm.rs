//! Tests against third-party model servers: mock-llm (npm), mockllm and LiteLLM's proxy (PyPI).
//!
//! In `tests/harness/llm`: `npm install`; `python3 -m venv .venv/mockllm && .venv/mockllm/bin/pip install mockllm`;
//! `python3 -m venv .venv/litellm && .venv/litellm/bin/pip install 'litellm[proxy]'`. Missing servers are reported.

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pidq_http::Secret;
use pidq_pipeline::generation::rag::{Answer, Question, StreamEvent, answer, stream};
use pidq_pipeline::llm::{BatchOptions, Client, ClientOptions, Endpoint};
use tokio::sync::mpsc;

use crate::mock_server::client;
use crate::rag::question;

const ANSWER: &str = "PSV-2015A is set at 38.5 barg [1].";
const RELIEF: &str = "PSV-2015A is set at 38.5 barg. It relieves to the flare header.";

/// A third-party server, stopped at the end of the test.
struct ThirdPartyServer {
    process: Child,
    port: u16,
}

impl Drop for ThirdPartyServer {
    fn drop(&mut self) {
        // Some of them start a child process.
        let group = format!("-{}", self.process.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.process.wait();
    }
}

impl ThirdPartyServer {
    /// Starts a program of the harness; `None` if it is not installed.
    async fn start(program: &str, arguments: &[&str]) -> Option<ThirdPartyServer> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/harness/llm");
        let program = folder.join(program);
        if !program.exists() {
            eprintln!("SKIPPED: there is no {}: see the head of this file", program.display());
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let number = port.to_string();
        let arguments = arguments.iter().map(|argument| if *argument == "PORT" { number.as_str() } else { argument });
        let mut command = Command::new(program);
        let command = command.args(arguments).current_dir(folder).env("PORT", &number).env("HOST", "127.0.0.1");
        let command = command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").stdin(Stdio::null());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
        let mut server = ThirdPartyServer { process, port };
        server.wait().await;
        Some(server)
    }

    async fn wait(&mut self) {
        for _ in 0..1200 {
            if tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await.is_ok() {
                return;
            }
            assert!(self.process.try_wait().unwrap().is_none(), "the server exited");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the server does not start");
    }

    fn endpoint(&self, model: &str) -> Endpoint {
        Endpoint::new(format!("http://127.0.0.1:{}/v1", self.port), Secret::new("sk-plant"), model)
    }

    async fn assert_answers(&self) {
        let endpoint = self.endpoint("plant-model");
        for answer in [complete_answer(&endpoint).await, streamed_answer(&endpoint).await] {
            assert_eq!(answer.answer, ANSWER);
            assert!(answer.answered && answer.reason.is_none());
            assert_eq!(answer.citations[0].answer_spans, [[30, 33]]);
            assert_eq!(answer.finish_reason.as_deref(), Some("stop"));
        }
    }

    async fn assert_error(&self, model: &str, code: &str, status: u16) {
        let error = answer(&client_without_retries(), &self.endpoint(model), relief_question()).await.unwrap_err();
        assert_eq!((error.code(), error.upstream().unwrap().status), (code, status), "{model}: {error:?}");
    }
}

fn client_without_retries() -> Client {
    client(ClientOptions { max_retries: 0, ..ClientOptions::default() })
}

fn relief_question() -> Question {
    question("At what pressure is PSV-2015A set?", &[RELIEF])
}

async fn complete_answer(endpoint: &Endpoint) -> Answer {
    answer(&client_without_retries(), endpoint, relief_question()).await.unwrap()
}

async fn streamed_answer(endpoint: &Endpoint) -> Answer {
    let (sender, mut receiver) = mpsc::channel(4);
    let endpoint = endpoint.clone();
    tokio::spawn(async move { stream(&client_without_retries(), &endpoint, relief_question(), sender).await });
    let mut text = String::new();
    while let Some(event) = receiver.recv().await {
        match event {
            StreamEvent::Delta { text: delta } => text += &delta,
            StreamEvent::Done(answer) => {
                assert_eq!(answer.answer, text);
                return *answer;
            }
            StreamEvent::Error(error) => panic!("{error:?}"),
            StreamEvent::Retrieval { .. } | StreamEvent::Citation(_) => {}
        }
    }
    panic!("the stream has no end");
}

#[tokio::test]
async fn mock_llm_is_supported() {
    let arguments = ["--config", "mock-llm.yaml"];
    let Some(server) = ThirdPartyServer::start("node_modules/.bin/mock-llm", &arguments).await else { return };
    server.assert_answers().await;
    assert_eq!(client_without_retries().models(&server.endpoint("")).await.unwrap(), ["plant-model"]);
    server.assert_error("wrong-key", "llm-auth-failed", 401).await;
    server.assert_error("missing", "llm-model-not-found", 404).await;
    server.assert_error("busy", "llm-rate-limited", 429).await;
}

#[tokio::test]
async fn mockllm_is_supported() {
    let arguments = ["start", "-r", "mockllm.yml", "-h", "127.0.0.1", "-p", "PORT"];
    let Some(server) = ThirdPartyServer::start(".venv/mockllm/bin/mockllm", &arguments).await else { return };
    server.assert_answers().await;
}

#[tokio::test]
async fn the_litellm_proxy_is_supported() {
    let arguments = ["--config", "litellm.yaml", "--host", "127.0.0.1", "--port", "PORT", "--telemetry", "False"];
    let Some(server) = ThirdPartyServer::start(".venv/litellm/bin/litellm", &arguments).await else { return };
    server.assert_answers().await;
    let streamed = streamed_answer(&server.endpoint("plant-model")).await;
    assert_eq!(streamed.usage.map(|usage| usage.estimated), Some(false), "the proxy reports its usage last");
    server.assert_error("busy", "llm-rate-limited", 429).await;
    server.assert_error("broken", "llm-bad-response", 500).await;
    server.assert_error("small", "llm-context-exceeded", 400).await;
    server.assert_error("unheard-of", "llm-model-not-found", 400).await;
    let vectors = client_without_retries()
        .embeddings(&server.endpoint("vectors"), &["one"], &BatchOptions::default())
        .await
        .unwrap();
    assert_eq!(vectors, [[0.25, -0.5, 1.0]]);
    assert_eq!(client_without_retries().models(&server.endpoint("")).await.unwrap().len(), 5);
    let mut other_key = server.endpoint("plant-model");
    other_key.api_key = Secret::new("sk-other");
    let error = answer(&client_without_retries(), &other_key, relief_question()).await.unwrap_err();
    // Without a database it cannot look up keys, and responds with "400 No connected db." to every key but its own.
    assert_eq!((error.code(), error.upstream().unwrap().status), ("llm-rejected-request", 400), "{error:?}");
}
