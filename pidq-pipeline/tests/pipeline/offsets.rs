//! Offsets of citations and search results match the document text, for every format and splitter.
//!
//! All splitters are tested if `PIDQ_PROPERTY_CASES` is set.

use std::collections::HashMap;
use std::sync::Arc;

use pidq_pipeline::ingest;
use pidq_pipeline::splitter::SPLITTERS;
use serde_json::{Value, json};

use crate::mock_prompt_model::prompt_model;
use crate::platform::TestPlatform;

const EVERYDAY: [&str; 2] = ["recursive_character", "sentence"];
/// Splitters with composed chunks.
const MADE: &[&str] = &["json", "markdown_header", "html_header"];

#[tokio::test(flavor = "multi_thread")]
async fn citation_offsets_match_the_document_text() {
    let world = TestPlatform::sqlite(&[]).await;
    let workers: Vec<_> = (0..2).map(|_| tokio::spawn(ingest::run_worker(Arc::clone(&world.state)))).collect();
    let all = std::env::var_os("PIDQ_PROPERTY_CASES").is_some();
    let names = SPLITTERS.iter().map(|splitter| splitter.name).filter(|name| all || EVERYDAY.contains(name));
    for name in names {
        Texts::of(&world, name).await.check(&world).await;
    }
    workers.iter().for_each(|worker| worker.abort());
}

/// A pipeline with a document of each format, and the extracted texts.
struct Texts {
    pipeline: String,
    splitter: &'static str,
    texts: HashMap<String, Vec<char>>,
}

impl Texts {
    async fn of(world: &TestPlatform, splitter: &'static str) -> Texts {
        let body = json!({
            "name": splitter, "embedding_model": "hash-512", "text_splitter": small(splitter),
            "classifications": ["manual"],
        });
        let made = world.post("/api/pipelines", &body).await;
        assert_eq!(made.status, 201, "{}", made.json());
        let pipeline = made.json()["id"].as_str().unwrap().to_owned();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/documents");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Some(name) = path.file_name().unwrap().to_str().unwrap().strip_suffix(".expected.json") else {
                continue;
            };
            let bytes = std::fs::read(path.with_file_name(name)).unwrap();
            // Without a media type, which the form would name wrongly.
            let form = crate::platform::form(name, &bytes, &[("classification", "manual")]);
            let form = replaced(form, b"Content-Type: text/plain\r\n");
            let headers = [("content-type", "multipart/form-data; boundary=x7x")];
            let sent = world.send("POST", &format!("/api/pipelines/{pipeline}/documents"), &headers, form).await;
            assert_eq!(sent.status, 202, "{name}: {}", sent.json());
        }
        let texts = texts(world, &pipeline).await;
        assert!(texts.len() >= 17, "{} documents", texts.len());
        Texts { pipeline, splitter, texts }
    }

    async fn check(&self, world: &TestPlatform) {
        let mut questions = Vec::new();
        for id in self.texts.keys() {
            let path = format!("/api/pipelines/{}/documents/{id}/chunks?limit=200", self.pipeline);
            let chunks = world.get(&path).await.json()["data"].clone();
            for chunk in chunks.as_array().unwrap() {
                self.stands(id, chunk, "a chunk");
            }
            let some: Vec<_> = chunks.as_array().unwrap().iter().step_by(3).take(3).collect();
            questions
                .extend(some.iter().map(|chunk| chunk["text"].as_str().unwrap().chars().take(200).collect::<String>()));
        }
        for question in questions {
            let body = json!({"query": question, "classification": "manual", "top_k": 50});
            let found = world.post(&format!("/api/pipelines/{}/search", self.pipeline), &body).await.json();
            for hit in found["contexts"].as_array().unwrap() {
                self.stands(hit["document_id"].as_str().unwrap(), hit, &question);
            }
        }
        self.check_answer(world).await;
    }

    /// Checks the citations of an answer and the positions of their markers.
    async fn check_answer(&self, world: &TestPlatform) {
        let mock = prompt_model().await;
        let endpoint = mock.endpoint();
        let body = json!({
            "query": "At what pressure is PSV-2015A set, and what does the pump P-101A do?", "classification": "manual",
            "llm_endpoint": {"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url},
        });
        let answer = world.post(&format!("/api/pipelines/{}/query", self.pipeline), &body).await.json();
        let answer_chars: Vec<char> = answer["answer"].as_str().unwrap().chars().collect();
        for citation in answer["citations"].as_array().unwrap() {
            self.stands(citation["document_id"].as_str().unwrap(), citation, "a citation");
            for span in citation["answer_spans"].as_array().unwrap() {
                let (start, end) = (span[0].as_u64().unwrap() as usize, span[1].as_u64().unwrap() as usize);
                assert_eq!(answer_chars[start..end].iter().collect::<String>(), format!("[{}]", citation["marker"]));
            }
        }
    }

    fn stands(&self, id: &str, cited: &Value, what: &str) {
        if MADE.contains(&self.splitter) && cited["start"].is_null() {
            assert!(cited["end"].is_null(), "{cited}");
            return;
        }
        let place = |member: &str| cited[member].as_u64().unwrap_or_else(|| panic!("{what}: {cited}")) as usize;
        let text: String = self.texts[id][place("start")..place("end")].iter().collect();
        assert_eq!(text, cited["text"].as_str().unwrap(), "{}: {what}", self.splitter);
    }
}

/// Returns splitter parameters with small chunks.
fn small(splitter: &str) -> Value {
    let parameters = SPLITTERS.iter().find(|known| known.name == splitter).unwrap().parameters;
    let has = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    let mut small = json!({"name": splitter});
    for (name, value) in [("chunk_size", 60), ("chunk_overlap", 15)].into_iter().filter(|(name, _)| has(name)) {
        small[name] = value.into();
    }
    if has("language") {
        small["language"] = "python".into();
    }
    small
}

/// Waits until all documents are processed and returns their texts.
async fn texts(world: &TestPlatform, pipeline: &str) -> HashMap<String, Vec<char>> {
    let path = format!("/api/pipelines/{pipeline}/documents");
    let all = loop {
        let all = world.get(&path).await.json()["data"].clone();
        if all.as_array().unwrap().iter().all(|document| document["terminal"] == true) {
            break all;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    let mut texts = HashMap::new();
    for document in all.as_array().unwrap() {
        assert_eq!(document["status"], "ready", "{document}");
        let id = document["id"].as_str().unwrap();
        let text = String::from_utf8(world.get(&format!("{path}/{id}/text")).await.body).unwrap();
        texts.insert(id.to_owned(), text.chars().collect());
    }
    texts
}

fn replaced(form: Vec<u8>, gone: &[u8]) -> Vec<u8> {
    let at = form.windows(gone.len()).position(|window| window == gone).unwrap();
    [&form[..at], &form[at + gone.len()..]].concat()
}
