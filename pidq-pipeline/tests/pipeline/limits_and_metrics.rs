//! Tests of `/api/limits`, of the metrics, and of the limit of streamed answers.

use std::time::Duration;

use hyper::Request;
use pidq_http::HTTP_METRICS;
use pidq_pipeline::background::gauges;
use pidq_pipeline::metrics::METRICS;
use serde_json::json;

use crate::metric_families::check_families;
use crate::mock_prompt_model::prompt_model;
use crate::mock_server::{MockServer, Step};
use crate::platform::TestPlatform;

#[tokio::test]
async fn all_limits_are_reported_and_follow_their_settings() {
    let platform = TestPlatform::sqlite(&[
        ("PIDQ_EXTRACTION_TIMEOUT", "7s"),
        ("PIDQ_TEXT_LENGTH_LIMIT", "9"),
        ("PIDQ_HEAD_TIMEOUT", "3s"),
    ])
    .await;
    let limits = platform.get("/api/limits").await.json();
    for (pointer, value) in [
        ("/upload_bytes", 104_857_600),
        ("/json_bytes", 1_048_576),
        ("/question_characters", 8000),
        ("/multipart/parts", 16),
        ("/multipart/header_bytes", 16_384),
        ("/text_characters", 9),
        ("/chunks", 200_000),
        ("/archives/unpacked_bytes", 1 << 30),
        ("/archives/ratio", 200),
        ("/archives/entries", 10_000),
        ("/pipelines", 10_000),
        ("/classifications", 64),
        ("/extraction_timeout_seconds", 7),
        ("/streams/answers", 256),
        ("/streams/events", 256),
        ("/request/head_seconds", 3),
        ("/request/body_bytes_per_second", 1024),
        ("/request/body_idle_seconds", 30),
    ] {
        assert_eq!(limits.pointer(pointer), Some(&json!(value)), "{pointer} in {limits}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn request_limits_follow_their_settings() {
    let settings = [
        ("PIDQ_JSON_SIZE", "400"),
        ("PIDQ_QUESTION_LENGTH_LIMIT", "12"),
        ("PIDQ_METADATA_SIZE", "20"),
        ("PIDQ_CLASSIFICATION_LIMIT", "2"),
        ("PIDQ_CHUNK_LIMIT", "3"),
    ];
    let platform = TestPlatform::sqlite(&settings).await.with_workers();
    let id = platform.pipeline().await;
    let limits = platform.get("/api/limits").await.json();
    for (limit, value) in [
        ("/json_bytes", 400),
        ("/question_characters", 12),
        ("/metadata_bytes", 20),
        ("/classifications", 2),
        ("/chunks", 3),
    ] {
        assert_eq!(limits.pointer(limit), Some(&json!(value)), "{limit} in {limits}");
    }
    let search_body = |query: &str| json!({"query": query, "classification": "manual"});
    let path = format!("/api/pipelines/{id}");
    for (query, status, pointer) in [("twelve chars", 200, None), ("and thirteen.", 422, Some("/query"))] {
        let response = platform.post(&format!("{path}/search"), &search_body(query)).await;
        assert_eq!(response.status, status, "{query}");
        assert_eq!(response.json().pointer("/errors/0/pointer").and_then(|at| at.as_str()), pointer);
    }
    let too_large = platform.post(&format!("{path}/search"), &search_body(&"x".repeat(400))).await;
    assert_eq!((too_large.status, too_large.code().as_str()), (413, "payload-too-large"));
    let long_text = json!({"text": "x".repeat(400)});
    assert_eq!(
        platform.post(&format!("{path}/preview"), &long_text).await.status,
        413,
        "a preview text is a JSON body"
    );
    let classifications = json!({
        "name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a", "b", "c"],
    });
    assert_eq!(
        platform.post("/api/pipelines", &classifications).await.json()["errors"][0]["pointer"],
        "/classifications"
    );
    let patch = [("content-type", "application/json")];
    let classifications = json!({"classifications": ["manual", "datasheet", "c"]}).to_string();
    assert_eq!(platform.send("PATCH", &path, &patch, classifications).await.status, 422);
    let upload_with_metadata = async |metadata: &str| {
        platform
            .upload(&id, "a.txt", metadata.as_bytes(), &[("classification", "manual"), ("metadata", metadata)])
            .await
    };
    assert_eq!(upload_with_metadata(r#"{"a":"fourteen chars"}"#).await.json()["errors"][0]["pointer"], "/metadata");
    let accepted = upload_with_metadata(r#"{"a":"twelve chars"}"#).await;
    assert_eq!(accepted.status, 202, "20 bytes");
    let document = format!("{path}/documents/{}", accepted.json()["id"].as_str().unwrap());
    assert_eq!(platform.send("PATCH", &document, &patch, r#"{"metadata":{"b":1}}"#).await.status, 422);
    let paragraphs = "A paragraph of its own.\n\n".repeat(200);
    let uploaded = platform.upload_and_wait(&id, "b.txt", paragraphs.as_bytes(), &[("classification", "manual")]).await;
    assert_eq!(
        (&uploaded["status"], &uploaded["error"]["code"]),
        (&json!("failed"), &json!("too-many-chunks")),
        "{uploaded}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_above_the_limit_is_not_ingested() {
    let platform = TestPlatform::sqlite(&[("PIDQ_TEXT_LENGTH_LIMIT", "9")]).await.with_workers();
    let id = platform.pipeline().await;
    let uploaded = platform.upload_and_wait(&id, "a.txt", b"ten characters", &[("classification", "manual")]).await;
    assert_eq!(
        (&uploaded["status"], &uploaded["error"]["code"]),
        (&json!("failed"), &json!("too-large-text")),
        "{uploaded}"
    );
    let failed = metric(&platform, "pidq_pipeline_documents_failed_total{code=\"too-large-text\"}");
    assert_eq!(failed.as_deref(), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metrics_count_stages_questions_tokens_and_queued_jobs() {
    let platform = TestPlatform::sqlite(&[]).await;
    let id = platform.pipeline().await;
    platform.upload(&id, "V-201.md", b"PSV-2015A is set at 38.5 barg.", &[("classification", "manual")]).await;
    gauges::count_jobs(&platform.state).await.unwrap();
    assert_eq!(metric(&platform, "pidq_pipeline_jobs{kind=\"ingest\"}").as_deref(), Some("1"));
    let platform = platform.with_workers();
    platform.upload_and_wait(&id, "V-202.md", b"PSV-2016A is set at 12 barg.", &[("classification", "manual")]).await;
    let mock = prompt_model().await;
    let endpoint = mock.endpoint();
    let llm = json!({"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url});
    for (query, classification) in [("What is PSV-2016A set at?", "manual"), ("Anything?", "datasheet")] {
        let body = json!({"query": query, "classification": classification, "llm_endpoint": llm});
        assert_eq!(platform.post(&format!("/api/pipelines/{id}/query"), &body).await.status, 200);
    }
    for stage in ["parsing", "splitting", "embedding", "indexing"] {
        let name = format!("pidq_pipeline_stage_seconds_count{{stage=\"{stage}\"}}");
        assert!(metric(&platform, &name).is_some_and(|count| count != "0"), "{stage}");
    }
    for (name, value) in [
        ("pidq_pipeline_retrieval_seconds_count{step=\"search\"}", "2"),
        ("pidq_pipeline_llm_seconds_count{step=\"answer\"}", "1"),
        ("pidq_pipeline_questions_total{outcome=\"answered\"}", "1"),
        ("pidq_pipeline_questions_total{outcome=\"no_documents\"}", "1"),
        ("pidq_pipeline_index_partitions", "2"),
    ] {
        assert_eq!(metric(&platform, name).as_deref(), Some(value), "{name}");
    }
    for name in ["pidq_pipeline_llm_tokens_total{kind=\"prompt\"}", "pidq_pipeline_index_bytes"] {
        assert!(metric(&platform, name).is_some_and(|value| value != "0"), "{name}");
    }
    check_families(&platform.service.metrics(), &[HTTP_METRICS, METRICS]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_streamed_answers_is_limited() {
    let platform = TestPlatform::sqlite(&[("PIDQ_ANSWER_STREAM_LIMIT", "1")]).await.with_workers();
    let id = platform.pipeline().await;
    platform.upload_and_wait(&id, "V-201.md", b"PSV-2015A is set at 38.5 barg.", &[("classification", "manual")]).await;
    let mock = MockServer::always(vec![Step::Hang]).await;
    let endpoint = mock.endpoint();
    let llm = json!({"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url});
    let body = json!({"query": "PSV-2015A?", "classification": "manual", "llm_endpoint": llm, "stream": true});
    let path = format!("/api/pipelines/{id}/query");
    let request = Request::post(&path).header("host", "localhost").header("content-type", "application/json");
    let stream_response = platform.service.call(request.body(body.to_string().into()).unwrap()).await;
    assert_eq!(stream_response.status(), 200);
    let rejected = platform.post(&path, &body).await;
    assert_eq!((rejected.status, rejected.code().as_str()), (503, "too-many-streams"));
    assert!(!rejected.header("retry-after").is_empty());
    drop(stream_response);
    for _ in 0..200 {
        if platform.state.generation.answer_streams.available() == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("a disconnected client still holds a stream slot");
}

/// Returns the value of a metric.
fn metric(platform: &TestPlatform, name: &str) -> Option<String> {
    let text = platform.service.metrics();
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned))
}
