//! Images of pages: PNG files of the searched revision, for those who may read the document, with a tag that saves rendering.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, on_each_url};
use crate::programs::program;

const MANUAL: [(&str, &str); 1] = [("classification", "manual")];
const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("extract/tests/data/documents").join(name)).unwrap()
}

/// Returns the path of pdftoppm, or none where it is not installed.
fn pdftoppm() -> Option<String> {
    let found = program("pdftoppm");
    if found.is_none() {
        eprintln!("SKIPPED: images of pages need the package poppler-utils");
    }
    found
}

/// A PDF with a page, and bytes after it.
fn padded_pdf(bytes: usize) -> Vec<u8> {
    [sample("manual.pdf"), vec![b'\n'; bytes]].concat()
}

/// Width and height of a PNG file.
fn size(response: &TestResponse) -> (u32, u32) {
    assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
    assert_eq!(response.header("content-type"), "image/png");
    assert!(response.body.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(response.body[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

impl TestPlatform {
    async fn document(&self, pipeline: &str, name: &str, bytes: &[u8]) -> String {
        let uploaded = self.upload_and_wait(pipeline, name, bytes, &MANUAL).await;
        format!("/api/pipelines/{pipeline}/documents/{}", uploaded["id"].as_str().unwrap())
    }

    async fn image(&self, document: &str, page: &str) -> TestResponse {
        self.get(&format!("{document}/pages/{page}")).await
    }
}

#[track_caller]
fn assert_problem(response: &TestResponse, status: u16, code: &str) -> Value {
    assert_eq!((response.status, response.code().as_str()), (status, code), "{}", response.json());
    response.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_has_an_image_of_the_size_that_was_asked_for() {
    let Some(pdftoppm) = pdftoppm() else { return };
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[("PIDQ_PDFTOPPM", &pdftoppm)]).await.with_workers();
        let pipeline = platform.pipeline().await;
        let small = platform.document(&pipeline, "manual.pdf", &sample("manual.pdf")).await;
        // It is stored in blocks.
        let large = platform.document(&pipeline, "large.pdf", &padded_pdf(1 << 20)).await;
        for document in [&small, &large] {
            let first = platform.image(document, "1/image").await;
            assert_eq!(size(&first), (1132, 1600));
            let second = platform.image(document, "2/image").await;
            assert_eq!(size(&second), (1132, 1600));
            assert_ne!(first.body, second.body);
            assert_eq!(size(&platform.image(document, "1/image?size=64&revision=1").await), (46, 64));
            assert_eq!(size(&platform.image(document, "1/image?size=4096").await).1, 4096);
            for page in ["0", "3", "-1", "x", "4294967295", "99999999999"] {
                assert_problem(&platform.image(document, &format!("{page}/image")).await, 404, "page-not-found");
            }
            let other = assert_problem(&platform.image(document, "1/image?revision=2").await, 404, "page-not-found");
            assert_eq!(other["detail"], "The pages are those of revision 1 of the document.");
            for invalid in ["size=63", "size=4097", "size=x", "size=100&size=200", "revision=x"] {
                let response = platform.image(document, &format!("1/image?{invalid}")).await;
                assert_problem(&response, 400, "invalid-parameter");
            }
        }
        let words = platform.get(&format!("{small}/words?page=1")).await.json();
        let page = &words["data"][0];
        let ratio = page["width"].as_f64().unwrap() / page["height"].as_f64().unwrap();
        assert!((ratio - 1132.0 / 1600.0).abs() < 0.001, "the boxes of words fit on the image: {ratio}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tag_of_an_image_saves_its_rendering_and_changes_with_the_content() {
    let Some(pdftoppm) = pdftoppm() else { return };
    let platform = TestPlatform::sqlite(&[("PIDQ_PDFTOPPM", &pdftoppm)]).await.with_workers();
    let pipeline = platform.pipeline().await;
    let document = platform.document(&pipeline, "manual.pdf", &sample("manual.pdf")).await;
    let components = platform.get("/version").await.json()["components"].clone();
    let path = format!("{document}/pages/1/image");
    let first = platform.get(&path).await;
    let tag = first.header("etag").to_owned();
    assert!(tag.contains(components["pdftoppm"].as_str().unwrap()), "{tag}");
    assert_eq!(first.header("cache-control"), "private, no-cache");
    let cached = async |path: &str, tag: &str| {
        let response = platform.send("GET", path, &[("if-none-match", tag)], "").await;
        (response.status, response.body.len())
    };
    // All permits are taken: an image that needs no rendering is answered.
    let mut permits = Vec::new();
    for caller in ["ann", "bob"] {
        let permit = platform.state.ingestion.page_images.acquire(caller, Duration::from_secs(60)).await;
        permits.push(permit.expect("free"));
    }
    assert_eq!(cached(&path, &tag).await, (304, 0));
    assert_problem(&platform.get(&path).await, 503, "unavailable");
    drop(permits);
    for other in [format!("{path}?size=800"), format!("{document}/pages/2/image")] {
        let (status, length) = cached(&other, &tag).await;
        assert!(status == 200 && length > 0, "{other}");
    }
    let headers = [("if-match", "*"), ("content-type", "application/octet-stream")];
    let content = format!("{document}/content?filename=manual.pdf&wait=60");
    let replaced = platform.send("PUT", &content, &headers, padded_pdf(10)).await;
    assert_eq!((&replaced.json()["status"], &replaced.json()["revision"]), (&json!("ready"), &json!(2)));
    assert_eq!(cached(&path, &tag).await.0, 200);
    assert_problem(&platform.get(&format!("{path}?revision=1")).await, 404, "page-not-found");
    assert_eq!(platform.send("DELETE", &document, &[], "").await.status, 204);
    assert_problem(&platform.send("GET", &path, &[("if-none-match", &tag)], "").await, 404, "document-not-found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_without_images_says_why() {
    let Some(pdftoppm) = pdftoppm() else { return };
    let platform = TestPlatform::sqlite(&[("PIDQ_PDFTOPPM", &pdftoppm)]).await.with_workers();
    let pipeline = platform.pipeline().await;
    for (name, status, code) in [
        ("manual.docx", 422, "no-page-images"),
        ("project.eml", 422, "no-page-images"),
        ("secret.pdf", 422, "encrypted-document"),
    ] {
        let document = platform.document(&pipeline, name, &sample(name)).await;
        assert_problem(&platform.image(&document, "1/image").await, status, code);
    }
    // A scan without text is not searchable, and has an image nevertheless.
    let scan = platform.document(&pipeline, "scan.pdf", &sample("scan.pdf")).await;
    assert_eq!(platform.get(&scan).await.json()["error"]["code"], "empty-text");
    size(&platform.image(&scan, "1/image").await);
    let damaged = platform.document(&pipeline, "damaged.pdf", b"%PDF-1.7\nThe pump P-101A\n").await;
    assert_problem(&platform.image(&damaged, "1/image").await, 422, "page-not-rendered");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_renderer_there_are_no_images() {
    let platform = TestPlatform::sqlite(&[]).await.with_workers();
    let pipeline = platform.pipeline().await;
    let document = platform.document(&pipeline, "manual.pdf", &sample("manual.pdf")).await;
    let problem = assert_problem(&platform.image(&document, "1/image").await, 422, "renderer-not-configured");
    assert!(problem["remedy"].as_str().is_none_or(|remedy| remedy.contains("PIDQ_PDFTOPPM")), "{problem}");
    assert_problem(&platform.image(&format!("{document}x"), "1/image").await, 404, "document-not-found");
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_served_to_those_who_may_read_the_document() {
    let Some(pdftoppm) = pdftoppm() else { return };
    let settings = [("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET), ("PIDQ_PDFTOPPM", &pdftoppm)];
    let platform = TestPlatform::sqlite(&settings).await.with_workers();
    let root = format!("Bearer {}", platform.token(SECRET).await.json()["access_token"].as_str().unwrap());
    let as_root = [("authorization", root.as_str()), JSON[0]];
    let create = async |name: &str| {
        let body = json!({"name": name, "embedding_model": "hash-512", "text_splitter": "recursive_character",
            "classifications": ["manual", "datasheet"]});
        let created = platform.send("POST", "/api/pipelines", &as_root, body.to_string()).await.json();
        created["id"].as_str().unwrap().to_owned()
    };
    let (pipeline, other) = (create("Manuals").await, create("Others").await);
    let uploaded = platform.upload_as(&as_root[..1], &pipeline, "manual.pdf", &sample("manual.pdf"), &MANUAL).await;
    let id = uploaded.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/pipelines/{pipeline}/documents/{id}/pages/1/image");
    let in_other = format!("/api/pipelines/{other}/documents/{id}/pages/1/image");
    let allowed = platform.send("GET", &path, &as_root[..1], "").await;
    let tag = allowed.header("etag").to_owned();
    size(&allowed);
    assert_eq!(platform.get(&path).await.status, 401);
    for (granted, classifications, scopes, status) in [
        (&pipeline, json!(["datasheet"]), json!(["documents:read"]), 404),
        (&pipeline, json!(["manual"]), json!(["query"]), 403),
        (&other, json!(["manual"]), json!(["documents:read"]), 404),
        (&pipeline, json!(["manual"]), json!(["documents:read"]), 200),
    ] {
        let access = json!({granted: {"classifications": classifications, "verbs": ["read"]}});
        let key =
            json!({"name": format!("{granted} {classifications} {scopes}"), "scopes": scopes, "pipelines": access});
        let created = platform.send("POST", "/api/keys", &as_root, key.to_string()).await.json();
        let token = format!("Bearer {}", created["key"].as_str().unwrap_or_else(|| panic!("{created}")));
        let send = async |path: &str, tag: &str| {
            platform.send("GET", path, &[("authorization", &token), ("if-none-match", tag)], "").await.status
        };
        assert_eq!(send(&path, "\"other\"").await, status, "{granted} {classifications} {scopes}");
        // A known tag tells nothing about a document that may not be read.
        let with_tag = if status == 200 { 304 } else { status };
        assert_eq!(send(&path, &tag).await, with_tag, "{granted} {classifications} {scopes}");
        assert_ne!(send(&in_other, &tag).await, 304);
        assert_ne!(send(&in_other, &tag).await, 200);
    }
}
