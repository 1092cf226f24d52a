//! Tests of the route table: every row responds as declared, and the OpenAPI document lists no others.

use std::collections::BTreeSet;

use pidq_server::ROUTES;
use serde_json::{Value, json};

use crate::accounts::administrator;
use crate::fixtures::{DRAWING, FORM, PASSWORD, SECRET, TestResponse, TestService};
use crate::openapi_types::check_types;

/// Returns a successful request for each row with its status, in order: put, query, delete.
fn calls() -> Vec<(&'static str, &'static str, &'static str, String, u16)> {
    let client = format!("client_id=desk&client_secret={SECRET}");
    let password = format!("grant_type=password&username=ann@example.com&password={PASSWORD}&{client}");
    let token = format!("token=unknown&{client}");
    let query = json!({"query": ".pid_graph.nodes"}).to_string();
    let batch = json!({"query": "size()", "graphs": {"prefix": ""}}).to_string();
    let password_change = json!({"current_password": PASSWORD, "new_password": "red valve, shut"}).to_string();
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
        ("POST", "/graph", "/graph", batch, 200),
        ("GET", "/graph/{job_id}", "/graph/J-1", none(), 200),
        ("POST", "/graph/{job_id}", "/graph/J-1", query, 200),
        ("GET", "/graph/{job_id}/versions", "/graph/J-1/versions", none(), 200),
        ("DELETE", "/graph/{job_id}", "/graph/J-1", none(), 204),
        ("GET", "/account", "/account", none(), 200),
        ("PUT", "/account/password", "/account/password", password_change, 204),
        ("GET", "/accounts", "/accounts", none(), 200),
        ("POST", "/accounts", "/accounts", json!({"login": "max", "role": "viewer"}).to_string(), 201),
        ("PATCH", "/accounts/{login}", "/accounts/max", "{}".into(), 200),
        ("DELETE", "/accounts/{login}", "/accounts/max", none(), 204),
        ("GET", "/clients", "/clients", none(), 200),
        ("POST", "/clients", "/clients", json!({"id": "c-1", "scopes": ["read"]}).to_string(), 201),
        ("PATCH", "/clients/{client_id}", "/clients/c-1", json!({"disabled": true}).to_string(), 200),
        ("POST", "/clients/{client_id}/rotate", "/clients/c-1/rotate", none(), 200),
        ("DELETE", "/clients/{client_id}", "/clients/c-1", none(), 204),
    ]
}

#[tokio::test]
async fn every_route_responds_with_the_shared_headers() {
    let service = TestService::start().await;
    let (desk, admin, anonymous) = (service.client("desk").await, administrator(&service).await, service.anonymous());
    let mut called = BTreeSet::new();
    for (method, row, path, body, status) in calls() {
        let media = if path.starts_with("/o/") { FORM } else { "application/json" };
        let client = match path.split('/').nth(1) {
            Some("graph") => &desk,
            Some("account" | "accounts" | "clients") => &admin,
            _ => &anonymous,
        };
        let response = client.send(method, path, &[&format!("content-type: {media}")], body).await.is(status);
        check_shared_headers(&response);
        called.insert((method.to_owned(), row.to_owned()));
    }
    let rows = ROUTES.iter().map(|row| (row.method.to_string(), row.path.to_owned()));
    assert_eq!(called, rows.collect());
}

fn check_shared_headers(response: &TestResponse) {
    assert_eq!(response.header("x-request-id"), "r-1");
    assert_eq!(response.header("x-content-type-options"), "nosniff");
    assert!(!response.header("cache-control").is_empty() && !response.header("vary").is_empty());
    assert_eq!(response.header("server"), "");
    check_media_type(response);
}

/// Checks the content type: present with a body, with a charset for text, absent without a body.
fn check_media_type(response: &TestResponse) {
    let media = response.header("content-type");
    assert_eq!(media.is_empty(), response.body.is_empty(), "{media}");
    assert!(!media.starts_with("text/") || media.ends_with("; charset=utf-8"), "{media}");
    assert!(!media.contains("json") || serde_json::from_slice::<Value>(&response.body).is_ok(), "{media}");
}

#[tokio::test]
async fn the_openapi_document_lists_exactly_the_routes() {
    let service = TestService::start().await;
    let document: Value = serde_json::from_slice(&service.service.openapi()).expect("JSON");
    assert_eq!(service.anonymous().get("/openapi.json").await.is(200).json(), document);
    let paths = document["paths"].as_object().expect("paths");
    let methods = |(path, item): (&String, &Value)| {
        let item = item.as_object().expect("methods");
        item.keys().map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
    };
    let named: BTreeSet<_> = paths.iter().flat_map(methods).collect();
    let builtin = ["/", "/livez", "/readyz", "/version", "/openapi.json", "/docs", "/problems", "/problems/{code}"];
    let builtin = builtin.map(|path| ("GET".to_owned(), path.to_owned()));
    let rows = ROUTES.iter().map(|row| (row.method.to_string(), row.path.to_owned()));
    assert_eq!(named, rows.chain(builtin).collect());
}

/// Every body has a named type whose fields are described: the schemas come from the types of the handlers.
#[tokio::test]
async fn the_types_of_all_bodies_are_described() {
    let service = TestService::start().await;
    let document: Value = serde_json::from_slice(&service.service.openapi()).expect("JSON");
    check_types(&document);
}

#[tokio::test]
async fn builtin_routes_need_no_token() {
    let service = TestService::start().await;
    let anonymous = service.anonymous();
    assert_eq!(anonymous.get("/livez").await.is(200).text(), "ok\n");
    assert_eq!(anonymous.get("/readyz").await.is(200).text(), "ready\n");
    assert_eq!(anonymous.get("/version").await.is(200).json()["name"], "pidq-server");
    assert!(anonymous.get("/docs").await.is(200).header("content-type").starts_with("text/html"));
    anonymous.get("/metrics").await.expect_problem(404, "not-found");
    for path in ["/livez", "/readyz", "/version", "/openapi.json", "/docs", "/metrics"] {
        check_media_type(&anonymous.get(path).await);
    }
}

#[tokio::test]
async fn every_path_allows_its_methods() {
    let service = TestService::start().await;
    let anonymous = service.anonymous();
    for row in ROUTES {
        let path = row.path.replace("{job_id}", "J-1").replace("{login}", "max").replace("{client_id}", "c-1");
        let options = anonymous.send("OPTIONS", &path, &[], "").await.is(204);
        let refused = anonymous.send("TRACE", &path, &[], "").await.is(405);
        for response in [&options, &refused] {
            check_media_type(response);
            let allow: Vec<_> = response.header("allow").split(", ").collect();
            assert!(allow.contains(&row.method.as_str()), "{path}: {allow:?}");
        }
    }
}
