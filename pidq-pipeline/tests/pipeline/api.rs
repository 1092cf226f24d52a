//! Tests of pipelines, documents and keys over HTTP, on both databases.

use pidq_store::domain::license::{Issuer, License, LicenseLimits};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::platform::{MASTER, SECRET, TestPlatform, on_each};

#[tokio::test]
async fn the_requests_of_the_specification_are_accepted() {
    on_each(async |platform| {
        let body = json!({
            "name": "p", "embedding_model": "hash-512", "text_splitter": "recursive_character",
            "classifications": ["manual"],
        });
        let created = platform.post("/api/pipelines", &body).await;
        assert_eq!(created.status, 201);
        let pipeline = created.json();
        assert_eq!(created.header("location"), format!("/api/pipelines/{}", pipeline["id"].as_str().unwrap()));
        assert!(!created.header("etag").is_empty());
        assert_eq!(pipeline["embedding_dimensions"], 512);
        assert_eq!(pipeline["text_splitter_params"]["chunk_size"], 1000);
        assert_eq!(pipeline["document_counts"], json!({"total": 0, "ready": 0, "processing": 0, "failed": 0}));
        let uploaded =
            platform.upload(pipeline["id"].as_str().unwrap(), "V-201.txt", b"V-201", &[("classification", "manual")]);
        let uploaded = uploaded.await;
        assert_eq!(uploaded.status, 202, "{}", String::from_utf8_lossy(&uploaded.body));
        let document = uploaded.json();
        for (field, value) in [
            ("filename", json!("V-201.txt")),
            ("size", json!(5)),
            ("status", json!("queued")),
            ("terminal", json!(false)),
            ("searchable", json!(false)),
            ("progress", json!({"stage": "queued", "done": 0, "total": null})),
            ("revision", json!(1)),
            ("error", Value::Null),
        ] {
            assert_eq!(document[field], value, "{field}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_invalid_pipeline_is_rejected_with_a_pointer() {
    let platform = TestPlatform::sqlite(&[]).await;
    let good = json!({
        "name": "p", "embedding_model": "hash-512", "text_splitter": "character", "classifications": ["a"],
    });
    for (field, value, status, code) in [
        ("name", json!(""), 422, "validation"),
        ("name", json!("x".repeat(129)), 422, "validation"),
        ("name", json!(7), 422, "validation"),
        ("embedding_model", json!("gpt"), 422, "unknown-embedding-model"),
        ("text_splitter", json!("magic"), 422, "unknown-text-splitter"),
        ("text_splitter", json!({"name": "character", "chunk_size": 0}), 422, "validation"),
        ("text_splitter", json!({"name": "character", "chunk_sise": 10}), 422, "unknown-field"),
        ("classifications", json!([]), 422, "validation"),
        ("classifications", json!(["a", " a "]), 422, "validation"),
        ("classifcations", json!(["a"]), 422, "unknown-field"),
        ("policies", json!({"b": {"llm_allow": []}}), 422, "validation"),
        ("policies", json!({"a": {"llm_alow": []}}), 422, "unknown-field"),
        ("policies", json!({"a": {"llm_allow": "https://llm.example"}}), 422, "validation"),
        ("policies", json!({"a": {"llm_allow": ["no address"]}}), 422, "validation"),
    ] {
        let mut body = good.clone();
        body[field] = value.clone();
        let response = platform.post("/api/pipelines", &body).await;
        assert_eq!((response.status, response.code().as_str()), (status, code), "{field}: {value}");
        assert!(response.json()["errors"][0]["pointer"].is_string(), "{field}: {value}");
    }
    assert_eq!(platform.post("/api/pipelines", &good).await.status, 201);
    let again = platform.post("/api/pipelines", &good).await;
    assert_eq!((again.status, again.code().as_str()), (409, "name-taken"));
}

#[tokio::test]
async fn pipelines_are_listed_changed_and_deleted() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let path = format!("/api/pipelines/{id}");
        let first = platform.get(&path).await;
        let etag = first.header("etag").to_owned();
        let patch = json!({"description": "d", "classifications": ["manual", "hazop"], "retrieval": {"top_k": 5}});
        let headers = [("content-type", "application/merge-patch+json"), ("if-match", etag.as_str())];
        let changed = platform.send("PATCH", &path, &headers, patch.to_string()).await;
        assert_eq!(changed.status, 200, "{}", String::from_utf8_lossy(&changed.body));
        assert_eq!(changed.json()["classifications"], json!(["manual", "hazop"]));
        assert_eq!(changed.json()["revision"], 2);
        assert_eq!(platform.send("PATCH", &path, &headers, "{}").await.status, 412, "the validator is outdated");
        let response = platform.send("PATCH", &path, &headers[..1], r#"{"text_splitter": "html"}"#).await;
        assert_eq!((response.status, response.code().as_str()), (409, "reindex-required"));
        let listed = platform.get("/api/pipelines?limit=1").await.json();
        assert_eq!((&listed["data"][0]["id"], &listed["next_cursor"]), (&json!(id), &Value::Null));
        assert_eq!(platform.send("DELETE", &path, &[], "").await.status, 204);
        assert_eq!(platform.get(&path).await.code(), "pipeline-not-found");
    })
    .await;
}

#[tokio::test]
async fn a_classification_in_use_cannot_be_removed() {
    let platform = TestPlatform::sqlite(&[]).await;
    let id = platform.pipeline().await;
    platform.upload(&id, "a.txt", b"a", &[("classification", "datasheet")]).await;
    let path = format!("/api/pipelines/{id}");
    let json_body = [("content-type", "application/json")];
    let response = platform.send("PATCH", &path, &json_body, r#"{"classifications": ["manual"]}"#).await;
    assert_eq!((response.status, response.code().as_str()), (409, "classification-in-use"));
    assert_eq!(platform.get(&path).await.json()["document_counts"]["processing"], 1);
    assert_eq!(platform.send("DELETE", &path, &[], "").await.status, 202, "its documents are deleted first");
}

#[tokio::test]
async fn a_pipeline_being_deleted_rejects_uploads_and_searches() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let manual = [("classification", "manual")];
        let uploaded = platform.upload(&id, "a.txt", b"a", &manual).await.json();
        let path = format!("/api/pipelines/{id}");
        let document = format!("{path}/documents/{}", uploaded["id"].as_str().unwrap());
        platform.send("POST", &format!("{document}/cancel"), &[], "").await;
        assert_eq!(platform.send("DELETE", &path, &[], "").await.status, 202, "no worker runs");
        let rejected = platform.upload(&id, "b.txt", b"b", &manual).await;
        assert_eq!((rejected.status, rejected.code().as_str()), (409, "pipeline-busy"), "the upload would be lost");
        let question = r#"{"query": "a", "classification": "manual"}"#;
        for (method, path, body) in [
            ("PATCH", path.clone(), r#"{"description": "late"}"#),
            ("PATCH", document.clone(), r#"{"filename": "late.txt"}"#),
            ("PUT", format!("{document}/content"), "late"),
            ("POST", format!("{document}/retry"), ""),
            ("POST", format!("{path}/reindex"), "{}"),
            ("POST", format!("{path}/search"), question),
            ("POST", format!("{path}/query"), question),
        ] {
            let headers = [("content-type", "application/json"), ("if-match", "*")];
            let response = platform.send(method, &path, &headers, body).await;
            assert_eq!((response.status, response.code().as_str()), (409, "pipeline-busy"), "{method} {path}");
        }
        assert_eq!(platform.get(&path).await.json()["status"], "deleting");
        assert_eq!(platform.get(&format!("{document}/content")).await.body, b"a");
        assert_eq!(platform.send("DELETE", &document, &[], "").await.status, 204);
    })
    .await;
}

#[tokio::test]
async fn duplicate_content_is_stored_once_per_classification() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let first = platform.upload(&id, "a.txt", b"same", &[("classification", "manual")]).await;
        let second = platform.upload(&id, "b.txt", b"same", &[("classification", "manual")]).await;
        assert_eq!((first.status, second.status), (202, 200));
        assert_eq!(second.json()["duplicate"], true);
        assert_eq!(second.json()["id"], first.json()["id"]);
        let other = platform.upload(&id, "a.txt", b"same", &[("classification", "datasheet")]).await;
        assert_eq!(other.status, 202, "another classification is independent");
        assert_ne!(other.json()["id"], first.json()["id"]);
    })
    .await;
}

#[tokio::test]
async fn an_invalid_form_is_rejected_with_a_pointer() {
    let platform = TestPlatform::sqlite(&[("PIDQ_UPLOAD_SIZE", "1KiB")]).await;
    let id = platform.pipeline().await;
    let manual = ("classification", "manual");
    for (bytes, parts, status, code) in [
        (&b"x"[..], &[][..], 422, "missing-part"),
        (b"x", &[("classification", "secret")], 422, "unknown-classification"),
        (b"", &[manual], 422, "validation"),
        (&[b'x'; 1025], &[manual], 413, "payload-too-large"),
        (b"x", &[manual, ("classifcation", "manual")], 422, "unknown-field"),
        (b"x", &[manual, manual], 422, "validation"),
        (b"x", &[manual, ("metadata", "[1]")], 422, "validation"),
        (b"x", &[manual, ("sha256", "00")], 422, "validation"),
    ] {
        let response = platform.upload(&id, "a.txt", bytes, parts).await;
        assert_eq!((response.status, response.code().as_str()), (status, code), "{parts:?}");
    }
    let response = platform.upload(&id, "a.txt", b"x", &[("classification", "secret")]).await;
    assert_eq!(response.json()["allowed"], json!(["manual", "datasheet"]));
    let renamed = platform.upload(&id, "../../etc/passwd", b"y", &[manual]).await;
    assert_eq!(renamed.json()["filename"], "passwd");
}

#[tokio::test]
async fn documents_are_listed_changed_and_deleted() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        for number in 0..5 {
            let (name, text) = (format!("{number}.txt"), format!("text {number}"));
            let classification = if number % 2 == 0 { "manual" } else { "datasheet" };
            let parts =
                [("classification", classification), ("external_id", name.as_str()), ("metadata", r#"{"unit": 20}"#)];
            assert_eq!(platform.upload(&id, &name, text.as_bytes(), &parts).await.status, 202);
        }
        let base = format!("/api/pipelines/{id}/documents");
        let mut path = format!("{base}?limit=2");
        let mut names = Vec::new();
        loop {
            let page = platform.get(&path).await.json();
            names.extend(page["data"].as_array().unwrap().iter().map(|row| row["filename"].clone()));
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            path = format!("{base}?limit=2&cursor={cursor}");
        }
        assert_eq!(names, (0..5).map(|number| json!(format!("{number}.txt"))).collect::<Vec<_>>());
        let by_classification = platform.get(&format!("{base}?classification=datasheet")).await.json();
        assert_eq!(by_classification["data"].as_array().unwrap().len(), 2);
        let document = platform.get(&format!("{base}?external_id=3.txt")).await.json()["data"][0].clone();
        let conflict =
            platform.upload(&id, "z", b"z", &[("classification", "datasheet"), ("external_id", "3.txt")]).await;
        assert_eq!((conflict.status, conflict.code().as_str()), (409, "external-id-taken"));
        let path = format!("{base}/{}", document["id"].as_str().unwrap());
        let patch = r#"{"classification": "manual", "metadata": {"unit": null, "rev": "B"}, "filename": "three.txt"}"#;
        let changed = platform.send("PATCH", &path, &[("content-type", "application/json")], patch).await.json();
        assert_eq!((&changed["classification"], &changed["metadata"]), (&json!("manual"), &json!({"rev": "B"})));
        let content = platform.get(&format!("{path}/content")).await;
        assert_eq!(content.body, b"text 3");
        assert_eq!(content.header("content-disposition"), "attachment; filename*=UTF-8''three.txt");
        assert_eq!(platform.send("POST", &format!("{path}/cancel"), &[], "").await.json()["status"], "cancelled");
        assert_eq!(platform.send("POST", &format!("{path}/retry"), &[], "").await.json()["status"], "queued");
        let busy = platform.send("POST", &format!("{path}/retry"), &[], "").await;
        assert_eq!((busy.status, busy.code().as_str()), (409, "document-busy"));
        assert_eq!(platform.send("DELETE", &path, &[], "").await.status, 204);
        assert_eq!(platform.send("DELETE", &path, &[], "").await.code(), "document-not-found");
    })
    .await;
}

#[tokio::test]
async fn documents_are_found_by_words_of_their_file_names() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        for (number, name) in
            ["P-101 Pump manual.txt", "pump_datasheet 100%.txt", "V-201 manual.txt", "Übersicht.txt"].iter().enumerate()
        {
            let text = format!("text {number}");
            let uploaded = platform.upload(&id, name, text.as_bytes(), &[("classification", "manual")]).await;
            assert_eq!(uploaded.status, 202);
        }
        for (query, expected) in [
            ("", "P-101 Pump manual.txt pump_datasheet 100%.txt V-201 manual.txt Übersicht.txt"),
            ("manual", "P-101 Pump manual.txt V-201 manual.txt"),
            ("MANUAL%20pump", "P-101 Pump manual.txt"),
            ("p_d", "pump_datasheet 100%.txt"),
            ("_", "pump_datasheet 100%.txt"),
            ("0%25", "pump_datasheet 100%.txt"),
            ("%25", "pump_datasheet 100%.txt"),
            ("%5C", ""),
            ("%C3%9Cber", "Übersicht.txt"),
            ("manual%20datasheet", ""),
            ("a+a+a+a+a+a+a+a", "P-101 Pump manual.txt pump_datasheet 100%.txt V-201 manual.txt"),
        ] {
            for sort in ["created_at", "-filename"] {
                let path = format!("/api/pipelines/{id}/documents?q={query}&sort={sort}");
                let page = platform.get(&path).await.json();
                let data = page["data"].as_array().unwrap();
                let mut names: Vec<_> = data.iter().map(|row| row["filename"].as_str().unwrap()).collect();
                let mut expected_names: Vec<_> = expected.split_inclusive(".txt").map(str::trim).collect();
                names.sort_unstable();
                expected_names.sort_unstable();
                assert_eq!(names, expected_names, "`{query}` by {sort}");
                assert_eq!(page["total"], names.len(), "`{query}`");
            }
        }
        let rejected = platform.get(&format!("/api/pipelines/{id}/documents?q=1+2+3+4+5+6+7+8+9")).await;
        assert_eq!((rejected.status, &rejected.json()["parameter"]), (400, &json!("q")));
    })
    .await;
}

#[tokio::test]
async fn keys_are_limited_to_their_pipelines_and_scopes() {
    let platform = TestPlatform::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
    assert_eq!(platform.get("/api/pipelines").await.status, 401);
    let token = platform.token(SECRET).await.json();
    let root = format!("Bearer {}", token["access_token"].as_str().unwrap());
    let root = [("authorization", root.as_str()), ("content-type", "application/json")];
    let pipeline = json!({
        "name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["open", "secret"],
    });
    let created = platform.send("POST", "/api/pipelines", &root, pipeline.to_string()).await;
    assert_eq!(created.status, 201, "{}", String::from_utf8_lossy(&created.body));
    let id = created.json()["id"].clone();
    let id = id.as_str().unwrap();
    let key_body = json!({
        "name": "reader", "scopes": ["pipelines:read", "documents:read", "documents:write"],
        "pipelines": {id: {"classifications": ["open"], "verbs": ["read", "write"]}},
    });
    let key = platform.send("POST", "/api/keys", &root, key_body.to_string()).await.json();
    let bearer = format!("Bearer {}", key["key"].as_str().unwrap());
    let reader = [("authorization", bearer.as_str())];
    let visible = platform.send("GET", &format!("/api/pipelines/{id}"), &reader, "").await.json();
    assert_eq!(visible["classifications"], json!(["open"]), "other classifications are hidden");
    for classification in ["secret", "unknown"] {
        let response = platform.upload_as(&reader, id, "a", b"a", &[("classification", classification)]).await;
        assert_eq!((response.status, response.code().as_str()), (403, "classification-forbidden"), "{classification}");
    }
    assert_eq!(platform.upload_as(&reader, id, "a", b"a", &[("classification", "open")]).await.status, 202);
    assert_eq!(platform.send("POST", "/api/pipelines", &reader, "{}").await.status, 403, "the key lacks the scope");
    assert_eq!(platform.send("GET", "/api/keys", &reader, "").await.status, 403);
    let listed = platform.send("GET", "/api/keys", &root, "").await;
    assert!(
        !String::from_utf8_lossy(&listed.body).contains(key["key"].as_str().unwrap()),
        "the secret is returned once"
    );
    let path = format!("/api/keys/{}", key["id"].as_str().unwrap());
    assert_eq!(platform.send("DELETE", &path, &root, "").await.status, 204);
    assert_eq!(platform.send("GET", &format!("/api/pipelines/{id}"), &reader, "").await.status, 401);
}

#[tokio::test]
async fn a_license_is_requested_set_and_returned() {
    let issuer = Issuer::parse(&Issuer::generate().unwrap()).unwrap();
    let keys = format!("vendor:{}", issuer.public_key());
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite:{}", folder.path().join("pidq.db").display());
    let settings = [("PIDQ_LICENSE_MODE", "enforce"), ("PIDQ_LICENSE_PUBLIC_KEYS", keys.as_str())];
    // 1. Without a license, the platform returns its system id and rejects uploads.
    let platform = TestPlatform::at(&url, &settings).await;
    let state = platform.get("/api/license").await.json();
    assert_eq!(state["status"], "missing");
    let body = json!({"name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a"]});
    let rejected = platform.post("/api/pipelines", &body).await;
    assert_eq!((rejected.status, rejected.code().as_str()), (402, "license-required"));
    assert_eq!(rejected.json()["system_id"], state["system_id"]);
    assert_eq!(platform.get("/api/pipelines").await.status, 200, "reads still work");
    // 2. A license is issued for that system id.
    let now = pidq_http::auth::Timestamp::now().seconds();
    let license = License {
        v: 1,
        sys: state["system_id"].as_str().unwrap().into(),
        plan: "site".into(),
        exp: now + 100 * 86_400,
        limits: LicenseLimits { pipelines: Some(1), ..LicenseLimits::default() },
        ..License::default()
    };
    let license = issuer.issue(&license);
    // 3. The license is set, and the platform is restarted.
    drop(platform);
    let settings = [settings[0], settings[1], ("PIDQ_APP_LICENSE", license.as_str())];
    let platform = TestPlatform::at(&url, &settings).await;
    let state_after_restart = platform.get("/api/license").await.json();
    assert_eq!((&state_after_restart["status"], &state_after_restart["plan"]), (&json!("valid"), &json!("site")));
    assert_eq!(state_after_restart["system_id"], state["system_id"], "the system id survives a restart");
    assert_eq!(platform.post("/api/pipelines", &body).await.status, 201);
    let mut another = body.clone();
    another["name"] = "q".into();
    let second = platform.post("/api/pipelines", &another).await;
    assert_eq!((second.status, second.code().as_str()), (402, "license-limit"));
}

#[tokio::test]
async fn a_token_survives_a_restart_and_ends_with_its_master_secret() {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite:{}", folder.path().join("pidq.db").display());
    let platform = TestPlatform::at(&url, &[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
    let token = platform.token(SECRET).await.json()["access_token"].clone();
    drop(platform);
    let bearer = format!("Bearer {}", token.as_str().unwrap());
    let other = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    let settings = |secret| [("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", secret)];
    let platform = TestPlatform::at(&url, &settings(SECRET)).await;
    assert_eq!(platform.send("GET", "/api/pipelines", &[("authorization", bearer.as_str())], "").await.status, 200);
    drop(platform);
    let platform = TestPlatform::at(&url, &settings(other)).await;
    assert_eq!(platform.send("GET", "/api/pipelines", &[("authorization", bearer.as_str())], "").await.status, 401);
    assert_eq!((platform.token(SECRET).await.status, platform.token(other).await.status), (401, 200));
}
