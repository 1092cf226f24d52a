//! Tests of the usage report: numbers by day, pipeline and classification, and access to them.

use pidq_http::auth::Timestamp;
use pidq_http::database::Database;
use serde_json::{Value, json};

use crate::mock_server::{MockServer, completion, json_reply};
use crate::platform::{MASTER, SECRET, TestPlatform, on_each_url};

const MANUAL: (&str, &str) = ("classification", "manual");
const ROOT: [(&str, &str); 2] = [("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)];

async fn usage(platform: &TestPlatform, filter: &str) -> Vec<Value> {
    let response = platform.get(&format!("/api/usage{filter}")).await;
    assert_eq!(response.status, 200, "{}", response.json());
    response.json()["data"].as_array().unwrap().clone()
}

fn today() -> String {
    Timestamp::now().to_rfc3339().chars().take(10).collect()
}

/// Starts a model that first reports its usage, then omits it, and finally fails.
async fn model() -> MockServer {
    MockServer::start(|number, _| {
        let mut answer = completion("PSV-2015A is set at 38.5 barg [1].");
        match number {
            0 => vec![json_reply(200, &answer)],
            1 => {
                answer.as_object_mut().unwrap().remove("usage");
                vec![json_reply(200, &answer)]
            }
            _ => vec![json_reply(400, &json!({"error": {"message": "no"}}))],
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_counts_documents_questions_and_tokens() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[]).await.with_workers();
        let id = platform.pipeline().await;
        let texts = [("a.txt", "PSV-2015A is set at 38.5 barg."), ("b.txt", "P-101A takes water from TK-701.")];
        let mut chunks = 0;
        for (name, text) in texts {
            let uploaded = platform.upload_and_wait(&id, name, text.as_bytes(), &[MANUAL]).await;
            chunks += uploaded["chunk_count"].as_i64().unwrap();
        }
        platform.upload(&id, "again.txt", texts[0].1.as_bytes(), &[MANUAL]).await;
        platform.upload_and_wait(&id, "c.txt", b"A datasheet.", &[("classification", "datasheet")]).await;
        let model = model().await;
        let endpoint = model.endpoint();
        let question = json!({
            "query": "What is PSV-2015A set at?", "classification": "manual",
            "llm_endpoint": {"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url},
        });
        let mut tokens = [0, 0];
        let mut estimated = 0;
        for _ in 0..3 {
            let answer = platform.post(&format!("/api/pipelines/{id}/query"), &question).await.json();
            let tokens_of = |name: &str| answer["usage"][name].as_i64().unwrap_or(0);
            let counts = [tokens_of("prompt_tokens"), tokens_of("completion_tokens")];
            tokens = [tokens[0] + counts[0], tokens[1] + counts[1]];
            estimated += if answer["usage"]["estimated"] == true { counts[0] + counts[1] } else { 0 };
        }
        assert!(tokens[0] > 812 && estimated > 0, "{tokens:?} {estimated}");
        let bytes = texts.iter().map(|(_, text)| text.len()).sum::<usize>();
        let row = |classification: &str, values: Value| {
            let mut row = json!({
                "day": today(), "pipeline_id": id, "classification": classification, "documents": 0, "bytes": 0, "chunks": 0,
                "questions": 0, "failed_questions": 0, "prompt_tokens": 0, "completion_tokens": 0, "estimated": false,
                "estimated_tokens": 0,
            });
            values.as_object().unwrap().iter().for_each(|(name, value)| row[name] = value.clone());
            row
        };
        let manual = row("manual", json!({
            "documents": 2, "bytes": bytes, "chunks": chunks, "questions": 2, "failed_questions": 1,
            "prompt_tokens": tokens[0], "completion_tokens": tokens[1], "estimated": true, "estimated_tokens": estimated,
        }));
        let datasheet = row("datasheet", json!({"documents": 1, "bytes": 12, "chunks": 1}));
        assert_eq!(usage(&platform, "").await, [manual.clone(), datasheet]);
        let license = platform.get("/api/license").await.json();
        assert_eq!(license["usage"]["questions_today"], 2, "the license counts the same questions");
        platform.send("DELETE", &format!("/api/pipelines/{id}?wait=true"), &[], "").await;
        assert_eq!(usage(&platform, "?classification=manual").await, [manual], "the report retains deleted pipelines");
    })
    .await;
}

#[tokio::test]
async fn the_report_is_filtered_paginated_and_restricted_by_key() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &ROOT).await;
        let root = platform.root_authorization().await;
        let root = [("authorization", root.as_str()), ("content-type", "application/json")];
        let ids = [
            platform.pipeline_as(root[0].1, &["open", "secret"]).await,
            platform.pipeline_as(root[0].1, &["open"]).await,
        ];
        for (pipeline, classification) in [(0, "open"), (0, "secret"), (1, "open")] {
            platform.upload_as(&root[..1], &ids[pipeline], "a", b"a", &[("classification", classification)]).await;
        }
        let database = Database::open(url).await.unwrap();
        let copy =
            "insert into daily_usage select day - $1, pipeline_id, classification, documents, bytes, chunks, questions,
            failed_questions, prompt_tokens, completion_tokens, estimated_tokens from daily_usage where day = $2";
        let day = Timestamp::now().seconds() / 86_400;
        for days_ago in [1, 40] {
            database.execute(copy, &[days_ago.into(), day.into()]).await.unwrap();
        }
        let get = async |authorization: &str, filter: &str| {
            platform.send("GET", &format!("/api/usage{filter}"), &[("authorization", authorization)], "").await.json()
        };
        let rows = async |authorization: &str, filter: &str| {
            get(authorization, filter).await["data"].as_array().unwrap().clone()
        };
        let all = rows(root[0].1, "").await;
        assert_eq!(all.len(), 6, "30 days");
        let (first, today) = (Timestamp((day - 40) * 86_400_000).to_rfc3339(), today());
        assert_eq!(rows(root[0].1, &format!("?from={}", &first[..10])).await.len(), 9);
        assert_eq!(rows(root[0].1, &format!("?from={0}&to={0}", &first[..10])).await.len(), 3);
        assert_eq!(rows(root[0].1, &format!("?from={today}&pipeline={}", ids[1])).await.len(), 1);
        for invalid in ["?from=today", "?to=2026-1-1", "?to=2026-02-30"] {
            assert_eq!(get(root[0].1, invalid).await["code"], "invalid-parameter", "{invalid}");
        }
        let key_body = json!({
            "name": "k", "scopes": ["pipelines:read"],
            "pipelines": {&ids[0]: {"classifications": ["open"], "verbs": ["read"]}},
        });
        let created = platform.send("POST", "/api/keys", &root, key_body.to_string()).await.json();
        let restricted = format!("Bearer {}", created["key"].as_str().unwrap());
        let visible = rows(&restricted, "").await;
        assert_eq!(visible.len(), 2);
        assert!(
            visible.iter().all(|row| row["pipeline_id"] == json!(ids[0]) && row["classification"] == "open"),
            "{visible:?}"
        );
        for (caller, expected) in [(root[0].1, all), (restricted.as_str(), visible)] {
            let (mut paged, mut cursor) = (Vec::new(), String::new());
            loop {
                let page = get(caller, &format!("?limit=1{cursor}")).await;
                paged.extend(page["data"].as_array().unwrap().clone());
                match page["next_cursor"].as_str() {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => break,
                }
            }
            assert_eq!(paged, expected);
        }
    })
    .await;
}
