//! Tests of the audit: one entry per change and per rejection, without secrets, visible only with full access.

use pidq_http::auth::Timestamp;
use pidq_pipeline::background::maintenance;
use serde_json::{Value, json};

use crate::mock_server::{KEY, MockServer, reply};
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, on_each_url};

const SETTINGS: [(&str, &str); 3] = [
    ("PIDQ_APP_MASTER_KEY", MASTER),
    ("PIDQ_APP_MASTER_SECRET", SECRET),
    ("PIDQ_APP_SECRET", "a1b2c3d4e5f60718293a4b5c6d7e8f90"),
];

/// A caller with its credentials.
struct Caller<'a> {
    platform: &'a TestPlatform,
    authorization: String,
}

impl Caller<'_> {
    async fn send(&self, method: &str, path: &str, body: &Value) -> TestResponse {
        let headers = [("authorization", self.authorization.as_str()), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.platform.send(method, path, &headers, body).await
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let response = self.send("POST", path, body).await;
        assert!((200..300).contains(&response.status), "{path}: {}", response.json());
        response.json()
    }

    async fn upload(&self, pipeline: &str, text: &str, classification: &str) -> Value {
        let headers = [("authorization", self.authorization.as_str())];
        let parts = [("classification", classification), ("external_id", text)];
        let uploaded = self.platform.upload_as(&headers, pipeline, "secret-plan.txt", text.as_bytes(), &parts).await;
        assert!((200..300).contains(&uploaded.status), "{}", uploaded.json());
        uploaded.json()
    }

    async fn audit(&self, filter: &str) -> Vec<Value> {
        let response = self.send("GET", &format!("/api/audit?limit=200{filter}"), &Value::Null).await;
        assert_eq!(response.status, 200, "{}", response.json());
        response.json()["data"].as_array().unwrap().clone()
    }

    async fn key(&self, request_body: Value) -> Caller<'_> {
        let created = self.post("/api/keys", &request_body).await;
        Caller { platform: self.platform, authorization: format!("Bearer {}", created["key"].as_str().unwrap()) }
    }
}

async fn root(platform: &TestPlatform) -> Caller<'_> {
    Caller { platform, authorization: platform.root_authorization().await }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Returns the action and the object of each entry, oldest first.
fn summaries(entries: &[Value]) -> Vec<String> {
    entries
        .iter()
        .rev()
        .map(|entry| format!("{} {} {}", text(&entry["action"]), text(&entry["resource"]), text(&entry["result"])))
        .collect()
}

#[tokio::test]
async fn every_change_has_one_audit_entry() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &SETTINGS).await;
        let root = root(&platform).await;
        let receiver = MockServer::always(vec![reply(200, "", "")]).await;
        let id = text(&root.post("/api/pipelines", &json!({
            "name": "p", "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": ["open", "secret"],
        })).await["id"]).to_owned();
        let pipeline = format!("/api/pipelines/{id}");
        root.send("PATCH", &pipeline, &json!({"description": "words of mine"})).await;
        root.send("PATCH", &pipeline, &json!({"color": "red"})).await;
        let document = root.upload(&id, "first", "open").await;
        root.upload(&id, "first", "open").await;
        let (second, third) = (root.upload(&id, "second", "open").await, root.upload(&id, "third", "open").await);
        let path = |document: &Value| format!("{pipeline}/documents/{}", text(&document["id"]));
        let document = path(&document);
        root.post(&format!("{document}/cancel"), &Value::Null).await;
        root.post(&format!("{document}/cancel"), &Value::Null).await;
        root.post(&format!("{document}/retry"), &Value::Null).await;
        root.send("PATCH", &document, &json!({"classification": "secret", "metadata": {"hidden": "value of mine"}})).await;
        root.post(&format!("{pipeline}/documents:delete"), &json!({"ids": [second["id"], "none", third["id"]]})).await;
        root.send("DELETE", &document, &Value::Null).await;
        assert_eq!(root.send("DELETE", &document, &Value::Null).await.status, 404);
        let operation = root.post(&format!("{pipeline}/reindex"), &json!({})).await;
        root.post(&format!("/api/operations/{}/cancel", text(&operation["id"])), &Value::Null).await;
        let key = root.post("/api/keys", &json!({"name": "k", "scopes": ["query"]})).await;
        let key = format!("/api/keys/{}", text(&key["id"]));
        root.send("DELETE", &key, &Value::Null).await;
        let connection = json!({"name": "c", "api_key": KEY, "model": "m", "base_url": "http://127.0.0.1:1/v1"});
        let connection = format!("/api/llm-connections/{}", text(&root.post("/api/llm-connections", &connection).await["id"]));
        root.send("PATCH", &connection, &json!({"api_key": "sk-another-secret"})).await;
        root.send("DELETE", &connection, &Value::Null).await;
        let webhook = root.post("/api/webhooks", &json!({"url": format!("http://{}/?token=mine", receiver.address)})).await;
        let webhook = format!("/api/webhooks/{}", text(&webhook["id"]));
        root.send("PATCH", &webhook, &json!({"types": ["document.ready"]})).await;
        root.post(&format!("{webhook}/test"), &Value::Null).await;
        root.post(&format!("{webhook}/rotate"), &Value::Null).await;
        root.send("DELETE", &webhook, &Value::Null).await;
        root.send("DELETE", &format!("{pipeline}?wait=true"), &Value::Null).await;
        platform.state.store.record_license_state("missing", "").await.unwrap();
        platform.state.store.record_license_state("valid", "").await.unwrap();

        let entries = root.audit("").await;
        let operation = format!("/api/operations/{}/cancel", text(&operation["id"]));
        let expected = [
            format!("pipeline.create {pipeline} done"),
            format!("pipeline.update {pipeline} done"),
            format!("document.create {document} done"),
            format!("document.create {} done", path(&second)),
            format!("document.create {} done", path(&third)),
            format!("document.cancel {document}/cancel done"),
            format!("document.retry {document}/retry done"),
            format!("document.update {document} done"),
            format!("document.delete {} done", path(&second)),
            format!("document.delete {} done", path(&third)),
            format!("document.delete {document} done"),
            format!("pipeline.reindex {pipeline}/reindex done"),
            format!("operation.cancel {operation} done"),
            format!("key.create {key} done"),
            format!("key.delete {key} done"),
            format!("llm-connection.create {connection} done"),
            format!("llm-connection.update {connection} done"),
            format!("llm-connection.delete {connection} done"),
            format!("webhook.create {webhook} done"),
            format!("webhook.update {webhook} done"),
            format!("webhook.test {webhook}/test done"),
            format!("webhook.rotate {webhook}/rotate done"),
            format!("webhook.delete {webhook} done"),
            format!("pipeline.delete {pipeline} done"),
            "license.change /api/license done".to_owned(),
        ];
        assert_eq!(summaries(&entries), expected);
        let reclassified = entries.iter().find(|entry| entry["action"] == "document.update").unwrap();
        let details = json!({"changed": ["classification", "metadata"], "previous_classification": "open", "classification": "secret"});
        assert_eq!((&reclassified["details"], &reclassified["pipeline_id"]), (&details, &json!(id)));
        assert_eq!((&reclassified["actor"], &reclassified["source"]), (&json!(format!("client:{MASTER}")), &json!("127.0.0.1")));
        assert!(reclassified["request_id"].is_string());
        assert_eq!(entries[0]["actor"], "system");
        let all = serde_json::to_string(&entries).unwrap();
        for secret in [KEY, "sk-another", "whsec_", "token=mine", "words of mine", "value of mine", "secret-plan", "first"] {
            assert!(!all.contains(secret), "{secret}");
        }
    })
    .await;
}

#[tokio::test]
async fn forbidden_requests_are_audited_and_unauthenticated_ones_are_not() {
    on_each_url(async |url| {
        let enforce = [("PIDQ_LICENSE_MODE", "enforce")];
        let open = TestPlatform::at(url, &SETTINGS).await;
        let root = root(&open).await;
        let id = open.pipeline_as(&root.authorization, &["open", "secret"]).await;
        let restricted = root.key(json!({
            "name": "k", "scopes": ["documents:read", "documents:write", "pipelines:read", "admin"],
            "pipelines": {&id: {"classifications": ["open"], "verbs": ["read", "write"]}},
        })).await;
        let document = format!("/api/pipelines/{id}/documents/{}", text(&root.upload(&id, "a", "open").await["id"]));
        let before = root.audit("").await.len();
        assert_eq!(restricted.send("PATCH", &document, &json!({"classification": "secret"})).await.status, 403);
        assert_eq!(restricted.send("POST", &format!("/api/pipelines/{id}/search"), &json!({"query": "q", "classification": "open"})).await.status, 403);
        assert_eq!(restricted.send("PATCH", &format!("/api/pipelines/{id}"), &json!({"name": "n"})).await.status, 403);
        assert_eq!(restricted.send("POST", "/api/keys", &json!({"name": "n", "scopes": ["admin"]})).await.status, 403);
        assert_eq!(restricted.send("GET", "/api/audit", &Value::Null).await.code(), "forbidden", "it would tell of others");
        assert_eq!(open.send("GET", "/api/audit", &[], "").await.status, 401);
        assert_eq!(open.send("GET", "/api/audit", &[("authorization", "Bearer wrong")], "").await.status, 401);
        let enforced = TestPlatform::at(url, &SETTINGS.iter().chain(&enforce).copied().collect::<Vec<_>>()).await;
        let licensed = Caller { platform: &enforced, authorization: root.authorization.clone() };
        let request_body = json!({"name": "q", "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": ["a"]});
        assert_eq!(licensed.send("POST", "/api/pipelines", &request_body).await.status, 402);
        let entries = root.audit("").await;
        assert_eq!(
            summaries(&entries[..entries.len() - before]),
            [
                format!("document.update {document} classification-forbidden"),
                format!("POST /api/pipelines/{{pipeline_id}}/search /api/pipelines/{id}/search insufficient-scope"),
                format!("pipeline.update /api/pipelines/{id} insufficient-scope"),
                "key.create /api/keys forbidden".to_owned(),
                "GET /api/audit /api/audit forbidden".to_owned(),
                "pipeline.create /api/pipelines license-required".to_owned(),
            ]
        );
        assert!(text(&entries[2]["actor"]).starts_with("key:"), "{}", entries[2]);
    })
    .await;
}

#[tokio::test]
async fn the_audit_is_paginated_and_purged_after_its_retention() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &SETTINGS).await;
        let root = root(&platform).await;
        let ids = [
            platform.pipeline_as(&root.authorization, &["a"]).await,
            platform.pipeline_as(&root.authorization, &["a"]).await,
        ];
        let other = root.key(json!({"name": "k", "scopes": ["documents:write", "pipelines:read"]})).await;
        for number in 0..4 {
            other.upload(&ids[number % 2], &format!("{number}"), "a").await;
        }
        let actor = text(&root.audit("&action=document.create").await[0]["actor"]).to_owned();
        assert_eq!(root.audit(&format!("&actor={actor}")).await.len(), 4);
        assert_eq!(root.audit(&format!("&pipeline={}", ids[0])).await.len(), 3);
        assert_eq!(root.audit(&format!("&pipeline={}&action=document.create&result=done", ids[1])).await.len(), 2);
        assert_eq!(root.audit("&result=forbidden").await.len(), 0);
        let now = Timestamp::now();
        let (past, future) = (Timestamp(now.0 - 60_000).to_rfc3339(), Timestamp(now.0 + 60_000).to_rfc3339());
        assert_eq!(root.audit(&format!("&since={past}&until={future}")).await.len(), 7);
        assert_eq!(
            root.audit(&format!("&until={past}")).await.len() + root.audit(&format!("&since={future}")).await.len(),
            0
        );
        assert_eq!(root.send("GET", "/api/audit?since=yesterday", &Value::Null).await.code(), "invalid-parameter");
        let all = root.audit("").await;
        let (mut paged, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = root.send("GET", &format!("/api/audit?limit=2{cursor}"), &Value::Null).await.json();
            paged.extend(page["data"].as_array().unwrap().clone());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(paged, all);
        let database = pidq_http::database::Database::open(url).await.unwrap();
        let old = Timestamp::now().0 - 366 * 86_400_000;
        database
            .execute("update audit_log set happened_at = $1 where action = 'document.create'", &[old.into()])
            .await
            .unwrap();
        maintenance::purge_expired(&platform.state).await.unwrap();
        assert_eq!(root.audit("").await.len(), 3);
        let without_retention =
            TestPlatform::at(url, &[SETTINGS[0], SETTINGS[1], SETTINGS[2], ("PIDQ_AUDIT_RETENTION", "0s")]).await;
        database.execute("update audit_log set happened_at = 1", &[]).await.unwrap();
        maintenance::purge_expired(&without_retention.state).await.unwrap();
        assert_eq!(root.audit("").await.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn a_replayed_post_has_one_audit_entry() {
    let platform = TestPlatform::sqlite(&SETTINGS).await;
    let root = root(&platform).await;
    let headers = [
        ("authorization", root.authorization.as_str()),
        ("content-type", "application/json"),
        ("idempotency-key", "one"),
    ];
    let body = json!({"name": "k", "scopes": ["query"]}).to_string();
    for _ in 0..3 {
        assert_eq!(platform.send("POST", "/api/keys", &headers, body.clone()).await.status, 201);
    }
    assert_eq!(root.audit("&action=key.create").await.len(), 1);
}
