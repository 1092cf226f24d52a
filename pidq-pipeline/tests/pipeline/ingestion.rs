//! End-to-end tests of ingestion: from the upload to the search, with workers and extraction processes.

use std::sync::Arc;

use pidq_pipeline::ingest::worker;
use serde_json::{Value, json};

use crate::platform::TestPlatform;

const VESSEL: &str =
    "Two relief valves protect the vessel V-201.\n\nPSV-2015A is set at 38.5 barg. PSV-2015B is its spare.";
const PUMP: &str = "The pump P-101A takes water from tank TK-701.\n\nIt is stopped by the low level trip LSLL-7012.";

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_found_by_words_and_tags() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let uploaded =
            platform.upload_and_wait(&id, "V-201.md", VESSEL.as_bytes(), &[("classification", "manual")]).await;
        assert_eq!(
            (&uploaded["status"], &uploaded["searchable"], &uploaded["chunk_count"]),
            (&json!("ready"), &json!(true), &json!(1))
        );
        assert_eq!(uploaded["content_type"], "text/markdown");
        platform.upload_and_wait(&id, "P-101.txt", PUMP.as_bytes(), &[("classification", "manual")]).await;
        for question in ["What is PSV 2015A set at?", "psv-2015a", "relief valves of the vessel"] {
            let found = platform.search(&id, question, "manual").await;
            let best = &found["contexts"][0];
            assert_eq!(best["document_id"], uploaded["id"], "{question}: {found}");
            assert!(best["tags"].as_array().unwrap().contains(&json!("PSV-2015A")));
            let text =
                platform.get(&format!("/api/pipelines/{id}/documents/{}/text", uploaded["id"].as_str().unwrap())).await;
            let text: Vec<char> = String::from_utf8(text.body).unwrap().chars().collect();
            let (start, end) = (best["start"].as_u64().unwrap() as usize, best["end"].as_u64().unwrap() as usize);
            assert_eq!(text[start..end].iter().collect::<String>(), best["text"].as_str().unwrap());
        }
        let other = platform.search(&id, "relief valves", "datasheet").await;
        assert_eq!(other["contexts"], json!([]), "other classifications have no hits");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_follow_deletions_renames_and_reclassification() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let uploaded =
            platform.upload_and_wait(&id, "V-201.md", VESSEL.as_bytes(), &[("classification", "manual")]).await;
        assert_eq!(platform.hit_count(&id, "relief", "manual").await, 1);
        let path = format!("/api/pipelines/{id}/documents/{}", uploaded["id"].as_str().unwrap());
        let patch = [("content-type", "application/json")];
        assert_eq!(platform.send("PATCH", &path, &patch, r#"{"filename": "V-202.md"}"#).await.status, 200);
        assert_eq!(platform.search(&id, "relief", "manual").await["contexts"][0]["filename"], "V-202.md");
        assert_eq!(platform.send("PATCH", &path, &patch, r#"{"classification": "datasheet"}"#).await.status, 200);
        assert_eq!(
            (platform.hit_count(&id, "relief", "manual").await, platform.hit_count(&id, "relief", "datasheet").await),
            (0, 1)
        );
        assert_eq!(platform.send("DELETE", &path, &[], "").await.status, 204);
        assert_eq!(platform.hit_count(&id, "relief", "datasheet").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_document_has_an_error_code() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        for (name, bytes, code) in [
            ("a.pdf", &b"%PDF-1.7 broken"[..], "corrupt-document"),
            ("a.bin", b"\x7fELF\x02\x01\x01\0\0\0\0\0", "unsupported-type"),
            ("a.txt", b"  \n ", "empty-text"),
        ] {
            let uploaded = platform.upload_and_wait(&id, name, bytes, &[("classification", "manual")]).await;
            assert_eq!(
                (&uploaded["status"], &uploaded["error"]["code"]),
                (&json!("failed"), &json!(code)),
                "{uploaded}"
            );
            assert_eq!((&uploaded["terminal"], &uploaded["searchable"]), (&json!(true), &json!(false)));
        }
        let counts = platform.get(&format!("/api/pipelines/{id}")).await.json()["document_counts"].clone();
        assert_eq!(counts, json!({"total": 3, "ready": 0, "processing": 0, "failed": 3}));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_pipeline_deletes_its_documents() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        platform.upload_and_wait(&id, "V-201.md", VESSEL.as_bytes(), &[("classification", "manual")]).await;
        let status = platform.send("DELETE", &format!("/api/pipelines/{id}"), &[], "").await.status;
        assert!([202, 204].contains(&status), "{status}: a worker may finish before the response");
        for _ in 0..100 {
            if platform.get(&format!("/api/pipelines/{id}")).await.status == 404 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("the pipeline still exists");
    })
    .await;
}

/// Runs a test once for each kind of database, with two workers.
pub async fn on_each(test: impl AsyncFn(&TestPlatform)) {
    crate::platform::on_each(async |platform| {
        let workers: Vec<_> = (0..2).map(|_| tokio::spawn(worker::run_worker(Arc::clone(&platform.state)))).collect();
        test(&platform).await;
        workers.iter().for_each(|worker| worker.abort());
    })
    .await;
}

impl TestPlatform {
    /// Uploads a document and waits for its terminal status.
    pub async fn upload_and_wait(&self, pipeline: &str, name: &str, bytes: &[u8], parts: &[(&str, &str)]) -> Value {
        let path = format!("/api/pipelines/{pipeline}/documents?wait=60");
        let headers = [("content-type", "multipart/form-data; boundary=x7x")];
        let uploaded = self.send("POST", &path, &headers, crate::platform::form(name, bytes, parts)).await;
        let expected = if uploaded.json()["status"] == "ready" { 201 } else { 202 };
        assert_eq!(uploaded.status, expected, "{}", String::from_utf8_lossy(&uploaded.body));
        uploaded.json()
    }

    pub async fn search(&self, pipeline: &str, question: &str, classification: &str) -> Value {
        let body = json!({"query": question, "classification": classification});
        let response = self.post(&format!("/api/pipelines/{pipeline}/search"), &body).await;
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
        response.json()
    }

    pub async fn hit_count(&self, pipeline: &str, question: &str, classification: &str) -> usize {
        self.search(pipeline, question, classification).await["contexts"].as_array().unwrap().len()
    }
}
