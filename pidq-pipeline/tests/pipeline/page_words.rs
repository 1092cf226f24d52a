//! Boxes of words: those of a citation are on its page, and belong to the text that is served, through all changes of a document.

use std::path::Path;

use pidq_http::database::Database;
use serde_json::{Value, json};

use crate::databases;
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, on_each_url};

const MANUAL: [(&str, &str); 1] = [("classification", "manual")];
const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("extract/tests/data/documents").join(name)).unwrap()
}

/// Runs a test for each kind of database, with workers, and with access to the rows.
async fn on_each(test: impl AsyncFn(&TestPlatform, &Database)) {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[]).await.with_workers();
        test(&platform, &databases::open(url).await).await;
    })
    .await;
}

/// A ready document.
struct Uploaded {
    pipeline: String,
    id: String,
    path: String,
}

impl TestPlatform {
    async fn upload_sample(&self, name: &str) -> Uploaded {
        let pipeline = self.pipeline().await;
        let uploaded = self.upload_and_wait(&pipeline, name, &sample(name), &MANUAL).await;
        assert_eq!(uploaded["status"], "ready", "{uploaded}");
        let id = uploaded["id"].as_str().unwrap().to_owned();
        Uploaded { path: format!("/api/pipelines/{pipeline}/documents/{id}"), pipeline, id }
    }

    async fn words(&self, document: &Uploaded, query: &str) -> Value {
        let response = self.get(&format!("{}/words{query}", document.path)).await;
        assert_eq!(response.status, 200, "{query}: {}", String::from_utf8_lossy(&response.body));
        response.json()
    }

    async fn text(&self, document: &Uploaded) -> Vec<char> {
        let text = self.get(&format!("{}/text", document.path)).await;
        String::from_utf8(text.body).unwrap().chars().collect()
    }
}

fn rows<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().unwrap()
}

fn texts(page: &Value) -> Vec<&str> {
    rows(page, "words").iter().map(|word| word["text"].as_str().unwrap()).collect()
}

/// Checks that each word is that of the document's text, and that its box is on the page.
fn assert_words_are_of(text: &[char], pages: &Value) {
    for page in rows(pages, "data") {
        for word in rows(page, "words") {
            let range = word["start"].as_u64().unwrap() as usize..word["end"].as_u64().unwrap() as usize;
            assert_eq!(text[range].iter().collect::<String>(), word["text"].as_str().unwrap(), "{word}");
            let [left, top, right, bottom] = [0, 1, 2, 3].map(|edge: usize| word["box"][edge].as_f64().unwrap());
            assert!(0.0 <= left && left < right && right <= page["width"].as_f64().unwrap(), "{word}");
            assert!(0.0 <= top && top < bottom && bottom <= page["height"].as_f64().unwrap(), "{word}");
        }
    }
}

async fn row_count(database: &Database, document: &Uploaded) -> i64 {
    let sql = "select count(*) from page_words where document_id = $1";
    database.row::<(i64,)>(sql, &[(&document.id).into()]).await.unwrap().unwrap().0
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_of_a_citation_are_found_on_its_page() {
    on_each(async |platform, _| {
        let document = platform.upload_sample("manual.pdf").await;
        let text = platform.text(&document).await;
        let found = platform.search(&document.pipeline, "set pressure of PSV-2015A", "manual").await;
        let cited = &found["contexts"][0];
        let pages = platform.words(&document, &format!("?start={}&end={}", cited["start"], cited["end"])).await;
        assert_words_are_of(&text, &pages);
        assert_eq!(
            (&pages["revision"], &pages["reason"], &pages["next_cursor"]),
            (&cited["revision"], &json!(null), &json!(null))
        );
        let marked: String = rows(&pages, "data").iter().flat_map(texts).collect();
        let cited: String = cited["text"].as_str().unwrap().split_whitespace().collect();
        assert_eq!(marked, cited, "the boxes cover the citation and nothing else");
        // A part of a sentence has the boxes of its words.
        let start = text.iter().collect::<String>().find("PSV-2015A").unwrap();
        let part = platform.words(&document, &format!("?start={start}&end={}", start + 3)).await;
        assert_eq!(texts(&part["data"][0]), ["PSV-2015A"]);
        let page = &part["data"][0];
        assert_eq!((&page["page"], &page["unit"], &page["rotation"]), (&json!(1), &json!("point"), &json!(0)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_listed_one_after_the_other() {
    on_each(async |platform, _| {
        let document = platform.upload_sample("manual.pdf").await;
        let text = platform.text(&document).await;
        let all = platform.words(&document, "").await;
        assert_words_are_of(&text, &all);
        let words: String = rows(&all, "data").iter().flat_map(texts).collect();
        let expected: String = text.iter().filter(|c| !c.is_whitespace()).collect();
        assert_eq!(words, expected);
        let mut listed = Vec::new();
        let mut query = "?limit=1".to_owned();
        loop {
            let page = platform.words(&document, &query).await;
            listed.extend_from_slice(rows(&page, "data"));
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            query = format!("?limit=1&cursor={cursor}");
        }
        assert_eq!(Value::from(listed), all["data"]);
        assert_eq!(rows(&all, "data").len(), 2);
        assert_eq!(platform.words(&document, "?page=2").await["data"], json!([all["data"][1]]));
        for outside in ["?page=3", "?page=0", "?start=100000", "?end=0", "?start=5&end=5&page=2"] {
            let none = platform.words(&document, outside).await;
            assert_eq!((&none["data"], &none["reason"]), (&json!([]), &json!("outside")), "{outside}");
        }
        for invalid in ["?page=x", "?start=-1", "?end=1.5", "?page=1&page=2"] {
            let response = platform.get(&format!("{}/words{invalid}", document.path)).await;
            assert_eq!((response.status, response.code().as_str()), (400, "invalid-parameter"), "{invalid}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_without_boxes_says_why() {
    on_each(async |platform, database| {
        let without_positions = platform.upload_sample("manual.docx").await;
        let none = platform.words(&without_positions, "").await;
        assert_eq!((&none["data"], &none["reason"]), (&json!([]), &json!("no_positions")));
        let pipeline = &without_positions.pipeline;
        let uploaded = platform.upload_and_wait(pipeline, "manual.pdf", &sample("manual.pdf"), &MANUAL).await;
        let id = uploaded["id"].as_str().unwrap().to_owned();
        let document =
            Uploaded { path: format!("/api/pipelines/{pipeline}/documents/{id}"), pipeline: pipeline.clone(), id };
        // A version without boxes read the document.
        database.execute("delete from page_words", &[]).await.unwrap();
        assert_eq!(platform.words(&document, "?page=1").await["reason"], "not_kept");
        let retried = platform.send("POST", &format!("{}/retry", document.path), &JSON, "").await;
        assert_eq!(retried.status, 202);
        platform.wait_until_read(&document).await;
        assert_eq!(platform.words(&document, "?page=1").await["reason"], json!(null));
        // Such a version reads it again, and knows nothing of the rows.
        database
            .execute("update document_contents set extracted = replace(extracted, 'PSV-2015A', 'PSV-2016B')", &[])
            .await
            .unwrap();
        let stale = platform.words(&document, "").await;
        let pages: Vec<&Value> = rows(&stale, "data").iter().map(|page| &page["page"]).collect();
        assert_eq!(pages, [&json!(2)], "the boxes of the changed page are not served");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn boxes_follow_replacements_reindexes_and_deletions() {
    on_each(async |platform, database| {
        let document = platform.upload_sample("manual.pdf").await;
        assert_eq!(row_count(database, &document).await, 2);
        // A reindex keeps those of both generations until the old one is swept.
        let splitter = r#"{"text_splitter": {"name": "recursive_character", "chunk_size": 60, "chunk_overlap": 0}}"#;
        let before = platform.words(&document, "").await;
        let started =
            platform.send("POST", &format!("/api/pipelines/{}/reindex", document.pipeline), &JSON, splitter).await;
        assert_eq!(platform.wait_for_operation(&started.json()).await["status"], "succeeded");
        assert_eq!(platform.words(&document, "").await, before);
        assert_eq!(row_count(database, &document).await, 4);
        while platform.state.store.sweep_chunks(&document.pipeline, 1, 100).await.unwrap() > 0 {}
        assert_eq!(row_count(database, &document).await, 2);
        assert_eq!(platform.words(&document, "").await, before);
        // A new revision replaces them when it is ready.
        let headers = [("if-match", "*"), ("content-type", "application/octet-stream")];
        let path = format!("{}/content?filename=P-101.txt&wait=60", document.path);
        let replaced = platform.send("PUT", &path, &headers, "The pump P-101 is red.").await;
        assert_eq!((&replaced.json()["status"], &replaced.json()["revision"]), (&json!("ready"), &json!(2)));
        let none = platform.words(&document, "").await;
        assert_eq!((&none["revision"], &none["reason"]), (&json!(2), &json!("no_positions")));
        assert_eq!(row_count(database, &document).await, 0);
        let path = format!("{}/content?filename=manual.pdf&wait=60", document.path);
        let replaced = platform.send("PUT", &path, &headers, sample("manual.pdf")).await;
        assert_eq!(replaced.json()["status"], "ready", "{}", replaced.json());
        assert_eq!(platform.words(&document, "").await["data"], before["data"]);
        assert_eq!(platform.send("DELETE", &document.path, &[], "").await.status, 204);
        assert_eq!(row_count(database, &document).await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_served_to_those_who_may_read_the_document() {
    let settings = [("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)];
    let platform = TestPlatform::sqlite(&settings).await.with_workers();
    let root = format!("Bearer {}", platform.token(SECRET).await.json()["access_token"].as_str().unwrap());
    let as_root = [("authorization", root.as_str()), JSON[0]];
    let body = json!({"name": "Manuals", "embedding_model": "hash-512", "text_splitter": "recursive_character",
        "classifications": ["manual", "datasheet"]});
    let pipeline = platform.send("POST", "/api/pipelines", &as_root, body.to_string()).await.json()["id"].clone();
    let pipeline = pipeline.as_str().unwrap();
    let uploaded = platform.upload_as(&as_root[..1], pipeline, "manual.pdf", &sample("manual.pdf"), &MANUAL).await;
    let path = format!("/api/pipelines/{pipeline}/documents/{}/words", uploaded.json()["id"].as_str().unwrap());
    let send = async |token: &str| -> TestResponse {
        let token = format!("Bearer {token}");
        platform.send("GET", &path, &[("authorization", &token)], "").await
    };
    assert_eq!(platform.get(&path).await.status, 401);
    for (classifications, scopes, status) in [
        (json!(["datasheet"]), json!(["documents:read"]), 404),
        (json!(["manual"]), json!(["query"]), 403),
        (json!(["manual"]), json!(["documents:read"]), 200),
    ] {
        let access = json!({pipeline: {"classifications": classifications, "verbs": ["read"]}});
        let key = json!({"name": format!("{scopes}"), "scopes": scopes, "pipelines": access});
        let created = platform.send("POST", "/api/keys", &as_root, key.to_string()).await.json();
        let token = created["key"].as_str().unwrap_or_else(|| panic!("{created}"));
        let mut response = send(token).await;
        for _ in 0..300 {
            // The document may still be on its way.
            if response.status != 409 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            response = send(token).await;
        }
        assert_eq!(response.status, status, "{classifications} {scopes}: {}", String::from_utf8_lossy(&response.body));
    }
}

impl TestPlatform {
    async fn wait_until_read(&self, document: &Uploaded) {
        for _ in 0..300 {
            if self.get(&document.path).await.json()["status"] == "ready" {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("the document is not ready");
    }
}
