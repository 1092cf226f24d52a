//! Traces through the platform, as a collector receives them: uploads with their jobs, and questions with the calls of models.

use std::collections::BTreeSet;

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use pidq_text::embedding::{self, ModelSources};
use serde_json::{Value, json};

use crate::collector::{Collector, ReceivedSpan};
use crate::mock_prompt_model::prompt_model;
use crate::mock_server::{MockServer, ReceivedRequest, json_reply};
use crate::platform::{TestPlatform, form};

const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// Word of the document, the question and the answer; no span may have it.
const CANARY: &str = "quetzalcoatlus";
const KEY: &str = "sk-canary-0123456789";

struct Traced {
    collector: Collector,
    platform: TestPlatform,
    pipeline: String,
}

impl Traced {
    /// Starts a platform with workers and an embedding service.
    async fn start(embeddings: &MockServer) -> Traced {
        let collector = Collector::start();
        let url = format!("http://{}/v1", embeddings.address);
        let settings = [
            ("PIDQ_TRACES_ENDPOINT", collector.url.as_str()),
            ("PIDQ_EMBEDDINGS_URL", &url),
            ("PIDQ_EMBEDDINGS_KEY", KEY),
        ];
        let platform = TestPlatform::sqlite(&settings).await.with_workers();
        let body = json!({
            "name": "Unit 20", "classifications": ["manual"], "embedding_model": "openai:text", "text_splitter": "recursive_character",
        });
        let created = platform.post("/api/pipelines", &body).await;
        assert_eq!(created.status, 201, "{}", String::from_utf8_lossy(&created.body));
        let pipeline = created.json()["id"].as_str().unwrap().to_owned();
        Traced { collector, platform, pipeline }
    }

    /// Uploads a document in the trace of the caller, and waits until it is processed.
    async fn upload(&self, name: &str, bytes: &[u8]) -> Value {
        let path = format!("/api/pipelines/{}/documents?wait=60", self.pipeline);
        let headers = [("content-type", "multipart/form-data; boundary=x7x"), ("traceparent", CALLER)];
        let body = form(name, bytes, &[("classification", "manual")]);
        let response = self.platform.send("POST", &path, &headers, body).await;
        assert!([200, 201, 202].contains(&response.status), "{}", String::from_utf8_lossy(&response.body));
        response.json()
    }

    async fn ask(&self, model: &MockServer, streamed: bool, id: &str) -> u16 {
        let endpoint = model.endpoint();
        let body = json!({
            "query": format!("Where does {CANARY} live?"), "classification": "manual", "temperature": 0.25, "max_tokens": 64,
            "stream": streamed,
            "llm_endpoint": {"api_key": KEY, "model": endpoint.model, "base_url": endpoint.base_url},
        });
        let headers = [("content-type", "application/json"), ("traceparent", CALLER), ("x-request-id", id)];
        let path = format!("/api/pipelines/{}/query", self.pipeline);
        self.platform.send("POST", &path, &headers, body.to_string()).await.status
    }

    /// Sends the recorded spans to the collector.
    async fn flush(&self) {
        self.platform.state.tracer.shut_down().await;
    }

    fn children(&self, parent: &ReceivedSpan) -> Vec<ReceivedSpan> {
        self.collector.spans().into_iter().filter(|span| span.parent_id == parent.id).collect()
    }

    fn child(&self, parent: &ReceivedSpan, name: &str) -> ReceivedSpan {
        let children = self.children(parent);
        children.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {children:#?}")).clone()
    }
}

/// Starts an embedding service that reports its token usage.
async fn embedding_service() -> MockServer {
    MockServer::start(|_, request| {
        let texts: Vec<String> = serde_json::from_value(request.body["input"].clone()).unwrap();
        let vectors = embedding::open("hash-512", &ModelSources::default()).unwrap().embed(&texts).unwrap();
        let rows = vectors.iter().enumerate().map(|(index, vector)| json!({"index": index, "embedding": vector}));
        let usage = json!({"prompt_tokens": 11, "total_tokens": 11});
        vec![json_reply(200, &json!({"data": rows.collect::<Vec<_>>(), "usage": usage}))]
    })
    .await
}

/// Returns the `traceparent` of a received request: the ids of trace and parent.
fn received_context(request: &ReceivedRequest) -> (String, String) {
    let line = request.head.lines().find_map(|line| line.strip_prefix("traceparent: ")).expect("a trace context");
    let parts: Vec<&str> = line.split('-').collect();
    (parts[1].to_owned(), parts[2].to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_processing_of_an_upload_belongs_to_its_trace() {
    let embeddings = embedding_service().await;
    let traced = Traced::start(&embeddings).await;
    let document = traced.upload("bird.md", format!("A {CANARY} lives on the roof of tank TK-701.").as_bytes()).await;
    assert_eq!(document["status"], "ready", "{document}");
    traced.flush().await;

    let upload = traced.collector.span("POST /api/pipelines/{pipeline_id}/documents");
    assert_eq!((&*upload.trace_id, &*upload.parent_id, upload.kind), (TRACE_ID, "00f067aa0ba902b7", SpanKind::Server));
    let job = traced.child(&upload, "process ingest");
    assert_eq!((job.kind, job.status, &*job.service), (SpanKind::Consumer, StatusCode::Unset, "pidq-pipeline"));
    let attributes = ["pidq.document.id", "pidq.job.attempt", "messaging.destination.name"];
    assert_eq!(attributes.map(|name| job.attribute(name)), [document["id"].as_str().unwrap(), "1", "jobs"]);
    let stages: BTreeSet<String> = traced.children(&job).into_iter().map(|span| span.name).collect();
    assert_eq!(stages, ["embedding", "indexing", "parsing", "splitting"].map(str::to_owned).into());

    let call = traced.child(&traced.child(&job, "embedding"), "embeddings");
    let attributes = ["gen_ai.operation.name", "gen_ai.request.model", "gen_ai.usage.input_tokens", "server.address"];
    assert_eq!(attributes.map(|name| call.attribute(name)), ["embeddings", "text", "11", "127.0.0.1"]);
    assert_eq!((call.kind, call.attribute("gen_ai.embeddings.dimension.count")), (SpanKind::Client, "512"));
    let received = embeddings.requests().pop().unwrap();
    assert_eq!(received_context(&received), (TRACE_ID.to_owned(), call.id));
    for secret in [CANARY, KEY, "bird.md"] {
        assert!(!traced.collector.has_received(secret), "{secret} was exported");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_document_fails_its_job_and_its_stage() {
    let traced = Traced::start(&embedding_service().await).await;
    assert_eq!(traced.upload("a.pdf", b"%PDF-1.7 broken").await["status"], "failed");
    traced.flush().await;
    let job = traced.collector.span("process ingest");
    assert_eq!((job.status, job.attribute("error.type")), (StatusCode::Error, "corrupt-document"));
    let stage = traced.child(&job, "parsing");
    assert_eq!((stage.status, stage.attribute("error.type")), (StatusCode::Error, "corrupt-document"));
    assert_eq!(traced.children(&job).len(), 1, "later stages did not run");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_has_the_calls_of_its_models_without_their_texts() {
    let (embeddings, model) = (embedding_service().await, prompt_model().await);
    let traced = Traced::start(&embeddings).await;
    traced.upload("bird.md", format!("A {CANARY} lives on the roof of tank TK-701.").as_bytes()).await;
    for (streamed, id) in [(false, "r-complete"), (true, "r-streamed")] {
        assert_eq!(traced.ask(&model, streamed, id).await, 200);
    }
    traced.flush().await;
    let questions: Vec<_> = traced.collector.spans().into_iter().filter(|span| span.name.ends_with("/query")).collect();
    assert_eq!(questions.len(), 2);
    for question in &questions {
        assert_eq!(question.name, "POST /api/pipelines/{pipeline_id}/query");
        let chat = traced.child(question, "chat");
        assert_eq!((&*chat.trace_id, chat.kind, chat.status), (TRACE_ID, SpanKind::Client, StatusCode::Unset));
        let attributes = [
            "gen_ai.operation.name",
            "gen_ai.request.model",
            "gen_ai.request.temperature",
            "gen_ai.request.max_tokens",
            "gen_ai.response.finish_reasons",
            "server.address",
        ];
        let expected = ["chat", &*model.endpoint().model, "0.25", "64", "stop", "127.0.0.1"];
        assert_eq!(attributes.map(|name| chat.attribute(name)), expected, "{}", question.attribute("pidq.request.id"));
        let contexts: Vec<_> = model.requests().iter().map(received_context).collect();
        assert!(contexts.contains(&(TRACE_ID.to_owned(), chat.id.clone())), "{contexts:?}");
    }
    let complete = questions.iter().find(|span| span.attribute("pidq.request.id") == "r-complete").unwrap();
    let chat = traced.child(complete, "chat");
    let tokens = ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"].map(|name| chat.attribute(name));
    assert!(tokens.iter().all(|count| count.parse::<u64>().is_ok()), "{chat:#?}");
    for secret in [CANARY, KEY, "TK-701"] {
        assert!(!traced.collector.has_received(secret), "{secret} was exported");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_call_of_a_model_fails_its_span_only() {
    let embeddings = embedding_service().await;
    let traced = Traced::start(&embeddings).await;
    traced.upload("bird.md", format!("A {CANARY} lives on the roof.").as_bytes()).await;
    let message = format!("{KEY} may not ask about {CANARY}");
    let model = MockServer::start(move |_, _| vec![json_reply(401, &json!({"error": {"message": message}}))]).await;
    let status = traced.ask(&model, false, "r-1").await;
    traced.flush().await;
    let question = traced.collector.span("POST /api/pipelines/{pipeline_id}/query");
    assert_eq!(question.attribute("http.response.status_code"), status.to_string());
    let chat = traced.child(&question, "chat");
    assert_eq!((chat.status, chat.attribute("http.response.status_code")), (StatusCode::Error, "401"));
    assert!(chat.attribute("error.type").starts_with("llm-"), "{chat:#?}");
    for secret in [CANARY, KEY] {
        assert!(!traced.collector.has_received(secret), "{secret} was exported");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_an_idempotency_key_keeps_its_trace() {
    let traced = Traced::start(&embedding_service().await).await;
    let model = prompt_model().await;
    let endpoint = model.endpoint();
    traced.upload("bird.md", format!("A {CANARY} lives on the roof.").as_bytes()).await;
    let body = json!({
        "query": format!("Where does {CANARY} live?"), "classification": "manual",
        "llm_endpoint": {"api_key": KEY, "model": endpoint.model, "base_url": endpoint.base_url},
    });
    let headers = [("content-type", "application/json"), ("traceparent", CALLER), ("idempotency-key", "1")];
    let path = format!("/api/pipelines/{}/query", traced.pipeline);
    assert_eq!(traced.platform.send("POST", &path, &headers, body.to_string()).await.status, 200);
    traced.flush().await;
    let question = traced.collector.span("POST /api/pipelines/{pipeline_id}/query");
    traced.child(&question, "embeddings");
    traced.child(&question, "chat");
}
