//! Reranking by an external service, and the fallback when it fails.

use std::collections::HashMap;
use std::sync::Arc;

use pidq_pipeline::ingest;
use serde_json::{Value, json};

use crate::mock_server::{MockServer, Step, json_reply, reply};
use crate::platform::TestPlatform;

const KEY: &str = "sk-rerank-0123456789";
const TEXTS: [&str; 3] = ["The pump P-101A is red.", "The pump P-101A stands in unit 20.", "The pump P-101A runs dry."];

/// A platform with documents about a pump, and a reranking service.
struct Ranked {
    world: TestPlatform,
    pipeline: String,
    worker: tokio::task::JoinHandle<()>,
}

impl Drop for Ranked {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

impl Ranked {
    async fn by(mock: &MockServer) -> Ranked {
        let url = format!("http://{}/v1", mock.address);
        let settings = [
            ("PIDQ_RERANK_URL", url.as_str()),
            ("PIDQ_RERANK_KEY", KEY),
            ("PIDQ_RERANK_MODEL", "plant-order"),
            ("PIDQ_RERANK_TIMEOUT", "1s"),
        ];
        let world = TestPlatform::sqlite(&settings).await;
        let worker = tokio::spawn(ingest::run_worker(Arc::clone(&world.state)));
        let pipeline = world.pipeline().await;
        for (text, name) in TEXTS.iter().zip(["a.txt", "b.txt", "c.txt"]) {
            world.ready(&pipeline, name, text.as_bytes(), &[("classification", "manual")]).await;
        }
        Ranked { world, pipeline, worker }
    }

    async fn search(&self, members: Value) -> Value {
        let mut body = json!({"query": "pump P-101A", "classification": "manual"});
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        self.world.post(&format!("/api/pipelines/{}/search", self.pipeline), &body).await.json()
    }
}

fn files(found: &Value) -> Vec<&str> {
    found["contexts"].as_array().unwrap().iter().map(|result| result["filename"].as_str().unwrap()).collect()
}

/// Reranks texts that contain "dry" first, then others; texts that contain "red" are omitted.
fn by_dryness(request: &Value) -> Value {
    let relevance = |text: &str| if text.contains("dry") { 0.9 } else { 0.4 };
    let texts = request["documents"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
    let ranked = texts.enumerate().filter(|(_, text)| !text.contains("red"));
    let rows = ranked.map(|(index, text)| json!({"index": index, "relevance_score": relevance(text)}));
    json!({"results": rows.collect::<Vec<_>>()})
}

#[tokio::test(flavor = "multi_thread")]
async fn hits_are_in_the_order_of_the_service() {
    let mock = MockServer::start(|_, request| vec![json_reply(200, &by_dryness(&request.body))]).await;
    let ranked = Ranked::by(&mock).await;
    let found = ranked.search(json!({})).await;
    assert_eq!((files(&found), &found["warnings"]), (vec!["c.txt", "b.txt", "a.txt"], &json!([])), "{found}");
    assert_eq!(found["contexts"][0]["scores"]["rerank"], 0.9);
    assert!(found["contexts"][2]["scores"].get("rerank").is_none(), "it was not scored");
    assert_eq!(files(&ranked.search(json!({"top_k": 1})).await), ["c.txt"], "more are looked at than are wanted");
    let request = &mock.requests()[0];
    assert_eq!((&request.body["model"], &request.body["query"]), (&json!("plant-order"), &json!("pump P-101A")));
    assert!(request.head.starts_with("POST /v1/rerank") && request.head.contains(&format!("Bearer {KEY}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_service_keeps_the_search_order() {
    let row = |index: Value, relevance: Value| json!({"index": index, "relevance_score": relevance});
    let results = |rows: &[Value]| json_reply(200, &json!({"results": rows}));
    let well = || row(json!(0), json!(0.5));
    let moods = vec![
        ("an error", vec![json_reply(500, &json!({"error": {"message": format!("bad key {KEY}")}}))]),
        ("a refusal", vec![json_reply(401, &json!({"error": {"message": "no"}}))]),
        ("another address", vec![reply(302, "Location: http://169.254.169.254/\r\n", "")]),
        ("no JSON", vec![reply(200, "", "soon")]),
        ("no results", vec![json_reply(200, &json!({"data": []}))]),
        ("none of them", vec![results(&[])]),
        ("a text that is not there", vec![results(&[well(), row(json!(3), json!(0.1))])]),
        ("less than the first", vec![results(&[row(json!(-1), json!(0.1))])]),
        ("one text twice", vec![results(&[well(), well()])]),
        ("no number", vec![results(&[row(json!(0), json!("high"))])]),
        ("an end without a word", vec![Step::Break]),
        ("silence", vec![Step::Hang]),
        ("half an answer", vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"results\"".to_vec())]),
    ];
    // The question says how the service misbehaves.
    let steps: HashMap<&'static str, Vec<Step>> = moods.iter().cloned().collect();
    let mock = MockServer::start(move |_, request| steps[request.body["query"].as_str().unwrap()].clone()).await;
    let ranked = Ranked::by(&mock).await;
    for (name, _) in moods {
        let found = ranked.search(json!({"mode": "dense", "query": name, "min_score": -1})).await;
        assert_eq!(found["warnings"][0]["code"], "rerank-unavailable", "{name}: {found}");
        assert_eq!(found["contexts"].as_array().unwrap().len(), 3, "{name}");
        let score = |at: usize| found["contexts"][at]["score"].as_f64().unwrap();
        assert!(score(0) >= score(1) && score(1) >= score(2), "{name}");
        assert!(!found.to_string().contains(KEY), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restricted_classification_sends_no_passages() {
    let mock = MockServer::start(|_, request| vec![json_reply(200, &by_dryness(&request.body))]).await;
    let ranked = Ranked::by(&mock).await;
    let policy = r#"{"policies": {"manual": {"llm_allow": ["https://llm.example/v1"]}}}"#;
    let path = format!("/api/pipelines/{}", ranked.pipeline);
    let changed = ranked.world.send("PATCH", &path, &[("content-type", "application/json")], policy).await;
    assert_eq!(changed.status, 200);
    let found = ranked.search(json!({})).await;
    assert_eq!(found["warnings"][0]["code"], "rerank-unavailable");
    assert!(mock.requests().is_empty());
}
