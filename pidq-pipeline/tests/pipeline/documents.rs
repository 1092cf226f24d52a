//! Tests of replacement, bulk deletion and preview of documents.

use std::sync::Arc;

use pidq_pipeline::ingest::worker;
use serde_json::{Value, json};

use crate::ingestion::on_each;
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, form};

const MANUAL: [(&str, &str); 1] = [("classification", "manual")];

#[tokio::test(flavor = "multi_thread")]
async fn the_old_revision_is_searchable_until_the_new_one_is_ready() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let uploaded = platform.upload_and_wait(&id, "P-101.txt", b"The pump is red.", &MANUAL).await;
        let path = path(&id, &uploaded);
        let unconditional = platform.send("PUT", &path, &[], "The pump is blue.").await;
        assert_eq!((unconditional.status, unconditional.code().as_str()), (428, "precondition-required"));
        let invalid_wait =
            platform.send("PUT", &format!("{path}?wait=301"), &[("if-match", "*")], "The pump is blue.").await;
        assert_eq!((invalid_wait.status, invalid_wait.code().as_str()), (400, "invalid-parameter"));
        let empty = platform.send("PUT", &path, &[("if-match", "\"other\"")], "").await;
        assert_eq!((empty.status, empty.code().as_str()), (422, "validation"));
        let first = platform.get(&path).await;
        let etag = first.header("etag").to_owned();
        assert_eq!(unconditional.header("etag"), etag, "the response contains the current ETag");
        let replaced = replace_and_wait(platform, &path, &etag, "The pump is blue.").await;
        assert_eq!(replaced.status, 200, "{}", replaced.json());
        let current = replaced.json();
        assert_eq!((&current["revision"], &current["status"]), (&json!(2), &json!("ready")));
        assert_eq!((&current["searchable_revision"], &current["size"]), (&json!(2), &json!(17)));
        assert_eq!(platform.get(&path).await.body, b"The pump is blue.");
        let found = platform.search(&id, "pump", "manual").await;
        let found: Vec<_> =
            found["contexts"].as_array().unwrap().iter().map(|hit| (&hit["text"], &hit["revision"])).collect();
        assert_eq!(found, [(&json!("The pump is blue."), &json!(2))]);
        let outdated = replace_and_wait(platform, &path, &etag, "The pump is green.").await;
        assert_eq!((outdated.status, outdated.code().as_str()), (412, "precondition-failed"));
        let by_document = format!("\"{}\"", replaced.header("etag").trim_matches('"'));
        let same = replace_and_wait(platform, &path, &by_document, "The pump is blue.").await;
        assert_eq!((same.status, &same.json()["duplicate"], &same.json()["revision"]), (200, &json!(true), &json!(2)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_revision_leaves_the_previous_one_searchable() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let uploaded = platform.upload_and_wait(&id, "P-101.txt", b"The pump is red.", &MANUAL).await;
        let path = path(&id, &uploaded);
        let failed = replace_and_wait(platform, &path, "*", "  \n ").await.json();
        assert_eq!((&failed["status"], &failed["revision"]), (&json!("failed"), &json!(2)), "{failed}");
        assert_eq!((&failed["searchable"], &failed["searchable_revision"]), (&json!(true), &json!(1)));
        assert_eq!(platform.hit_count(&id, "pump", "manual").await, 1, "the old revision is searchable");
        let text = platform.get(&path.replace("/content", "/text")).await;
        assert_eq!(text.body, b"The pump is red.");
        let replaced = replace_and_wait(platform, &path, "*", "The pump is blue.").await.json();
        assert_eq!((&replaced["status"], &replaced["searchable_revision"]), (&json!("ready"), &json!(3)));
        assert_eq!(platform.search(&id, "pump", "manual").await["contexts"][0]["text"], "The pump is blue.");
    })
    .await;
}

#[tokio::test]
async fn replacing_a_document_conflicts_with_ingestion_and_duplicates() {
    let platform = TestPlatform::sqlite(&[("PIDQ_UPLOAD_SIZE", "1KiB")]).await;
    let id = platform.pipeline().await;
    let uploaded = platform.upload(&id, "a.txt", b"one", &MANUAL).await.json();
    let path = path(&id, &uploaded);
    let busy = replace(&platform, &path, "two").await;
    assert_eq!((busy.status, busy.code().as_str()), (409, "document-busy"));
    assert_eq!(platform.send("POST", &path.replace("/content", "/cancel"), &[], "").await.status, 200);
    platform.upload(&id, "b.txt", b"two", &MANUAL).await;
    for (body, status, code) in [
        ("two".to_owned(), 409, "duplicate-content"),
        (String::new(), 422, "validation"),
        ("x".repeat(1025), 413, "payload-too-large"),
    ] {
        let response = replace(&platform, &path, &body).await;
        assert_eq!((response.status, response.code().as_str()), (status, code));
    }
    let replaced = replace(&platform, &format!("{path}?filename=a.md"), "three").await.json();
    assert_eq!(
        (&replaced["revision"], &replaced["filename"], &replaced["status"]),
        (&json!(2), &json!("a.md"), &json!("queued"))
    );
    assert_eq!(platform.get(&path).await.body, b"three");
    let cancelled = platform.send("POST", &path.replace("/content", "/cancel"), &[], "").await.json();
    assert_eq!((&cancelled["status"], &cancelled["searchable"]), (&json!("cancelled"), &json!(false)));
}

#[tokio::test]
async fn a_bulk_deletion_reports_each_document() {
    crate::platform::on_each(async |platform| {
        let id = platform.pipeline().await;
        let mut ids = Vec::new();
        for number in 0..4 {
            let (name, text) = (format!("{number}.txt"), format!("text {number}"));
            let parts = [MANUAL[0], ("external_id", name.as_str())];
            ids.push(platform.upload(&id, &name, text.as_bytes(), &parts).await.json()["id"].clone());
        }
        let path = format!("/api/pipelines/{id}/documents:delete");
        let result = platform.post(&path, &json!({"ids": [ids[0], "no-such", ids[0], ids[1]]})).await;
        assert_eq!(result.status, 200, "{}", result.json());
        let outcomes: Vec<_> = statuses(&result);
        assert_eq!(outcomes, ["deleted", "not_found", "deleted", "deleted"]);
        assert_eq!(result.json()["deleted"], 2);
        let result = platform.post(&path, &json!({"external_ids": ["2.txt", "0.txt"]})).await;
        assert_eq!(result.json()["data"][0], json!({"external_id": "2.txt", "status": "deleted"}));
        assert_eq!(statuses(&result), ["deleted", "not_found"]);
        let remaining = platform.get(&format!("/api/pipelines/{id}/documents")).await.json();
        assert_eq!((remaining["data"].as_array().unwrap().len(), &remaining["data"][0]["id"]), (1, &ids[3]));
        for body in [
            json!({}),
            json!({"ids": [], }),
            json!({"ids": [7]}),
            json!({"ids": ["a"], "external_ids": ["a"]}),
            json!({"ids": vec!["a"; 201]}),
        ] {
            let response = platform.post(&path, &body).await;
            assert_eq!((response.status, response.code().as_str()), (422, "validation"), "{body}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_external_id_identifies_one_document_per_classification() {
    crate::platform::on_each(async |platform| {
        let id = platform.pipeline().await;
        let mut paths = Vec::new();
        for classification in ["manual", "datasheet"] {
            let parts = [("classification", classification), ("external_id", "E-1")];
            let response = platform.upload(&id, "a.txt", classification.as_bytes(), &parts).await;
            assert_eq!(response.status, 202, "{}", response.json());
            paths.push(format!("/api/pipelines/{id}/documents/{}", response.json()["id"].as_str().unwrap()));
            let other = platform.upload(&id, "b.txt", b"other", &parts).await;
            assert_eq!((other.status, other.code().as_str()), (409, "external-id-taken"));
        }
        let header = [("content-type", "application/json")];
        let moved = platform.send("PATCH", &paths[0], &header, r#"{"classification": "datasheet"}"#).await;
        assert_eq!((moved.status, moved.code().as_str()), (409, "external-id-taken"));
        let found = platform.get(&format!("/api/pipelines/{id}/documents?external_id=E-1")).await.json();
        assert_eq!(found["data"].as_array().unwrap().len(), 2);
        let path = format!("/api/pipelines/{id}/documents:delete");
        let result = platform.post(&path, &json!({"external_ids": ["E-1"]})).await.json();
        assert_eq!((&result["deleted"], &result["data"][0]["status"]), (&json!(1), &json!("deleted")));
        for path in paths {
            assert_eq!(platform.get(&path).await.status, 404);
        }
    })
    .await;
}

#[tokio::test]
async fn bulk_deletion_and_preview_require_write_access() {
    let platform = TestPlatform::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
    let token = platform.token(SECRET).await.json();
    let root = format!("Bearer {}", token["access_token"].as_str().unwrap());
    let root = [("authorization", root.as_str()), ("content-type", "application/json")];
    let classifications = ["open", "read", "secret"];
    let pipeline = json!({
        "name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": classifications,
    });
    let id = platform.send("POST", "/api/pipelines", &root, pipeline.to_string()).await.json()["id"].clone();
    let id = id.as_str().unwrap();
    let mut ids = Vec::new();
    for classification in classifications {
        let parts = [("classification", classification), ("external_id", "E-1")];
        let uploaded = platform.upload_as(&root[..1], id, "a.txt", classification.as_bytes(), &parts).await;
        ids.push(uploaded.json()["id"].clone());
    }
    let key = async |access: Value| {
        let key_body = json!({"name": "k", "scopes": ["documents:read", "documents:write"], "pipelines": {id: access}});
        let created = platform.send("POST", "/api/keys", &root, key_body.to_string()).await.json();
        format!("Bearer {}", created["key"].as_str().unwrap())
    };
    let writer = key(json!({"classifications": ["open"], "verbs": ["write"]})).await;
    let reader = key(json!({"classifications": ["read"], "verbs": ["read"]})).await;
    let json_as = |bearer| [("authorization", bearer), ("content-type", "application/json")];
    let path = format!("/api/pipelines/{id}/documents:delete");
    let body = json!({"ids": ids}).to_string();
    let result = platform.send("POST", &path, &json_as(reader.as_str()), body.clone()).await;
    assert_eq!(statuses(&result), ["not_found", "not_found", "not_found"], "the key may only read");
    let result = platform.send("POST", &path, &json_as(writer.as_str()), body).await;
    assert_eq!(statuses(&result), ["deleted", "not_found", "not_found"]);
    let parts = [("classification", "open"), ("external_id", "E-1")];
    let retried = platform.upload_as(&[("authorization", writer.as_str())], id, "b.txt", b"b", &parts).await;
    assert_eq!(retried.status, 202, "the id is used only in classifications that are hidden from the key");
    let result = platform.send("POST", &path, &json_as(writer.as_str()), r#"{"external_ids": ["E-1"]}"#).await;
    assert_eq!(result.json()["deleted"], 1);
    let remaining =
        platform.send("GET", &format!("/api/pipelines/{id}/documents?external_id=E-1"), &root, "").await.json();
    assert_eq!(remaining["data"].as_array().unwrap().len(), 2);
    let preview = format!("/api/pipelines/{id}/preview");
    let body = json!({"text": "a b c"}).to_string();
    let rejected = platform.send("POST", &preview, &json_as(reader.as_str()), body.clone()).await;
    assert_eq!((rejected.status, rejected.code().as_str()), (403, "classification-forbidden"));
    assert_eq!(platform.send("POST", &preview, &json_as(writer.as_str()), body.clone()).await.status, 200);
    let response = platform.send("POST", "/api/pipelines/other/preview", &json_as(writer.as_str()), body).await;
    assert_eq!(response.code(), "pipeline-not-found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_equals_the_ingestion_and_stores_nothing() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let path = format!("/api/pipelines/{id}/preview");
        let text = "# Vessel\r\n\r\nPSV-2015A is set at 38.5 barg.\r\n\r\nÜberdruck V-201.";
        let splitter = json!({"name": "recursive_character", "chunk_size": 30, "chunk_overlap": 0});
        let preview = platform.post(&path, &json!({"text": text, "text_splitter": splitter})).await;
        assert_eq!(preview.status, 200, "{}", preview.json());
        let preview = preview.json();
        assert_eq!(preview["text_splitter_params"]["chunk_size"], 30);
        let text_chars: Vec<char> = text.replace("\r\n", "\n").chars().collect();
        for chunk in preview["chunks"].as_array().unwrap() {
            let (start, end) = (chunk["start"].as_u64().unwrap() as usize, chunk["end"].as_u64().unwrap() as usize);
            assert_eq!(text_chars[start..end].iter().collect::<String>(), chunk["text"].as_str().unwrap());
        }
        assert_eq!(preview["chunk_count"].as_u64().unwrap() as usize, preview["chunks"].as_array().unwrap().len());
        assert!(preview["chunks"].to_string().contains("PSV-2015A"), "with its tags");
        // The same file with the splitter of the pipeline: a preview, then an upload.
        let headers = [("content-type", "multipart/form-data; boundary=x7x")];
        let preview_of_file = platform.send("POST", &path, &headers, form("a.md", text.as_bytes(), &[])).await.json();
        let uploaded = platform.upload_and_wait(&id, "a.md", text.as_bytes(), &MANUAL).await;
        let chunks =
            platform.get(&format!("/api/pipelines/{id}/documents/{}/chunks", uploaded["id"].as_str().unwrap())).await;
        let mut chunks = chunks.json()["data"].clone();
        chunks.as_array_mut().unwrap().iter_mut().for_each(|chunk| drop(chunk.as_object_mut().unwrap().remove("id")));
        assert_eq!(preview_of_file["chunks"], chunks);
        let one =
            platform.post(&format!("{path}?limit=1"), &json!({"text": text, "text_splitter": splitter})).await.json();
        assert_eq!((one["chunks"].as_array().unwrap().len(), &one["truncated"]), (1, &json!(true)));
        assert_eq!(platform.get(&format!("/api/pipelines/{id}")).await.json()["document_counts"]["total"], 1);
    })
    .await;
}

#[tokio::test]
async fn a_text_is_split_before_a_pipeline_exists() {
    let platform = TestPlatform::sqlite(&[]).await;
    let splitter = json!({"name": "recursive_character", "chunk_size": 30, "chunk_overlap": 0});
    let body = json!({"text": "PSV-2015A is set at 38.5 barg.\n\nV-201 is a vessel.", "text_splitter": splitter});
    let preview = platform.post("/api/preview", &body).await;
    assert_eq!((preview.status, &preview.json()["chunk_count"]), (200, &json!(2)), "{}", preview.json());
    let id = platform.pipeline().await;
    let in_pipeline = platform.post(&format!("/api/pipelines/{id}/preview"), &body).await;
    assert_eq!(in_pipeline.json(), preview.json());
    let by_meaning = json!({"text": "One sentence. Another sentence.", "text_splitter": "semantic"});
    assert_eq!(platform.post("/api/preview", &by_meaning).await.status, 200);
    for (body, pointer, code) in [
        (json!({"text": "a"}), "/text_splitter", "missing-part"),
        (json!({"text": "a", "text_splitter": "magic"}), "/text_splitter", "unknown-text-splitter"),
        (
            json!({"text": "a", "text_splitter": "token", "embedding_model": "magic"}),
            "/embedding_model",
            "unknown-embedding-model",
        ),
    ] {
        let response = platform.post("/api/preview", &body).await;
        assert_eq!((response.status, response.code().as_str()), (422, code), "{body}: {}", response.json());
        assert_eq!(response.json()["errors"][0]["pointer"], pointer);
    }
}

#[tokio::test]
async fn a_preview_fails_with_the_codes_of_the_ingestion() {
    let platform = TestPlatform::sqlite(&[]).await;
    let id = platform.pipeline().await;
    let path = format!("/api/pipelines/{id}/preview");
    for (body, status, code) in [
        (json!({}), 422, "missing-part"),
        (json!({"text": 7}), 422, "validation"),
        (json!({"text": "a", "splitter": "token"}), 422, "unknown-field"),
        (json!({"text": "a", "text_splitter": "magic"}), 422, "unknown-text-splitter"),
        (json!({"text": "a", "text_splitter": {"name": "token", "chunk_size": 0}}), 422, "validation"),
        (json!({"text": " \n "}), 422, "empty-text"),
        (json!({"file": "a"}), 422, "validation"),
    ] {
        let response = platform.post(&path, &body).await;
        assert_eq!((response.status, response.code().as_str()), (status, code), "{body}: {}", response.json());
    }
    let headers = [("content-type", "multipart/form-data; boundary=x7x")];
    let both = platform.send("POST", &path, &headers, form("a.txt", b"a", &[("text", "b")])).await;
    assert_eq!((both.status, both.code().as_str()), (422, "validation"));
    assert_eq!(both.json()["errors"][0]["pointer"], "/text", "only one of file and text");
    for (bytes, status, code) in [
        (&b"\x7fELF\x02\x01\x01\0\0\0\0\0"[..], 415, "unsupported-media-type"),
        (b"%PDF-1.7 broken", 422, "corrupt-document"),
    ] {
        let response = platform.send("POST", &path, &headers, form("a", bytes, &[])).await;
        assert_eq!((response.status, response.code().as_str()), (status, code), "{}", response.json());
    }
    let response = platform.post(&format!("{path}?limit=0"), &json!({"text": "a"})).await;
    assert_eq!((response.status, response.code().as_str()), (400, "invalid-parameter"));
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_beyond_the_memory_budget_are_deferred() {
    let settings = [("PIDQ_UPLOAD_MEMORY", "64KiB"), ("PIDQ_UPLOAD_SIZE", "64KiB")];
    let platform = Arc::new(TestPlatform::sqlite(&settings).await);
    let id = platform.pipeline().await;
    // Each upload needs more than half of the budget and then waits for a missing worker, without holding memory.
    let first = platform.upload(&id, "a.txt", "a".repeat(40 << 10).as_bytes(), &MANUAL).await;
    assert_eq!(first.status, 202);
    let uploads = (0..8).map(|number| {
        let (platform, id) = (platform.clone(), id.clone());
        tokio::spawn(async move {
            platform.upload(&id, "b.txt", format!("{number}").repeat(40 << 10).as_bytes(), &MANUAL).await
        })
    });
    let mut statuses = Vec::new();
    for response in uploads.collect::<Vec<_>>() {
        let response = response.await.unwrap();
        if response.status == 503 {
            assert_eq!((response.code().as_str(), response.header("retry-after")), ("too-many-uploads", "2"));
        }
        statuses.push(response.status);
    }
    assert!(statuses.iter().all(|status| [202, 503].contains(status)) && statuses.contains(&202), "{statuses:?}");
    let retried = platform.upload(&id, "c.txt", "c".repeat(40 << 10).as_bytes(), &MANUAL).await;
    assert_eq!(retried.status, 202, "the memory budget is released");
    let worker = tokio::spawn(worker::run_worker(Arc::clone(&platform.state)));
    let headers = [("content-type", "multipart/form-data; boundary=x7x")];
    let path = format!("/api/pipelines/{id}/documents?wait=60");
    let ready = platform.send("POST", &path, &headers, form("d.txt", "d ".repeat(20 << 10).as_bytes(), &MANUAL)).await;
    worker.abort();
    assert_eq!((ready.status, &ready.json()["status"]), (201, &json!("ready")));
}

fn path(pipeline: &str, document: &Value) -> String {
    format!("/api/pipelines/{pipeline}/documents/{}/content", document["id"].as_str().unwrap())
}

/// Replaces a document with a matching entity tag, and waits.
async fn replace_and_wait(platform: &TestPlatform, path: &str, etag: &str, body: &str) -> TestResponse {
    platform.send("PUT", &format!("{path}?wait=60"), &[("if-match", etag)], body).await
}

/// Replaces any revision of a document, without waiting.
async fn replace(platform: &TestPlatform, path: &str, body: &str) -> TestResponse {
    platform.send("PUT", path, &[("if-match", "*")], body).await
}

fn statuses(response: &TestResponse) -> Vec<String> {
    let json = response.json();
    json["data"].as_array().unwrap().iter().map(|outcome| outcome["status"].as_str().unwrap().to_owned()).collect()
}
