//! Offsets of citations and search results match the document text, for every format and splitter.
//!
//! All splitters are tested if `PIDQ_PROPERTY_CASES` is set.

use std::collections::HashMap;
use std::sync::Arc;

use pidq_pipeline::ingest::worker;
use pidq_text::splitter::SPLITTERS;
use serde_json::{Value, json};

use crate::mock_prompt_model::prompt_model;
use crate::platform::TestPlatform;

const DEFAULT_SPLITTERS: [&str; 2] = ["recursive_character", "sentence"];
/// Splitters with composed chunks.
const COMPOSING_SPLITTERS: &[&str] = &["json", "markdown_header", "html_header"];

#[tokio::test(flavor = "multi_thread")]
async fn citation_offsets_match_the_document_text() {
    let platform = TestPlatform::sqlite(&[]).await;
    let workers: Vec<_> = (0..2).map(|_| tokio::spawn(worker::run_worker(Arc::clone(&platform.state)))).collect();
    let all = std::env::var_os("PIDQ_PROPERTY_CASES").is_some();
    let names = SPLITTERS.iter().map(|splitter| splitter.name).filter(|name| all || DEFAULT_SPLITTERS.contains(name));
    for name in names {
        ExtractedTexts::upload(&platform, name).await.check(&platform).await;
    }
    workers.iter().for_each(|worker| worker.abort());
}

/// A pipeline with a document of each format, and the extracted texts.
struct ExtractedTexts {
    pipeline: String,
    splitter: &'static str,
    texts: HashMap<String, Vec<char>>,
}

impl ExtractedTexts {
    async fn upload(platform: &TestPlatform, splitter: &'static str) -> ExtractedTexts {
        let body = json!({
            "name": splitter, "embedding_model": "hash-512", "text_splitter": with_small_chunks(splitter),
            "classifications": ["manual"],
        });
        let created = platform.post("/api/pipelines", &body).await;
        assert_eq!(created.status, 201, "{}", created.json());
        let pipeline = created.json()["id"].as_str().unwrap().to_owned();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("extract/tests/data/documents");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Some(name) = path.file_name().unwrap().to_str().unwrap().strip_suffix(".expected.json") else {
                continue;
            };
            let bytes = std::fs::read(path.with_file_name(name)).unwrap();
            // Without a media type, which the form would name wrongly.
            let form = crate::platform::form(name, &bytes, &[("classification", "manual")]);
            let form = without(form, b"Content-Type: text/plain\r\n");
            let headers = [("content-type", "multipart/form-data; boundary=x7x")];
            let uploaded = platform.send("POST", &format!("/api/pipelines/{pipeline}/documents"), &headers, form).await;
            assert_eq!(uploaded.status, 202, "{name}: {}", uploaded.json());
        }
        let texts = texts(platform, &pipeline).await;
        assert!(texts.len() >= 17, "{} documents", texts.len());
        ExtractedTexts { pipeline, splitter, texts }
    }

    async fn check(&self, platform: &TestPlatform) {
        let mut questions = Vec::new();
        for id in self.texts.keys() {
            let path = format!("/api/pipelines/{}/documents/{id}/chunks?limit=200", self.pipeline);
            let chunks = platform.get(&path).await.json()["data"].clone();
            for chunk in chunks.as_array().unwrap() {
                self.assert_offsets(id, chunk, "a chunk");
            }
            let samples: Vec<_> = chunks.as_array().unwrap().iter().step_by(3).take(3).collect();
            questions.extend(
                samples.iter().map(|chunk| chunk["text"].as_str().unwrap().chars().take(200).collect::<String>()),
            );
        }
        for question in questions {
            let body = json!({"query": question, "classification": "manual", "top_k": 50});
            let found = platform.post(&format!("/api/pipelines/{}/search", self.pipeline), &body).await.json();
            for hit in found["contexts"].as_array().unwrap() {
                self.assert_offsets(hit["document_id"].as_str().unwrap(), hit, &question);
            }
        }
        self.check_answer(platform).await;
    }

    /// Checks the citations of an answer and the positions of their markers.
    async fn check_answer(&self, platform: &TestPlatform) {
        let mock = prompt_model().await;
        let endpoint = mock.endpoint();
        let body = json!({
            "query": "At what pressure is PSV-2015A set, and what does the pump P-101A do?", "classification": "manual",
            "llm_endpoint": {"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url},
        });
        let answer = platform.post(&format!("/api/pipelines/{}/query", self.pipeline), &body).await.json();
        let answer_chars: Vec<char> = answer["answer"].as_str().unwrap().chars().collect();
        for citation in answer["citations"].as_array().unwrap() {
            self.assert_offsets(citation["document_id"].as_str().unwrap(), citation, "a citation");
            for span in citation["answer_spans"].as_array().unwrap() {
                let (start, end) = (span[0].as_u64().unwrap() as usize, span[1].as_u64().unwrap() as usize);
                assert_eq!(answer_chars[start..end].iter().collect::<String>(), format!("[{}]", citation["marker"]));
            }
        }
    }

    fn assert_offsets(&self, id: &str, cited: &Value, description: &str) {
        if COMPOSING_SPLITTERS.contains(&self.splitter) && cited["start"].is_null() {
            assert!(cited["end"].is_null(), "{cited}");
            return;
        }
        let offset = |field: &str| cited[field].as_u64().unwrap_or_else(|| panic!("{description}: {cited}")) as usize;
        let text: String = self.texts[id][offset("start")..offset("end")].iter().collect();
        assert_eq!(text, cited["text"].as_str().unwrap(), "{}: {description}", self.splitter);
    }
}

/// Returns splitter parameters with small chunks.
fn with_small_chunks(splitter: &str) -> Value {
    let parameters = SPLITTERS.iter().find(|splitter_type| splitter_type.name == splitter).unwrap().parameters;
    let has = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    let mut configuration = json!({"name": splitter});
    for (name, value) in [("chunk_size", 60), ("chunk_overlap", 15)].into_iter().filter(|(name, _)| has(name)) {
        configuration[name] = value.into();
    }
    if has("language") {
        configuration["language"] = "python".into();
    }
    configuration
}

/// Waits until all documents are processed and returns their texts.
async fn texts(platform: &TestPlatform, pipeline: &str) -> HashMap<String, Vec<char>> {
    let path = format!("/api/pipelines/{pipeline}/documents");
    let all = loop {
        let all = platform.get(&format!("{path}?limit=200")).await.json()["data"].clone();
        if all.as_array().unwrap().iter().all(|document| document["terminal"] == true) {
            break all;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    let mut texts = HashMap::new();
    for document in all.as_array().unwrap() {
        // The samples of mails have an attachment that is no PDF.
        if document["parent_id"].is_string() && document["status"] == "failed" {
            continue;
        }
        assert_eq!(document["status"], "ready", "{document}");
        let id = document["id"].as_str().unwrap();
        let text = String::from_utf8(platform.get(&format!("{path}/{id}/text")).await.body).unwrap();
        texts.insert(id.to_owned(), text.chars().collect());
    }
    texts
}

fn without(form: Vec<u8>, removed: &[u8]) -> Vec<u8> {
    let index = form.windows(removed.len()).position(|window| window == removed).unwrap();
    [&form[..index], &form[index + removed.len()..]].concat()
}
