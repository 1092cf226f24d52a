//! Tests of `PUT` and `DELETE /graph/{job_id}`: versions, preconditions and invalid graphs.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use pidq_http::{COMMON, Settings};
use pidq_server::SETTINGS;
use serde_json::json;

use crate::fixtures::{DRAWING, TestResponse, TestService, drawing};

#[tokio::test]
async fn a_put_creates_a_graph_or_a_version_or_changes_nothing() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let created = desk.put("/graph/J-1", DRAWING).await.is(201);
    assert_eq!(created.header("location"), "/graph/J-1");
    let expected = json!({
        "job_id": "J-1", "schema_version": "1", "change_version": "1", "nodes": 3, "edges": 2, "warnings": [],
        "format": "json", "findings": [],
    });
    assert_eq!(created.json(), expected);
    assert_eq!(created.header("etag"), desk.get("/graph/J-1").await.header("etag"));
    let same = desk.put("/graph/J-1", DRAWING).await.is(200);
    assert_eq!((same.header("x-pidq-unchanged"), &same.json()["change_version"]), ("true", &json!("1")));
    let changed = desk.put("/graph/J-1", &drawing("A")).await.is(200);
    assert_eq!((changed.header("x-pidq-unchanged"), &changed.json()["change_version"]), ("", &json!("2")));
}

#[tokio::test]
async fn a_returned_graph_can_be_stored_again() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    let given = desk.get("/graph/J-1").await.text();
    let again = desk.put("/graph/J-1", &given).await.is(200);
    assert_eq!(again.header("x-pidq-unchanged"), "true");
    desk.put("/graph/J-2", &given).await.expect_problem(409, "job-id-mismatch");
}

#[tokio::test]
async fn the_value_of_pid_graph_may_be_sent_alone() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", r#"{"nodes":[{"id":"A"}],"edges":[]}"#).await.is(201);
    assert_eq!(desk.get("/graph/J-1").await.json()["pid_graph"]["nodes"], json!([{"id": "A"}]));
}

#[tokio::test]
async fn a_deleted_graph_is_not_found_and_its_version_numbers_continue() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", DRAWING).await.is(201);
    assert!(desk.delete("/graph/J-1").await.is(204).body.is_empty());
    for response in [desk.get("/graph/J-1").await, desk.query("J-1", "1").await, desk.delete("/graph/J-1").await] {
        response.expect_problem(404, "graph-not-found");
    }
    let again = desk.put("/graph/J-1", DRAWING).await.is(201);
    let version: u64 = again.json()["change_version"].as_str().and_then(|text| text.parse().ok()).expect("a number");
    assert!(version > 1);
}

#[tokio::test]
async fn a_failed_precondition_changes_nothing() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let put = async |condition: &str, node: &str| {
        desk.send("PUT", "/graph/J-1", &["content-type: application/json", condition], drawing(node)).await
    };
    put("if-match: *", "A").await.expect_problem(412, "precondition-failed");
    put("if-none-match: *", "A").await.is(201);
    let first = desk.get("/graph/J-1").await.header("etag").to_owned();
    let refused = put("if-none-match: *", "B").await.expect_problem(412, "precondition-failed");
    assert_eq!(refused.header("etag"), first);
    put(&format!("if-match: {first}"), "B").await.is(200);
    for condition in [first.clone(), format!("W/{first}"), "\"x\"".into(), "nonsense".into()] {
        put(&format!("if-match: {condition}"), "C").await.expect_problem(412, "precondition-failed");
    }
    let both = ["content-type: application/json", "if-match: *", "if-none-match: *"];
    desk.send("PUT", "/graph/J-1", &both, drawing("C")).await.expect_problem(400, "invalid-request");
    let delete = async |condition: String| desk.send("DELETE", "/graph/J-1", &[&condition], "").await;
    delete(format!("if-match: {first}")).await.expect_problem(412, "precondition-failed");
    let latest = desk.get("/graph/J-1").await.header("etag").to_owned();
    let headers = ["content-type: application/json", "if-match: \"other\"", &format!("if-match: {latest}")];
    let written = desk.send("PUT", "/graph/J-1", &headers, drawing("D")).await.is(200);
    delete(format!("if-match: \"other\", {}", written.header("etag"))).await.is(204);
}

#[tokio::test]
async fn required_preconditions_are_enforced() {
    let service = TestService::with(&[("PIDQ_REQUIRE_IF_MATCH", "on")]).await;
    let desk = service.client("desk").await;
    desk.put("/graph/J-1", &drawing("A")).await.is(201);
    desk.put("/graph/J-1", &drawing("B")).await.expect_problem(428, "precondition-required");
    let headers = ["content-type: application/json", "if-match: *"];
    desk.send("PUT", "/graph/J-1", &headers, drawing("B")).await.is(200);
    desk.send("DELETE", "/graph/J-1", &headers[1..], "").await.is(204);
}

#[tokio::test]
async fn a_corrupt_version_can_be_replaced_and_deleted() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let corrupt = |version: u64| {
        let file = service.file_of(version);
        let mut bytes = std::fs::read(&file).expect("a file");
        *bytes.last_mut().expect("bytes") ^= 1;
        std::fs::write(file, bytes).expect("written");
    };
    desk.put("/graph/J-1", &drawing("A")).await.is(201);
    let tag = desk.put("/graph/J-1", &drawing("B")).await.is(200).header("etag").to_owned();
    corrupt(2);
    desk.get("/graph/J-1").await.expect_problem(503, "graph-corrupt");
    let listed = desk.get("/graph/J-1/versions").await.is(200).json();
    assert_eq!((&listed["latest_version"], &listed["versions"][0]["change_version"]), (&json!(null), &json!("1")));
    let put = async |condition: &str| {
        desk.send("PUT", "/graph/J-1", &["content-type: application/json", condition], drawing("B")).await
    };
    put("if-none-match: *").await.expect_problem(412, "precondition-failed");
    put("if-match: \"1-0000000000000000\"").await.expect_problem(412, "precondition-failed");
    let stored = put(&format!("if-match: {tag}")).await.is(200).json();
    assert_eq!(stored["change_version"], "3");
    assert!(desk.get("/graph/J-1").await.is(200).text().contains("\"B\""));
    assert_eq!(desk.get("/graph/J-1/versions").await.is(200).json()["latest_version"], "3");
    corrupt(3);
    desk.send("GET", "/graph/J-1?format=svg", &[], "").await.expect_problem(503, "graph-corrupt");
    desk.delete("/graph/J-1").await.is(204);
    desk.get("/graph/J-1").await.expect_problem(404, "graph-not-found");
}

#[tokio::test]
async fn an_invalid_graph_is_rejected_with_pointers() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    for (body, status, code) in [
        ("", 400, "malformed-json"),
        ("{", 400, "malformed-json"),
        (r#"{"nodes":[],"edges":[]} x"#, 400, "malformed-json"),
        (r#"{"nodes":["\ud800"],"edges":[]}"#, 400, "malformed-json"),
        ("[]", 422, "invalid-graph"),
        ("null", 422, "invalid-graph"),
        ("{}", 422, "invalid-graph"),
        (r#"{"pid_graph":[]}"#, 422, "invalid-graph"),
        (r#"{"pid_graph":{"nodes":{},"edges":[]}}"#, 422, "invalid-graph"),
        (r#"{"pid_graph":{"nodes":[1],"edges":[]}}"#, 422, "invalid-graph"),
        (r#"{"pid_graph":{"nodes":[],"edges":[],"metadata":[]}}"#, 422, "invalid-graph"),
        (
            r#"{"pid_graph":{"nodes":[],"edges":[],"metadata":{"schema_version":"2"}}}"#,
            422,
            "unsupported-schema-version",
        ),
        (r#"{"pid_graph":{"nodes":[],"edges":[],"metadata":{"job_id":"J-2"}}}"#, 409, "job-id-mismatch"),
    ] {
        let refused = desk.put("/graph/J-1", body).await.expect_problem(status, code).json();
        if code == "invalid-graph" {
            let finding = &refused["errors"][0];
            assert!(finding["pointer"].is_string() && finding["detail"].is_string(), "{refused}");
        }
    }
    let deep = format!(r#"{{"nodes":[],"edges":[],"x":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    desk.put("/graph/J-1", &deep).await.expect_problem(422, "invalid-graph");
    let invalid_utf8 = vec![0xff; 8];
    let refused = desk.send("PUT", "/graph/J-1", &["content-type: application/json"], invalid_utf8).await;
    refused.expect_problem(400, "malformed-json");
    desk.send("PUT", "/graph/J-1", &["content-type: text/plain"], DRAWING)
        .await
        .expect_problem(415, "unsupported-media-type");
    desk.get("/graph/J-1").await.expect_problem(404, "graph-not-found");
}

#[tokio::test]
async fn warnings_are_reported_and_strict_mode_rejects_them() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let with_warnings =
        r#"{"pid_graph":{"nodes":[{"id":"A","x":1,"x":2},{"id":"A"},{}],"edges":[{"source":"A","target":"Z"}]}}"#;
    let warnings = desk.put("/graph/J-1", with_warnings).await.is(201).json()["warnings"].take();
    let codes: Vec<_> = warnings.as_array().expect("a list").iter().map(|row| row["code"].clone()).collect();
    assert_eq!(json!(codes), json!(["duplicate-key", "G010", "G011", "G020"]));
    desk.put("/graph/J-2?strict=true", with_warnings).await.expect_problem(422, "invalid-graph");
    desk.put("/graph/J-2?strict=false", with_warnings).await.is(201);
    desk.put("/graph/J-2?strict=maybe", with_warnings).await.expect_problem(400, "invalid-parameter");
}

#[tokio::test]
async fn an_oversized_graph_is_rejected_before_it_is_loaded() {
    let service = TestService::with(&[("PIDQ_MAX_GRAPH_SIZE", "1MiB")]).await;
    let desk = service.client("desk").await;
    let large = format!(r#"{{"nodes":[],"edges":[],"x":"{}"}}"#, "a".repeat(2 << 20));
    let refused = desk.put("/graph/J-1", &large).await.expect_problem(413, "graph-too-large");
    assert_eq!(refused.json()["limit"], 1 << 20);
    let send = async |coding: &str, body: Vec<u8>| -> TestResponse {
        let headers = ["content-type: application/json", &format!("content-encoding: {coding}")];
        desk.send("PUT", "/graph/J-1", &headers, body).await
    };
    send("gzip", gzip(large.as_bytes())).await.expect_problem(413, "graph-too-large");
    let compressed = zstd::encode_all(large.as_bytes(), 3).expect("zstd");
    send("zstd", compressed).await.expect_problem(413, "graph-too-large");
    let bomb = vec![b' '; 100 << 20];
    send("gzip", gzip(&bomb)).await.expect_problem(413, "graph-too-large");
    send("gzip", gzip(drawing("A").as_bytes())).await.is(201);
    send("zstd", zstd::encode_all(drawing("B").as_bytes(), 3).expect("zstd")).await.is(200);
    send("gzip", b"no gzip".to_vec()).await.is(400);
    send("br", drawing("A").into()).await.is(415);
}

#[tokio::test]
async fn a_decompression_bomb_is_rejected() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let body = gzip(&vec![b' '; 32 << 20]);
    let headers = ["content-type: application/json", "content-encoding: gzip"];
    let refused = desk.send("PUT", "/graph/J-1", &headers, body).await.expect_problem(413, "compression-ratio");
    assert!(!refused.text().contains("67108864"), "{}", refused.text());
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

#[tokio::test]
async fn a_read_only_directory_rejects_writes() {
    let folder = std::env::temp_dir().join(format!("pidq-served-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a directory");
    std::fs::write(folder.join("J-1.json"), DRAWING).expect("a file");
    let service = TestService::with(&[("PIDQ_GRAPH_DIR", folder.to_str().expect("a path"))]).await;
    let desk = service.client("desk").await;
    assert_eq!(desk.query("J-1", ".pid_graph.nodes | size()").await.result(), json!([3]));
    let admin = service.token_by(&admin_form()).await;
    let admin = service.bearer(&admin);
    for refused in [admin.put("/graph/J-1", &drawing("A")).await, admin.delete("/graph/J-1").await] {
        assert_eq!(refused.expect_problem(503, "read-only").header("retry-after"), "60");
    }
    service.anonymous().get("/readyz").await.is(200);
    std::fs::remove_dir_all(folder).expect("removed");
}

fn admin_form() -> String {
    let (password, secret) = (crate::fixtures::PASSWORD, crate::fixtures::SECRET);
    format!("grant_type=password&username=ann@example.com&password={password}&client_id=desk&client_secret={secret}")
}

#[tokio::test]
async fn the_setting_defines_the_retained_versions() {
    for (setting, retained) in [("1", 1), ("3", 3), ("all", 12), (" all ", 12)] {
        let service = TestService::with(&[("PIDQ_VERSIONS_RETAINED", setting)]).await;
        let desk = service.client("desk").await;
        for number in 0..12 {
            desk.put("/graph/J-1", &drawing(&format!("V-{number}"))).await;
        }
        let versions = desk.get("/graph/J-1/versions").await.is(200).json();
        assert_eq!(versions["versions"].as_array().map(Vec::len), Some(retained), "{setting}");
        assert_eq!(versions["latest_version"], "12");
    }
}

#[test]
fn an_invalid_version_retention_is_rejected() {
    for setting in ["0", "-1", "1.5", "ALL", "some", ""] {
        let flags = ["--versions-retained".to_owned(), setting.to_owned()];
        let result = Settings::read(&[COMMON, SETTINGS], flags, []).map(drop).map_err(|error| error.to_string());
        let message = format!(
            "`PIDQ_VERSIONS_RETAINED`, set by the flag `--versions-retained`: expected a positive integer, or `all`, found `{setting}`"
        );
        // An empty value counts as unset and fails later.
        assert_eq!(result, if setting.is_empty() { Ok(()) } else { Err(message) });
    }
}
