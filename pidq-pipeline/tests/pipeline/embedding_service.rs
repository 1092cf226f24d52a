//! Tests of an external embedding service: batches, validation, and outages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pidq_pipeline::background::embedding_outage;
use pidq_pipeline::ingest::worker;
use pidq_text::embedding::{self, ModelSources};
use serde_json::{Value, json};

use crate::mock_server::{MockServer, ReceivedRequest, Step, json_reply};
use crate::platform::TestPlatform;

const TEXT: &str = "PSV-2015A is set at 38.5 barg.\n\nThe pump P-101A takes water from tank TK-701.";
const KEY: &str = "sk-embeddings-0123456789";

/// Behaviors of the service.
#[derive(Clone, Copy)]
enum Behavior {
    Normal = 0,
    Down = 1,
    WrongLength = 2,
    RejectsLongTexts = 3,
}

/// A service with the vectors of the built-in model and its current behavior.
struct Service {
    mock: MockServer,
    behavior: Arc<AtomicUsize>,
}

impl Service {
    async fn start() -> Service {
        let behavior = Arc::new(AtomicUsize::new(0));
        let current = behavior.clone();
        let mock = MockServer::start(move |_, request| vec![respond(request, current.load(Ordering::SeqCst))]).await;
        Service { mock, behavior }
    }

    fn set_behavior(&self, behavior: Behavior) {
        self.behavior.store(behavior as usize, Ordering::SeqCst);
    }

    fn texts(&self) -> Vec<Vec<String>> {
        let texts = |request: &ReceivedRequest| serde_json::from_value(request.body["input"].clone()).unwrap();
        self.mock.requests().iter().map(texts).collect()
    }

    async fn platform(&self, settings: &[(&str, &str)]) -> RunningPlatform {
        let url = format!("http://{}/v1", self.mock.address);
        let defaults =
            [("PIDQ_EMBEDDINGS_URL", url.as_str()), ("PIDQ_EMBEDDINGS_KEY", KEY), ("PIDQ_JOB_LEASE_TTL", "1s")];
        let platform = TestPlatform::sqlite(&defaults.iter().chain(settings).copied().collect::<Vec<_>>()).await;
        let work = tokio::spawn(worker::run_worker(platform.state.clone()));
        let watch = tokio::spawn(embedding_outage::watch(platform.state.clone()));
        RunningPlatform { platform, tasks: [work, watch] }
    }
}

fn respond(request: &ReceivedRequest, behavior: usize) -> Step {
    let texts: Vec<String> = serde_json::from_value(request.body["input"].clone()).unwrap();
    if behavior == Behavior::Down as usize
        || (behavior == Behavior::RejectsLongTexts as usize && texts.iter().any(|text| text.len() > 20))
    {
        return json_reply(500, &json!({"error": {"message": "out of memory"}}));
    }
    let mut vectors = embedding::open("hash-512", &ModelSources::default()).unwrap().embed(&texts).unwrap();
    if behavior == Behavior::WrongLength as usize {
        vectors.iter_mut().for_each(|vector| vector.truncate(100));
    }
    let rows = vectors.iter().enumerate().map(|(index, vector)| json!({"index": index, "embedding": vector}));
    json_reply(200, &json!({"data": rows.collect::<Vec<_>>()}))
}

/// A platform with a worker.
struct RunningPlatform {
    platform: TestPlatform,
    tasks: [tokio::task::JoinHandle<()>; 2],
}

impl Drop for RunningPlatform {
    fn drop(&mut self) {
        self.tasks.iter().for_each(|task| task.abort());
    }
}

impl RunningPlatform {
    async fn pipeline(&self, model: &str) -> String {
        let body = json!({
            "name": "Unit 20", "embedding_model": model, "classifications": ["manual", "datasheet"],
            "text_splitter": {"name": "recursive_character", "chunk_size": 50, "chunk_overlap": 0},
        });
        let created = self.platform.post("/api/pipelines", &body).await;
        assert_eq!(created.status, 201, "{}", String::from_utf8_lossy(&created.body));
        assert_eq!(created.json()["embedding_dimensions"], 512);
        created.json()["id"].as_str().unwrap().to_owned()
    }

    async fn upload_document(&self, pipeline: &str) -> Value {
        self.platform.upload_and_wait(pipeline, "a.txt", TEXT.as_bytes(), &[("classification", "manual")]).await
    }

    async fn search(&self, pipeline: &str, classification: &str, mode: &str) -> Value {
        let body = json!({"query": "the tank of the pump", "classification": classification, "mode": mode});
        self.platform.post(&format!("/api/pipelines/{pipeline}/search"), &body).await.json()
    }

    async fn status(&self, pipeline: &str) -> Value {
        self.platform.get(&format!("/api/pipelines/{pipeline}")).await.json()["status"].clone()
    }

    /// Polls a resource until a condition holds.
    async fn until(&self, description: &str, path: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let mut found = Value::Null;
        for _ in 0..300 {
            found = self.platform.get(path).await.json();
            if condition(&found) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("timeout: not {description}: {found}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_and_questions_are_embedded_by_the_service() {
    let service = Service::start().await;
    let running = service.platform(&[("PIDQ_EMBEDDINGS_BATCH_SIZE", "1")]).await;
    let id = running.pipeline("openai:plant-small").await;
    let uploaded = running.upload_document(&id).await;
    assert_eq!((&uploaded["status"], &uploaded["chunk_count"]), (&json!("ready"), &json!(2)), "{uploaded}");
    let found = running.search(&id, "manual", "dense").await;
    assert_eq!((&found["contexts"][0]["tags"], &found["warnings"]), (&json!(["P-101A", "TK-701"]), &json!([])));
    let batches: Vec<usize> = service.texts().iter().map(Vec::len).collect();
    assert_eq!(batches, [1, 1, 1, 1], "the dimension probe, two chunks, and the question");
    let request = &service.mock.requests()[1];
    assert_eq!((&request.body["model"], request.body.get("dimensions")), (&json!("plant-small"), None));
    assert!(request.head.starts_with("POST /v1/embeddings") && request.head.contains(&format!("Bearer {KEY}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configured_dimensions_are_requested() {
    let service = Service::start().await;
    let running =
        service.platform(&[("PIDQ_EMBEDDINGS_DIMENSIONS", "512"), ("PIDQ_EMBEDDINGS_MODEL", "plant-large")]).await;
    let id = running.pipeline("openai").await;
    assert_eq!(running.upload_document(&id).await["status"], "ready");
    let request = service.mock.requests();
    assert!(request.iter().all(|request| request.body["dimensions"] == 512 && request.body["model"] == "plant-large"));
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_wrong_length_are_not_stored() {
    let service = Service::start().await;
    let running = service.platform(&[]).await;
    let id = running.pipeline("openai:plant-small").await;
    service.set_behavior(Behavior::WrongLength);
    let uploaded = running.upload_document(&id).await;
    assert_eq!(
        (&uploaded["status"], &uploaded["error"]["code"]),
        (&json!("failed"), &json!("embedding-dimension-mismatch"))
    );
    assert_eq!((&uploaded["error"]["retryable"], &uploaded["attempts"]), (&json!(false), &json!(1)));
    let found = running.search(&id, "manual", "dense").await;
    assert_eq!((&found["status"], &found["code"]), (&json!(503), &json!("embedding-dimension-mismatch")));
    service.set_behavior(Behavior::Normal);
    let path = format!("/api/pipelines/{id}/documents/{}", uploaded["id"].as_str().unwrap());
    assert_eq!(running.platform.send("POST", &format!("{path}/retry"), &[], "").await.status, 202);
    running.until("ready", &path, |found| found["status"] == "ready").await;
    service.set_behavior(Behavior::WrongLength);
    let found = running.search(&id, "manual", "hybrid").await;
    assert_eq!(found["warnings"][0]["code"], "embedding-dimension-mismatch", "{found}");
    assert_eq!(found["contexts"][0]["tags"], json!(["P-101A", "TK-701"]));
    assert_eq!(running.status(&id).await, "active", "a wrong response is not an outage");
}

#[tokio::test(flavor = "multi_thread")]
async fn during_an_outage_documents_wait_and_search_is_sparse() {
    let service = Service::start().await;
    let running = service.platform(&[]).await;
    let id = running.pipeline("openai:plant-small").await;
    running.upload_document(&id).await;
    service.set_behavior(Behavior::Down);
    let parts = [("classification", "datasheet")];
    let uploaded = running.platform.upload(&id, "b.txt", b"LSLL-7012 trips the pump.", &parts).await.json();
    let document = format!("/api/pipelines/{id}/documents/{}", uploaded["id"].as_str().unwrap());
    let waits = |found: &Value| found["status"] == "queued" && found["error"]["code"] == "embedding-unavailable";
    running.until("waiting", &document, waits).await;
    let pipeline = format!("/api/pipelines/{id}");
    running.until("degraded", &pipeline, |found| found["status"] == "degraded").await;
    let found = running.search(&id, "manual", "hybrid").await;
    assert_eq!(found["warnings"][0]["code"], "embedding-unavailable", "{found}");
    assert_eq!(found["contexts"][0]["tags"], json!(["P-101A", "TK-701"]));
    let rejected = running.search(&id, "manual", "dense").await;
    assert_eq!((&rejected["status"], &rejected["code"]), (&json!(503), &json!("embedding-unavailable")));
    service.set_behavior(Behavior::Normal);
    let found = running.until("ready", &document, |found| found["terminal"] == true).await;
    // A call in progress when the service returns may count.
    assert!(found["status"] == "ready" && found["attempts"].as_u64() <= Some(2), "waiting counts no attempt: {found}");
    running.until("active", &pipeline, |found| found["status"] == "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_document_is_not_an_outage() {
    let service = Service::start().await;
    let running = service.platform(&[]).await;
    let id = running.pipeline("openai:plant-small").await;
    service.set_behavior(Behavior::RejectsLongTexts);
    let uploaded = running.platform.upload(&id, "a.txt", TEXT.as_bytes(), &[("classification", "manual")]).await.json();
    let document = format!("/api/pipelines/{id}/documents/{}", uploaded["id"].as_str().unwrap());
    let found = running.until("tried twice", &document, |found| found["attempts"] == 2).await;
    assert_ne!(found["status"], "ready");
    assert_eq!(running.status(&id).await, "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn query_vectors_are_cached_per_classification() {
    let service = Service::start().await;
    let running = service.platform(&[]).await;
    let id = running.pipeline("openai:plant-small").await;
    for (classification, requests) in [("manual", 2), ("manual", 2), ("datasheet", 3)] {
        running.search(&id, classification, "dense").await;
        assert_eq!(service.texts().len(), requests, "{classification}");
    }
}

#[tokio::test]
async fn an_unconfigured_service_is_reported_on_selection() {
    let check = async |settings: &[(&str, &str)], model: &str| {
        let platform = TestPlatform::sqlite(settings).await;
        let body = json!({"name": "a", "embedding_model": model, "text_splitter": "token", "classifications": ["a"]});
        let rejected = platform.post("/api/pipelines", &body).await;
        assert_eq!((rejected.status, rejected.code().as_str()), (422, "embedding-unavailable"), "{}", rejected.json());
        assert!(!rejected.json().to_string().contains(KEY));
    };
    check(&[], "openai:plant-small").await;
    let unreachable = [("PIDQ_EMBEDDINGS_URL", "http://127.0.0.1:1/v1"), ("PIDQ_EMBEDDINGS_KEY", KEY)];
    check(&unreachable, "openai:plant-small").await;
    check(&unreachable, "openai").await;
}
