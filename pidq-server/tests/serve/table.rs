//! Every row of the table answers as it says, and the document names no other.

use std::collections::BTreeSet;
use std::path::Path;

use pidq_server::ROUTES;
use serde_json::{Value, json};

use crate::service::{Answer, DRAWING, FORM, PASSWORD, SECRET, Service};

/// A request that each row answers well, and the status that it gets. In this order: what is put is asked and deleted.
fn calls() -> Vec<(&'static str, &'static str, &'static str, String, u16)> {
    let client = format!("client_id=desk&client_secret={SECRET}");
    let password = format!("grant_type=password&username=ann@example.com&password={PASSWORD}&{client}");
    let token = format!("token=unknown&{client}");
    let query = json!({"query": ".pid_graph.nodes"}).to_string();
    let fleet = json!({"query": "size()", "jobs": {"prefix": ""}}).to_string();
    let none = String::new;
    vec![
        ("POST", "/o/token/", "/o/token/", password, 200),
        ("POST", "/o/revoke_token/", "/o/revoke_token/", token.clone(), 200),
        ("POST", "/o/introspect/", "/o/introspect/", token, 200),
        ("GET", "/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server", none(), 200),
        ("GET", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource", none(), 200),
        ("GET", "/functions", "/functions", none(), 200),
        ("PUT", "/graph/{job_id}", "/graph/J-1", DRAWING.into(), 201),
        ("GET", "/graph", "/graph", none(), 200),
        ("POST", "/graph", "/graph", fleet, 200),
        ("GET", "/graph/{job_id}", "/graph/J-1", none(), 200),
        ("POST", "/graph/{job_id}", "/graph/J-1", query, 200),
        ("GET", "/graph/{job_id}/versions", "/graph/J-1/versions", none(), 200),
        ("DELETE", "/graph/{job_id}", "/graph/J-1", none(), 204),
    ]
}

#[tokio::test]
async fn every_row_answers_and_tells_what_all_answers_tell() {
    let service = Service::start().await;
    let (desk, stranger) = (service.client("desk").await, service.stranger());
    let mut called = BTreeSet::new();
    for (method, row, path, body, status) in calls() {
        let media = if path.starts_with("/o/") { FORM } else { "application/json" };
        let asker = if path.starts_with("/graph") { &desk } else { &stranger };
        let answer = asker.send(method, path, &[&format!("content-type: {media}")], body).await.is(status);
        check_shared_headers(&answer);
        called.insert((method.to_owned(), row.to_owned()));
    }
    let rows = ROUTES.iter().map(|row| (row.method.to_string(), row.path.to_owned()));
    assert_eq!(called, rows.collect());
}

fn check_shared_headers(answer: &Answer) {
    assert_eq!(answer.header("x-request-id"), "r-1");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert!(!answer.header("cache-control").is_empty() && !answer.header("vary").is_empty());
    assert_eq!(answer.header("server"), "");
    check_media_type(answer);
}

/// A body says what it is, text in which characters, and where there is none nothing is said of it.
fn check_media_type(answer: &Answer) {
    let media = answer.header("content-type");
    assert_eq!(media.is_empty(), answer.body.is_empty(), "{media}");
    assert!(!media.starts_with("text/") || media.ends_with("; charset=utf-8"), "{media}");
    assert!(!media.contains("json") || serde_json::from_slice::<Value>(&answer.body).is_ok(), "{media}");
}

#[tokio::test]
async fn the_document_names_the_rows_and_the_operations_and_no_other() {
    let service = Service::start().await;
    let document: Value = serde_json::from_slice(&service.site.openapi()).expect("JSON");
    assert_eq!(service.stranger().get("/openapi.json").await.is(200).json(), document);
    let paths = document["paths"].as_object().expect("paths");
    let methods = |(path, item): (&String, &Value)| {
        let item = item.as_object().expect("methods");
        item.keys().map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
    };
    let named: BTreeSet<_> = paths.iter().flat_map(methods).collect();
    let operations = ["/livez", "/readyz", "/version", "/openapi.json", "/docs"];
    let operations = operations.map(|path| ("GET".to_owned(), path.to_owned()));
    let rows = ROUTES.iter().map(|row| (row.method.to_string(), row.path.to_owned()));
    assert_eq!(named, rows.chain(operations).collect());
}

#[tokio::test]
async fn operations_need_no_token() {
    let service = Service::start().await;
    let stranger = service.stranger();
    assert_eq!(stranger.get("/livez").await.is(200).text(), "ok\n");
    assert_eq!(stranger.get("/readyz").await.is(200).text(), "ready\n");
    assert_eq!(stranger.get("/version").await.is(200).json()["name"], "pidq-server");
    assert!(stranger.get("/docs").await.is(200).header("content-type").starts_with("text/html"));
    stranger.get("/metrics").await.refuses(404, "not-found");
    for path in ["/livez", "/readyz", "/version", "/openapi.json", "/docs", "/metrics"] {
        check_media_type(&stranger.get(path).await);
    }
}

#[tokio::test]
async fn every_path_tells_its_methods() {
    let service = Service::start().await;
    let stranger = service.stranger();
    for row in ROUTES {
        let path = row.path.replace("{job_id}", "J-1");
        let options = stranger.send("OPTIONS", &path, &[], "").await.is(204);
        let refused = stranger.send("PATCH", &path, &[], "").await.is(405);
        for answer in [&options, &refused] {
            check_media_type(answer);
            let allow: Vec<_> = answer.header("allow").split(", ").collect();
            assert!(allow.contains(&row.method.as_str()), "{path}: {allow:?}");
        }
    }
}

/// What is not told under its own name, and what only the rows of another service answer.
const NOT_SENT: &[&str] = &[
    "invalid-idempotency-key",
    "invalid-path",
    "malformed-form",
    "malformed-multipart",
    "range-not-satisfiable",
    "storage-failure",
    "store-locked",
    "store-unavailable",
];

#[test]
fn the_manual_names_the_codes_of_all_problems_and_no_others() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sent = BTreeSet::new();
    codes_in(&here.join("src"), &mut sent);
    codes_in(&here.join("../pidq-http/src"), &mut sent);
    for name in NOT_SENT {
        assert!(sent.remove(*name), "{name} is nowhere in the source");
    }
    let manual = pidq_server::manual::http();
    let table = manual.split_once("## Problems").and_then(|(_, rest)| rest.split_once("## ")).expect("a section").0;
    let rows = table.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let told = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
    assert_eq!(sent, told);
}

/// The codes of problems in the source files of a folder, without those of tests.
fn codes_in(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            codes_in(&path, codes);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let source = std::fs::read_to_string(&path).expect("source");
            let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let is_read = |line: &&str| !line.trim_start().starts_with("//");
            codes.extend(codes_of(&source.lines().filter(is_read).collect::<Vec<_>>().join("\n")));
        }
    }
}

/// The text that is an argument where a problem is made, and those that errors of the store have for codes.
fn codes_of(source: &str) -> impl Iterator<Item = String> {
    const MADE: [&str; 7] = [
        "Problem::new(",
        "bad_request(",
        "Problem::too_large(",
        "unprocessable(",
        "unavailable(",
        "not_found(",
        "(StatusCode::",
    ];
    let calls = MADE.into_iter().flat_map(|made| source.split(made).skip(1));
    let calls = calls.filter_map(|call| call.split_once(')').map(|(arguments, _)| arguments));
    let arms = source.split("Error::").skip(1).filter_map(|arm| arm.lines().next()?.split_once("=> ").map(|arm| arm.1));
    let texts = calls.chain(arms.filter(|code| code.starts_with('"'))).filter_map(|text| text.split('"').nth(1));
    let is_code = |text: &&str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && text.len() > 4;
    texts.filter(is_code).map(str::to_owned)
}
