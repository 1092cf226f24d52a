//! Tests of `Idempotency-Key`: repeated requests.

use std::time::Duration;

use pidq_http::database::Database;
use pidq_pipeline::background::maintenance;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::databases;
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, form, is_stored, on_each, on_each_url};

const APP: (&str, &str) = ("PIDQ_APP_SECRET", "a1b2c3d4e5f60718293a4b5c6d7e8f90");

fn pipeline_body(name: &str) -> Value {
    json!({"name": name, "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["manual"]})
}

async fn post(platform: &TestPlatform, path: &str, key: &str, body: &Value) -> TestResponse {
    let headers = [("content-type", "application/json"), ("idempotency-key", key)];
    platform.send("POST", path, &headers, body.to_string()).await
}

fn is_replay(response: &TestResponse) -> bool {
    response.header("idempotency-replayed") == "true"
}

#[tokio::test]
async fn a_repeated_request_is_replayed() {
    on_each(async |platform| {
        let first = post(&platform, "/api/pipelines", "k-1", &pipeline_body("p")).await;
        let repeated = post(&platform, "/api/pipelines", "k-1", &pipeline_body("p")).await;
        assert_eq!((first.status, repeated.status, &repeated.body), (201, 201, &first.body));
        for header in ["location", "etag", "content-type"] {
            assert_eq!(repeated.header(header), first.header(header), "{header}");
        }
        assert_eq!((is_replay(&first), is_replay(&repeated)), (false, true));
        assert_eq!(platform.get("/api/pipelines").await.json()["total"], 1);
        let other = post(&platform, "/api/pipelines", "k-2", &pipeline_body("p")).await;
        assert_eq!((other.status, other.code().as_str()), (409, "name-taken"), "another key is another request");
    })
    .await;
}

#[tokio::test]
async fn a_key_identifies_one_request() {
    let platform = TestPlatform::sqlite(&[]).await;
    let created = post(&platform, "/api/pipelines", "k", &pipeline_body("p")).await.json();
    let preview = format!("/api/pipelines/{}/preview", created["id"].as_str().unwrap());
    let text = json!({"text": "The pump P-101A."});
    for (path, key, body) in [
        ("/api/pipelines", "k", &pipeline_body("q")),
        ("/api/keys", "k", &pipeline_body("p")),
        (&preview, "k", &text),
        (&format!("{preview}?limit=1"), "another", &text),
    ] {
        if key == "another" {
            assert_eq!(post(&platform, &preview, key, body).await.status, 200);
        }
        let response = post(&platform, path, key, body).await;
        assert_eq!((response.status, response.code().as_str()), (422, "idempotency-key-reuse"), "{path} {body}");
    }
    for bad in ["", "a b", &"k".repeat(256)] {
        let response = post(&platform, "/api/pipelines", bad, &pipeline_body("r")).await;
        assert_eq!((response.status, response.code().as_str()), (400, "invalid-idempotency-key"), "{bad}");
    }
    assert_eq!(post(&platform, "/api/pipelines", &"k".repeat(255), &pipeline_body("r")).await.status, 201);
    let read = platform.send("GET", "/api/pipelines", &[("idempotency-key", "k")], "").await;
    assert_eq!((read.status, is_replay(&read)), (200, false), "only POST requests are replayed");
}

#[tokio::test]
async fn a_rejected_request_may_be_corrected_with_the_same_key() {
    let platform = TestPlatform::sqlite(&[]).await;
    let mut invalid = pipeline_body("p");
    invalid["text_splitter"] = "magic".into();
    assert_eq!(post(&platform, "/api/pipelines", "k", &invalid).await.status, 422);
    assert_eq!(post(&platform, "/api/pipelines", "k", &pipeline_body("p")).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn multipart_boundaries_do_not_affect_the_fingerprint() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let path = format!("/api/pipelines/{id}/documents");
        let body = form("a.txt", b"pump", &[("classification", "manual")]);
        let send = async |boundary: &str, body: Vec<u8>| {
            let media = format!("multipart/form-data; boundary={boundary}");
            let headers = [("content-type", media.as_str()), ("idempotency-key", "k")];
            platform.send("POST", &path, &headers, body).await
        };
        let first = send("x7x", body.clone()).await;
        assert_eq!(first.status, 202, "{}", first.json());
        let other = String::from_utf8(body).unwrap().replace("x7x", "another-boundary");
        let repeated = send("another-boundary", other.clone().into_bytes()).await;
        assert_eq!((repeated.status, is_replay(&repeated), &repeated.body), (202, true, &first.body));
        let changed = send("another-boundary", other.replace("pump", "pumq").into_bytes()).await;
        assert_eq!((changed.status, changed.code().as_str()), (422, "idempotency-key-reuse"));
        let listed = platform.get(&path).await.json();
        assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_with_one_key_conflict() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let path = format!("/api/pipelines/{id}/documents?wait=1");
        let headers = [("content-type", "multipart/form-data; boundary=x7x"), ("idempotency-key", "k")];
        let send =
            async || platform.send("POST", &path, &headers, form("a", b"a", &[("classification", "manual")])).await;
        let delayed = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            send().await
        };
        let (first, second) = tokio::join!(send(), delayed);
        assert_eq!((first.status, second.status, second.code().as_str()), (202, 409, "idempotency-conflict"));
        assert!(!second.header("retry-after").is_empty());
        assert!(is_replay(&send().await));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_completes_after_its_client_disconnects() {
    let platform = TestPlatform::sqlite(&[]).await;
    let id = platform.pipeline().await;
    let path = format!("/api/pipelines/{id}/documents?wait=1");
    let headers = [("content-type", "multipart/form-data; boundary=x7x"), ("idempotency-key", "k")];
    let send = || platform.send("POST", &path, &headers, form("a", b"a", &[("classification", "manual")]));
    assert!(tokio::time::timeout(Duration::from_millis(300), send()).await.is_err(), "the client disconnects");
    let mut response = send().await;
    while response.status == 409 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        response = send().await;
    }
    assert_eq!((response.status, is_replay(&response)), (202, true));
}

#[tokio::test]
async fn keys_of_different_callers_are_independent() {
    let platform = TestPlatform::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
    let root = format!("Bearer {}", platform.token(SECRET).await.json()["access_token"].as_str().unwrap());
    let create_key = async |name: &str, authorization: &str, key: &str| {
        let headers =
            [("content-type", "application/json"), ("authorization", authorization), ("idempotency-key", key)];
        let key_body = json!({"name": name, "scopes": ["admin", "pipelines:write"]});
        platform.send("POST", "/api/keys", &headers, key_body.to_string()).await
    };
    let first = create_key("a", &root, "k").await;
    let key_authorization = format!("Bearer {}", first.json()["key"].as_str().unwrap());
    let second = create_key("a", &key_authorization, "k").await;
    assert_eq!((second.status, is_replay(&second)), (201, false));
    assert_ne!(second.json()["key"], first.json()["key"]);
    let repeated = create_key("a", &root, "k").await;
    assert_eq!(
        (is_replay(&repeated), &repeated.json()["key"]),
        (true, &first.json()["key"]),
        "the response is replayed to its caller"
    );
}

#[tokio::test]
async fn a_crashed_request_may_be_retried_after_its_lease() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[]).await;
        let database = Database::open(url).await.unwrap();
        let insert_lease =
            "insert into idempotency_keys (caller, fingerprint, lease_owner, lease_until, created_at) values ($1, $2, 'dead', $3, $4)";
        let now = pidq_http::auth::Timestamp::now().0;
        for (key, until) in [("leased", now + 30_000), ("expired", now - 1)] {
            let name = pidq_http::Secret::new(key).fingerprint();
            let arguments = ["main/anyone".into(), (&name).into(), until.into(), (now - 31_000).into()];
            database.execute(insert_lease, &arguments).await.unwrap();
        }
        let response = post(&platform, "/api/pipelines", "leased", &pipeline_body("p")).await;
        assert_eq!((response.status, response.code().as_str()), (409, "idempotency-conflict"));
        assert_eq!(post(&platform, "/api/pipelines", "expired", &pipeline_body("p")).await.status, 201);
        assert!(is_replay(&post(&platform, "/api/pipelines", "expired", &pipeline_body("p")).await));
    })
    .await;
}

#[tokio::test]
async fn responses_are_retained_for_a_day() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[]).await;
        post(&platform, "/api/pipelines", "k", &pipeline_body("p")).await;
        let database = Database::open(url).await.unwrap();
        let expire =
            "update idempotency_keys set created_at = created_at - 86400000, lease_until = lease_until - 86400000";
        database.execute(expire, &[]).await.unwrap();
        let late = post(&platform, "/api/pipelines", "k", &pipeline_body("p")).await;
        assert_eq!((late.status, late.code().as_str()), (409, "name-taken"), "the request is executed again");
        post(&platform, "/api/pipelines", "k", &pipeline_body("q")).await;
        database.execute(expire, &[]).await.unwrap();
        maintenance::purge_expired(&platform.state).await.unwrap();
        let remaining = database.row::<(i64,)>("select count(*) from idempotency_keys", &[]).await.unwrap();
        assert_eq!(remaining, Some((0,)));
    })
    .await;
}

#[tokio::test]
async fn replayed_secrets_are_stored_encrypted() {
    let folder = TempDir::new().unwrap();
    let url = databases::sqlite_url(&folder);
    let platform = TestPlatform::at(&url, &[APP]).await;
    let key_body = json!({"name": "k", "scopes": ["query"]});
    let created = post(&platform, "/api/keys", "my-idempotency-key", &key_body).await;
    drop(platform);
    // A secret may contain underscores.
    let secret = created.json()["key"].as_str().unwrap().splitn(3, '_').nth(2).unwrap().to_owned();
    for text in [secret.as_str(), "my-idempotency-key"] {
        assert!(!is_stored(folder.path(), text), "{text}");
    }
    let platform = TestPlatform::at(&url, &[APP]).await;
    let repeated = post(&platform, "/api/keys", "my-idempotency-key", &key_body).await;
    assert_eq!(
        (is_replay(&repeated), &repeated.body),
        (true, &created.body),
        "the response is decrypted after a restart"
    );
    let platform = TestPlatform::at(&url, &[("PIDQ_APP_SECRET", "ffffffffffffffffffffffffffffffff")]).await;
    let other = post(&platform, "/api/keys", "my-idempotency-key", &key_body).await;
    assert_eq!((other.status, other.code().as_str()), (409, "idempotency-conflict"), "but not with another secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_that_may_not_be_stored_are_not_replayed() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[]).await.with_workers();
        let id = platform.pipeline().await;
        let patch = r#"{"policies": {"datasheet": {"retain_answers": false}}}"#;
        let json_body = [("content-type", "application/json")];
        assert_eq!(platform.send("PATCH", &format!("/api/pipelines/{id}"), &json_body, patch).await.status, 200);
        for (classification, replayed) in [("manual", true), ("datasheet", false)] {
            let body = json!({"query": "pump", "classification": classification});
            let path = format!("/api/pipelines/{id}/search");
            post(&platform, &path, classification, &body).await;
            assert_eq!(is_replay(&post(&platform, &path, classification, &body).await), replayed, "{classification}");
        }
        let database = Database::open(url).await.unwrap();
        let remaining = database.row::<(i64,)>("select count(*) from idempotency_keys", &[]).await.unwrap();
        assert_eq!(remaining, Some((1,)));
    })
    .await;
}
