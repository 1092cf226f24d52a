//! Tests of the HTTP API's contract: keys, lists, downloads and the headers of all responses.

use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pidq_http::auth::Timestamp;
use pidq_http::{CommonSettings, Settings};
use pidq_pipeline::TABLES;
use pidq_pipeline::open;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::databases;
use crate::mock_server::{MockServer, Step, json_reply, reply};
use crate::openapi_types::check_types;
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, on_each, on_each_url};

const WITH_MASTER_KEY: &[(&str, &str)] = &[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)];

fn basic(secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{MASTER}:{secret}")))
}

async fn key(platform: &TestPlatform, key_body: &Value) -> TestResponse {
    let authorization = basic(SECRET);
    let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
    platform.send("POST", "/api/keys", &headers, key_body.to_string()).await
}

#[tokio::test]
async fn the_first_key_is_created_with_the_master_key() {
    let platform = TestPlatform::sqlite(WITH_MASTER_KEY).await;
    let created = key(&platform, &json!({"name": "first", "scopes": ["admin", "pipelines:read"]})).await;
    assert_eq!(created.status, 201, "{}", created.json());
    let invalid = basic("not-the-secret-0000000000000000000");
    let rejected = platform.send("GET", "/api/keys", &[("authorization", invalid.as_str())], "").await;
    assert_eq!(rejected.status, 401);
    assert!(rejected.headers.get_all("www-authenticate").iter().any(|challenge| challenge == "Basic realm=\"pidq\""));
    let response = platform.send("GET", "/api/pipelines", &[("authorization", basic(SECRET).as_str())], "").await;
    assert_eq!(response.status, 401, "the master secret only authorizes `/api/keys`");
    let response = platform.send("GET", "/api/keysmith", &[("authorization", basic(SECRET).as_str())], "").await;
    assert_eq!(response.status, 404);
}

#[tokio::test]
async fn a_key_expires_and_is_returned_without_its_secret() {
    let platform = TestPlatform::sqlite(WITH_MASTER_KEY).await;
    let end = Timestamp(Timestamp::now().0 + 1500);
    let created =
        key(&platform, &json!({"name": "k", "scopes": ["admin"], "expires_at": end.to_rfc3339()})).await.json();
    assert_eq!(created["expires_at"], json!(end.to_rfc3339()));
    let bearer = format!("Bearer {}", created["key"].as_str().unwrap());
    let path = format!("/api/keys/{}", created["id"].as_str().unwrap());
    let headers = [("authorization", bearer.as_str())];
    let read = platform.send("GET", &path, &headers, "").await;
    assert_eq!((read.status, &read.json()["name"], read.json().get("key")), (200, &json!("k"), None));
    while Timestamp::now() <= end {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let expired = platform.send("GET", &path, &headers, "").await;
    assert_eq!((expired.status, expired.code().as_str()), (401, "token-expired"));
    assert!(expired.header("www-authenticate").contains("error=\"invalid_token\""));
    let root = basic(SECRET);
    let missing = platform.send("GET", "/api/keys/none", &[("authorization", root.as_str())], "").await;
    assert_eq!((missing.status, missing.code().as_str()), (404, "key-not-found"));
}

#[tokio::test]
async fn an_invalid_expiry_is_rejected() {
    let platform = TestPlatform::sqlite(WITH_MASTER_KEY).await;
    for (field, value, code) in [
        ("expires_at", json!("tomorrow"), "validation"),
        ("expires_at", json!("2020-01-01T00:00:00Z"), "validation"),
        ("scopes", json!(["everything"]), "validation"),
    ] {
        let mut key_body = json!({"name": "k", "scopes": ["query"]});
        key_body[field] = value;
        let response = key(&platform, &key_body).await;
        assert_eq!((response.status, response.code().as_str()), (422, code), "{key_body}");
        assert_eq!(
            response.json()["errors"][0]["pointer"].as_str().map(|p| p.starts_with(&format!("/{field}"))),
            Some(true)
        );
    }
    let old = key(&platform, &json!({"name": "k", "scopes": ["query"], "expires_in_days": 3})).await;
    assert!((400..=422).contains(&old.status), "the old field is unknown: {}", old.json());
}

#[tokio::test]
async fn a_restricted_key_sees_itself_and_creates_no_keys() {
    let platform = TestPlatform::sqlite(WITH_MASTER_KEY).await;
    let token = format!("Bearer {}", platform.token(SECRET).await.json()["access_token"].as_str().unwrap());
    let root = [("authorization", token.as_str()), ("content-type", "application/json")];
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        let body = json!({
            "name": name, "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["open", "secret"],
            "policies": {"secret": {"llm_allow": ["https://secret.example"]}, "open": {"llm_allow": []}},
        });
        ids.push(platform.send("POST", "/api/pipelines", &root, body.to_string()).await.json()["id"].clone());
    }
    let access = json!({"classifications": ["open"], "verbs": ["read", "write", "query"]});
    let key_body = json!({
        "name": "r", "scopes": ["admin", "pipelines:read", "pipelines:write"],
        "pipelines": {ids[0].as_str().unwrap(): access, ids[2].as_str().unwrap(): access},
    });
    let bearer = format!("Bearer {}", key(&platform, &key_body).await.json()["key"].as_str().unwrap());
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let listed = platform.send("GET", "/api/pipelines", &headers, "").await.json();
    let names: Vec<_> = listed["data"].as_array().unwrap().iter().map(|row| row["name"].clone()).collect();
    assert_eq!((names, &listed["total"]), (vec![json!("a"), json!("c")], &json!(2)));
    let first = platform.send("GET", "/api/pipelines?limit=1", &headers, "").await.json();
    let next_page = format!("/api/pipelines?limit=1&cursor={}", first["next_cursor"].as_str().unwrap());
    let next_page = platform.send("GET", &next_page, &headers, "").await.json();
    assert_eq!((&next_page["data"][0]["name"], &next_page["next_cursor"]), (&json!("c"), &Value::Null));
    assert_eq!(
        listed["data"][0]["policies"],
        json!({"open": {"llm_allow": []}}),
        "policies of other classifications are hidden"
    );
    let path = format!("/api/pipelines/{}", ids[0].as_str().unwrap());
    for patch in [r#"{"classifications": ["open"]}"#, r#"{"policies": {"secret": null}}"#] {
        let response = platform.send("PATCH", &path, &headers, patch).await;
        assert_eq!((response.status, response.code().as_str()), (403, "forbidden"), "{patch}");
    }
    let other = format!("/api/pipelines/{}", ids[1].as_str().unwrap());
    assert_eq!(platform.send("GET", &other, &headers, "").await.status, 404);
    for (method, path, body) in [
        ("POST", "/api/keys", r#"{"name": "more", "scopes": ["query"]}"#),
        ("GET", "/api/keys", ""),
        ("DELETE", "/api/keys/x", ""),
    ] {
        let response = platform.send(method, path, &headers, body).await;
        assert_eq!((response.status, response.code().as_str()), (403, "forbidden"), "{method} {path}");
    }
}

#[tokio::test]
async fn documents_are_sorted_as_requested() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        for (name, bytes) in [("b.txt", "1"), ("a.txt", "4444"), ("c.txt", "22"), ("a.txt", "333")] {
            platform.upload(&id, name, bytes.as_bytes(), &[("classification", "manual")]).await;
        }
        for (sort, expected) in [
            ("created_at", [1, 4, 2, 3]),
            ("-created_at", [3, 2, 4, 1]),
            ("size", [1, 2, 3, 4]),
            ("-size", [4, 3, 2, 1]),
            ("filename", [4, 3, 1, 2]),
            ("-filename", [2, 1, 3, 4]),
            ("updated_at", [1, 4, 2, 3]),
            ("-updated_at", [3, 2, 4, 1]),
        ] {
            for limit in [1, 2, 4] {
                assert_eq!(sizes(&platform, &id, sort, limit).await, expected, "{sort} by {limit}");
            }
        }
        let path = format!("/api/pipelines/{id}/documents");
        let invalid = platform.get(&format!("{path}?sort=color")).await;
        assert_eq!((invalid.status, invalid.code().as_str()), (400, "invalid-parameter"));
        let page = platform.get(&format!("{path}?sort=size&limit=1")).await.json();
        let mismatched = format!("{path}?sort=-size&limit=1&cursor={}", page["next_cursor"].as_str().unwrap());
        assert_eq!(platform.get(&mismatched).await.code(), "invalid-cursor", "a cursor is valid for one sort order");
    })
    .await;
}

/// Returns the sizes of all documents, page by page.
async fn sizes(platform: &TestPlatform, pipeline: &str, sort: &str, limit: usize) -> Vec<u64> {
    let base = format!("/api/pipelines/{pipeline}/documents?sort={sort}&limit={limit}");
    let (mut sizes, mut path) = (Vec::new(), base.clone());
    loop {
        let page = platform.get(&path).await.json();
        sizes.extend(page["data"].as_array().unwrap().iter().map(|row| row["size"].as_u64().unwrap()));
        let Some(cursor) = page["next_cursor"].as_str() else { return sizes };
        path = format!("{base}&cursor={cursor}");
    }
}

#[tokio::test]
async fn a_pipeline_list_has_totals_and_document_counts() {
    on_each(async |platform| {
        let mut ids = Vec::new();
        for name in ["a", "b", "c"] {
            let body = json!({"name": name, "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["m"]});
            ids.push(platform.post("/api/pipelines", &body).await.json()["id"].as_str().unwrap().to_owned());
        }
        platform.upload(&ids[1], "x", b"x", &[("classification", "m")]).await;
        platform.upload(&ids[2], "y", b"y", &[("classification", "m")]).await;
        platform.upload(&ids[2], "z", b"z", &[("classification", "m")]).await;
        let page = platform.get("/api/pipelines?limit=2").await.json();
        let counts = |row: &Value| row["document_counts"]["total"].as_u64().unwrap();
        assert_eq!(page["data"].as_array().unwrap().iter().map(counts).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(page["total"], 3);
        let next_page = platform.get(&format!("/api/pipelines?limit=2&cursor={}", page["next_cursor"].as_str().unwrap())).await;
        assert_eq!((counts(&next_page.json()["data"][0]), &next_page.json()["total"]), (2, &json!(3)));
        let by_name = platform.get("/api/pipelines?name=b").await.json();
        assert_eq!((&by_name["data"][0]["id"], &by_name["total"]), (&json!(ids[1]), &json!(1)));
        assert_eq!(platform.get("/api/pipelines?name=z").await.json(), json!({"data": [], "next_cursor": null, "total": 0}));
    })
    .await;
}

#[tokio::test]
async fn a_document_list_has_its_total_on_the_first_page() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let path = format!("/api/pipelines/{id}/documents");
        assert_eq!(platform.get(&path).await.json(), json!({"data": [], "next_cursor": null, "total": 0}));
        for (name, classification) in [("a", "manual"), ("b", "manual"), ("c", "datasheet")] {
            platform.upload(&id, name, name.as_bytes(), &[("classification", classification)]).await;
        }
        for (filter, total) in
            [("", 3), ("&classification=manual", 2), ("&filename=c", 1), ("&status=ready", 0), ("&external_id=x", 0)]
        {
            assert_eq!(platform.get(&format!("{path}?limit=1{filter}")).await.json()["total"], total, "{filter}");
        }
        let first = platform.get(&format!("{path}?limit=2")).await.json();
        let next_page =
            platform.get(&format!("{path}?limit=2&cursor={}", first["next_cursor"].as_str().unwrap())).await.json();
        assert_eq!((next_page["data"].as_array().unwrap().len(), next_page.get("total")), (1, None));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_are_paginated() {
    let platform = TestPlatform::sqlite(&[]).await.with_workers();
    let id = platform.pipeline().await;
    let text = "V-201 is a vessel, and V-201 is a tag. ".repeat(100);
    let uploaded = platform.upload_and_wait(&id, "a.txt", text.as_bytes(), &[("classification", "manual")]).await;
    let mut path = format!("/api/pipelines/{id}/documents/{}/chunks?limit=1", uploaded["id"].as_str().unwrap());
    let mut indexes = Vec::new();
    loop {
        let page = platform.get(&path).await;
        let chunk = page.json()["data"][0].clone();
        indexes.push(chunk["index"].as_u64().unwrap());
        assert_eq!(chunk["tags"], json!(["V-201"]), "each tag once");
        let link = page.header("link").to_owned();
        assert_eq!(link.is_empty(), page.json()["next_cursor"].is_null());
        let Some((next, _)) = link.strip_prefix('<').and_then(|link| link.split_once(">; rel=\"next\"")) else { break };
        path = next.to_owned();
    }
    assert_eq!(indexes, (0..uploaded["chunk_count"].as_u64().unwrap()).collect::<Vec<_>>());
    assert!(indexes.len() > 1);
}

#[tokio::test]
async fn models_and_splitters_list_their_options() {
    let service = ("PIDQ_EMBEDDINGS_URL", "http://127.0.0.1:1/v1");
    let settings: [(&[(&str, &str)], Value); 3] = [
        (&[], json!({"hash-512": true, "static": false, "openai": false})),
        (&[("PIDQ_MODEL_DIR", "models")], json!({"hash-512": true, "static": true, "openai": false})),
        (&[service], json!({"hash-512": true, "static": false, "openai": true})),
    ];
    for (environment, expected) in settings {
        let platform = TestPlatform::sqlite(environment).await;
        let models = platform.get("/api/embedding-models").await.json()["data"].clone();
        let find_model =
            |name: &str| models.as_array().unwrap().iter().find(|model| model["name"] == name).unwrap().clone();
        for (name, available) in expected.as_object().unwrap() {
            assert_eq!(&find_model(name)["available"], available, "{name} with {environment:?}");
        }
        assert_eq!(find_model("hash-512")["dimensions"], 512);
    }
    let platform = TestPlatform::sqlite(&[]).await;
    let splitters = platform.get("/api/text-splitters").await.json()["data"].clone();
    let recursive = &splitters[0];
    assert_eq!(
        (&recursive["name"], &recursive["parameters"]["chunk_size"]["default"]),
        (&json!("recursive_character"), &json!(1000))
    );
}

#[tokio::test]
async fn a_download_can_be_resumed() {
    let platform = TestPlatform::sqlite(&[]).await;
    let id = platform.pipeline().await;
    let uploaded = platform.upload(&id, "Blatt 1.txt", b"0123456789", &[("classification", "manual")]).await.json();
    let path = format!("/api/pipelines/{id}/documents/{}/content", uploaded["id"].as_str().unwrap());
    let whole = platform.get(&path).await;
    assert_eq!(
        (whole.status, whole.body.as_slice(), whole.header("accept-ranges")),
        (200, &b"0123456789"[..], "bytes")
    );
    assert_eq!(whole.header("content-disposition"), "attachment; filename*=UTF-8''Blatt%201.txt");
    assert_eq!(whole.header("x-content-type-options"), "nosniff");
    let part = platform.send("GET", &path, &[("range", "bytes=4-"), ("if-range", whole.header("etag"))], "").await;
    assert_eq!(
        (part.status, part.body.as_slice(), part.header("content-range")),
        (206, &b"456789"[..], "bytes 4-9/10")
    );
    assert_eq!(part.header("content-disposition"), whole.header("content-disposition"));
    let other = platform.send("GET", &path, &[("range", "bytes=4-"), ("if-range", "\"1-other\"")], "").await;
    assert_eq!((other.status, other.body.len()), (200, 10), "a range of another version is ignored");
    let beyond = platform.send("GET", &path, &[("range", "bytes=10-")], "").await;
    assert_eq!((beyond.status, beyond.code().as_str()), (416, "range-not-satisfiable"));
    assert_eq!(platform.send("GET", &path, &[("range", "bytes=0-1,3-4")], "").await.status, 200);
}

#[tokio::test]
async fn every_response_has_the_api_version() {
    let platform = TestPlatform::sqlite(WITH_MASTER_KEY).await;
    for path in ["/api/pipelines", "/nowhere", "/livez", "/openapi.json"] {
        assert_eq!(platform.get(path).await.header("pidq-version"), "2026-11-01", "{path}");
    }
}

/// Environment variable of the child process whose log is read.
const CHILD_ENV: &str = "PIDQ_TEST_PLATFORM_LOG";

#[test]
fn log_lines_have_the_request_id() {
    if std::env::var_os(CHILD_ENV).is_some() {
        return log_rejected_questions();
    }
    let headers = std::env::current_exe().unwrap();
    let name = "contract::log_lines_have_the_request_id";
    let output = Command::new(headers).args(["--exact", name, "--nocapture"]).env(CHILD_ENV, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let rejections = lines.iter().filter(|line| line["message"] == "LLM URL rejected by the egress policy");
    let rejections: Vec<&Value> =
        rejections.inspect(|line| assert_eq!(line["rejection"], r#"Never("a link-local address")"#)).collect();
    let requests: Vec<&Value> = rejections.iter().map(|line| &line["spans"][0]["request_id"]).collect();
    assert_eq!(requests, ["r-once", "r-keyed", "r-streamed"], "{text}");
}

/// Asks three questions with forbidden model addresses: only the log contains the reason.
#[tokio::main]
async fn log_rejected_questions() {
    CommonSettings(&Settings::read(TABLES, [], []).unwrap()).init_log().unwrap();
    let platform = TestPlatform::sqlite(&[]).await.with_workers();
    let id = platform.pipeline().await;
    platform
        .upload_and_wait(&id, "V-201.txt", b"PSV-2015A protects the vessel V-201.", &[("classification", "manual")])
        .await;
    let mut body = json!({
        "query": "What protects the vessel V-201?", "classification": "manual",
        "llm_endpoint": {"api_key": "k", "model": "m", "base_url": "http://169.254.169.254/v1"},
    });
    let path = format!("/api/pipelines/{id}/query");
    let json_body = ("content-type", "application/json");
    platform.send("POST", &path, &[json_body, ("x-request-id", "r-once")], body.to_string()).await;
    let keyed = [json_body, ("x-request-id", "r-keyed"), ("idempotency-key", "1")];
    platform.send("POST", &path, &keyed, body.to_string()).await;
    body["stream"] = true.into();
    platform.send("POST", &path, &[json_body, ("x-request-id", "r-streamed")], body.to_string()).await;
}

#[tokio::test]
async fn a_master_secret_without_its_key_prevents_the_start() {
    let folder = TempDir::new().unwrap();
    let url = databases::sqlite_url(&folder);
    let environment = [("PIDQ_APP_MASTER_SECRET", SECRET), ("PIDQ_DATABASE_URL", url.as_str())];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let settings = Settings::read(TABLES, [], environment).unwrap();
    let rejected = open(&settings).await.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(rejected.contains("PIDQ_APP_MASTER_KEY"), "{rejected}");
}

#[tokio::test]
async fn an_expired_token_has_its_own_code() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, WITH_MASTER_KEY).await;
        let token = format!("Bearer {}", platform.token(SECRET).await.json()["access_token"].as_str().unwrap());
        let headers = [("authorization", token.as_str())];
        // Use a new token: a verified token is cached for a second, whatever happens in the database.
        let database = pidq_http::database::Database::open(url).await.unwrap();
        database.execute("update access_tokens set expires_at = 1", &[]).await.unwrap();
        let expired = platform.send("GET", "/api/pipelines", &headers, "").await;
        assert_eq!((expired.status, expired.code().as_str()), (401, "token-expired"));
        let unknown = platform.send("GET", "/api/pipelines", &[("authorization", "Bearer pidq_at_x")], "").await;
        assert_eq!((unknown.status, unknown.code().as_str()), (401, "unauthenticated"));
        assert!(unknown.header("www-authenticate").contains("error=\"invalid_token\""), "clients read this header");
        assert_eq!(platform.get("/api/pipelines").await.code(), "unauthenticated");
    })
    .await;
}

#[tokio::test]
async fn a_key_for_an_unknown_pipeline_is_rejected() {
    let platform = TestPlatform::sqlite(&[]).await;
    let id = platform.pipeline().await;
    let access = json!({"classifications": ["manual"], "verbs": ["read"]});
    let key_body =
        |other: &str| json!({"name": "k", "scopes": ["query"], "pipelines": {id.as_str(): access, other: access}});
    let rejected = platform.post("/api/keys", &key_body("a/b")).await;
    assert_eq!((rejected.status, rejected.code().as_str()), (422, "validation"));
    assert_eq!(rejected.json()["errors"][0]["pointer"], "/pipelines/a~1b");
    assert_eq!(platform.get("/api/keys").await.json()["data"], json!([]), "no key was created");
    assert_eq!(platform.post("/api/keys", &key_body(&id)).await.status, 201);
}

#[tokio::test]
async fn openapi_contains_the_configured_limits() {
    let platform =
        TestPlatform::sqlite(&[("PIDQ_QUESTION_LENGTH_LIMIT", "50"), ("PIDQ_CLASSIFICATION_LIMIT", "3")]).await;
    let document = platform.get("/openapi.json").await.json();
    let schema = |path: &str, field: &str| {
        let body = &document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"];
        let name = body["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()).unwrap();
        document["components"]["schemas"][name]["properties"][field].clone()
    };
    for path in ["/api/pipelines/{pipeline_id}/query", "/api/pipelines/{pipeline_id}/search"] {
        assert_eq!(schema(path, "query")["maxLength"], 50, "{path}");
    }
    assert_eq!(schema("/api/pipelines", "classifications")["maxItems"], 3);
}

/// Every body has a named type whose fields are described: the schemas come from the types of the handlers.
#[tokio::test]
async fn the_types_of_all_bodies_are_described() {
    let platform = TestPlatform::sqlite(&[]).await;
    let document = platform.get("/openapi.json").await.json();
    check_types(&document);
}

#[tokio::test]
async fn an_unknown_parameter_is_rejected() {
    let platform = TestPlatform::sqlite(&[]).await;
    let documents = format!("/api/pipelines/{}/documents", platform.pipeline().await);
    let rejected = platform.get(&format!("{documents}?limit=1&classifcation=manual")).await;
    assert_eq!((rejected.status, rejected.code().as_str()), (400, "invalid-parameter"));
    let problem = rejected.json();
    assert_eq!(problem["parameter"], "classifcation");
    assert!(problem["allowed"].as_array().unwrap().contains(&json!("classification")), "{problem}");
    for method in ["GET", "HEAD"] {
        assert_eq!(platform.send(method, &format!("{documents}?classification=manual"), &[], "").await.status, 200);
        assert_eq!(platform.send(method, &format!("{documents}?x"), &[], "").await.status, 400);
    }
    assert_eq!(platform.get(&format!("{documents}?")).await.status, 200);
}

#[tokio::test]
async fn every_rejection_is_a_complete_problem() {
    let platform = TestPlatform::sqlite(&[]).await;
    let id = platform.pipeline().await;
    let (base, json_body) = (format!("/api/pipelines/{id}"), ("content-type", "application/json"));
    let documents = format!("{base}/documents");
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    let good = json!({"query": "q", "classification": "manual", "llm_connection": "x"}).to_string();
    for (method, path, headers, body, status, code) in [
        ("POST", "/api/pipelines", &[json_body][..], "{", 400, "malformed-json"),
        ("POST", "/api/pipelines", &[json_body], &large, 413, "payload-too-large"),
        ("POST", "/api/pipelines", &[("content-type", "text/plain")], "{}", 415, "unsupported-media-type"),
        ("POST", &documents, &[("content-type", "multipart/form-data; boundary=x")], "--x", 400, "malformed-multipart"),
        ("GET", "/api/pipelines?cursor=00", &[], "", 400, "invalid-cursor"),
        ("GET", "/api/pipelines?limit=0", &[], "", 400, "invalid-parameter"),
        ("GET", &format!("{documents}?classifcation=manual"), &[], "", 400, "invalid-parameter"),
        ("GET", "/api/pipelines/none", &[], "", 404, "pipeline-not-found"),
        ("GET", &format!("{documents}/none"), &[], "", 404, "document-not-found"),
        ("GET", "/api/keys/none", &[], "", 404, "key-not-found"),
        ("GET", "/api/queries/none", &[], "", 404, "query-not-found"),
        ("GET", "/api/llm-connections/none", &[], "", 404, "llm-connection-not-found"),
        ("GET", "/api/nothing", &[], "", 404, "not-found"),
        ("PUT", "/api/pipelines", &[], "", 405, "method-not-allowed"),
        ("POST", &format!("{base}/query"), &[json_body, ("accept", "image/png")], &good, 406, "not-acceptable"),
        ("GET", &documents, &[("accept", "application/xml, image/png;q=0.9")], "", 406, "not-acceptable"),
        ("GET", "/api/events", &[("accept", "application/json")], "", 406, "not-acceptable"),
        ("GET", &format!("{documents}/none/content"), &[("accept", "application/pdf")], "", 404, "document-not-found"),
        ("DELETE", &format!("{documents}/none"), &[("accept", "image/png")], "", 404, "document-not-found"),
        ("POST", &format!("{base}/query"), &[json_body], &good, 422, "llm-connection-not-found"),
        ("PATCH", &base, &[json_body, ("if-match", "\"0\"")], "{}", 412, "precondition-failed"),
        ("DELETE", &base, &[("if-match", "\"0\"")], "", 412, "precondition-failed"),
    ] {
        let response = platform.send(method, path, headers, body).await;
        assert_eq!((response.status, response.code().as_str()), (status, code), "{method} {path}");
        assert_eq!(response.header("content-type"), "application/problem+json", "{method} {path}");
        let problem = response.json();
        assert_eq!(problem["type"], format!("/problems/{code}"));
        assert_eq!(
            (&problem["status"], &problem["request_id"]),
            (&json!(status), &json!(response.header("x-request-id")))
        );
        for field in ["title", "detail", "instance"] {
            assert!(problem[field].is_string(), "{method} {path} {field}");
        }
        assert_eq!(!response.header("allow").is_empty(), status == 405, "{method} {path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn model_failures_are_reported_as_upstream_errors() {
    let platform = TestPlatform::sqlite(&[]).await.with_workers();
    let id = platform.pipeline().await;
    platform
        .upload_and_wait(&id, "V-201.txt", b"PSV-2015A protects the vessel V-201.", &[("classification", "manual")])
        .await;
    for (upstream, code, status) in [
        (401, json!({"message": "no"}), (502, "llm-auth-failed")),
        (404, json!({"message": "no model"}), (422, "llm-model-not-found")),
        (400, json!({"code": "context_length_exceeded"}), (422, "llm-context-exceeded")),
        (400, json!({"message": "no"}), (502, "llm-rejected-request")),
        (200, json!({"message": "no"}), (502, "llm-bad-response")),
    ] {
        let mock = MockServer::start(move |_, _| vec![json_reply(upstream, &json!({"error": code.clone()}))]).await;
        let response = ask(&platform, &id, &format!("http://{}/v1", mock.address), 10_000).await;
        assert_eq!((response.status, response.code().as_str()), status, "{upstream} {}", response.json());
    }
    let busy = MockServer::always(vec![reply(429, "Retry-After: 300\r\n", "{}")]).await;
    let response = ask(&platform, &id, &format!("http://{}/v1", busy.address), 10_000).await;
    assert_eq!((response.status, response.code().as_str()), (503, "llm-rate-limited"));
    assert_eq!(response.header("retry-after"), "300");
    let unresponsive = MockServer::always(vec![Step::Hang]).await;
    let response = ask(&platform, &id, &format!("http://{}/v1", unresponsive.address), 300).await;
    assert_eq!((response.status, response.code().as_str()), (504, "llm-timeout"));
    let unreachable = ask(&platform, &id, "http://127.0.0.1:1/v1", 300).await;
    assert!(
        [(502, "llm-unreachable"), (504, "llm-timeout")].contains(&(unreachable.status, unreachable.code().as_str()))
    );
}

async fn ask(platform: &TestPlatform, pipeline: &str, base_url: &str, timeout_ms: u64) -> TestResponse {
    let body = json!({
        "query": "What protects the vessel V-201?", "classification": "manual", "timeout_ms": timeout_ms,
        "llm_endpoint": {"api_key": "k", "model": "m", "base_url": base_url},
    });
    platform.post(&format!("/api/pipelines/{pipeline}/query"), &body).await
}

#[tokio::test]
async fn requests_above_the_rate_limit_are_rejected() {
    let platform = TestPlatform::sqlite(&[("PIDQ_RATE_LIMIT", "1")]).await;
    assert_eq!(platform.get("/api/pipelines").await.status, 200);
    let rejected = platform.get("/api/pipelines").await;
    assert_eq!((rejected.status, rejected.code().as_str()), (429, "rate-limited"));
    for header in ["retry-after", "ratelimit", "ratelimit-policy"] {
        assert!(!rejected.header(header).is_empty(), "{header}");
    }
}
