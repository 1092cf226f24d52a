//! Tests of `POST /graph/{job_id}`: results and errors of queries.

use serde_json::{Value, json};

use crate::fixtures::{DRAWING, TestClient, TestService};

async fn viewer_client(service: &TestService) -> TestClient<'_> {
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    service.client("viewer").await
}

#[tokio::test]
async fn a_response_has_four_fields_in_order() {
    let service = TestService::start().await;
    let viewer = viewer_client(&service).await;
    let query = r#".pid_graph.nodes | filter(.class == "tank")"#;
    let response = viewer.query("J-1", query).await.is(200);
    let expected = format!(
        r#"{{"query":{},"schema_version":"1","change_version":"1","result":[{{"id":"T-1","node_type":"pid_component","class":"tank","dn":53.0}}]}}"#,
        json!(query)
    );
    assert_eq!(response.text().replace(": ", ":").replace(", ", ","), expected);
    assert_eq!(response.header("content-type"), "application/json");
    assert_eq!(response.header("x-result-kind"), "array");
    assert_eq!(response.header("x-change-version"), "1");
    assert!(response.header("x-fuel-used").parse::<u64>().is_ok_and(|fuel| fuel > 0));
    assert_eq!(response.header("cache-control"), "private, no-cache");
}

#[tokio::test]
async fn the_query_is_returned_unchanged() {
    let service = TestService::start().await;
    let viewer = viewer_client(&service).await;
    for query in ["  size( )  ", "# a note\nsize()", "\"ä€𝄞\\u0041\" | size()", "\"\\u0000\" | size()"] {
        let response = viewer.query("J-1", query).await;
        if response.status == 200 {
            assert_eq!(response.json()["query"], query);
        }
    }
    assert_eq!(
        viewer.query("J-1", "  .pid_graph.nodes  |  size( )").await.is(200).json()["query"],
        "  .pid_graph.nodes  |  size( )"
    );
}

#[tokio::test]
async fn a_result_is_always_an_array_and_a_header_has_its_kind() {
    let service = TestService::start().await;
    let viewer = viewer_client(&service).await;
    let cases: &[(&str, Value, &str)] = &[
        (".pid_graph.nodes | map(.id)", json!(["T-1", "V-1", "P-1"]), "array"),
        (".pid_graph.nodes | filter(false)", json!([]), "array"),
        (".pid_graph.nodes | size()", json!([3]), "value"),
        (".pid_graph.metadata.drawing_name", json!(["Unit 7"]), "value"),
        (".pid_graph.metadata.nothing", json!([null]), "value"),
        ("1 / 0", json!([null]), "value"),
        ("[[1]]", json!([[1]]), "array"),
    ];
    for (query, result, kind) in cases {
        let response = viewer.query("J-1", query).await.is(200);
        assert_eq!(response.header("x-result-kind"), *kind, "{query}");
        assert_eq!(response.json()["result"], *result, "{query}");
    }
}

#[tokio::test]
async fn query_errors_have_a_location() {
    let service = TestService::start().await;
    let viewer = viewer_client(&service).await;
    let cases = [
        (".pid_graph | (", 400, "query-syntax"),
        ("filter(", 400, "query-syntax"),
        ("| size()", 400, "query-syntax"),
        (".pid_graph.nodes | fliter(.a)", 422, "unknown-function"),
        (".pid_graph.nodes | size() | map(.a)", 422, "query-evaluation"),
        (r#".pid_graph.nodes | filter(regex(.id, "("))"#, 422, "regex-unsupported"),
    ];
    for (query, status, code) in cases {
        let body = viewer.query("J-1", query).await.expect_problem(status, code).json();
        assert!(body["pq_code"].as_str().is_some_and(|code| code.starts_with("PQ")), "{body}");
        let location = ["position", "line", "column"].map(|name| body[name].as_u64());
        assert!(location.iter().all(Option::is_some), "{body}");
    }
    let expected = [
        (".pid_graph | (", "a value"),
        ("| size()", "a value"),
        (".pid_graph.", "a property name"),
        ("{: .a}", "a key"),
        ("size(.a", "`)`"),
        ("filter(1 2)", "`,`"),
        ("1 2", "the end of the query"),
        ("/* .a", "`*/`"),
    ];
    for (query, expected) in expected {
        let body = viewer.query("J-1", query).await.expect_problem(400, "query-syntax").json();
        assert_eq!(body["expected"], expected, "{query}: {body}");
    }
    let unknown = viewer.query("J-1", "fliter(.a)").await.json();
    assert_eq!(unknown.get("expected"), None, "it can be read");
    assert!(unknown["suggestions"].to_string().contains("filter"), "{unknown}");
}

#[tokio::test]
async fn an_expensive_query_is_stopped_by_a_limit() {
    let service = TestService::with(&[("PIDQ_QUERY_FUEL", "200000"), ("PIDQ_MAX_RESULT_SIZE", "4KiB")]).await;
    let viewer = viewer_client(&service).await;
    let deep = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    let doubled = "get() | ".to_owned() + &["[get(), get()] | flatten()"; 30].join(" | ");
    let wide = format!("[{}]", vec!["\"0123456789\""; 500].join(","));
    let long = " ".repeat(65_537);
    for (query, limit) in
        [(deep.as_str(), "depth"), (&long, "query"), (doubled.as_str(), "steps"), (wide.as_str(), "result")]
    {
        let body = viewer.query("J-1", query).await.expect_problem(422, "query-limit").json();
        assert_eq!(body["limit"], limit, "{body}");
        assert!(body["value"].as_u64().is_some());
    }
}

#[tokio::test]
async fn a_limit_error_names_the_configured_limit() {
    let service = TestService::with(&[("PIDQ_QUERY_FUEL", "200000"), ("PIDQ_MAX_RESULT_SIZE", "4KiB")]).await;
    let viewer = viewer_client(&service).await;
    let doubled = "get() | ".to_owned() + &["[get(), get()] | flatten()"; 30].join(" | ");
    assert_eq!(viewer.query("J-1", &doubled).await.json()["value"], 200_000);
    let wide = format!("[{}]", vec!["\"0123456789\""; 500].join(","));
    assert_eq!(viewer.query("J-1", &wide).await.json()["value"], 4096);
}

#[tokio::test]
async fn a_limit_error_has_one_limit_in_text_and_fields() {
    let service = TestService::with(&[("PIDQ_MAX_RESULT_SIZE", "4KiB")]).await;
    let viewer = viewer_client(&service).await;
    let check = async |path: &str, body: Value, limit: &str, value: u64| {
        let problem = viewer.post(path, body).await.expect_problem(422, "query-limit").json();
        assert_eq!((&problem["limit"], &problem["value"]), (&json!(limit), &json!(value)), "{problem}");
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains(&value.to_string())), "{problem}");
    };
    let many = format!("[{}]", vec!["1"; 10_001].join(","));
    check("/graph/J-1", json!({"query": many}), "nodes", 10_000).await;
    let deep = format!("{}1{}", "(".repeat(200), ")".repeat(200));
    check("/graph/J-1", json!({"query": deep}), "depth", 128).await;
    let wide = format!("[{}]", vec!["\"0123456789abcdef\""; 1000].join(","));
    check("/graph/J-1?format=ndjson", json!({"query": wide}), "result", 16 << 10).await;
    let long = format!("[{}] | join(\"\") | size()", vec!["$x"; 18].join(","));
    check("/graph/J-1", json!({"query": long, "params": {"x": "x".repeat(1_000_000)}}), "memory", 16 << 20).await;
}

#[tokio::test]
async fn an_invalid_body_is_rejected() {
    let service = TestService::start().await;
    let viewer = viewer_client(&service).await;
    let json = &["content-type: application/json"][..];
    for (body, code) in [
        ("", "malformed-json"),
        ("{", "malformed-json"),
        (r#"{"query": "\ud800"}"#, "malformed-json"),
        (r#"{"query": "$x", "params": {"x": "\ud800"}}"#, "malformed-json"),
        (r#"{"query": "$x", "params": {"x": "\udc00\ud800"}}"#, "malformed-json"),
        (r#"{"query": "1", "params": {"\udfff": 1}}"#, "malformed-json"),
        (r#"{"query": "1", "\ud800": 1}"#, "malformed-json"),
        (r#"{"query": "1", "note": ["\ud83d"]}"#, "malformed-json"),
        (r#"{"query": "get()"} x"#, "malformed-json"),
        ("\u{feff}{\"query\": \"get()\"}", "malformed-json"),
        ("{}", "invalid-request"),
        ("null", "invalid-request"),
        (r#""get()""#, "invalid-request"),
        (r#"["get()"]"#, "invalid-request"),
        (r#"["get()", null, false, false]"#, "invalid-request"),
        (r#"{"query": ""}"#, "invalid-request"),
        (r#"{"query": 1}"#, "invalid-request"),
        (r#"{"query": null}"#, "invalid-request"),
        (r#"{"query": ["get"]}"#, "invalid-request"),
        (r#"{"query": "get()", "query": "size()"}"#, "invalid-request"),
        (r#"{"query": "get()", "params": []}"#, "invalid-request"),
        (r#"{"query": "get()", "params": null}"#, "invalid-request"),
        (r#"{"query": "get()", "params": "x"}"#, "invalid-request"),
        (r#"{"query": "get()", "explain": 1}"#, "invalid-request"),
        (r#"{"query": "get()", "dry_run": "yes"}"#, "invalid-request"),
    ] {
        viewer.send("POST", "/graph/J-1", json, body).await.expect_problem(400, code);
    }
    viewer.send("POST", "/graph/J-1", json, vec![0xff, 0xfe]).await.expect_problem(400, "malformed-json");
    let skipped = b"{\"query\": \"1\", \"note\": \"\xff\"}".to_vec();
    viewer.send("POST", "/graph/J-1", json, skipped).await.expect_problem(400, "malformed-json");
    let large = json!({"query": "get()", "note": "x".repeat(2 << 20)}).to_string();
    viewer.send("POST", "/graph/J-1", json, large).await.expect_problem(413, "payload-too-large");
    for media in [&["content-type: text/plain"][..], &[]] {
        let refused = viewer.send("POST", "/graph/J-1", media, r#"{"query": "get()"}"#).await;
        assert_eq!(refused.expect_problem(415, "unsupported-media-type").header("accept"), "application/json");
    }
    let whole = r#"{"query": "$x", "params": {"x": "\ud83d\ude00\\ud800"}, "note": "\ud83d\ude00"}"#;
    assert_eq!(viewer.send("POST", "/graph/J-1", json, whole).await.result(), json!(["😀\\ud800"]));
    let more = json!({"query": "1", "unknown": {"members": "are ignored"}});
    viewer.post("/graph/J-1", more).await.is(200);
}

#[tokio::test]
async fn parameters_are_never_parsed_as_query_text() {
    let service = TestService::start().await;
    let viewer = viewer_client(&service).await;
    let post =
        async |query: &str, params: Value| viewer.post("/graph/J-1", json!({"query": query, "params": params})).await;
    let by_id = ".pid_graph.nodes | filter(.id == $id) | map(.class)";
    assert_eq!(post(by_id, json!({"id": "V-1"})).await.result(), json!(["valve"]));
    assert_eq!(post(by_id, json!({"id": "\" or true or \""})).await.result(), json!([]));
    let missing = post(by_id, json!({})).await;
    assert_eq!(missing.is(422).json()["code"], "query-invalid");
}

#[tokio::test]
async fn explain_and_dry_run_add_a_field() {
    let service = TestService::start().await;
    let viewer = viewer_client(&service).await;
    let query = ".pid_graph.nodes | filter(.clas == \"tank\")";
    let plain = viewer.query("J-1", query).await.is(200).json();
    assert_eq!(plain.as_object().expect("an object").len(), 4);
    let explained = viewer.post("/graph/J-1", json!({"query": query, "explain": true})).await.is(200).json();
    assert_eq!(explained["result"], plain["result"]);
    assert!(explained["explain"]["warnings"].as_array().is_some_and(|all| !all.is_empty()), "{explained}");
    assert_eq!(explained["explain"]["steps"][0]["how"], "scan");
    assert!(explained["explain"]["milliseconds"].as_f64().is_some_and(|time| time >= 0.0), "{explained}");
    let dry = viewer.post("/graph/J-1", json!({"query": query, "dry_run": true})).await.is(200);
    assert_eq!(dry.header("x-fuel-used"), "0");
    assert_eq!(dry.json()["result"], json!([]));
    assert!(dry.json()["explain"]["warnings"].as_array().is_some_and(|all| !all.is_empty()));
    let as_svg = viewer.post("/graph/J-1?format=svg", json!({"query": query, "dry_run": true})).await.is(200);
    assert_eq!((as_svg.header("content-type"), as_svg.json()), ("application/json", dry.json()));
    let wrong = json!({"query": "fliter(.a)", "dry_run": true});
    viewer.post("/graph/J-1", wrong).await.expect_problem(422, "unknown-function");
}

#[tokio::test]
async fn results_are_exported_in_other_formats() {
    let service = TestService::start().await;
    let viewer = viewer_client(&service).await;
    let body = json!({"query": ".pid_graph.nodes"}).to_string();
    let json = "content-type: application/json";
    let lines = viewer.send("POST", "/graph/J-1", &[json, "accept: application/x-ndjson"], body.clone()).await.is(200);
    assert_eq!(lines.header("content-type"), "application/x-ndjson");
    assert_eq!(lines.text().lines().count(), 3);
    let one = viewer.post("/graph/J-1?format=ndjson", json!({"query": "1 + 1"})).await.is(200);
    assert_eq!(one.text(), "2\n");
    let table = viewer.send("POST", "/graph/J-1?format=csv", &[json], body).await;
    assert!(table.status == 200 || table.json()["code"] == "result-not-exportable", "{}", table.text());
    let number = viewer.post("/graph/J-1?format=graphml", json!({"query": "1"})).await;
    number.expect_problem(422, "result-not-exportable");
}

#[tokio::test]
async fn a_query_may_run_on_an_older_version() {
    let service = TestService::start().await;
    let viewer = viewer_client(&service).await;
    service.client("desk").await.put("/graph/J-1", r#"{"pid_graph":{"nodes":[],"edges":[]}}"#).await.is(200);
    let query = json!({"query": ".pid_graph.nodes | size()"}).to_string();
    let query_version = async |version: &str| {
        let headers = ["content-type: application/json", &format!("x-change-version: {version}")];
        viewer.send("POST", "/graph/J-1", &headers, query.clone()).await
    };
    let old = query_version("1").await.is(200).json();
    assert_eq!((&old["change_version"], &old["result"]), (&json!("1"), &json!([3])));
    assert_eq!(query_version("2").await.result(), json!([0]));
    query_version("9").await.expect_problem(404, "graph-version-not-found");
}
