//! Tests of reindexing: the old index answers until the atomic swap, and the result equals a fresh index.

use std::sync::Arc;
use std::time::Duration;

use pidq_pipeline::ingest::worker;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::databases;
use crate::ingestion::on_each;
use crate::platform::TestPlatform;

const MANUAL: (&str, &str) = ("classification", "manual");
const SMALL_CHUNKS: &str =
    r#"{"text_splitter": {"name": "recursive_character", "chunk_size": 60, "chunk_overlap": 0}}"#;
const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

#[tokio::test(flavor = "multi_thread")]
async fn a_reindex_swaps_the_index_when_complete() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let uploaded = platform.upload_and_wait(&id, "a.txt", text(1).as_bytes(), &[MANUAL]).await;
        let document = format!("/api/pipelines/{id}/documents/{}", uploaded["id"].as_str().unwrap());
        let before = platform.get(&format!("{document}/chunks")).await.json()["data"].as_array().unwrap().len();
        let started = platform.send("POST", &format!("/api/pipelines/{id}/reindex"), &JSON, SMALL_CHUNKS).await;
        assert_eq!(started.status, 202, "{}", String::from_utf8_lossy(&started.body));
        assert_eq!(started.header("location"), format!("/api/operations/{}", started.json()["id"].as_str().unwrap()));
        assert_eq!((&started.json()["kind"], &started.json()["status"]), (&json!("reindex"), &json!("running")));
        let operation = platform.wait_for_operation(&started.json()).await;
        assert_eq!(
            (&operation["status"], &operation["progress"]),
            (&json!("succeeded"), &json!({"done": 1, "total": 1})),
            "{operation}"
        );
        let pipeline = platform.get(&format!("/api/pipelines/{id}")).await.json();
        assert_eq!((&pipeline["status"], &pipeline["revision"]), (&json!("active"), &json!(2)));
        assert_eq!(pipeline["text_splitter_params"]["chunk_size"], 60);
        let after = platform.get(&format!("{document}/chunks")).await.json()["data"].as_array().unwrap().len();
        assert!(after > before, "{before} {after}");
        assert_eq!(platform.get(&document).await.json()["chunk_count"], after);
        let recorded = platform.all_events().await;
        let names: Vec<&str> =
            recorded.iter().map(|event| event.kind.name).filter(|name| name.contains("reindex")).collect();
        assert_eq!(names, ["pipeline.reindex.started", "pipeline.reindex.completed"]);
        // The old index is deleted in batches.
        let store = &platform.state.store;
        let document = uploaded["id"].as_str().unwrap();
        assert_eq!(
            store.chunks(document, 1, 1).await.unwrap().len(),
            before,
            "readers of the old index still find its chunks"
        );
        assert_eq!(store.sweep_chunks(&id, 1, 1).await.unwrap(), 1);
        while store.sweep_chunks(&id, 1, 1).await.unwrap() > 0 {}
        assert!(store.chunks(document, 1, 1).await.unwrap().is_empty());
        assert_eq!(store.chunks(document, 1, 2).await.unwrap().len(), after);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reindex_with_a_markup_splitter_extracts_markup_again() {
    let page = b"<html><head><title>Vessel</title></head><body><h1>V-201</h1><p>It is a vessel.</p></body></html>";
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let uploaded = platform.upload_and_wait(&id, "a.html", page, &[MANUAL]).await;
        let path = format!("/api/pipelines/{id}/documents/{}/text", uploaded["id"].as_str().unwrap());
        assert!(!String::from_utf8(platform.get(&path).await.body).unwrap().contains("<h1>"));
        let reindex = format!("/api/pipelines/{id}/reindex");
        let started = platform.send("POST", &reindex, &JSON, r#"{"text_splitter": "html"}"#).await;
        let operation = platform.wait_for_operation(&started.json()).await;
        assert_eq!(operation["status"], "succeeded", "{operation}");
        assert!(String::from_utf8(platform.get(&path).await.body).unwrap().contains("<h1>"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_reindex_leaves_the_old_index() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let uploaded = platform.upload_and_wait(&id, "a.txt", text(1).as_bytes(), &[MANUAL]).await;
        let path = format!("/api/pipelines/{id}/reindex");
        let started = platform.send("POST", &path, &JSON, r#"{"text_splitter": "json"}"#).await.json();
        let operation = platform.wait_for_operation(&started).await;
        assert_eq!(
            (&operation["status"], &operation["error"]["document_id"]),
            (&json!("failed"), &uploaded["id"]),
            "{operation}"
        );
        assert_eq!(operation["error"]["code"], "corrupt-document");
        let pipeline = platform.get(&format!("/api/pipelines/{id}")).await.json();
        assert_eq!(
            (&pipeline["status"], &pipeline["text_splitter"]),
            (&json!("active"), &json!("recursive_character"))
        );
        assert_eq!(platform.search_hits(&id, "unique1", "manual").await.len(), 1, "the old index answers");
        for (body, code) in [
            (r#"{"text_splitter": "magic"}"#, "unknown-text-splitter"),
            (r#"{"embedding_model": "magic"}"#, "unknown-embedding-model"),
            (r#"{"embedding_model": 7}"#, "validation"),
            (r#"{"chunk_size": 7}"#, "unknown-field"),
        ] {
            let response = platform.send("POST", &path, &JSON, body).await;
            assert_eq!((response.status, response.code().as_str()), (422, code), "{body}");
        }
        let repeated = platform.send("POST", &path, &JSON, SMALL_CHUNKS).await;
        assert_eq!(
            platform.wait_for_operation(&repeated.json()).await["status"],
            "succeeded",
            "another reindex may follow a failed one"
        );
    })
    .await;
}

#[tokio::test]
async fn only_one_reindex_runs_and_it_can_be_cancelled() {
    crate::platform::on_each(async |platform| {
        let id = platform.pipeline().await;
        let path = format!("/api/pipelines/{id}/reindex");
        let started = platform.send("POST", &path, &JSON, SMALL_CHUNKS).await.json();
        assert_eq!(platform.get(&format!("/api/pipelines/{id}")).await.json()["status"], "reindexing");
        let second = platform.send("POST", &path, &JSON, SMALL_CHUNKS).await;
        assert_eq!((second.status, second.code().as_str()), (409, "pipeline-busy"));
        let operation = format!("/api/operations/{}", started["id"].as_str().unwrap());
        let cancelled = platform.send("POST", &format!("{operation}/cancel"), &[], "").await;
        assert_eq!(cancelled.json()["status"], "cancelled");
        let repeated = platform.send("POST", &format!("{operation}/cancel"), &[], "").await;
        assert_eq!((repeated.status, repeated.code().as_str()), (409, "operation-not-cancellable"));
        let pipeline = platform.get(&format!("/api/pipelines/{id}")).await.json();
        assert_eq!(
            (&pipeline["status"], &pipeline["text_splitter_params"]["chunk_size"]),
            (&json!("active"), &json!(1000))
        );
        assert_eq!(platform.get("/api/operations/nobody").await.code(), "operation-not-found");
        assert_eq!(platform.send("POST", &path, &JSON, SMALL_CHUNKS).await.status, 202);
        assert_eq!(platform.send("DELETE", &format!("/api/pipelines/{id}"), &[], "").await.status, 204);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_when_the_pipeline_is_deleted() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        for number in 0..3 {
            platform.upload(&id, "a.txt", text(number).as_bytes(), &[MANUAL]).await;
        }
        let deleted = platform.send("DELETE", &format!("/api/pipelines/{id}?wait=true"), &[], "").await;
        assert_eq!(deleted.status, 204, "{}", String::from_utf8_lossy(&deleted.body));
        assert_eq!(platform.get(&format!("/api/pipelines/{id}")).await.code(), "pipeline-not-found");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reindex_under_concurrent_changes_equals_a_fresh_index() {
    let folder = TempDir::new().unwrap();
    for seed in 1..=seeds() {
        let url = format!("sqlite:{}", folder.path().join(format!("{seed}.db")).display());
        run_interleaved(&TestPlatform::at(&url, &[("PIDQ_JOB_LEASE_TTL", "1s")]).await, seed).await;
        match databases::fresh_postgres() {
            Some(url) => run_interleaved(&TestPlatform::at(&url, &[("PIDQ_JOB_LEASE_TTL", "1s")]).await, seed).await,
            None => eprintln!("SKIPPED on PostgreSQL: no server found under /usr/lib/postgresql"),
        }
    }
}

fn seeds() -> u64 {
    std::env::var("PIDQ_REINDEX_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

/// Uploads, deletions, reclassification and crashing workers in some order during a reindex.
async fn run_interleaved(platform: &TestPlatform, seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let id = platform.pipeline().await;
    let mut workers = start_workers(platform);
    // The first document is not changed: queries always find it.
    let mut documents: Vec<(usize, String)> = Vec::new();
    for number in 0..6 {
        let uploaded =
            platform.upload_and_wait(&id, &format!("{number}.txt"), text(number).as_bytes(), &[MANUAL]).await;
        documents.push((number, uploaded["id"].as_str().unwrap().to_owned()));
    }
    let started = platform.send("POST", &format!("/api/pipelines/{id}/reindex"), &JSON, SMALL_CHUNKS).await.json();
    for step in 0..14 {
        let index = 1 + random.below(documents.len() - 1);
        match random.below(8) {
            0..3 => {
                let number = 6 + step;
                let uploaded =
                    platform.upload(&id, &format!("{number}.txt"), text(number).as_bytes(), &[MANUAL]).await.json();
                documents.push((number, uploaded["id"].as_str().unwrap().to_owned()));
            }
            3 | 4 if documents.len() > 3 => {
                let (_, id_to_delete) = documents.remove(index);
                let response =
                    platform.send("DELETE", &format!("/api/pipelines/{id}/documents/{id_to_delete}"), &[], "").await;
                assert_eq!(response.status, 204, "seed {seed}: {}", response.json());
            }
            5 => {
                workers.iter().for_each(JoinHandle::abort);
                workers = start_workers(platform);
            }
            _ => platform.reclassify(&id, &documents[index].1, ["manual", "datasheet"][random.below(2)]).await,
        }
        assert!(
            !platform.search_hits(&id, "unique0", "manual").await.is_empty(),
            "seed {seed}: an index always exists"
        );
        tokio::time::sleep(Duration::from_millis(random.below(200) as u64)).await;
    }
    let operation = platform.wait_for_operation(&started).await;
    assert_eq!(operation["status"], "succeeded", "seed {seed}: {operation}");
    platform.wait_until_ready(&id).await;
    let copy = platform.create_copy(&id, &documents).await;
    let questions = ["unique0", "unique3 pump", "unique7", "unique12", "the relief valve of the vessel", "paragraph 4"];
    for (question, classification) in
        questions.iter().flat_map(|question| ["manual", "datasheet"].map(|classification| (question, classification)))
    {
        let (actual, expected) = (
            platform.search_hits(&id, question, classification).await,
            platform.search_hits(&copy, question, classification).await,
        );
        assert_eq!(actual, expected, "seed {seed}: {question} in {classification}");
    }
    workers.iter().for_each(JoinHandle::abort);
}

/// Returns a unique text with some paragraphs.
fn text(number: usize) -> String {
    let paragraph = |index: usize| {
        format!(
            "Paragraph {index} of unique{number}: the relief valve of vessel V-{number}{index} is set at {index}{number}.5 barg."
        )
    };
    (0..5).map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// Deterministic pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

fn start_workers(platform: &TestPlatform) -> Vec<JoinHandle<()>> {
    (0..2).map(|_| tokio::spawn(worker::run_worker(Arc::clone(&platform.state)))).collect()
}

impl TestPlatform {
    /// Waits for the end of an operation and returns it.
    pub async fn wait_for_operation(&self, operation: &Value) -> Value {
        let path = format!("/api/operations/{}", operation["id"].as_str().unwrap_or_else(|| panic!("{operation}")));
        for _ in 0..1200 {
            let now = self.get(&path).await.json();
            if now["terminal"] == true {
                return now;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the operation does not end: {}", self.get(&path).await.json());
    }

    async fn wait_until_ready(&self, pipeline: &str) {
        for _ in 0..1200 {
            let counts = self.get(&format!("/api/pipelines/{pipeline}")).await.json()["document_counts"].clone();
            if counts["ready"] == counts["total"] {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("timeout: not all documents are ready");
    }

    /// Changes the classification of a document, with retries: a worker may change the document in between.
    async fn reclassify(&self, pipeline: &str, document: &str, classification: &str) {
        let path = format!("/api/pipelines/{pipeline}/documents/{document}");
        for _ in 0..20 {
            let response =
                self.send("PATCH", &path, &JSON, json!({"classification": classification}).to_string()).await;
            match response.status {
                200 => return,
                412 => {}
                _ => panic!("{}", response.json()),
            }
        }
        panic!("the classification cannot be changed");
    }

    /// Creates a pipeline with the current configuration and documents of another one.
    async fn create_copy(&self, pipeline: &str, documents: &[(usize, String)]) -> String {
        let original = self.get(&format!("/api/pipelines/{pipeline}")).await.json();
        let mut splitter = original["text_splitter_params"].clone();
        splitter["name"] = original["text_splitter"].clone();
        let body = json!({
            "name": "fresh", "embedding_model": original["embedding_model"], "text_splitter": splitter,
            "classifications": original["classifications"],
        });
        let copy = self.post("/api/pipelines", &body).await.json()["id"].as_str().unwrap().to_owned();
        for (number, document) in documents {
            let classification =
                self.get(&format!("/api/pipelines/{pipeline}/documents/{document}")).await.json()["classification"]
                    .clone();
            let parts = [("classification", classification.as_str().unwrap())];
            self.upload_and_wait(&copy, &format!("{number}.txt"), text(*number).as_bytes(), &parts).await;
        }
        copy
    }

    /// Returns the hits of a question without their ids.
    async fn search_hits(&self, pipeline: &str, question: &str, classification: &str) -> Vec<Value> {
        let body = json!({"query": question, "classification": classification, "top_k": 20});
        let found = self.post(&format!("/api/pipelines/{pipeline}/search"), &body).await;
        assert_eq!(found.status, 200, "{}", found.json());
        let mut search_hits = found.json()["contexts"].as_array().unwrap().clone();
        for hit in &mut search_hits {
            for id in ["document_id", "chunk_id", "revision"] {
                hit.as_object_mut().unwrap().remove(id);
            }
        }
        search_hits
    }
}
