//! Tests of accounts that are limited to classifications: they see what a key with the same limit sees.

use pidq_http::auth::{Identities, IdentityOptions, NewUser, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::databases;
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, on_each_url};

const WITH_MASTER_KEY: [(&str, &str); 2] = [("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)];
const PASSWORD: &str = "blue valve, open";

/// A platform with two pipelines of an open and a secret document each, and the account `ann`.
struct Plant {
    platform: TestPlatform,
    /// `Authorization` header of the master key.
    root: String,
    /// `Authorization` header of the account.
    ann: String,
    /// Subject of the account.
    account: String,
    /// The pipelines and their open and secret documents.
    pipelines: [(String, String, String); 2],
}

impl Plant {
    async fn at(url: &str, role: &str) -> Plant {
        let account = add_user(url, "ann", role).await;
        let platform = TestPlatform::at(url, &WITH_MASTER_KEY).await.with_workers();
        let root = platform.root_authorization().await;
        let mut pipelines = Vec::new();
        for _ in 0..2 {
            let id = platform.pipeline_as(&root, &["open", "secret"]).await;
            let mut documents = Vec::new();
            for classification in ["open", "secret"] {
                let text = format!("The {classification} relief valve is set at 38.5 barg.");
                let path = format!("{id}/documents?wait=30");
                let form = crate::platform::form(
                    &format!("{classification}.txt"),
                    text.as_bytes(),
                    &[("classification", classification)],
                );
                let headers = [("authorization", root.as_str()), ("content-type", "multipart/form-data; boundary=x7x")];
                let uploaded = platform.send("POST", &format!("/api/pipelines/{path}"), &headers, form).await.json();
                assert_eq!(uploaded["status"], "ready", "{uploaded}");
                documents.push(uploaded["id"].as_str().unwrap().to_owned());
            }
            pipelines.push((id, documents.remove(0), documents.remove(0)));
        }
        let ann = token(&platform, "ann").await;
        Plant { platform, root, ann, account, pipelines: pipelines.try_into().unwrap() }
    }

    /// Limits the account to reading and asking the open documents of the first pipeline.
    async fn limit(&self) {
        let body = json!({"pipelines": {self.pipelines[0].0.as_str(): {"classifications": ["open"], "verbs": ["read", "query"]}}});
        let limited = self.send(&self.root, "PUT", &self.path(), &body).await;
        assert_eq!((limited.status, &limited.json()["account"]), (200, &json!(self.account)), "{}", limited.json());
    }

    fn path(&self) -> String {
        format!("/api/account-limits/{}", self.account)
    }

    async fn send(&self, authorization: &str, method: &str, path: &str, body: &Value) -> TestResponse {
        let headers = [("authorization", authorization), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.platform.send(method, path, &headers, body).await
    }
}

async fn add_user(url: &str, login: &str, role: &str) -> String {
    let identities = identities(url).await;
    let user = NewUser { login, password: Some(PASSWORD), tenant: "main", role, groups: &[], sso_only: false };
    format!("user:{}", identities.create_user(user, Timestamp::now()).await.unwrap().id)
}

async fn identities(url: &str) -> Identities {
    Identities::open(databases::open(url).await, IdentityOptions::at("https://pidq.example")).await.unwrap()
}

async fn token(platform: &TestPlatform, login: &str) -> String {
    let password = PASSWORD.replace(' ', "+");
    let form =
        format!("grant_type=password&username={login}&password={password}&client_id={MASTER}&client_secret={SECRET}");
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let response = platform.send("POST", "/o/token/", &headers, form).await.json();
    format!("Bearer {}", response["access_token"].as_str().unwrap())
}

/// Content of a response without ids of requests, times and durations, which differ.
fn content(response: &TestResponse) -> Value {
    let mut json = if response.body.is_empty() { Value::Null } else { response.json() };
    if let Some(fields) = json.as_object_mut() {
        for name in ["request_id", "instance", "id", "timings_ms"] {
            fields.remove(name);
        }
    }
    json!([response.status, json])
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_sees_what_a_key_with_the_same_limit_sees() {
    on_each_url(async |url| {
        let plant = Plant::at(url, "viewer").await;
        let key = plant.platform.key(&plant.root, &plant.pipelines[0].0, "open").await;
        let all = plant.send(&plant.ann, "GET", "/api/pipelines", &Value::Null).await.json();
        assert_eq!(all["data"].as_array().unwrap().len(), 2, "without a limit: {all}");
        plant.limit().await;
        let mut statuses = Vec::new();
        for (pipeline, open, secret) in &plant.pipelines {
            let base = format!("/api/pipelines/{pipeline}");
            let question =
                |classification| json!({"query": "What is the set pressure?", "classification": classification});
            for (method, path, body) in [
                ("GET", base.clone(), Value::Null),
                ("GET", format!("{base}/documents"), Value::Null),
                ("GET", format!("{base}/documents?q=secret"), Value::Null),
                ("GET", format!("{base}/documents?classification=secret"), Value::Null),
                ("GET", format!("{base}/documents/{open}"), Value::Null),
                ("GET", format!("{base}/documents/{secret}"), Value::Null),
                ("GET", format!("{base}/documents/{secret}/chunks"), Value::Null),
                ("DELETE", format!("{base}/documents/{open}"), Value::Null),
                ("POST", format!("{base}/search"), question("open")),
                ("POST", format!("{base}/search"), question("secret")),
                ("POST", format!("{base}/query"), question("secret")),
            ] {
                let by_account = plant.send(&plant.ann, method, &path, &body).await;
                let by_key = plant.send(&key, method, &path, &body).await;
                assert_eq!(content(&by_account), content(&by_key), "{method} {path}");
                let text = String::from_utf8_lossy(&by_account.body).into_owned();
                assert!(!text.contains("The secret") && !text.contains("secret.txt"), "{method} {path}: {text}");
                statuses.push(by_account.status);
            }
        }
        assert_eq!(statuses[..11], [200, 200, 200, 403, 200, 404, 404, 403, 200, 403, 403]);
        assert!(statuses[11..].iter().all(|status| [403, 404].contains(status)), "{statuses:?}");
        for path in ["/api/pipelines", "/api/usage", "/api/audit", "/api/keys", "/api/operations", "/api/webhooks"] {
            let by_account = plant.send(&plant.ann, "GET", path, &Value::Null).await;
            assert_eq!(content(&by_account), content(&plant.send(&key, "GET", path, &Value::Null).await), "{path}");
        }
        let removed = plant.send(&plant.root, "DELETE", &plant.path(), &Value::Null).await;
        assert_eq!(removed.status, 204);
        let all = plant.send(&plant.ann, "GET", "/api/pipelines", &Value::Null).await.json();
        assert_eq!(all["data"].as_array().unwrap().len(), 2, "the limit is removed: {all}");
    })
    .await;
}

/// As a token, a limit is looked up again after `PIDQ_TOKEN_CACHE_TTL`; changes by the same process take effect at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_cached_for_as_long_as_a_token() {
    for (ttl, seen_at_once) in [("1h", 2), ("0s", 1)] {
        let folder = TempDir::new().unwrap();
        let url = databases::sqlite_url(&folder);
        let plant = Plant::at(&url, "viewer").await;
        let settings = [WITH_MASTER_KEY.as_slice(), &[("PIDQ_TOKEN_CACHE_TTL", ttl)]].concat();
        let replica = TestPlatform::at(&url, &settings).await;
        let visible = async || {
            let headers = [("authorization", plant.ann.as_str())];
            replica.send("GET", "/api/pipelines", &headers, "").await.json()["data"].as_array().unwrap().len()
        };
        assert_eq!(visible().await, 2);
        plant.limit().await;
        assert_eq!(visible().await, seen_at_once, "{ttl}: another process has set a limit");
        let headers = [("authorization", plant.root.as_str()), ("content-type", "application/json")];
        let limit =
            json!({"pipelines": {plant.pipelines[0].0.as_str(): {"classifications": ["open"], "verbs": ["read"]}}});
        let set = replica.send("PUT", &plant.path(), &headers, limit.to_string()).await;
        assert_eq!((set.status, visible().await), (200, 1), "{ttl}: this process has set a limit");
        let deleted = replica.send("DELETE", &plant.path(), &headers, "").await;
        assert_eq!((deleted.status, visible().await), (204, 2), "{ttl}: this process has removed the limit");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_applies_to_an_open_stream_of_events() {
    let folder = TempDir::new().unwrap();
    let plant = Plant::at(&databases::sqlite_url(&folder), "viewer").await;
    let sequencer = plant.platform.run_sequencer();
    let path = "/api/events?type=document.queued";
    let mut stream = plant.platform.open_event_stream(path, &[("authorization", &plant.ann)]).await;
    let upload = async |pipeline: usize, classification: &str, text: &str| {
        let (root, id) = ([("authorization", plant.root.as_str())], &plant.pipelines[pipeline].0);
        let parts = [("classification", classification)];
        plant.platform.upload_as(&root, id, text, text.as_bytes(), &parts).await.json()["id"].clone()
    };
    let before = upload(0, "secret", "before").await;
    assert_eq!(stream.next().await["data"]["document_id"], before);
    plant.limit().await;
    upload(0, "secret", "secret after").await;
    upload(1, "open", "other pipeline").await;
    let visible = upload(0, "open", "open after").await;
    assert_eq!(stream.next().await["data"]["document_id"], visible, "nothing else was sent");
    sequencer.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limited_administrator_administers_nothing() {
    let folder = TempDir::new().unwrap();
    let plant = Plant::at(&databases::sqlite_url(&folder), "admin").await;
    assert_eq!(plant.send(&plant.ann, "GET", "/api/audit", &Value::Null).await.status, 200);
    let itself =
        json!({"pipelines": {plant.pipelines[0].0.as_str(): {"classifications": ["open"], "verbs": ["read"]}}});
    let own = plant.send(&plant.ann, "PUT", &plant.path(), &itself).await;
    assert_eq!((own.status, own.code().as_str()), (409, "own-account"));
    plant.limit().await;
    for (method, path) in [
        ("GET", "/api/audit"),
        ("GET", "/api/keys"),
        ("GET", "/api/account-limits"),
        ("DELETE", plant.path().as_str()),
        ("POST", "/api/webhooks"),
    ] {
        let body = json!({"url": "https://hook.example", "types": [], "pipelines": []});
        let body = if method == "POST" { body } else { Value::Null };
        let rejected = plant.send(&plant.ann, method, path, &body).await;
        assert_eq!(rejected.status, 403, "{method} {path}: {}", rejected.json());
    }
    let listed = plant.send(&plant.root, "GET", "/api/account-limits", &Value::Null).await.json();
    let access = json!({plant.pipelines[0].0.as_str(): {"classifications": ["open"], "verbs": ["read", "query"]}});
    assert_eq!((&listed["data"][0]["account"], &listed["data"][0]["pipelines"]), (&json!(plant.account), &access));
    let audited = plant.send(&plant.root, "GET", "/api/audit?action=account-limit.set&result=done", &Value::Null).await;
    assert_eq!(audited.json()["data"][0]["resource"], json!(plant.path()), "{}", audited.json());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_names_an_account_and_existing_pipelines() {
    let folder = TempDir::new().unwrap();
    let plant = Plant::at(&databases::sqlite_url(&folder), "viewer").await;
    let access = |pipeline: &str| json!({"pipelines": {pipeline: {"classifications": ["open"], "verbs": ["read"]}}});
    let existing = access(&plant.pipelines[0].0);
    for (account, body, status, code) in [
        ("user:nobody", &existing, 400, "invalid-parameter"),
        ("client:pidq", &existing, 400, "invalid-parameter"),
        ("user:ann", &access("unknown"), 422, "validation"),
        ("user:ann", &json!({"pipelines": {}}), 422, "validation"),
    ] {
        let rejected = plant.send(&plant.root, "PUT", &format!("/api/account-limits/{account}"), body).await;
        assert_eq!((rejected.status, rejected.code().as_str()), (status, code), "{account}: {}", rejected.json());
    }
    let sso = "/api/account-limits/sso:https%3A%2F%2Fidp.example%2342";
    let limited = plant.send(&plant.root, "PUT", sso, &existing).await.json();
    assert_eq!(limited["account"], "sso:https://idp.example#42");
    let by_login = plant.send(&plant.root, "PUT", "/api/account-limits/user:ann", &existing).await.json();
    assert_eq!(by_login["account"], json!(plant.account), "a login is the name of its account");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_master_key_tokens_and_keys_count_and_are_not_required() {
    let folder = TempDir::new().unwrap();
    let url = databases::sqlite_url(&folder);
    let plant = Plant::at(&url, "editor").await;
    plant.limit().await;
    let key = plant.platform.key(&plant.root, &plant.pipelines[0].0, "open").await;
    let bob = add_user(&url, "bob", "editor").await;
    let other = token(&plant.platform, "bob").await;
    let platform = TestPlatform::open_with_accounts(&url, None, &[], None, Some(identities(&url).await)).await;
    let pipelines = async |authorization: Option<&str>| {
        let headers: Vec<_> = authorization.map(|value| ("authorization", value)).into_iter().collect();
        let response = platform.send("GET", "/api/pipelines", &headers, "").await;
        (response.status, response.json()["data"].as_array().map_or(0, Vec::len))
    };
    assert_eq!(pipelines(None).await, (200, 2), "anyone on this machine");
    assert_eq!(pipelines(Some(&other)).await, (200, 2), "an account");
    assert_eq!(pipelines(Some(&plant.ann)).await, (200, 1), "a limited account");
    assert_eq!(pipelines(Some(&key)).await, (200, 1), "a limited key");
    assert_eq!(pipelines(Some("Bearer pidq_at_unknown")).await, (401, 0), "a token that is invalid");
    let (pipeline, _, secret) = &plant.pipelines[1];
    let path = format!("/api/pipelines/{pipeline}/documents/{secret}");
    assert_eq!(platform.send("DELETE", &path, &[("authorization", &other)], "").await.status, 204);
    let audited = platform.get("/api/audit?action=document.delete").await.json();
    assert_eq!(audited["data"][0]["actor"], json!(bob), "the audit names the account: {audited}");
}
