//! Tests of questions over HTTP: retrieval, the call of the model, and answers with citations.

use serde_json::{Value, json};

use crate::ingestion::on_each;
use crate::mock_prompt_model::prompt_model;
use crate::mock_server::MockServer;
use crate::platform::TestPlatform;

const VESSEL: &str = "# Vessel V-201\n\nPSV-2015A is set at 38.5 barg. It protects the vessel V-201 against fire.\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_cites_the_document() {
    on_each(async |world| {
        let mock = prompt_model().await;
        let (id, document) = vessel(world).await;
        let answer = ask(world, &id, &mock, json!({"query": "What is PSV-2015A set at?"})).await;
        assert_eq!((&answer["answered"], &answer["reason"]), (&json!(true), &Value::Null), "{answer}");
        let citation = &answer["citations"][0];
        assert_eq!((&citation["marker"], &citation["document_id"]), (&json!(1), &document));
        let text = world.get(&format!("/api/pipelines/{id}/documents/{}/text", document.as_str().unwrap())).await;
        let text: Vec<char> = String::from_utf8(text.body).unwrap().chars().collect();
        let place = |member: &str| citation[member].as_u64().unwrap() as usize;
        assert_eq!(text[place("start")..place("end")].iter().collect::<String>(), citation["text"].as_str().unwrap());
        assert!(answer["id"].as_str().unwrap().starts_with("qry_"));
        assert!(answer["timings_ms"]["total"].is_u64() && answer.get("contexts").is_none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_hits_no_model_is_called() {
    on_each(async |world| {
        let mock = prompt_model().await;
        let id = world.pipeline().await;
        let answer = ask(world, &id, &mock, json!({"query": "What is PSV-2015A set at?"})).await;
        assert_eq!((&answer["answered"], &answer["reason"]), (&json!(false), &json!("no_documents")));
        assert!(mock.requests().is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_streamed_answer_starts_with_its_contexts() {
    on_each(async |world| {
        let mock = prompt_model().await;
        let (id, _) = vessel(world).await;
        let body = query(&mock, json!({"query": "What is PSV-2015A set at?", "stream": true}));
        let answer = world.post(&format!("/api/pipelines/{id}/query"), &body).await;
        assert_eq!(answer.header("content-type"), "text/event-stream");
        let text = String::from_utf8(answer.body).unwrap();
        let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        assert_eq!((names.first(), names.last()), (Some(&"retrieval"), Some(&"done")), "{text}");
        assert!(names.contains(&"delta") && names.contains(&"citation"), "{names:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trace_context_is_propagated_to_the_model() {
    let world = TestPlatform::sqlite(&[]).await.working();
    let mock = prompt_model().await;
    let (id, _) = vessel(&world).await;
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let headers = [("content-type", "application/json"), ("traceparent", trace)];
    let body = query(&mock, json!({"query": "What is PSV-2015A set at?"})).to_string();
    assert_eq!(world.send("POST", &format!("/api/pipelines/{id}/query"), &headers, body).await.status, 200);
    assert!(mock.requests()[0].head.contains(&format!("traceparent: {trace}")), "{}", mock.requests()[0].head);
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_instructions_are_passed_to_the_model() {
    let world = TestPlatform::sqlite(&[]).await.working();
    let mock = prompt_model().await;
    let (id, _) = vessel(&world).await;
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
        let mut members = json!({"query": "What is PSV-2015A set at?"});
        members.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        ask(&world, &id, &mock, members).await;
        let mut body = mock.requests().pop().unwrap().body;
        for ours in ["model", "messages", "stream"] {
            assert!(body.as_object_mut().unwrap().remove(ours).is_some(), "{ours}");
        }
        assert_eq!(body, expected, "{options}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forbidden_model_addresses_are_not_called() {
    on_each(async |world| {
        let mock = prompt_model().await;
        let (id, _) = vessel(world).await;
        let path = format!("/api/pipelines/{id}/query");
        for address in ["http://169.254.169.254/latest", "http://[::ffff:169.254.169.254]/v1", "http://0.0.0.0:1/v1"] {
            let mut body = query(&mock, json!({"query": "V-201"}));
            body["llm_endpoint"]["base_url"] = address.into();
            let answer = world.post(&path, &body).await;
            assert_eq!((answer.status, answer.code().as_str()), (403, "llm-endpoint-forbidden"), "{address}");
        }
        let policy = r#"{"policies": {"manual": {"llm_allow": ["https://llm.example/v1"]}}}"#;
        let headers = [("content-type", "application/json")];
        assert_eq!(world.send("PATCH", &format!("/api/pipelines/{id}"), &headers, policy).await.status, 200);
        let answer = world.post(&path, &query(&mock, json!({"query": "V-201"}))).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "llm-endpoint-forbidden"),
            "the classification allows another address"
        );
        assert!(mock.requests().is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_question_is_rejected_with_a_pointer() {
    let world = TestPlatform::sqlite(&[]).await;
    let id = world.pipeline().await;
    let endpoint = json!({"api_key": "x", "model": "m", "base_url": "http://127.0.0.1:1/v1"});
    let good = json!({"query": "q", "classification": "manual", "llm_endpoint": endpoint});
    for (member, value, code) in [
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
        body[member] = value.clone();
        let answer = world.post(&format!("/api/pipelines/{id}/query"), &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (422, code), "{member}: {value} {}", answer.json());
    }
}

async fn vessel(world: &TestPlatform) -> (String, Value) {
    let id = world.pipeline().await;
    let sent = world.ready(&id, "V-201.md", VESSEL.as_bytes(), &[("classification", "manual")]).await;
    (id, sent["id"].clone())
}

async fn ask(world: &TestPlatform, pipeline: &str, mock: &MockServer, members: Value) -> Value {
    let answer = world.post(&format!("/api/pipelines/{pipeline}/query"), &query(mock, members)).await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()
}

fn query(mock: &MockServer, members: Value) -> Value {
    let endpoint = mock.endpoint();
    let mut body = json!({
        "classification": "manual",
        "llm_endpoint": {"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url},
    });
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    body
}
