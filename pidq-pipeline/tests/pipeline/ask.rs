//! Tests of questions over HTTP: retrieval, the call of the model, and answers with citations.

use serde_json::{Value, json};

use crate::ingestion::on_each;
use crate::mock_prompt_model::prompt_model;
use crate::mock_server::MockServer;
use crate::platform::TestPlatform;

const VESSEL: &str = "# Vessel V-201\n\nPSV-2015A is set at 38.5 barg. It protects the vessel V-201 against fire.\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_cites_the_document() {
    on_each(async |platform| {
        let mock = prompt_model().await;
        let (id, document) = vessel(platform).await;
        let answer = ask(platform, &id, &mock, json!({"query": "What is PSV-2015A set at?"})).await;
        assert_eq!((&answer["answered"], &answer["reason"]), (&json!(true), &Value::Null), "{answer}");
        let citation = &answer["citations"][0];
        assert_eq!((&citation["marker"], &citation["document_id"]), (&json!(1), &document));
        let text = platform.get(&format!("/api/pipelines/{id}/documents/{}/text", document.as_str().unwrap())).await;
        let text: Vec<char> = String::from_utf8(text.body).unwrap().chars().collect();
        let offset = |field: &str| citation[field].as_u64().unwrap() as usize;
        assert_eq!(text[offset("start")..offset("end")].iter().collect::<String>(), citation["text"].as_str().unwrap());
        assert!(answer["id"].as_str().unwrap().starts_with("qry_"));
        assert!(answer["timings_ms"]["total"].is_u64() && answer.get("contexts").is_none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_the_answer_quotes_the_documents() {
    on_each(async |platform| {
        let (id, document) = vessel(platform).await;
        let path = format!("/api/pipelines/{id}/query");
        let body = json!({"query": "What is PSV-2015A set at?", "classification": "manual"});
        let answer = platform.post(&path, &body).await.json();
        assert_eq!(answer["answer"], "“PSV-2015A is set at 38.5 barg.” [1]", "{answer}");
        assert_eq!(
            (&answer["answered"], &answer["model"], &answer["usage"]),
            (&json!(true), &json!("extractive"), &Value::Null)
        );
        let citation = &answer["citations"][0];
        assert_eq!((&citation["document_id"], &citation["answer_spans"]), (&document, &json!([[33, 36]])));
        let other = json!({"query": "Who won the football match?", "classification": "manual"});
        let answer = platform.post(&path, &other).await.json();
        assert_eq!(
            (&answer["answered"], &answer["reason"]),
            (&json!(false), &json!("no_relevant_context")),
            "{answer}"
        );
        let streamed = json!({"query": "What is PSV-2015A set at?", "classification": "manual", "stream": true});
        let text = String::from_utf8(platform.post(&path, &streamed).await.body).unwrap();
        let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        assert_eq!(names, ["retrieval", "delta", "citation", "done"], "{text}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_hits_no_model_is_called() {
    on_each(async |platform| {
        let mock = prompt_model().await;
        let id = platform.pipeline().await;
        let answer = ask(platform, &id, &mock, json!({"query": "What is PSV-2015A set at?"})).await;
        assert_eq!((&answer["answered"], &answer["reason"]), (&json!(false), &json!("no_documents")));
        assert!(mock.requests().is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_streamed_answer_starts_with_its_contexts() {
    on_each(async |platform| {
        let mock = prompt_model().await;
        let (id, _) = vessel(platform).await;
        let body = query(&mock, json!({"query": "What is PSV-2015A set at?", "stream": true}));
        let response = platform.post(&format!("/api/pipelines/{id}/query"), &body).await;
        assert_eq!(response.header("content-type"), "text/event-stream");
        let text = String::from_utf8(response.body).unwrap();
        let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        assert_eq!((names.first(), names.last()), (Some(&"retrieval"), Some(&"done")), "{text}");
        assert!(names.contains(&"delta") && names.contains(&"citation"), "{names:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trace_context_is_propagated_to_the_model() {
    let platform = TestPlatform::sqlite(&[]).await.with_workers();
    let mock = prompt_model().await;
    let (id, _) = vessel(&platform).await;
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let headers = [("content-type", "application/json"), ("traceparent", trace)];
    let body = query(&mock, json!({"query": "What is PSV-2015A set at?"})).to_string();
    assert_eq!(platform.send("POST", &format!("/api/pipelines/{id}/query"), &headers, body).await.status, 200);
    assert!(mock.requests()[0].head.contains(&format!("traceparent: {trace}")), "{}", mock.requests()[0].head);
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_instructions_are_passed_to_the_model() {
    let platform = TestPlatform::sqlite(&[]).await.with_workers();
    let mock = prompt_model().await;
    let (id, _) = vessel(&platform).await;
    for (options, expected) in [
        (json!({}), json!({})),
        (json!({"temperature": null, "top_p": null, "seed": null, "stop": null, "max_tokens": null}), json!({})),
        (json!({"history": null, "instructions": null, "stream": null, "include_contexts": null}), json!({})),
        (json!({"stop": "END", "seed": -7}), json!({"stop": ["END"], "seed": -7})),
        (
            json!({"temperature": 0.5, "top_p": 0.25, "max_tokens": 50, "stop": ["a", "b"]}),
            json!({"temperature": 0.5, "top_p": 0.25, "max_tokens": 50, "stop": ["a", "b"]}),
        ),
    ] {
        let mut fields = json!({"query": "What is PSV-2015A set at?"});
        fields.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        ask(&platform, &id, &mock, fields).await;
        let mut body = mock.requests().pop().unwrap().body;
        for name in ["model", "messages", "stream"] {
            assert!(body.as_object_mut().unwrap().remove(name).is_some(), "{name}");
        }
        assert_eq!(body, expected, "{options}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forbidden_model_addresses_are_not_called() {
    on_each(async |platform| {
        let mock = prompt_model().await;
        let (id, _) = vessel(platform).await;
        let path = format!("/api/pipelines/{id}/query");
        for address in ["http://169.254.169.254/latest", "http://[::ffff:169.254.169.254]/v1", "http://0.0.0.0:1/v1"] {
            let mut body = query(&mock, json!({"query": "V-201"}));
            body["llm_endpoint"]["base_url"] = address.into();
            let response = platform.post(&path, &body).await;
            assert_eq!((response.status, response.code().as_str()), (403, "llm-endpoint-forbidden"), "{address}");
        }
        let policy = r#"{"policies": {"manual": {"llm_allow": ["https://llm.example/v1"]}}}"#;
        let headers = [("content-type", "application/json")];
        assert_eq!(platform.send("PATCH", &format!("/api/pipelines/{id}"), &headers, policy).await.status, 200);
        let response = platform.post(&path, &query(&mock, json!({"query": "V-201"}))).await;
        assert_eq!(
            (response.status, response.code().as_str()),
            (403, "llm-endpoint-forbidden"),
            "the classification allows another address"
        );
        assert!(mock.requests().is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_question_is_rejected_with_a_pointer() {
    let platform = TestPlatform::sqlite(&[]).await;
    let id = platform.pipeline().await;
    let endpoint = json!({"api_key": "x", "model": "m", "base_url": "http://127.0.0.1:1/v1"});
    let good = json!({"query": "q", "classification": "manual", "llm_endpoint": endpoint});
    for (field, value, code) in [
        ("query", json!(""), "validation"),
        ("query", json!("x".repeat(8001)), "validation"),
        ("classification", json!("secret"), "unknown-classification"),
        ("top_k", json!(51), "validation"),
        ("mode", json!("magic"), "validation"),
        ("filter", json!({"unit": {"like": 1}}), "validation"),
        ("timeout_ms", json!(0), "validation"),
        ("temperature", json!(3), "validation"),
        ("llm_endpoint", json!({"api_key": "x", "model": "m"}), "validation"),
        ("llm_endpoint", json!({"api_key": "x", "model": "m", "base_url": "ftp://a/"}), "validation"),
        ("llm_endpoint", json!({"api_key": "x\ny", "model": "m", "base_url": "http://a/v1"}), "validation"),
        ("topk", json!(3), "unknown-field"),
    ] {
        let mut body = good.clone();
        body[field] = value.clone();
        let response = platform.post(&format!("/api/pipelines/{id}/query"), &body).await;
        assert_eq!((response.status, response.code().as_str()), (422, code), "{field}: {value} {}", response.json());
    }
}

async fn vessel(platform: &TestPlatform) -> (String, Value) {
    let id = platform.pipeline().await;
    let uploaded = platform.upload_and_wait(&id, "V-201.md", VESSEL.as_bytes(), &[("classification", "manual")]).await;
    (id, uploaded["id"].clone())
}

async fn ask(platform: &TestPlatform, pipeline: &str, mock: &MockServer, fields: Value) -> Value {
    let response = platform.post(&format!("/api/pipelines/{pipeline}/query"), &query(mock, fields)).await;
    assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
    response.json()
}

fn query(mock: &MockServer, fields: Value) -> Value {
    let endpoint = mock.endpoint();
    let mut body = json!({
        "classification": "manual",
        "llm_endpoint": {"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url},
    });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}
