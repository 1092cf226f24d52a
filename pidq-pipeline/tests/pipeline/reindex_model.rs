//! Tests of reindexing with an embedding service that fails midway, stays unavailable, or has other dimensions: the old
//! index answers until the new one does, and no response mixes both.
//!
//! The small model ranks documents with high numbers first, the large one those with low numbers, and their dimensions
//! differ: the order of the hits identifies the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pidq_pipeline::background::embedding_outage;
use pidq_pipeline::ingest::worker;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::mock_server::{MockServer, ReceivedRequest, Step, json_reply};
use crate::platform::{TestPlatform, on_each_url};

const MANUAL: (&str, &str) = ("classification", "manual");
const JSON: [(&str, &str); 1] = [("content-type", "application/json")];
const SMALL: &str = "openai:plant-small";
const LARGE: &str = "openai:plant-large";
const DOCUMENTS: usize = 9;

/// An embedding service with two models; the large one can be made unavailable.
struct Service {
    mock: MockServer,
    is_unavailable: Arc<AtomicBool>,
}

impl Service {
    async fn start() -> Service {
        let is_unavailable = Arc::new(AtomicBool::new(false));
        let unavailable = is_unavailable.clone();
        let mock = MockServer::start(move |_, request| respond(request, unavailable.load(Ordering::SeqCst))).await;
        Service { mock, is_unavailable }
    }

    fn set_unavailable(&self, unavailable: bool) {
        self.is_unavailable.store(unavailable, Ordering::SeqCst);
    }

    /// Returns the document texts sent to the large model.
    fn embedded_texts(&self) -> Vec<String> {
        let of_large = |request: &ReceivedRequest| request.body["model"] == "plant-large";
        let texts =
            |request: &ReceivedRequest| serde_json::from_value::<Vec<String>>(request.body["input"].clone()).unwrap();
        let all = self.mock.requests();
        all.iter().filter(|request| of_large(request)).flat_map(texts).filter(|text| number(text).is_some()).collect()
    }

    /// Opens a platform on a database, with workers that end with it.
    async fn platform(&self, url: &str) -> RunningPlatform {
        let service = format!("http://{}/v1", self.mock.address);
        let settings = [("PIDQ_EMBEDDINGS_URL", service.as_str()), ("PIDQ_JOB_LEASE_TTL", "1s")];
        let platform = TestPlatform::at(url, &settings).await;
        let mut tasks = JoinSet::new();
        for _ in 0..2 {
            tasks.spawn(worker::run_worker(platform.state.clone()));
        }
        tasks.spawn(embedding_outage::watch(platform.state.clone()));
        RunningPlatform { platform, _tasks: tasks }
    }
}

fn respond(request: &ReceivedRequest, is_unavailable: bool) -> Vec<Step> {
    let is_large = request.body["model"] == "plant-large";
    if is_large && is_unavailable {
        return vec![json_reply(500, &json!({"error": {"message": "out of memory"}}))];
    }
    let texts: Vec<String> = serde_json::from_value(request.body["input"].clone()).unwrap();
    let rows =
        texts.iter().enumerate().map(|(index, text)| json!({"index": index, "embedding": vector(text, is_large)}));
    let reply = json_reply(200, &json!({"data": rows.collect::<Vec<_>>()}));
    // Slow enough for events during the reindex.
    if is_large && texts.iter().any(|text| number(text).is_some()) { vec![Step::Wait(60), reply] } else { vec![reply] }
}

/// Returns the vector of a text: a question points to high numbers for one model and to low ones for the other.
fn vector(text: &str, is_large: bool) -> Vec<f64> {
    let rank = number(text).map_or(10.0, |number| if is_large { 9.0 - number as f64 } else { number as f64 });
    let mut vector = vec![0.0; if is_large { 96 } else { 64 }];
    (vector[0], vector[1]) = (1.0, rank / 10.0);
    vector
}

/// Returns the number of a document.
fn number(text: &str) -> Option<usize> {
    text.split("Manual number ").nth(1)?.split('.').next()?.parse().ok()
}

/// A platform with workers.
struct RunningPlatform {
    platform: TestPlatform,
    _tasks: JoinSet<()>,
}

impl RunningPlatform {
    /// Creates a pipeline of the small model with documents.
    async fn pipeline(&self) -> String {
        let body = json!({
            "name": "Unit 20", "embedding_model": SMALL, "text_splitter": "recursive_character",
            "classifications": ["manual"],
        });
        let created = self.platform.post("/api/pipelines", &body).await;
        assert_eq!(created.status, 201, "{}", String::from_utf8_lossy(&created.body));
        let id = created.json()["id"].as_str().unwrap().to_owned();
        for number in 0..DOCUMENTS {
            self.add(&id, number).await;
        }
        id
    }

    async fn add(&self, pipeline: &str, number: usize) {
        let text = format!("Manual number {number}. The pump takes water from the tank.");
        let uploaded =
            self.platform.upload_and_wait(pipeline, &format!("{number}.txt"), text.as_bytes(), &[MANUAL]).await;
        assert_eq!(uploaded["status"], "ready", "{uploaded}");
    }

    async fn reindex(&self, pipeline: &str) -> String {
        let path = format!("/api/pipelines/{pipeline}/reindex");
        let started = self.platform.send("POST", &path, &JSON, json!({"embedding_model": LARGE}).to_string()).await;
        assert_eq!(started.status, 202, "{}", String::from_utf8_lossy(&started.body));
        started.header("location").to_owned()
    }

    /// Returns the model of a response, which must contain all documents in the order of one of the two.
    async fn serving_model(&self, pipeline: &str) -> &'static str {
        let body =
            json!({"query": "where is the water from", "classification": "manual", "mode": "dense", "top_k": 50});
        let found = self.platform.post(&format!("/api/pipelines/{pipeline}/search"), &body).await;
        assert_eq!(found.status, 200, "{}", String::from_utf8_lossy(&found.body));
        let found = found.json();
        let numbers: Vec<usize> = found["contexts"].as_array().unwrap().iter().map(found_number).collect();
        assert!(numbers.len() >= DOCUMENTS, "{found}");
        if numbers.is_sorted() {
            return LARGE;
        }
        assert!(numbers.iter().rev().is_sorted(), "vectors of two models: {numbers:?}");
        SMALL
    }

    async fn get(&self, path: &str) -> Value {
        self.platform.get(path).await.json()
    }

    /// Polls an operation until a condition holds. The small model answers until then.
    async fn until(&self, pipeline: &str, path: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let mut found = Value::Null;
        for _ in 0..600 {
            let model = self.serving_model(pipeline).await;
            found = self.get(path).await;
            assert!(model == SMALL || found["status"] == "succeeded", "too early: {found}");
            if condition(&found) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("timeout: {found}");
    }
}

fn found_number(result: &Value) -> usize {
    number(result["text"].as_str().unwrap()).unwrap()
}

fn awaits_retry(operation: &Value) -> bool {
    operation["error"]["code"] == "embedding-unavailable" && operation["next_attempt_at"].is_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reindex_resumes_after_an_outage_without_repeated_work() {
    on_each_url(async |url| {
        let service = Service::start().await;
        let running = service.platform(url).await;
        let id = running.pipeline().await;
        let operation = running.reindex(&id).await;
        while service.embedded_texts().len() < 4 {
            assert_eq!(running.serving_model(&id).await, SMALL);
        }
        service.set_unavailable(true);
        let current = running.until(&id, &operation, awaits_retry).await;
        assert_eq!((&current["status"], &current["terminal"]), (&json!("running"), &json!(false)), "{current}");
        let done = current["progress"]["done"].as_i64().unwrap();
        assert!(0 < done && done < DOCUMENTS as i64, "{current}");
        assert!(current["error"]["message"].as_str().unwrap().contains("embedding service"), "{current}");
        assert_eq!(running.get(&format!("/api/pipelines/{id}")).await["status"], "reindexing");
        service.set_unavailable(false);
        let finished = running.until(&id, &operation, |current| current["terminal"] == true).await;
        assert_eq!((&finished["status"], &finished["error"]), (&json!("succeeded"), &Value::Null), "{finished}");
        assert_eq!(running.serving_model(&id).await, LARGE);
        let mut embedded_texts: Vec<_> = service.embedded_texts().iter().filter_map(|text| number(text)).collect();
        embedded_texts.sort_unstable();
        embedded_texts.dedup();
        assert_eq!(embedded_texts, (0..DOCUMENTS).collect::<Vec<_>>());
        assert!(running.platform.state.store.outages().await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reindex_waits_for_a_missing_service_until_cancelled() {
    on_each_url(async |url| {
        let service = Service::start().await;
        let running = service.platform(url).await;
        let id = running.pipeline().await;
        let operation = running.reindex(&id).await;
        while service.embedded_texts().len() < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        service.set_unavailable(true);
        // More often than the attempts of a document.
        let mut retry_times = std::collections::BTreeSet::new();
        while retry_times.len() < 6 {
            let current = running.until(&id, &operation, awaits_retry).await;
            retry_times.insert(current["next_attempt_at"].as_str().unwrap().to_owned());
        }
        // Other work continues meanwhile.
        running.add(&id, DOCUMENTS).await;
        let current = running.until(&id, &operation, |current| current["progress"]["total"] == DOCUMENTS + 1).await;
        assert_eq!(current["status"], "running", "{current}");
        let cancelled = running.platform.send("POST", &format!("{operation}/cancel"), &[], "").await;
        assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")), "{}", cancelled.json());
        let pipeline = running.get(&format!("/api/pipelines/{id}")).await;
        assert_eq!((&pipeline["status"], &pipeline["embedding_model"]), (&json!("active"), &json!(SMALL)));
        assert_eq!(pipeline["document_counts"]["ready"], DOCUMENTS + 1);
        assert_eq!(running.serving_model(&id).await, SMALL);
        for _ in 0..100 {
            if running.platform.state.store.outages().await.unwrap().is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(running.platform.state.store.outages().await.unwrap().is_empty(), "the model is no longer needed");
        service.set_unavailable(false);
        let operation = running.reindex(&id).await;
        let finished = running.until(&id, &operation, |current| current["terminal"] == true).await;
        assert_eq!(
            (&finished["status"], &finished["progress"]["done"]),
            (&json!("succeeded"), &json!(DOCUMENTS + 1)),
            "{finished}"
        );
        assert_eq!(running.serving_model(&id).await, LARGE);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reindex_with_other_dimensions_survives_a_crash_and_swaps_atomically() {
    on_each_url(async |url| {
        let service = Service::start().await;
        let mut running = service.platform(url).await;
        let id = running.pipeline().await;
        let operation = running.reindex(&id).await;
        for restart_after in [2, 4, 6] {
            while service.embedded_texts().len() < restart_after {
                assert_eq!(running.serving_model(&id).await, SMALL);
            }
            drop(running);
            running = service.platform(url).await;
        }
        let finished = running.until(&id, &operation, |current| current["terminal"] == true).await;
        assert_eq!(finished["status"], "succeeded", "{finished}");
        let pipeline = running.get(&format!("/api/pipelines/{id}")).await;
        assert_eq!((&pipeline["embedding_model"], &pipeline["embedding_dimensions"]), (&json!(LARGE), &json!(96)));
        assert_eq!(running.serving_model(&id).await, LARGE);
        running.add(&id, DOCUMENTS).await;
        assert_eq!(running.serving_model(&id).await, LARGE, "later documents have the new dimensions");
    })
    .await;
}
