//! Reranking by an external service, and the fallback when it fails.

use std::collections::HashMap;
use std::sync::Arc;

use pidq_pipeline::ingest::worker;
use serde_json::{Value, json};

use crate::mock_server::{MockServer, Step, json_reply, reply};
use crate::platform::TestPlatform;

const KEY: &str = "sk-rerank-0123456789";
const TEXTS: [&str; 3] = ["The pump P-101A is red.", "The pump P-101A stands in unit 20.", "The pump P-101A runs dry."];

/// A platform with documents about a pump, and a reranking service.
struct RerankFixture {
    platform: TestPlatform,
    pipeline: String,
    worker: tokio::task::JoinHandle<()>,
}

impl Drop for RerankFixture {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

impl RerankFixture {
    async fn start(mock: &MockServer) -> RerankFixture {
        let url = format!("http://{}/v1", mock.address);
        let settings = [
            ("PIDQ_RERANK_URL", url.as_str()),
            ("PIDQ_RERANK_KEY", KEY),
            ("PIDQ_RERANK_MODEL", "plant-order"),
            ("PIDQ_RERANK_TIMEOUT", "1s"),
        ];
        let platform = TestPlatform::sqlite(&settings).await;
        let worker = tokio::spawn(worker::run_worker(Arc::clone(&platform.state)));
        let pipeline = platform.pipeline().await;
        for (text, name) in TEXTS.iter().zip(["a.txt", "b.txt", "c.txt"]) {
            platform.upload_and_wait(&pipeline, name, text.as_bytes(), &[("classification", "manual")]).await;
        }
        RerankFixture { platform, pipeline, worker }
    }

    async fn search(&self, fields: Value) -> Value {
        let mut body = json!({"query": "pump P-101A", "classification": "manual"});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.platform.post(&format!("/api/pipelines/{}/search", self.pipeline), &body).await.json()
    }
}

fn files(found: &Value) -> Vec<&str> {
    found["contexts"].as_array().unwrap().iter().map(|result| result["filename"].as_str().unwrap()).collect()
}

/// Reranks texts that contain "dry" first, then others; texts that contain "red" are omitted.
fn rerank_response(request: &Value) -> Value {
    let relevance = |text: &str| if text.contains("dry") { 0.9 } else { 0.4 };
    let texts = request["documents"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
    let ranked = texts.enumerate().filter(|(_, text)| !text.contains("red"));
    let rows = ranked.map(|(index, text)| json!({"index": index, "relevance_score": relevance(text)}));
    json!({"results": rows.collect::<Vec<_>>()})
}

#[tokio::test(flavor = "multi_thread")]
async fn hits_are_in_the_order_of_the_service() {
    let mock = MockServer::start(|_, request| vec![json_reply(200, &rerank_response(&request.body))]).await;
    let fixture = RerankFixture::start(&mock).await;
    let found = fixture.search(json!({})).await;
    assert_eq!((files(&found), &found["warnings"]), (vec!["c.txt", "b.txt", "a.txt"], &json!([])), "{found}");
    assert_eq!(found["contexts"][0]["scores"]["rerank"], 0.9);
    assert!(found["contexts"][2]["scores"].get("rerank").is_none(), "the service did not score it");
    assert_eq!(
        files(&fixture.search(json!({"top_k": 1})).await),
        ["c.txt"],
        "more candidates than results are reranked"
    );
    let request = &mock.requests()[0];
    assert_eq!((&request.body["model"], &request.body["query"]), (&json!("plant-order"), &json!("pump P-101A")));
    assert!(request.head.starts_with("POST /v1/rerank") && request.head.contains(&format!("Bearer {KEY}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_service_keeps_the_search_order() {
    let row = |index: Value, relevance: Value| json!({"index": index, "relevance_score": relevance});
    let results = |rows: &[Value]| json_reply(200, &json!({"results": rows}));
    let valid = || row(json!(0), json!(0.5));
    let failures = vec![
        ("an error", vec![json_reply(500, &json!({"error": {"message": format!("bad key {KEY}")}}))]),
        ("a refusal", vec![json_reply(401, &json!({"error": {"message": "no"}}))]),
        ("another address", vec![reply(302, "Location: http://169.254.169.254/\r\n", "")]),
        ("no JSON", vec![reply(200, "", "soon")]),
        ("no results", vec![json_reply(200, &json!({"data": []}))]),
        ("an empty list", vec![results(&[])]),
        ("an unknown index", vec![results(&[valid(), row(json!(3), json!(0.1))])]),
        ("a negative index", vec![results(&[row(json!(-1), json!(0.1))])]),
        ("one text twice", vec![results(&[valid(), valid()])]),
        ("no number", vec![results(&[row(json!(0), json!("high"))])]),
        ("a closed connection", vec![Step::Break]),
        ("a timeout", vec![Step::Hang]),
        (
            "a truncated response",
            vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"results\"".to_vec())],
        ),
    ];
    // The question selects the failure of the service.
    let steps: HashMap<&'static str, Vec<Step>> = failures.iter().cloned().collect();
    let mock = MockServer::start(move |_, request| steps[request.body["query"].as_str().unwrap()].clone()).await;
    let fixture = RerankFixture::start(&mock).await;
    for (name, _) in failures {
        let found = fixture.search(json!({"mode": "dense", "query": name, "min_score": -1})).await;
        assert_eq!(found["warnings"][0]["code"], "rerank-unavailable", "{name}: {found}");
        assert_eq!(found["contexts"].as_array().unwrap().len(), 3, "{name}");
        let score = |position: usize| found["contexts"][position]["score"].as_f64().unwrap();
        assert!(score(0) >= score(1) && score(1) >= score(2), "{name}");
        assert!(!found.to_string().contains(KEY), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restricted_classification_sends_no_passages() {
    let mock = MockServer::start(|_, request| vec![json_reply(200, &rerank_response(&request.body))]).await;
    let fixture = RerankFixture::start(&mock).await;
    let policy = r#"{"policies": {"manual": {"llm_allow": ["https://llm.example/v1"]}}}"#;
    let path = format!("/api/pipelines/{}", fixture.pipeline);
    let changed = fixture.platform.send("PATCH", &path, &[("content-type", "application/json")], policy).await;
    assert_eq!(changed.status, 200);
    let found = fixture.search(json!({})).await;
    assert_eq!(found["warnings"][0]["code"], "rerank-unavailable");
    assert!(mock.requests().is_empty());
}
