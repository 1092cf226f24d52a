//! Questions that use a drawing, with the graph service in the same process or remote.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::service::{self, Service, test_dir};
use crate::up::{PASSWORD, SECRET, pipelines, start};

/// Returns the status and the JSON body of a response.
fn send(address: &str, line: &str, headers: &[String], body: &str) -> (u16, Value) {
    let (status, body) = service::send(address, line, headers, body);
    (status, serde_json::from_str(&body).unwrap_or_default())
}

/// Starts a language model with one fixed answer. Returns its address and the prompts that it receives.
fn model() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let (sender, prompts) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let mut length = 0;
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                let lower = line.to_ascii_lowercase();
                length = lower.strip_prefix("content-length: ").map_or(length, |n| n.trim().parse().expect("a number"));
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            sender.send(String::from_utf8(body).expect("UTF-8")).expect("a receiver");
            let reply = json!({"model": "double", "choices": [{"index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": "Close HV-1003A [1]; it is a pump [2]."}}]});
            let (reply, media) = (reply.to_string(), "content-type: application/json\r\nconnection: close");
            let response = format!("HTTP/1.1 200 OK\r\n{media}\r\ncontent-length: {}\r\n\r\n{reply}", reply.len());
            reader.get_mut().write_all(response.as_bytes()).expect("a writable stream");
        }
    });
    (address, prompts)
}

fn token(address: &str) -> String {
    let form = format!("grant_type=password&username=demo&password={PASSWORD}&client_id=pidq&client_secret={SECRET}");
    let media = "content-type: application/x-www-form-urlencoded".to_owned();
    let (status, response) = send(address, "POST /o/token/", &[media], &form.replace(' ', "+"));
    assert_eq!(status, 200, "{response}");
    response["access_token"].as_str().expect("a token").to_owned()
}

/// Sends a question with a graph; `token` is optional.
fn ask(address: &str, pipeline: &str, model: &str, graph: &Value, token: Option<&str>) -> (u16, Value) {
    let mut headers = vec!["content-type: application/json".to_owned()];
    headers.extend(token.map(|token| format!("authorization: Bearer {token}")));
    let body = json!({
        "query": "How is the pump P-101A isolated?", "classification": "manual", "include_contexts": true, "graph": graph,
        "llm_endpoint": {"api_key": "none", "model": "double", "base_url": format!("http://{model}/v1")},
    });
    send(address, &format!("POST /api/pipelines/{pipeline}/query"), &headers, &body.to_string())
}

fn graph(query: &str) -> Value {
    json!({"job_id": "plant-100", "query": query})
}

const DOWNSTREAM_QUERY: &str = r#"downstream("T-101") | map({id: .id, tag: .tag})"#;

#[test]
fn graph_results_precede_the_passages() {
    let service = start(&test_dir("ask-local"));
    let (address, (model, prompts)) = (&service.address, model());
    let (pipelines, token) = (pipelines(&service), token(address));
    let id = pipelines[0]["id"].as_str().expect("an id");
    let ask = |graph: Value, token: Option<&str>| ask(address, id, &model, &graph, token);

    let (status, answer) = ask(graph(DOWNSTREAM_QUERY), Some(&token));
    assert_eq!(status, 200, "{answer}");
    let [first, second] = &answer["citations"].as_array().expect("a list")[..] else { panic!("two: {answer}") };
    assert_eq!(first["graph"], json!({"job_id": "plant-100", "change_version": "1", "query": DOWNSTREAM_QUERY}));
    assert_eq!((&first["document_id"], &first["marker"]), (&Value::Null, &json!(1)));
    let nodes = |citation: &Value| citation["nodes"].as_array().cloned().unwrap_or_default();
    assert!(nodes(first).contains(&json!("HV-1003A")), "{first}");
    // Nozzles of many pumps are called N1: only those found by the query are cited.
    let nozzles = nodes(first).iter().filter(|id| id.as_str().is_some_and(|id| id.ends_with("-N1"))).count();
    assert_eq!(nozzles, 2, "{first}");
    // A tag in a document refers to the node of the drawing.
    assert!(second["document_id"].is_string() && second.get("graph").is_none());
    assert!(nodes(second).contains(&json!("P-101A")), "{second}");
    assert_eq!(answer["contexts"][0]["graph"], first["graph"]);
    let prompt = prompts.recv().expect("a prompt");
    assert!(prompt.contains("P&ID graph plant-100") && prompt.contains("HV-1003A"), "{prompt}");
    // Not stored, because readers of stored answers may lack access to the drawing.
    let stored = send(address, &format!("GET /api/queries/{}", answer["id"].as_str().expect("an id")), &[], "");
    assert_eq!(stored.0, 404);

    let (status, without_results) = ask(graph(r#"nodes(.tag == "none")"#), Some(&token));
    assert_eq!((status, &without_results["contexts"][0]["text"]), (200, &json!("The query has no results.")));
    let (status, truncated) = ask(graph("nodes()"), Some(&token));
    assert_eq!((status, &truncated["warnings"][0]["code"]), (200, &json!("graph-result-cut")), "{truncated}");
    let check_problem = |graph: Value, token: Option<&str>, status: u16, code: &str| {
        let (actual, problem) = ask(graph, token);
        assert_eq!((actual, &problem["code"]), (status, &json!(code)), "{problem}");
        problem
    };
    check_problem(graph(DOWNSTREAM_QUERY), None, 403, "graph-access-denied");
    check_problem(json!({"job_id": "none", "query": DOWNSTREAM_QUERY}), Some(&token), 422, "graph-not-found");
    check_problem(json!({"job_id": "..", "query": DOWNSTREAM_QUERY}), Some(&token), 422, "validation");
    check_problem(json!({"job_id": "a/../plant-100", "query": DOWNSTREAM_QUERY}), Some(&token), 422, "validation");
    let wrong = check_problem(graph("nodez()"), Some(&token), 422, "graph-query-failed");
    assert_eq!((&wrong["pq_code"], &wrong["errors"][0]["pointer"]), (&json!("PQ1001"), &json!("/graph/query")));
    let failed = check_problem(graph(r#"node("none")"#), Some(&token), 422, "graph-query-failed");
    assert!(failed["pq_code"].is_string(), "{failed}");
}

#[test]
fn the_graph_may_be_stored_by_a_remote_service() {
    let graphs = start(&test_dir("ask-remote-graphs"));
    let data = test_dir("ask-remote-platform");
    let url = format!("http://{}", graphs.address);
    let arguments = ["--data-dir", data.to_str().expect("a path"), "--graph-url", &url];
    let platform = Service::start_command("pipeline serve", &[("PIDQ_SHUTDOWN_DELAY", "0s")], &arguments);
    let settings = json!({"name": "Unit 100", "embedding_model": "hash-512", "text_splitter": "markdown",
        "classifications": ["manual"]});
    let media = ["content-type: application/json".to_owned()];
    let (status, pipeline) = send(&platform.address, "POST /api/pipelines", &media, &settings.to_string());
    assert_eq!(status, 201, "{pipeline}");
    let (id, token) = (pipeline["id"].as_str().expect("an id"), token(&graphs.address));
    let (model, _prompts) = model();
    // Without documents, the drawing alone is used.
    let (status, answer) = ask(&platform.address, id, &model, &graph(DOWNSTREAM_QUERY), Some(&token));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["citations"].as_array().map(Vec::len), Some(1), "{answer}");
    assert!(answer["citations"][0]["text"].as_str().is_some_and(|text| text.contains("HV-1003A")));
    drop(graphs);
    let (status, problem) = ask(&platform.address, id, &model, &graph(DOWNSTREAM_QUERY), Some(&token));
    assert_eq!((status, &problem["code"]), (503, &json!("graph-unavailable")), "{problem}");
}
