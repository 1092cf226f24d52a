//! Tests of stored LLM connections, stored answers with feedback, and the daily quota of questions.

use pidq_http::auth::Timestamp;
use pidq_http::database::Database;
use pidq_pipeline::background::maintenance;
use pidq_store::domain::license::{Issuer, License, LicenseLimits};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::databases;
use crate::mock_prompt_model::prompt_model;
use crate::mock_server::{KEY, MockServer, json_reply};
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, is_stored, on_each_url};

const APP: (&str, &str) = ("PIDQ_APP_SECRET", "a1b2c3d4e5f60718293a4b5c6d7e8f90");
const CONNECTIONS: &str = "/api/llm-connections";
const VESSEL: &str = "# Vessel V-201\n\nPSV-2015A is set at 38.5 barg. It protects the vessel V-201 against fire.\n";

fn connection(name: &str, base_url: &str) -> Value {
    json!({
        "name": name, "provider": "openai", "api_key": KEY, "model": "plant-model", "base_url": base_url,
        "extra_headers": {"X-Plant": "header-secret-4711"},
    })
}

async fn patch(platform: &TestPlatform, path: &str, etag: Option<&str>, body: &Value) -> TestResponse {
    let headers: Vec<_> =
        [("content-type", "application/json")].into_iter().chain(etag.map(|etag| ("if-match", etag))).collect();
    platform.send("PATCH", path, &headers, body.to_string()).await
}

/// Creates a pipeline with the document of the vessel under `manual`.
async fn vessel(platform: &TestPlatform) -> (String, String) {
    let id = platform.pipeline().await;
    let uploaded = platform.upload_and_wait(&id, "V-201.md", VESSEL.as_bytes(), &[("classification", "manual")]).await;
    (id, uploaded["id"].as_str().unwrap().to_owned())
}

fn question_body(mock: &MockServer) -> Value {
    let endpoint = mock.endpoint();
    json!({
        "query": "What is PSV-2015A set at?", "classification": "manual",
        "llm_endpoint": {"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url},
    })
}

async fn ask(platform: &TestPlatform, pipeline: &str, body: &Value) -> TestResponse {
    platform.post(&format!("/api/pipelines/{pipeline}/query"), body).await
}

#[tokio::test]
async fn a_connection_can_be_managed_and_its_key_is_never_returned() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[APP]).await;
        let created = platform.post(CONNECTIONS, &connection("local", "http://127.0.0.1:11434/v1")).await;
        assert_eq!(created.status, 201, "{}", created.json());
        let path = created.header("location").to_owned();
        let fetched = platform.get(&path).await;
        assert_eq!((fetched.json(), fetched.header("etag")), (created.json(), created.header("etag")));
        assert_eq!(
            (&fetched.json()["extra_headers"], &fetched.json()["provider"]),
            (&json!(["X-Plant"]), &json!("openai_compatible"))
        );
        let listed = platform.get(CONNECTIONS).await;
        assert_eq!(listed.json()["data"], json!([fetched.json()]));
        for response in [&created, &fetched, &listed] {
            let text = String::from_utf8_lossy(&response.body);
            assert!(!text.contains(KEY) && !text.contains("header-secret-4711"), "{text}");
        }
        let conflict = platform.post(CONNECTIONS, &connection("local", "http://127.0.0.1:1/v1")).await;
        assert_eq!((conflict.status, conflict.code().as_str()), (409, "name-taken"));
        let first = fetched.header("etag");
        let changed = patch(&platform, &path, Some(first), &json!({"model": "other", "context_window": 4096})).await;
        assert_eq!((changed.status, &changed.json()["revision"]), (200, &json!(2)), "{}", changed.json());
        assert_eq!(
            patch(&platform, &path, Some(first), &json!({"model": "third"})).await.code(),
            "precondition-failed"
        );
        let stale = platform.send("DELETE", &path, &[("if-match", first)], "").await;
        assert_eq!(stale.status, 412);
        assert_eq!(platform.send("DELETE", &path, &[("if-match", changed.header("etag"))], "").await.status, 204);
        assert_eq!(platform.get(&path).await.code(), "llm-connection-not-found");
    })
    .await;
}

#[tokio::test]
async fn who_may_ask_sees_the_models_but_not_their_addresses() {
    on_each_url(async |url| {
        let platform =
            TestPlatform::at(url, &[APP, ("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]);
        let platform = platform.await;
        let root = format!("Bearer {}", platform.token(SECRET).await.json()["access_token"].as_str().unwrap());
        let json_headers = [("authorization", root.as_str()), ("content-type", "application/json")];
        let stored = connection("local", "http://127.0.0.1:11434/v1").to_string();
        let created = platform.send("POST", CONNECTIONS, &json_headers, stored).await.json();
        let new_key = json!({"name": "asks", "scopes": ["query"]}).to_string();
        let key = platform.send("POST", "/api/keys", &json_headers, new_key).await.json();
        let key = format!("Bearer {}", key["key"].as_str().unwrap());
        let get = async |path| platform.send("GET", path, &[("authorization", key.as_str())], "").await;
        let models = get("/api/language-models").await.json();
        assert_eq!(models["data"], json!([{"id": created["id"], "name": "local", "model": "plant-model"}]));
        assert_eq!(get(CONNECTIONS).await.status, 403);
    })
    .await;
}

#[tokio::test]
async fn an_invalid_connection_is_rejected() {
    let platform = TestPlatform::sqlite(&[APP]).await;
    for (field, value, code) in [
        ("name", json!(""), "validation"),
        ("provider", json!("magic"), "validation"),
        ("api_key", json!("a\nb"), "validation"),
        ("base_url", json!("ftp://a"), "validation"),
        ("base_url", json!("http://user:pw@a/v1"), "validation"),
        ("context_window", json!(7), "validation"),
        ("extra_headers", json!({"Host": "x"}), "validation"),
        ("extra_headers", json!({"a b": "x"}), "validation"),
        ("apikey", json!("x"), "unknown-field"),
    ] {
        let mut connection_body = connection("c", "http://127.0.0.1:1/v1");
        connection_body[field] = value.clone();
        let response = platform.post(CONNECTIONS, &connection_body).await;
        assert_eq!((response.status, response.code().as_str()), (422, code), "{field}: {value} {}", response.json());
        assert!(!String::from_utf8_lossy(&response.body).contains(KEY));
    }
    let without_secret = TestPlatform::sqlite(&[]).await;
    let response = without_secret.post(CONNECTIONS, &connection("c", "http://127.0.0.1:1/v1")).await;
    assert_eq!((response.status, response.code().as_str()), (409, "app-secret-missing"));
}

#[tokio::test]
async fn an_api_key_is_sent_only_to_its_address() {
    on_each_url(async |url| {
        let mock = prompt_model().await;
        let platform = TestPlatform::at(url, &[APP]).await;
        let path =
            platform.post(CONNECTIONS, &connection("c", "http://127.0.0.1:1/v1")).await.header("location").to_owned();
        let other = mock.endpoint().base_url;
        for (body, pointer) in [
            (json!({"base_url": other}), "/api_key"),
            (json!({"base_url": other, "api_key": null}), "/api_key"),
            (json!({"base_url": other, "api_key": "new"}), "/extra_headers"),
        ] {
            let response = patch(&platform, &path, None, &body).await;
            assert_eq!((response.status, &response.json()["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}");
        }
        let new_address = json!({"base_url": other, "api_key": "new", "extra_headers": null});
        assert_eq!(patch(&platform, &path, None, &new_address).await.status, 200);
        // Write access to the database does not reveal the key either.
        let database = Database::open(url).await.unwrap();
        database.execute("update llm_connections set base_url = $1", &["http://127.0.0.1:2/v1".into()]).await.unwrap();
        let response = platform.send("POST", &format!("{path}/test"), &[], "").await;
        assert_eq!((response.status, response.code().as_str()), (409, "llm-connection-undecryptable"));
        assert!(mock.requests().is_empty());
        let update = json!({"api_key": "new", "extra_headers": null});
        assert_eq!(patch(&platform, &path, None, &update).await.status, 200, "a new key restores the connection");
    })
    .await;
}

#[tokio::test]
async fn api_keys_are_stored_encrypted_with_the_application_secret() {
    let folder = TempDir::new().unwrap();
    let url = databases::sqlite_url(&folder);
    let platform = TestPlatform::at(&url, &[APP]).await;
    let path =
        platform.post(CONNECTIONS, &connection("c", "http://127.0.0.1:1/v1")).await.header("location").to_owned();
    drop(platform);
    assert!(is_stored(folder.path(), "plant-model"), "the files contain the connection");
    for secret in [KEY, "header-secret-4711"] {
        assert!(!is_stored(folder.path(), secret), "{secret}");
    }
    let platform = TestPlatform::at(&url, &[("PIDQ_APP_SECRET", "ffffffffffffffffffffffffffffffff")]).await;
    assert_eq!(platform.send("POST", &format!("{path}/test"), &[], "").await.code(), "llm-connection-undecryptable");
}

#[tokio::test]
async fn a_connection_test_lists_its_models() {
    let platform = TestPlatform::sqlite(&[APP]).await;
    let good = MockServer::start(|_, request| {
        assert!(request.head.starts_with("GET /v1/models "), "{}", request.head);
        let is_ours = request.head.contains(&format!("Bearer {KEY}")) && request.head.contains("header-secret-4711");
        let models = json!({"data": [{"id": "m-1"}, {"id": "m-2"}]});
        vec![if is_ours { json_reply(200, &models) } else { json_reply(500, &json!({})) }]
    });
    let good = good.await;
    let invalid = MockServer::start(|_, _| {
        vec![json_reply(
            401,
            &json!({"error": {"message": format!("wrong key {KEY} header-secret-4711"), "code": "k"}}),
        )]
    });
    let invalid = invalid.await;
    let test = async |name: &str, base_url: &str| {
        let path = platform.post(CONNECTIONS, &connection(name, base_url)).await.header("location").to_owned();
        platform.send("POST", &format!("{path}/test"), &[], "").await
    };
    let response = test("good", &good.endpoint().base_url).await;
    assert_eq!(
        (response.status, &response.json()["models"], &response.json()["ok"]),
        (200, &json!(["m-1", "m-2"]), &json!(true))
    );
    assert!(response.json()["latency_ms"].is_u64());
    let response = test("bad", &invalid.endpoint().base_url).await;
    assert_eq!((response.status, response.code().as_str()), (502, "llm-auth-failed"));
    let text = String::from_utf8_lossy(&response.body).into_owned();
    assert!(!text.contains(KEY) && !text.contains("header-secret-4711"), "{text}");
    let response = test("metadata", "http://169.254.169.254/v1").await;
    assert_eq!((response.status, response.code().as_str()), (403, "llm-endpoint-forbidden"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_has_an_endpoint_or_a_connection_or_neither() {
    on_each_url(async |url| {
        let mock = prompt_model().await;
        let platform = TestPlatform::at(url, &[APP]).await.with_workers();
        let (id, _) = vessel(&platform).await;
        let stored = platform.post(CONNECTIONS, &connection("c", &mock.endpoint().base_url)).await.json()["id"].clone();
        let mut body =
            json!({"query": "What is PSV-2015A set at?", "classification": "manual", "llm_connection": stored});
        let response = ask(&platform, &id, &body).await;
        assert_eq!((response.status, &response.json()["answered"]), (200, &json!(true)), "{}", response.json());
        let head = mock.requests()[0].head.clone();
        assert!(head.contains(&format!("Bearer {KEY}")) && head.contains("header-secret-4711"), "{head}");
        body["llm_endpoint"] = question_body(&mock)["llm_endpoint"].clone();
        assert_eq!(ask(&platform, &id, &body).await.json()["errors"][0]["pointer"], "/llm_connection");
        body.as_object_mut().unwrap().remove("llm_endpoint");
        body["llm_connection"] = "0199".into();
        assert_eq!(ask(&platform, &id, &body).await.code(), "llm-connection-not-found");
        body.as_object_mut().unwrap().remove("llm_connection");
        let asked = mock.requests().len();
        assert_eq!(ask(&platform, &id, &body).await.json()["model"], "extractive");
        assert_eq!(mock.requests().len(), asked);
        let policy = json!({"policies": {"manual": {"llm_allow": ["https://llm.example/v1"]}}});
        assert_eq!(patch(&platform, &format!("/api/pipelines/{id}"), None, &policy).await.status, 200);
        body["llm_connection"] = stored;
        let rejected = ask(&platform, &id, &body).await;
        assert_eq!(
            (rejected.status, rejected.code().as_str()),
            (403, "llm-endpoint-forbidden"),
            "the classification allows another address"
        );
        assert_eq!(mock.requests().len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_stored_and_accepts_feedback() {
    on_each_url(async |url| {
        let mock = prompt_model().await;
        let platform = TestPlatform::at(url, &[]).await.with_workers();
        let (id, _) = vessel(&platform).await;
        let answer = ask(&platform, &id, &question_body(&mock)).await.json();
        let path = format!("/api/queries/{}", answer["id"].as_str().unwrap());
        let stored = platform.get(&path).await.json();
        for field in ["id", "answer", "citations", "query", "classification", "usage", "timings_ms"] {
            assert_eq!(stored[field], answer[field], "{field}");
        }
        assert_eq!(stored["feedback"], Value::Null);
        assert!(Timestamp::from_rfc3339(stored["expires_at"].as_str().unwrap()).unwrap() > Timestamp::now());
        for invalid in [
            json!({}),
            json!({"rating": 2}),
            json!({"rating": 1, "comment": "x".repeat(2001)}),
            json!({"rating": 1, "stars": 5}),
        ] {
            assert_eq!(platform.post(&format!("{path}/feedback"), &invalid).await.status, 422, "{invalid}");
        }
        for feedback in [json!({"rating": -1, "comment": "It is 40 barg."}), json!({"rating": 1, "comment": null})] {
            let response = platform.post(&format!("{path}/feedback"), &feedback).await;
            assert_eq!((response.status, &response.json()["feedback"]), (200, &feedback));
            assert_eq!(platform.get(&path).await.json()["feedback"], feedback);
        }
        let streamed = {
            let mut body = question_body(&mock);
            body["stream"] = true.into();
            String::from_utf8(ask(&platform, &id, &body).await.body).unwrap()
        };
        let done_event = streamed.split("event: done\ndata: ").nth(1).unwrap().lines().next().unwrap();
        let done_event: Value = serde_json::from_str(done_event).unwrap();
        let path = format!("/api/queries/{}", done_event["id"].as_str().unwrap());
        assert_eq!(platform.get(&path).await.json()["answer"], done_event["answer"]);
        assert_eq!(platform.get("/api/queries/qry_0").await.code(), "query-not-found");
        let database = Database::open(url).await.unwrap();
        database.execute("update answers set created_at = created_at - 2592000000", &[]).await.unwrap();
        assert_eq!(platform.get(&path).await.code(), "query-not-found", "the answer has expired");
        maintenance::purge_expired(&platform.state).await.unwrap();
        assert_eq!(rows(url).await, (0, 0));
    })
    .await;
}

/// Returns the number of stored answers and of documents they cite.
async fn rows(url: &str) -> (i64, i64) {
    let database = Database::open(url).await.unwrap();
    let count = async |sql| database.row::<(i64,)>(sql, &[]).await.unwrap().unwrap().0;
    (count("select count(*) from answers").await, count("select count(*) from answer_documents").await)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_deleted_with_its_documents() {
    on_each_url(async |url| {
        let mock = prompt_model().await;
        let platform = TestPlatform::at(url, &[]).await.with_workers();
        let (id, document) = vessel(&platform).await;
        let path = format!("/api/pipelines/{id}/documents/{document}");
        let ask_and_get_path = async || {
            let answer = ask(&platform, &id, &question_body(&mock)).await.json();
            format!("/api/queries/{}", answer["id"].as_str().unwrap())
        };
        let first = ask_and_get_path().await;
        assert_eq!((platform.get(&first).await.status, rows(url).await), (200, (1, 1)));
        assert_eq!(patch(&platform, &path, None, &json!({"classification": "datasheet"})).await.status, 200);
        assert_eq!(
            (platform.get(&first).await.status, rows(url).await),
            (404, (0, 0)),
            "the cited text has another classification"
        );
        patch(&platform, &path, None, &json!({"classification": "manual"})).await;
        let second = ask_and_get_path().await;
        assert_eq!(platform.send("DELETE", &path, &[], "").await.status, 204);
        assert_eq!((platform.get(&second).await.status, rows(url).await), (404, (0, 0)), "the cited text is deleted");
        let third = ask_and_get_path().await;
        assert_eq!((platform.get(&third).await.status, rows(url).await), (200, (1, 0)), "the answer cites nothing");
        assert_eq!(platform.send("DELETE", &format!("/api/pipelines/{id}"), &[], "").await.status, 204);
        assert_eq!(rows(url).await, (0, 0));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_not_stored_if_disabled() {
    let mock = prompt_model().await;
    for (settings, policy) in [
        (&[][..], json!({"manual": {"retain_answers": false}})),
        (&[("PIDQ_ANSWER_RETENTION", "0s")], json!({"manual": {"retain_answers": true}})),
    ] {
        let folder = TempDir::new().unwrap();
        let url = databases::sqlite_url(&folder);
        let platform = TestPlatform::at(&url, settings).await.with_workers();
        let (id, _) = vessel(&platform).await;
        patch(&platform, &format!("/api/pipelines/{id}"), None, &json!({"policies": policy})).await;
        let response = ask(&platform, &id, &question_body(&mock)).await;
        assert_eq!(response.json()["answered"], true, "{}", response.json());
        let path = format!("/api/queries/{}", response.json()["id"].as_str().unwrap());
        assert_eq!((platform.get(&path).await.status, rows(&url).await), (404, (0, 0)), "{policy}");
        assert_eq!(response.header("cache-control") == "no-store", settings.is_empty(), "{policy}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_answers_are_restricted_by_classification() {
    let platform = TestPlatform::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
    let mock = prompt_model().await;
    let root = format!("Bearer {}", platform.token(SECRET).await.json()["access_token"].as_str().unwrap());
    let root = [("content-type", "application/json"), ("authorization", root.as_str())];
    let pipeline_body = json!({"name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["manual", "open"]});
    let id = platform.send("POST", "/api/pipelines", &root, pipeline_body.to_string()).await.json()["id"].clone();
    let id = id.as_str().unwrap();
    let path = format!("/api/pipelines/{id}/query");
    let answer = platform.send("POST", &path, &root, question_body(&mock).to_string()).await.json();
    let path = format!("/api/queries/{}", answer["id"].as_str().unwrap());
    for (classification, verb, status) in [("manual", "query", 200), ("open", "query", 404), ("manual", "read", 404)] {
        let access = json!({id: {"classifications": [classification], "verbs": [verb]}});
        let key_body = json!({"name": "k", "scopes": ["query"], "pipelines": access});
        let key = platform.send("POST", "/api/keys", &root, key_body.to_string()).await.json();
        let authorization = format!("Bearer {}", key["key"].as_str().unwrap());
        let headers = [("content-type", "application/json"), ("authorization", authorization.as_str())];
        assert_eq!(platform.send("GET", &path, &headers, "").await.status, status, "{classification} {verb}");
        let response = platform.send("POST", &format!("{path}/feedback"), &headers, r#"{"rating": 1}"#).await;
        assert_eq!(response.status, status, "{classification} {verb}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_classification_limits_the_contexts_of_a_model() {
    let platform = TestPlatform::sqlite(&[]).await.with_workers();
    let mock = prompt_model().await;
    let id = platform.pipeline().await;
    for unit in 0..4 {
        let text =
            format!("The relief valve PSV-{unit}00 protects the vessel. {}", "It is tested every year. ".repeat(30));
        platform.upload_and_wait(&id, &format!("{unit}.txt"), text.as_bytes(), &[("classification", "manual")]).await;
    }
    let mut body = question_body(&mock);
    body["query"] = "relief valve of the vessel".into();
    body["include_contexts"] = true.into();
    let all = ask(&platform, &id, &body).await.json();
    assert_eq!((all["contexts"].as_array().unwrap().len(), &all["contexts_dropped"]), (4, &json!(0)), "{all}");
    let path = format!("/api/pipelines/{id}");
    for (policy, status) in [(255, 422), (600, 200)] {
        let policy = json!({"policies": {"manual": {"max_context": policy}}});
        assert_eq!(patch(&platform, &path, None, &policy).await.status, status);
    }
    let limited = ask(&platform, &id, &body).await.json();
    assert_eq!(
        (limited["contexts"].as_array().unwrap().len(), &limited["contexts_dropped"]),
        (2, &json!(2)),
        "{limited}"
    );
    let context_count =
        mock.requests().last().unwrap().body["messages"][1]["content"].as_str().unwrap().matches("Source:").count();
    assert_eq!(context_count, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daily_quota_is_shared_by_all_replicas() {
    on_each_url(async |url| {
        let mock = prompt_model().await;
        let issuer = Issuer::parse(&Issuer::generate().unwrap()).unwrap();
        let keys = format!("vendor:{}", issuer.public_key());
        let first = TestPlatform::at(url, &[]).await;
        let license = License {
            v: 1,
            sys: first.get("/api/license").await.json()["system_id"].as_str().unwrap().into(),
            exp: Timestamp::now().seconds() + 100 * 86_400,
            limits: LicenseLimits { questions_per_day: Some(3), ..LicenseLimits::default() },
            ..License::default()
        };
        let license = issuer.issue(&license);
        let settings = |mode| {
            [
                ("PIDQ_LICENSE_MODE", mode),
                ("PIDQ_LICENSE_PUBLIC_KEYS", keys.as_str()),
                ("PIDQ_APP_LICENSE", license.as_str()),
            ]
        };
        let (one, other) =
            (TestPlatform::at(url, &settings("enforce")).await, TestPlatform::at(url, &settings("enforce")).await);
        let id = one.pipeline().await;
        let body = question_body(&mock);
        assert_eq!((ask(&one, &id, &body).await.status, ask(&other, &id, &body).await.status), (200, 200));
        let mut unreachable = body.clone();
        unreachable["classification"] = "secret".into();
        assert_eq!(ask(&one, &id, &unreachable).await.status, 422, "rejected questions are not counted");
        assert_eq!(other.get("/api/license").await.json()["usage"]["questions_today"], 2);
        let reached = async || one.get("/api/license").await.json()["limits_reached"].clone();
        assert_eq!(reached().await, json!([]));
        assert_eq!(ask(&one, &id, &body).await.status, 200);
        assert_eq!(reached().await, json!(["questions_per_day"]));
        let rejected = ask(&other, &id, &body).await;
        assert_eq!((rejected.status, rejected.code().as_str()), (402, "license-limit"));
        let limits = one.get("/api/limits").await.json();
        assert_eq!(
            (&limits["usage"]["questions_today"], &limits["license"]["questions_per_day"]),
            (&json!(3), &json!(3))
        );
        let reporting = TestPlatform::at(url, &settings("report")).await;
        assert_eq!(ask(&reporting, &id, &body).await.status, 200, "an exceeded quota is only reported");
        let response = reporting.get("/api/license").await.json();
        assert_eq!(
            (&response["usage"]["questions_today"], &response["limits_reached"]),
            (&json!(4), &json!(["questions_per_day"]))
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unanswered_question_is_not_counted() {
    let platform = TestPlatform::sqlite(&[]).await.with_workers();
    let (id, _) = vessel(&platform).await;
    let failing = MockServer::start(|_, _| vec![json_reply(400, &json!({"error": {"message": "no"}}))]).await;
    for stream in [false, true] {
        let mut body = question_body(&failing);
        body["stream"] = stream.into();
        ask(&platform, &id, &body).await;
    }
    assert_eq!(platform.get("/api/license").await.json()["usage"]["questions_today"], 0);
    ask(&platform, &id, &question_body(&prompt_model().await)).await;
    assert_eq!(platform.get("/api/license").await.json()["usage"]["questions_today"], 1);
}
