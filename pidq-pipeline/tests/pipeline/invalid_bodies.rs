//! Tests of invalid bodies, rejected with 422, a pointer and a specific code; and of the normalization of
//! classifications.

use futures_util::future::join_all;
use hyper::Request;
use pidq_http::Settings;
use pidq_pipeline::TABLES;
use serde_json::{Value, json};

use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, on_each};

/// Returns the status, the code and the first pointer of a problem.
fn problem_of(response: &TestResponse) -> (u16, String, String) {
    let body = response.json();
    let pointer = body["errors"][0]["pointer"].as_str().unwrap_or("none").to_owned();
    (response.status, response.code(), pointer)
}

fn expected_problem(code: &str, pointer: &str) -> (u16, String, String) {
    (422, code.to_owned(), pointer.to_owned())
}

fn with_value(good: &Value, pointer: &str, value: Value) -> Value {
    let mut body = good.clone();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap()[field] = value;
    body
}

#[tokio::test]
async fn an_invalid_body_is_rejected_with_a_pointer() {
    let settings = [("PIDQ_APP_SECRET", SECRET)];
    let platform = TestPlatform::sqlite(&settings).await;
    let id = platform.pipeline().await;
    let pipeline = json!({
        "name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a"], "retrieval": {},
    });
    let access = json!({"classifications": ["a"], "verbs": ["read"]});
    let key = json!({"name": "k", "scopes": ["query"], "pipelines": {id.as_str(): access}});
    let llm = json!({"api_key": "x", "model": "m", "base_url": "http://127.0.0.1:1/v1"});
    let query = json!({"query": "q", "classification": "manual", "llm_endpoint": llm, "history": []});
    let connection = json!({"name": "c", "api_key": "x", "model": "m", "base_url": "http://127.0.0.1:1/v1"});
    let of_key = format!("/pipelines/{id}");
    let query_path = format!("/api/pipelines/{id}/query");
    for (path, good, pointer, value, code, reported_pointer) in [
        ("/api/pipelines", &pipeline, "/name", json!(7), "validation", "/name"),
        ("/api/pipelines", &pipeline, "/classifications", json!(["a", 1]), "validation", "/classifications/1"),
        ("/api/pipelines", &pipeline, "/retrieval/top_k", json!("many"), "validation", "/retrieval/top_k"),
        ("/api/pipelines", &pipeline, "/retrieval/topk", json!(1), "unknown-field", "/retrieval/topk"),
        ("/api/pipelines", &pipeline, "/retrieval/top_k", json!(51), "validation", "/retrieval/top_k"),
        ("/api/pipelines", &pipeline, "/retrieval/mode", json!("magic"), "validation", "/retrieval/mode"),
        (
            "/api/pipelines",
            &pipeline,
            "/text_splitter",
            json!({"name": "token", "size": 1}),
            "unknown-field",
            "/text_splitter/size",
        ),
        ("/api/pipelines", &pipeline, "/policies", json!({"a/b": {}}), "validation", "/policies/a~1b"),
        ("/api/pipelines", &pipeline, "/policies", json!({"a": {"allow": []}}), "unknown-field", "/policies/a/allow"),
        (
            "/api/pipelines",
            &pipeline,
            "/policies",
            json!({"a": {"max_context": 1}}),
            "validation",
            "/policies/a/max_context",
        ),
        (
            "/api/pipelines",
            &pipeline,
            "/policies",
            json!({"a": {"llm_allow": [1]}}),
            "validation",
            "/policies/a/llm_allow/0",
        ),
        ("/api/keys", &key, "/expires_in", json!(3), "unknown-field", "/expires_in"),
        ("/api/keys", &key, "/scopes", json!("query"), "validation", "/scopes"),
        ("/api/keys", &key, &format!("{of_key}/verbs"), json!(["fly"]), "validation", &format!("{of_key}/verbs/0")),
        ("/api/keys", &key, &format!("{of_key}/verb"), json!([]), "unknown-field", &format!("{of_key}/verb")),
        (&query_path, &query, "/top_k", json!("8"), "validation", "/top_k"),
        (&query_path, &query, "/top_p", json!(1.1), "validation", "/top_p"),
        (&query_path, &query, "/seed", json!(1.5), "validation", "/seed"),
        (&query_path, &query, "/stop", json!(""), "validation", "/stop"),
        (&query_path, &query, "/stop", json!(["a", 1]), "validation", "/stop/1"),
        (&query_path, &query, "/stop", json!(["a", "b", "c", "d", "e"]), "validation", "/stop"),
        (&query_path, &query, "/llm_endpoint/key", json!("x"), "unknown-field", "/llm_endpoint/key"),
        (&query_path, &query, "/llm_endpoint", json!({"model": "m"}), "validation", "/llm_endpoint/api_key"),
        (&query_path, &query, "/history", json!([{"role": "robot", "content": ""}]), "validation", "/history/0/role"),
        ("/api/llm-connections", &connection, "/context_window", json!("8k"), "validation", "/context_window"),
        ("/api/license", &json!({}), "/license_text", json!("x"), "unknown-field", "/license_text"),
        ("/api/license", &json!({}), "/license", json!(1), "validation", "/license"),
    ] {
        let method = if path == "/api/license" { "PUT" } else { "POST" };
        let body = with_value(good, pointer, value).to_string();
        let response = platform.send(method, path, &[("content-type", "application/json")], body.clone()).await;
        assert_eq!(
            problem_of(&response),
            expected_problem(code, reported_pointer),
            "{path} {body} {}",
            response.json()
        );
    }
    for (path, pointer) in [("/api/pipelines", "/name"), ("/api/keys", "/name"), ("/api/llm-connections", "/name")] {
        assert_eq!(
            problem_of(&platform.post(path, &json!({})).await),
            expected_problem("validation", pointer),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_patch_changes_only_the_given_fields() {
    let platform = TestPlatform::sqlite(&[]).await;
    let id = platform.pipeline().await;
    let (path, headers) = (format!("/api/pipelines/{id}"), [("content-type", "application/merge-patch+json")]);
    for (patch, code, pointer) in [
        (json!({"name": 7}), "validation", "/name"),
        (json!({"name": null}), "validation", "/name"),
        (json!({"classifications": "a"}), "validation", "/classifications"),
        (json!({"embedding_model": null}), "validation", "/embedding_model"),
        (json!({"text_splitter": "magic"}), "unknown-text-splitter", "/text_splitter"),
        (json!({"retrieval": {"top_k": "x"}}), "validation", "/retrieval/top_k"),
        (json!({"retrieval": {"top_k": 0}}), "validation", "/retrieval/top_k"),
    ] {
        assert_eq!(
            problem_of(&platform.send("PATCH", &path, &headers, patch.to_string()).await),
            expected_problem(code, pointer),
            "{patch}"
        );
    }
    let same = json!({"text_splitter": {"name": "recursive_character", "chunk_size": 1000, "chunk_overlap": 200}});
    assert_eq!(
        platform.send("PATCH", &path, &headers, same.to_string()).await.status,
        200,
        "the splitter is unchanged"
    );
    let other = json!({"text_splitter": {"name": "recursive_character", "chunk_size": 500}});
    let response = platform.send("PATCH", &path, &headers, other.to_string()).await;
    assert_eq!((response.status, response.code().as_str()), (409, "reindex-required"));

    let parts = [("classification", "manual"), ("metadata", r#"{"unit": 20}"#)];
    let uploaded = platform.upload(&id, "a.txt", b"a", &parts).await.json();
    let document = format!("{path}/documents/{}", uploaded["id"].as_str().unwrap());
    let patch = json!({"filename": "../x/\u{7}b.txt", "metadata": null});
    let changed = platform.send("PATCH", &document, &headers, patch.to_string()).await.json();
    assert_eq!((&changed["filename"], &changed["metadata"]), (&json!("b.txt"), &json!({})));
    for (patch, pointer) in
        [(json!({"filename": "  "}), "/filename"), (json!({"classification": null}), "/classification")]
    {
        let response = platform.send("PATCH", &document, &headers, patch.to_string()).await;
        assert_eq!(problem_of(&response), expected_problem("validation", pointer), "{patch}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_patches_succeed_without_if_match() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let uploaded = platform.upload(&id, "a.txt", b"a", &[("classification", "manual")]).await.json();
        let pipeline = format!("/api/pipelines/{id}");
        for path in [format!("{pipeline}/documents/{}", uploaded["id"].as_str().unwrap()), pipeline] {
            let patches: Vec<_> = (0..8).map(|at| json!({"metadata": {format!("m{at}"): at}}).to_string()).collect();
            let headers = [("content-type", "application/json")];
            let all = patches.iter().map(|patch| platform.send("PATCH", &path, &headers, patch.as_str()));
            let statuses: Vec<_> = join_all(all).await.iter().map(|response| response.status).collect();
            assert_eq!(statuses, [200; 8], "{path}");
            let now = platform.get(&path).await;
            assert_eq!(now.json()["metadata"].as_object().unwrap().len(), 8, "{path}");
            let headers = [("content-type", "application/json"), ("if-match", now.header("etag"))];
            let all = patches.iter().map(|patch| platform.send("PATCH", &path, &headers, patch.as_str()));
            let mut statuses: Vec<_> = join_all(all).await.iter().map(|response| response.status).collect();
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 412, 412, 412, 412, 412, 412, 412], "{path}");
        }
    })
    .await;
}

/// `é` as one character, and as two.
const COMPOSED: &str = "caf\u{e9}";
const DECOMPOSED: &str = " cafe\u{301} ";

#[tokio::test]
async fn equivalent_unicode_classifications_are_equal() {
    on_each(async |platform| {
        let body = json!({
            "name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": [DECOMPOSED, "b"],
            "policies": {DECOMPOSED: {"retain_answers": false}},
        });
        let created = platform.post("/api/pipelines", &body).await.json();
        assert_eq!(
            (&created["classifications"], &created["policies"]),
            (&json!([COMPOSED, "b"]), &json!({COMPOSED: {"retain_answers": false}}))
        );
        let duplicate_body = json!({
            "name": "q", "embedding_model": "hash-512", "text_splitter": "token", "classifications": [DECOMPOSED, COMPOSED],
        });
        assert_eq!(problem_of(&platform.post("/api/pipelines", &duplicate_body).await), expected_problem("validation", "/classifications/1"));
        let id = created["id"].as_str().unwrap();
        let uploaded = platform.upload(id, "a.txt", b"a", &[("classification", DECOMPOSED)]).await;
        assert_eq!((uploaded.status, &uploaded.json()["classification"]), (202, &json!(COMPOSED)));
        let query = json!({"query": "a", "classification": DECOMPOSED});
        let found = platform.post(&format!("/api/pipelines/{id}/search"), &query).await;
        assert_eq!((found.status, &found.json()["classification"]), (200, &json!(COMPOSED)));
        let listed = platform.get(&format!("/api/pipelines/{id}/documents?classification=cafe%CC%81")).await.json();
        assert_eq!(listed["data"].as_array().unwrap().len(), 1);
        let document = format!("/api/pipelines/{id}/documents/{}", uploaded.json()["id"].as_str().unwrap());
        let headers = [("content-type", "application/json")];
        for (classification, expected) in [("b", "b"), (DECOMPOSED, COMPOSED)] {
            let patch = json!({"classification": classification}).to_string();
            assert_eq!(platform.send("PATCH", &document, &headers, patch).await.json()["classification"], expected);
        }
    })
    .await;
}

#[tokio::test]
async fn a_key_matches_normalized_classifications() {
    let platform = TestPlatform::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
    let token = format!("Bearer {}", platform.token(SECRET).await.json()["access_token"].as_str().unwrap());
    let root = [("authorization", token.as_str()), ("content-type", "application/json")];
    let body =
        json!({"name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": [COMPOSED]});
    let id = platform.send("POST", "/api/pipelines", &root, body.to_string()).await.json()["id"].clone();
    let id = id.as_str().unwrap();
    let key_body = json!({"name": "k", "scopes": ["documents:write"], "pipelines": {id: {"classifications": [DECOMPOSED], "verbs": ["write"]}}});
    let key = platform.send("POST", "/api/keys", &root, key_body.to_string()).await.json();
    let bearer = format!("Bearer {}", key["key"].as_str().unwrap());
    let uploaded =
        platform.upload_as(&[("authorization", &bearer)], id, "a", b"a", &[("classification", DECOMPOSED)]).await;
    assert_eq!(uploaded.status, 202, "{}", uploaded.json());
}

#[tokio::test]
async fn an_open_platform_accepts_only_local_host_names() {
    let platform = TestPlatform::sqlite(&[]).await;
    let status = async |host: &str| {
        let request = Request::get("/api/pipelines").header("host", host).body(Default::default()).unwrap();
        platform.service.call(request).await.status().as_u16()
    };
    for host in ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "[::1]:8000", "pidq.localhost"] {
        assert_eq!(status(host).await, 200, "{host}");
    }
    for host in ["evil.example", "evil.example:8000", "localhost.evil.example", "192.0.2.1"] {
        assert_eq!(status(host).await, 400, "{host}");
    }
}

#[tokio::test]
async fn a_restricted_key_sees_no_total_counts() {
    let platform = TestPlatform::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
    let token = format!("Bearer {}", platform.token(SECRET).await.json()["access_token"].as_str().unwrap());
    let root = [("authorization", token.as_str()), ("content-type", "application/json")];
    let body = json!({"name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a"]});
    let id = platform.send("POST", "/api/pipelines", &root, body.to_string()).await.json()["id"].clone();
    let access = json!({id.as_str().unwrap(): {"classifications": ["a"], "verbs": ["read"]}});
    let key_body = json!({"name": "k", "scopes": ["documents:read"], "pipelines": access});
    let key = platform.send("POST", "/api/keys", &root, key_body.to_string()).await.json();
    let bearer = format!("Bearer {}", key["key"].as_str().unwrap());
    for path in ["/api/license", "/api/limits"] {
        let unrestricted = platform.send("GET", path, &root, "").await;
        assert_eq!(unrestricted.json()["usage"]["pipelines"], 1, "{path}");
        let restricted = platform.send("GET", path, &[("authorization", &bearer)], "").await;
        assert_eq!((restricted.status, &restricted.json()["usage"]), (200, &Value::Null), "{path}");
    }
}

#[tokio::test]
async fn nul_characters_are_rejected_as_client_errors() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let body =
            json!({"name": "a\0b", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a"]});
        for response in [
            platform.post("/api/pipelines", &body).await,
            platform.get("/api/pipelines?name=a%00b").await,
            platform.get(&format!("/api/pipelines/{id}/documents/a%00b")).await,
            platform.upload(&id, "a\0b.txt", b"a", &[("classification", "manual"), ("external_id", "a\0b")]).await,
        ] {
            assert!(response.status < 500, "{} {}", response.status, response.json());
        }
        let by_classification =
            json!({"name": "n", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a\0b"]});
        let response = platform.post("/api/pipelines", &by_classification).await;
        assert_eq!(problem_of(&response), expected_problem("validation", "/classifications/0"));
    })
    .await;
}

#[tokio::test]
async fn placeholder_secrets_are_rejected() {
    let good = [("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET), ("PIDQ_APP_SECRET", SECRET)];
    for (name, word) in [
        ("PIDQ_APP_MASTER_KEY", "<MASTER_KEY>"),
        ("PIDQ_APP_MASTER_KEY", "changeme"),
        ("PIDQ_APP_MASTER_SECRET", "changeme-changeme-changeme-changeme"),
        ("PIDQ_APP_MASTER_SECRET", "short"),
        ("PIDQ_APP_SECRET", "<APP_SECRET> <APP_SECRET> <APP_SECRET>"),
    ] {
        let folder = tempfile::TempDir::new().unwrap();
        let data = folder.path().to_str().unwrap();
        let settings = good.iter().map(|&(setting, value)| (setting, if setting == name { word } else { value }));
        let settings =
            settings.chain([("PIDQ_DATA_DIR", data), ("PIDQ_EXTRACTOR", env!("CARGO_BIN_EXE_pidq-pipeline"))]);
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let message = Settings::read(TABLES, [], settings).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(name) && !message.contains(word), "{name}: {message}");
    }
}
