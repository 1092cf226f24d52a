//! Tests of `GET /graph/{job_id}` and its versions: stored bytes, conditions, versions and formats.

use std::io::Read;

use serde_json::{Value, json};

use crate::fixtures::{DRAWING, TestService, drawing};

#[tokio::test]
async fn a_graph_is_returned_as_stored_with_service_metadata() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    let response = desk.get("/graph/J-1").await.is(200);
    assert!(response.text().starts_with("{\"pid_graph\": {\"nodes\": [\n  {\"id\": \"T-1\""), "{}", response.text());
    assert!(response.text().contains("\"dn\": 53.0"), "numbers keep their text");
    let metadata = json!({"drawing_name": "Unit 7", "job_id": "J-1", "schema_version": "1", "change_version": "1"});
    assert_eq!(response.json()["pid_graph"]["metadata"], metadata);
    assert_eq!(response.header("content-type"), "application/json");
    assert_eq!(response.header("accept-ranges"), "none");
    assert_eq!(response.header("x-change-version"), "1");
    assert_eq!(response.header("cache-control"), "private, no-cache");
    assert_eq!(response.header("vary"), "Accept-Encoding, Authorization, Accept");
    assert!(response.header("etag").starts_with("\"1-") && response.header("etag").len() == 20);
    assert!(response.header("last-modified").ends_with(" GMT"));
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    let (get, head) = (desk.get("/graph/J-1").await, desk.send("HEAD", "/graph/J-1", &[], "").await.is(200));
    assert!(head.body.is_empty());
    for name in ["etag", "last-modified", "content-type", "vary"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
    desk.send("HEAD", "/graph/J-2", &[], "").await.is(404);
}

#[tokio::test]
async fn a_matching_etag_is_not_modified() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    let tag = desk.get("/graph/J-1").await.header("etag").to_owned();
    let bare = tag.trim_matches('"');
    let known = [tag.clone(), "*".into(), format!("\"x\", {tag}"), format!("\"{bare}-zstd\""), format!("W/{tag}")];
    for condition in known {
        let response = desk.send("GET", "/graph/J-1", &[&format!("if-none-match: {condition}")], "").await.is(304);
        assert!(response.body.is_empty(), "{condition}");
        assert_eq!(response.header("etag"), tag);
        assert_eq!(response.header("cache-control"), "private, no-cache");
        assert_eq!(response.header("vary"), "Accept-Encoding, Authorization, Accept");
        assert_eq!(response.header("content-type"), "");
    }
    for condition in ["\"1-0000000000000000\"", "nonsense"] {
        desk.send("GET", "/graph/J-1", &[&format!("if-none-match: {condition}")], "").await.is(200);
    }
    desk.put("/graph/J-1", &drawing("V-1")).await.is(200);
    desk.send("GET", "/graph/J-1", &[&format!("if-none-match: {tag}")], "").await.is(200);
}

#[tokio::test]
async fn each_coding_has_its_own_tag_and_the_same_content() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let nodes: Vec<Value> =
        (0..200).map(|n| json!({"id": format!("N-{n}"), "tag": "a text that compresses"})).collect();
    desk.put("/graph/J-1", &json!({"pid_graph": {"nodes": nodes, "edges": []}}).to_string()).await.is(201);
    let plain = desk.get("/graph/J-1").await;
    let tags = format!("if-none-match: {}", plain.header("etag"));
    for coding in ["zstd", "br", "gzip"] {
        let response = desk.send("GET", "/graph/J-1", &[&format!("accept-encoding: {coding}")], "").await.is(200);
        assert_eq!(response.header("content-encoding"), coding);
        assert_eq!(response.header("etag"), format!("{}-{coding}\"", plain.header("etag").trim_end_matches('"')));
        assert!(response.body.len() < plain.body.len() / 4);
        assert!(decoded(coding, &response.body) == plain.body, "{coding}");
        for method in ["GET", "HEAD"] {
            let headers = [&format!("accept-encoding: {coding}"), "if-none-match: \"zz\"", &tags];
            let known = desk.send(method, "/graph/J-1", &headers, "").await.is(304);
            assert_eq!(known.header("etag"), response.header("etag"), "{method} {coding}");
            assert_eq!((known.header("content-encoding"), known.header("content-length")), ("", ""));
        }
    }
    let refused = desk.send("GET", "/graph/J-1", &["accept-encoding: zstd;q=0, gzip;q=0"], "").await.is(200);
    assert_eq!(refused.header("content-encoding"), "");
    desk.send("GET", "/graph/J-1", &["accept-encoding: identity;q=0, *;q=0"], "")
        .await
        .expect_problem(406, "not-acceptable");
    let small = desk.send("GET", "/version", &["accept-encoding: identity;q=0, gzip"], "").await.is(200);
    assert_eq!(small.header("content-encoding"), "gzip");
}

fn decoded(coding: &str, body: &[u8]) -> Vec<u8> {
    if coding == "zstd" {
        return zstd::decode_all(body).expect("zstd");
    }
    let mut whole = Vec::new();
    if coding == "br" {
        brotli::Decompressor::new(body, 4096).read_to_end(&mut whole).expect("br");
        return whole;
    }
    flate2::read::GzDecoder::new(body).read_to_end(&mut whole).expect("gzip");
    whole
}

#[tokio::test]
async fn older_versions_can_be_requested() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", &drawing("A")).await.is(201);
    desk.put("/graph/J-1", &drawing("B")).await.is(200);
    let at = async |version: &str| desk.send("GET", "/graph/J-1", &[&format!("x-change-version: {version}")], "").await;
    assert!(at("1").await.is(200).text().contains("\"A\""));
    assert!(at("2").await.is(200).text().contains("\"B\""));
    for version in ["3", "0", "01", "x", "-1", "99999999999999999999"] {
        at(version).await.expect_problem(404, "graph-version-not-found");
    }
    let listed = desk.get("/graph/J-1/versions").await.is(200).json();
    assert_eq!(listed["job_id"], "J-1");
    assert_eq!(listed["latest_version"], "2");
    let versions = listed["versions"].as_array().expect("a list");
    let numbers: Vec<_> = versions.iter().map(|row| row["change_version"].as_str().expect("a text")).collect();
    assert_eq!(numbers, ["2", "1"]);
    assert!(versions.iter().all(|row| row["created_on"].as_str().is_some_and(|time| time.ends_with('Z'))));
}

#[tokio::test]
async fn older_versions_can_be_requested_in_the_url() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", &drawing("A")).await.is(201);
    desk.put("/graph/J-1", &drawing("B")).await.is(200);
    for (version, node) in [("1", "\"A\""), ("2", "\"B\"")] {
        for format in ["json", "ndjson"] {
            let response = desk.get(&format!("/graph/J-1?change_version={version}&format={format}")).await.is(200);
            assert_eq!(response.header("x-change-version"), version);
            assert!(response.text().contains(node), "{}", response.text());
        }
        let queried = desk.post(&format!("/graph/J-1?change_version={version}"), json!({"query": "1"})).await.is(200);
        assert_eq!(queried.json()["change_version"], version);
    }
    desk.get("/graph/J-1?change_version=3").await.expect_problem(404, "graph-version-not-found");
    desk.get("/graph/J-1?change_version=").await.expect_problem(404, "graph-version-not-found");
    desk.get("/graph/J-1?change_version=1&change_version=2").await.expect_problem(400, "invalid-parameter");
    let both = async |version: &str| {
        desk.send("GET", "/graph/J-1?change_version=1", &[&format!("x-change-version: {version}")], "").await
    };
    assert!(both("1").await.is(200).text().contains("\"A\""));
    both("2").await.expect_problem(400, "invalid-parameter");
}

#[tokio::test]
async fn schemas_are_distinguished_by_major_version() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    for (version, status) in [("1", 200), ("1.4", 200), ("2", 406), ("", 406), ("x", 406), ("10", 406)] {
        let response = desk.send("GET", "/graph/J-1", &[&format!("x-schema-version: {version}")], "").await;
        if status == 406 {
            assert_eq!(response.expect_problem(406, "unsupported-schema-version").json()["allowed"], json!(["1"]));
        } else {
            response.is(status);
        }
    }
}

#[tokio::test]
async fn a_graph_is_exported_in_other_formats() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    for (format, media, start) in [
        ("proteus", "application/xml; charset=utf-8", "<PlantModel"),
        ("graphml", "application/graphml+xml; charset=utf-8", "<?xml"),
        ("svg", "image/svg+xml; charset=utf-8", "<svg"),
        ("dot", "text/vnd.graphviz; charset=utf-8", "digraph"),
        ("cypher", "application/x-cypher-query", "CREATE CONSTRAINT"),
    ] {
        let named = desk.get(&format!("/graph/J-1?format={format}")).await.is(200);
        assert_eq!(named.header("content-type"), media);
        let media = media.split(';').next().unwrap_or_default();
        assert!(named.text().contains(start), "{format}");
        let accepted = desk.send("GET", "/graph/J-1", &[&format!("accept: {media}")], "").await.is(200);
        assert_eq!(accepted.body, named.body, "{format}");
    }
    let document: Value = serde_json::from_slice(&service.service.openapi()).expect("JSON");
    let media_types = &document["paths"]["/graph/{job_id}"]["get"]["responses"]["200"]["content"];
    let refused =
        desk.send("GET", "/graph/J-1", &["accept: image/png"], "").await.expect_problem(406, "not-acceptable");
    for media in refused.json()["allowed"].as_array().expect("a list") {
        assert!(media_types.get(media.as_str().expect("a text")).is_some(), "the document does not name {media}");
    }
    assert_eq!(desk.get("/graph").await.header("vary"), "Accept-Encoding, Authorization", "it has one form");
    desk.get("/graph/J-1?format=pdf").await.expect_problem(400, "invalid-parameter");
    let refused =
        desk.send("GET", "/graph/J-1", &["accept: image/png"], "").await.expect_problem(406, "not-acceptable");
    assert!(refused.json()["allowed"].as_array().is_some_and(|all| all.contains(&json!("application/json"))));
}

#[tokio::test]
async fn each_format_has_its_own_tag() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    let plain = desk.get("/graph/J-1").await.header("etag").to_owned();
    let mut tags = vec![plain.clone()];
    for format in ["ndjson", "node-link", "graphml", "csv", "xlsx", "dot", "mermaid", "cypher", "svg"] {
        let path = format!("/graph/J-1?format={format}");
        let response = desk.get(&path).await.is(200);
        let tag = response.header("etag").to_owned();
        assert_eq!(response.header("vary"), "Accept-Encoding, Authorization, Accept");
        assert!(tag.starts_with(plain.trim_end_matches('"')) && !tags.contains(&tag), "{format}: {tag}");
        desk.send("GET", &path, &[&format!("if-none-match: {plain}")], "").await.is(200);
        let known = desk.send("GET", &path, &[&format!("if-none-match: {tag}")], "").await.is(304);
        assert_eq!((known.header("etag"), known.header("vary")), (tag.as_str(), response.header("vary")));
        desk.send("GET", "/graph/J-1", &[&format!("if-none-match: {tag}")], "").await.is(200);
        let write = ["content-type: application/json", &format!("if-match: {tag}")];
        desk.send("PUT", "/graph/J-1", &write, DRAWING).await.expect_problem(412, "precondition-failed");
        tags.push(tag);
    }
    let accepted = ["accept: text/csv", &format!("if-none-match: {plain}")];
    desk.send("GET", "/graph/J-1", &accepted, "").await.is(200);
}

#[tokio::test]
async fn ndjson_of_a_graph_has_its_nodes_and_edges() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let nodes: Vec<Value> = (0..50).map(|n| json!({"id": n, "at": [n, {"x": "a b\\\"c"}]})).collect();
    let edges: Vec<Value> = (1..50).map(|n| json!({"source": n - 1, "target": n})).collect();
    let graph = json!({"pid_graph": {"nodes": nodes, "edges": edges, "metadata": {}}});
    desk.put("/graph/J-1", &serde_json::to_string_pretty(&graph).expect("JSON")).await.is(201);
    let check = |text: &str, expected: &[Value]| {
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
        assert_eq!(rows, expected);
    };
    let named = desk.get("/graph/J-1?format=ndjson").await.is(200);
    assert_eq!(named.header("content-type"), "application/x-ndjson");
    check(&named.text(), &[nodes.clone(), edges].concat());
    let accepted = desk.send("GET", "/graph/J-1", &["accept: application/x-ndjson"], "").await.is(200);
    assert_eq!(accepted.body, named.body);
    let queried = desk.post("/graph/J-1?format=ndjson", json!({"query": ".pid_graph.nodes"})).await.is(200);
    check(&queried.text(), &nodes);
    let one = desk.post("/graph/J-1?format=ndjson", json!({"query": ".pid_graph.nodes | get(3)"})).await.is(200);
    check(&one.text(), &nodes[3..4]);
}

#[tokio::test]
async fn missing_graphs_are_not_found_and_invalid_ids_are_rejected() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    for path in ["/graph/J-1", "/graph/J-1/versions", "/graph/%41"] {
        desk.get(path).await.expect_problem(404, "graph-not-found");
    }
    let long = "x".repeat(129);
    for id in ["..", "%2e%2e", "a%2fb", "a%00", "a%20b", "%C3%A4", "%252e", "a*", &long] {
        let response = desk.get(&format!("/graph/{id}")).await;
        assert!([400, 404].contains(&response.status), "{id}: {}", response.text());
        if response.status == 400 {
            response.expect_problem(400, "invalid-job-id");
        }
    }
    for id in ["%zz", "%ff", "a%2"] {
        desk.get(&format!("/graph/{id}")).await.expect_problem(400, "invalid-job-id");
        desk.delete(&format!("/graph/{id}")).await.expect_problem(400, "invalid-job-id");
        service.anonymous().get(&format!("/graph/{id}")).await.expect_problem(401, "unauthenticated");
    }
    desk.get(&format!("/graph/{}", "x".repeat(128))).await.expect_problem(404, "graph-not-found");
}
